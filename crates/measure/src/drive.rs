//! The driver: makes the launches that a scheduler asks for, one after another.

use crate::{Observation, PILOT, Scheduler, Slot, Standing, launched};
use gritstone_analysis::summary::Reader;
use gritstone_model::{Benchmark, Calibration, Conditions, Event, Id, Launch, Outcome, Plan, Step};
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything that measuring does to the world: clock, executor, conditions, recorder and display.
pub trait Backend {
    /// Why measuring cannot go on.
    type Error;
    /// Time since the start of the measuring, with what earlier processes spent on it.
    fn now(&self) -> Duration;
    /// Sets everything for a side, and makes ready what the benchmark is measured beside.
    ///
    /// # Errors
    /// When that cannot be done.
    fn prepare(&mut self, side: usize, benchmark: &Benchmark) -> Result<(), Self::Error>;
    /// Shows how far the measuring is: before each launch.
    fn show(&mut self, progress: &Progress<'_>);
    /// Launches a benchmark on the side that was prepared, with what earlier launches found, and looks at the machine before and after.
    ///
    /// # Errors
    /// Only when no launch can be made any more; a launch that fails is an [`Outcome`].
    fn launch(
        &mut self,
        side: usize,
        benchmark: &Benchmark,
        step: &Step,
        known: Calibration,
    ) -> Result<Finished, Self::Error>;
    /// Keeps a finished launch.
    ///
    /// # Errors
    /// When it cannot be kept, or nothing is to be launched after it.
    fn keep(&mut self, side: usize, launch: &Launch) -> Result<(), Self::Error>;
}

/// A launch that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// Everything that it said.
    pub events: Vec<Event>,
    /// What else the machine did meanwhile.
    pub conditions: Conditions,
}

/// What is launched now.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Which step of which side.
    pub slot: Slot,
    /// Its entry.
    pub benchmark: &'a Benchmark,
    /// Steps of the side.
    pub steps: usize,
    /// Since the start.
    pub elapsed: Duration,
    /// How far the scheduler is.
    pub standing: Standing<'a>,
}

/// Measures the plans of all sides as `scheduler` says, after the launches that an earlier process made of the first; `reader` reads them.
///
/// # Errors
/// When launches cannot be made or kept any more, or the user asks to stop; everything finished has been kept.
pub fn drive<B: Backend>(
    plans: &[&Plan],
    earlier: &[Launch],
    mut reader: Reader,
    scheduler: &mut dyn Scheduler,
    backend: &mut B,
) -> Result<(), B::Error> {
    let sides: Vec<_> = plans.iter().map(|plan| launched(plan)).collect();
    let mut found = Found::default();
    if let Some(side) = sides.first() {
        recall(side, earlier, &mut reader, scheduler);
        earlier.iter().for_each(|launch| found.see(0, launch));
    }
    let mut now = backend.now();
    while let Some(slot) = scheduler.next(now) {
        let (step, benchmark) = sides[slot.side][slot.step];
        backend.prepare(slot.side, benchmark)?;
        let start = backend.now();
        backend.show(&Progress {
            slot,
            benchmark,
            steps: sides[slot.side].len(),
            elapsed: start,
            standing: scheduler.standing(),
        });
        let finished = backend.launch(slot.side, benchmark, step, found.by(slot.side, step))?;
        let launch = Launch {
            id: step.id.clone(),
            round: slot.round,
            start: u64::try_from(start.as_nanos()).unwrap_or(u64::MAX),
            cpus: step.cpus.clone(),
            copies: step.copies,
            outcome: finished.outcome,
            events: finished.events,
            conditions: finished.conditions,
        };
        backend.keep(slot.side, &launch)?;
        found.see(slot.side, &launch);
        let end = backend.now();
        let observed = Observation {
            learned: reader.learn(benchmark, &launch),
            outcome: &launch.outcome,
            seconds: end.saturating_sub(now).as_secs_f64(),
        };
        scheduler.observe(slot, &observed);
        now = end;
    }
    Ok(())
}

/// What launches found: the operations of a region, and how many launches showed that time grows with them; by benchmark and copies, and
/// by side.
#[derive(Default)]
struct Found(BTreeMap<(Id, u32), BTreeMap<usize, (u64, usize)>>);

impl Found {
    fn see(&mut self, side: usize, launch: &Launch) {
        let n = launch.events.iter().find_map(|event| match event {
            Event::Sample(sample) => Some(sample.n),
            _ => None,
        });
        if let Some(n) = n.filter(|_| launch.outcome == Outcome::Measured) {
            let sides = self
                .0
                .entry((launch.id.clone(), launch.copies))
                .or_default();
            let (last, launches) = sides.entry(side).or_default();
            (*last, *launches) = (n, *launches + 1);
        }
    }

    /// What its side found last; before its first launch, what another side did: sides do the same work where they can.
    fn by(&self, side: usize, step: &Step) -> Calibration {
        let sides = self.0.get(&(step.id.clone(), step.copies));
        let own = sides.and_then(|sides| sides.get(&side));
        let any = own.or(sides.and_then(|sides| sides.values().next()));
        Calibration {
            n: any.map(|(n, _)| *n),
            growth_shown: own.is_some_and(|(_, launches)| *launches >= PILOT),
        }
    }
}

/// What an earlier process measured of a side.
fn recall(
    steps: &[(&Step, &Benchmark)],
    earlier: &[Launch],
    reader: &mut Reader,
    scheduler: &mut dyn Scheduler,
) {
    for launch in earlier {
        let is_its = |step: &Step| (&step.id, step.copies) == (&launch.id, launch.copies);
        let Some(step) = steps.iter().position(|(step, _)| is_its(step)) else {
            continue;
        };
        let slot = Slot {
            side: 0,
            step,
            round: launch.round,
        };
        let observed = Observation {
            learned: reader.learn(steps[step].1, launch),
            outcome: &launch.outcome,
            seconds: launch.conditions.wall as f64 / 1e9,
        };
        scheduler.observe(slot, &observed);
    }
}
