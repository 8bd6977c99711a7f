//! The measuring loop.

use crate::limits::PILOT;
use crate::{Observation, Scheduler, Slot, Standing, steps_with_entries};
use gritstone_analysis::summary::Reader;
use gritstone_model::{
    Benchmark, Calibration, Conditions, Event, Id, Launch, Outcome, Param, Plan, Step,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// All effects of measuring: clock, executor, conditions, store and display.
pub trait Backend {
    type Error;
    /// Time since the start of the measuring, including that of earlier processes.
    fn now(&self) -> Duration;
    /// Applies the settings of a side, and starts the background load of the benchmark.
    fn prepare(&mut self, side: usize, benchmark: &Benchmark) -> Result<(), Self::Error>;
    /// Called before each launch.
    fn show(&mut self, progress: &Progress<'_>);
    /// Launches a benchmark on the prepared side. Fails only if no launch can be made any more: a launch that fails is an [`Outcome`].
    fn launch(
        &mut self,
        side: usize,
        benchmark: &Benchmark,
        step: &Step,
        calibration: Calibration,
    ) -> Result<Finished, Self::Error>;
    /// Stores a finished launch. Fails if it cannot be stored, or if the measuring shall stop after it.
    fn store(&mut self, side: usize, launch: &Launch) -> Result<(), Self::Error>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    pub outcome: Outcome,
    pub events: Vec<Event>,
    pub conditions: Conditions,
}

/// The next launch.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    pub slot: Slot,
    pub benchmark: &'a Benchmark,
    /// Number of steps of the side.
    pub steps: usize,
    /// Since the start.
    pub elapsed: Duration,
    pub standing: Standing<'a>,
}

/// Measures the plans of all sides. `earlier` are launches of the first side by an earlier process. After an error, all finished launches
/// are stored.
pub fn drive<B: Backend>(
    plans: &[&Plan],
    earlier: &[Launch],
    mut reader: Reader,
    scheduler: &mut dyn Scheduler,
    backend: &mut B,
) -> Result<(), B::Error> {
    let sides: Vec<_> = plans.iter().map(|plan| steps_with_entries(plan)).collect();
    let mut calibrations = Calibrations::default();
    if let Some(side) = sides.first() {
        observe_earlier(side, earlier, &mut reader, scheduler);
        for launch in earlier {
            calibrations.record(0, launch);
        }
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
        let finished =
            backend.launch(slot.side, benchmark, step, calibrations.get(slot.side, step))?;
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
        backend.store(slot.side, &launch)?;
        calibrations.record(slot.side, &launch);
        let end = backend.now();
        let observed = Observation {
            learned: reader.read(benchmark, &launch),
            outcome: &launch.outcome,
            executions: executions(&launch),
            seconds: end.saturating_sub(now).as_secs_f64(),
        };
        scheduler.observe(slot, &observed);
        now = end;
    }
    Ok(())
}

fn executions(launch: &Launch) -> u32 {
    let is_execution =
        |event: &&Event| matches!(event, Event::Sample(_) | Event::Param(Param::LeftOut(_)));
    let executions = launch.events.iter().filter(is_execution).count();
    u32::try_from(executions).unwrap_or(u32::MAX).max(1)
}

/// By benchmark and copies, and by side: the last calibrated operation count, and the number of launches that showed that time grows
/// with it.
#[derive(Default)]
struct Calibrations(BTreeMap<(Id, u32), BTreeMap<usize, (u64, usize)>>);

impl Calibrations {
    fn record(&mut self, side: usize, launch: &Launch) {
        let n = launch.events.iter().find_map(|event| match event {
            Event::Sample(sample) => Some(sample.n),
            _ => None,
        });
        if let Some(n) = n.filter(|_| launch.outcome == Outcome::Measured) {
            let sides = self.0.entry((launch.id.clone(), launch.copies)).or_default();
            let (last, launches) = sides.entry(side).or_default();
            (*last, *launches) = (n, *launches + 1);
        }
    }

    /// The last calibration of the side; before its first launch that of another side, since sides do the same work where they can.
    fn get(&self, side: usize, step: &Step) -> Calibration {
        let sides = self.0.get(&(step.id.clone(), step.copies));
        let same_side = sides.and_then(|sides| sides.get(&side));
        let any = same_side.or(sides.and_then(|sides| sides.values().next()));
        Calibration {
            n: any.map(|(n, _)| *n),
            growth_shown: same_side.is_some_and(|(_, launches)| *launches >= PILOT),
        }
    }
}

fn observe_earlier(
    steps: &[(&Step, &Benchmark)],
    earlier: &[Launch],
    reader: &mut Reader,
    scheduler: &mut dyn Scheduler,
) {
    for launch in earlier {
        let launched = |step: &Step| (&step.id, step.copies) == (&launch.id, launch.copies);
        let Some(step) = steps.iter().position(|(step, _)| launched(step)) else {
            continue;
        };
        let slot = Slot { side: 0, step, round: launch.round };
        let observed = Observation {
            learned: reader.read(steps[step].1, launch),
            outcome: &launch.outcome,
            executions: executions(launch),
            seconds: launch.conditions.wall as f64 / 1e9,
        };
        scheduler.observe(slot, &observed);
    }
}
