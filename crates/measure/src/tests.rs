//! The measuring loop under a fake clock, with fake launches: everything is exact.

mod after_pilot;
mod bounded;
mod sequential;

use super::*;
use gritstone_analysis::summary::Reader;
use gritstone_model::{
    COPY, Calibration, Check, Conditions, Event, KernelWork, Launch, RunInfo, Sample, TrialSide,
    Unit, Usage, Work,
};

/// A launch that is about to be made.
struct Call {
    id: String,
    side: usize,
    /// The how many-th of this step on this side, from 1.
    count: usize,
    /// How many were made before it in all.
    before: usize,
}

/// What comes of it.
struct Reply {
    seconds: f64,
    /// Nanoseconds an operation.
    ns: Result<f64, Outcome>,
    /// Whether another thread of the core is busy beside it, as the probes see it.
    crowded: bool,
    /// Whether the hypervisor takes half of its time.
    disturbed: bool,
}

impl Reply {
    fn of(seconds: f64, ns: f64) -> Self {
        Self {
            seconds,
            ns: Ok(ns),
            crowded: false,
            disturbed: false,
        }
    }

    fn without_result(outcome: Outcome) -> Self {
        Self {
            ns: Err(outcome),
            ..Self::of(1.0, 0.0)
        }
    }
}

/// A made-up machine.
struct World<'a> {
    reply: Box<dyn FnMut(&Call) -> Reply + 'a>,
    time: f64,
    side: Option<usize>,
    counts: BTreeMap<(usize, String), usize>,
    launched: Vec<String>,
    /// What each launch was told, with its side.
    told: Vec<(usize, Calibration)>,
    kept: Vec<(usize, Launch)>,
    shown: Vec<String>,
    /// The user asks to stop after this many launches.
    stop_after: usize,
    /// The disk is full after this many.
    full_after: usize,
}

impl<'a> World<'a> {
    fn new(reply: impl FnMut(&Call) -> Reply + 'a) -> Self {
        Self {
            reply: Box::new(reply),
            time: 0.0,
            side: None,
            counts: BTreeMap::new(),
            launched: vec![],
            told: vec![],
            kept: vec![],
            shown: vec![],
            stop_after: usize::MAX,
            full_after: usize::MAX,
        }
    }

    fn count(&self, id: &str) -> usize {
        let own = self.kept.iter();
        own.filter(|(_, launch)| launch.id.as_str() == id).count()
    }

    /// The launches of the first side.
    fn launches(&self) -> Vec<Launch> {
        let first = self.kept.iter().filter(|(side, _)| *side == 0);
        first.map(|(_, launch)| launch.clone()).collect()
    }
}

impl Backend for World<'_> {
    type Error = &'static str;

    fn now(&self) -> Duration {
        Duration::from_secs_f64(self.time)
    }

    fn prepare(&mut self, side: usize, _: &Benchmark) -> Result<(), Self::Error> {
        self.side = Some(side);
        Ok(())
    }

    fn show(&mut self, progress: &Progress<'_>) {
        self.shown.push(match progress.standing {
            Standing::Rounds { rounds, end } => format!(
                "round {} of {rounds} until {} s",
                progress.slot.round + 1,
                end.as_secs()
            ),
            Standing::Turns { times, .. } => format!("after {} rounds", times.rounds()),
        });
    }

    fn launch(
        &mut self,
        side: usize,
        benchmark: &Benchmark,
        step: &Step,
        known: Calibration,
    ) -> Result<Finished, Self::Error> {
        if self.launched.len() == self.stop_after {
            return Err("stopped");
        }
        assert_eq!(self.side, Some(side), "it was prepared");
        let id = benchmark.id.to_string();
        let count = self.counts.entry((side, id.clone())).or_default();
        *count += 1;
        let call = Call {
            id: id.clone(),
            side,
            count: *count,
            before: self.launched.len(),
        };
        self.launched.push(id);
        self.told.push((side, known));
        let reply = (self.reply)(&call);
        self.time += reply.seconds;
        let steal = if reply.disturbed { 500_000_000 } else { 0 };
        let (outcome, events) = match reply.ns {
            Ok(ns) => (Outcome::Measured, said(ns, reply.crowded, step.copies)),
            Err(outcome) => (outcome, vec![]),
        };
        Ok(Finished {
            outcome,
            events,
            conditions: Conditions {
                wall: 1_000_000_000,
                steal: Some(steal),
                ..Conditions::default()
            },
        })
    }

    fn keep(&mut self, side: usize, launch: &Launch) -> Result<(), Self::Error> {
        if self.kept.len() == self.full_after {
            return Err("the disk is full");
        }
        self.kept.push((side, launch.clone()));
        Ok(())
    }
}

/// What a launch says that takes so long for an operation.
fn said(ns: f64, crowded: bool, copies: u32) -> Vec<Event> {
    let one = [
        Event::Sample(Box::new(Sample {
            n: 1000,
            wall: (1000.0 * ns) as u64,
            pace: 250_000,
            wide: if crowded { 100_000 } else { 62_500 },
            usage: Usage::default(),
        })),
        Event::Check(Check::default()),
        Event::Bye,
    ];
    let copy = |number: u32| Event::Param {
        key: COPY.to_owned(),
        value: number.to_string(),
    };
    match copies {
        1 => one.into(),
        _ => (1..=copies)
            .flat_map(|number| [vec![copy(number)], one.to_vec()].concat())
            .collect(),
    }
}

/// A reader of a machine whose CPU 1 is known to do the additions of the SMT probe in a quarter of a cycle.
fn reader(trial: bool) -> Reader {
    let mut run = RunInfo::default();
    let machine = &mut run.machine.facts;
    machine.insert("cpu.smt".to_owned(), "on".to_owned());
    run.settings.smt_floors = BTreeMap::from([(1, 0.25)]);
    run.settings.trial = trial.then(TrialSide::default);
    Reader::of(&run)
}

fn benchmark(id: &str) -> Benchmark {
    let work = Work::Kernel(KernelWork {
        program: id.to_owned(),
        params: BTreeMap::new(),
        uses: vec![],
    });
    let (id, unit) = (Id::parse(id).unwrap(), Unit::parse("ns/call").unwrap());
    Benchmark::new(id, unit, work)
}

fn plan(ids: &[&str]) -> Plan {
    let step = |id: &&str| Step {
        id: Id::parse(id).unwrap(),
        cpus: vec![1],
        copies: 1,
    };
    Plan {
        steps: ids.iter().map(step).collect(),
        benchmarks: ids.iter().map(|id| benchmark(id)).collect(),
        skips: vec![],
    }
}

#[test]
fn a_request_to_stop_and_a_full_disk_keep_what_is_finished() {
    let plan = plan(&["a/one", "a/two"]);
    let ran = |stop_after, full_after| {
        let mut world = World::new(|_| Reply::of(1.0, 100.0));
        (world.stop_after, world.full_after) = (stop_after, full_after);
        let mut scheduler = AfterPilot::new(&[&plan], after_pilot::limits(1e6), &Earlier::new());
        let ended = drive(&[&plan], &[], reader(false), &mut scheduler, &mut world);
        (ended.unwrap_err(), world.kept.len(), world.launched.len())
    };
    assert_eq!(ran(5, usize::MAX), ("stopped", 5, 5));
    // nothing is launched after it
    assert_eq!(ran(usize::MAX, 3), ("the disk is full", 3, 4));
}

#[test]
fn a_launch_says_where_and_when_it_was_made() {
    let mut plan = plan(&["a/one", "a/two"]);
    plan.steps[1].cpus = vec![2, 3];
    let mut world = World::new(|_| Reply::of(2.0, 100.0));
    let mut scheduler = AfterPilot::new(&[&plan], after_pilot::limits(25.0), &Earlier::new());
    drive(&[&plan], &[], reader(false), &mut scheduler, &mut world).unwrap();
    for (nth, (_, launch)) in world.kept.iter().enumerate() {
        let step = plan.steps.iter().find(|step| step.id == launch.id).unwrap();
        assert_eq!((&launch.cpus, launch.copies), (&step.cpus, 1));
        assert_eq!(launch.round as usize, nth / 2);
        assert_eq!(launch.start, 2_000_000_000 * nth as u64);
    }
    // a launch of which nothing is known is taken to last a quarter of a second
    assert_eq!(world.shown[0], "round 1 of 10 until 5 s");
    assert_eq!(world.shown[2], "round 2 of 10 until 25 s");
    assert_eq!(world.shown.len(), 12);
}

#[test]
fn a_launch_is_told_what_those_before_it_found() {
    let plan = plan(&["a/one"]);
    let mut world = World::new(|_| Reply::of(1.0, 100.0));
    let mut scheduler = AfterPilot::new(&[&plan], after_pilot::limits(1e6), &Earlier::new());
    drive(&[&plan], &[], reader(false), &mut scheduler, &mut world).unwrap();
    let found = |growth_shown| Calibration {
        n: Some(1000),
        growth_shown,
    };
    let told: Vec<Calibration> = world.told.iter().map(|(_, known)| *known).collect();
    assert_eq!(told[0], Calibration::default());
    assert_eq!(told[1..PILOT], [found(false); PILOT - 1]);
    assert!(told[PILOT..].iter().all(|known| *known == found(true)));

    // what was cut off goes on with what it knew, and the other side begins with what the first found
    let mut rest = World::new(|_| Reply::of(1.0, 100.0));
    let plans = [&plan, &plan];
    let mut scheduler = AfterPilot::new(&plans, after_pilot::limits(1e6), &Earlier::new());
    let earlier: Vec<Launch> = world.launches().into_iter().take(PILOT).collect();
    drive(&plans, &earlier, reader(false), &mut scheduler, &mut rest).unwrap();
    for (side, growth_shown) in [(0, true), (1, false)] {
        let first = rest.told.iter().find(|(own, _)| *own == side);
        assert_eq!(first.map(|(_, known)| *known), Some(found(growth_shown)));
    }
}
