//! The measuring loop under a fake clock, with fake launches: everything is exact.

mod after_pilot;
mod fixed_count;
mod sequential;

use super::*;
use gritstone_analysis::summary::Reader;
use gritstone_model::{
    Calibration, Check, Conditions, Event, Launch, Param, RunInfo, Sample, TrialSide, Usage, Work,
};
use gritstone_testkit::id;

struct Call {
    id: String,
    side: usize,
    /// Number of this launch of this step on this side, from 1.
    count: usize,
    /// Launches before it, of all steps.
    before: usize,
}

struct Reply {
    seconds: f64,
    /// Nanoseconds per operation.
    ns: Result<f64, Outcome>,
    /// The SMT probe sees a busy sibling.
    contended: bool,
    /// The hypervisor steals half of its time.
    disturbed: bool,
}

impl Reply {
    fn measured(seconds: f64, ns: f64) -> Self {
        Self { seconds, ns: Ok(ns), contended: false, disturbed: false }
    }

    fn without_result(outcome: Outcome) -> Self {
        Self { ns: Err(outcome), ..Self::measured(1.0, 0.0) }
    }
}

struct FakeBackend<'a> {
    reply: Box<dyn FnMut(&Call) -> Reply + 'a>,
    time: f64,
    side: Option<usize>,
    counts: BTreeMap<(usize, String), usize>,
    launched: Vec<String>,
    /// Of each launch, with its side.
    calibrations: Vec<(usize, Calibration)>,
    stored: Vec<(usize, Launch)>,
    shown: Vec<String>,
    /// The user stops after this many launches.
    stop_after: usize,
    /// The disk is full after this many.
    full_after: usize,
}

impl<'a> FakeBackend<'a> {
    fn new(reply: impl FnMut(&Call) -> Reply + 'a) -> Self {
        Self {
            reply: Box::new(reply),
            time: 0.0,
            side: None,
            counts: BTreeMap::new(),
            launched: vec![],
            calibrations: vec![],
            stored: vec![],
            shown: vec![],
            stop_after: usize::MAX,
            full_after: usize::MAX,
        }
    }

    fn count(&self, id: &str) -> usize {
        let stored = self.stored.iter();
        stored.filter(|(_, launch)| launch.id.as_str() == id).count()
    }

    /// Of the first side.
    fn launches(&self) -> Vec<Launch> {
        let first = self.stored.iter().filter(|(side, _)| *side == 0);
        first.map(|(_, launch)| launch.clone()).collect()
    }
}

impl Backend for FakeBackend<'_> {
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
            Standing::Rounds { rounds, end } => {
                let round = progress.slot.round as usize + 1;
                assert!(round <= rounds, "round {round} of {rounds}");
                format!("round {round} of {rounds} until {} s", end.as_secs())
            }
            Standing::Turns { times, end, .. } => {
                format!("after {} rounds until {} s", times.rounds(), end.as_secs())
            }
        });
    }

    fn launch(
        &mut self,
        side: usize,
        benchmark: &Benchmark,
        step: &Step,
        calibration: Calibration,
    ) -> Result<Finished, Self::Error> {
        if self.launched.len() == self.stop_after {
            return Err("stopped");
        }
        assert_eq!(self.side, Some(side), "prepared");
        let id = benchmark.id.to_string();
        let count = self.counts.entry((side, id.clone())).or_default();
        *count += 1;
        let call = Call { id: id.clone(), side, count: *count, before: self.launched.len() };
        self.launched.push(id);
        self.calibrations.push((side, calibration));
        let reply = (self.reply)(&call);
        self.time += reply.seconds;
        let steal = if reply.disturbed { 500_000_000 } else { 0 };
        let (outcome, events) = match reply.ns {
            Ok(ns) => (Outcome::Measured, events(ns, reply.contended, step.copies)),
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

    fn store(&mut self, side: usize, launch: &Launch) -> Result<(), Self::Error> {
        if self.stored.len() == self.full_after {
            return Err("the disk is full");
        }
        self.stored.push((side, launch.clone()));
        Ok(())
    }
}

/// Events of a launch with `ns` per operation.
fn events(ns: f64, contended: bool, copies: u32) -> Vec<Event> {
    let one = [
        Event::Sample(Box::new(Sample {
            n: 1000,
            wall: (1000.0 * ns) as u64,
            cycle_probe: 250_000,
            smt_probe: if contended { 100_000 } else { 62_500 },
            usage: Usage::default(),
        })),
        Event::Check(Check::default()),
        Event::Bye,
    ];
    let copy = |number: u32| Event::Param(Param::Copy(number));
    match copies {
        1 => one.into(),
        _ => (1..=copies).flat_map(|number| [vec![copy(number)], one.to_vec()].concat()).collect(),
    }
}

/// For a machine whose CPU 1 does the additions of the SMT probe in a quarter of a cycle.
fn reader(trial: bool) -> Reader {
    let mut run = RunInfo::default();
    let machine = &mut run.machine.facts;
    machine.insert("cpu.smt".to_owned(), "on".to_owned());
    run.settings.smt_floors = BTreeMap::from([(1, 0.25)]);
    run.settings.trial = trial.then(TrialSide::default);
    Reader::new(&run)
}

fn benchmark(id: &str) -> Benchmark {
    gritstone_testkit::benchmark(id, "ns/call")
}

fn plan(ids: &[&str]) -> Plan {
    let step = |name: &&str| Step { id: id(name), cpus: vec![1], copies: 1 };
    Plan {
        steps: ids.iter().map(step).collect(),
        benchmarks: ids.iter().map(|id| benchmark(id)).collect(),
        skips: vec![],
    }
}

#[test]
fn finished_launches_survive_errors() {
    let plan = plan(&["a/one", "a/two"]);
    let run = |stop_after, full_after| {
        let mut backend = FakeBackend::new(|_| Reply::measured(1.0, 100.0));
        (backend.stop_after, backend.full_after) = (stop_after, full_after);
        let mut scheduler = AfterPilot::new(&[&plan], after_pilot::limits(1e6), &PriorRuns::new());
        let ended = drive(&[&plan], &[], reader(false), &mut scheduler, &mut backend);
        (ended.unwrap_err(), backend.stored.len(), backend.launched.len())
    };
    assert_eq!(run(5, usize::MAX), ("stopped", 5, 5));
    // no launch follows
    assert_eq!(run(usize::MAX, 3), ("the disk is full", 3, 4));
}

#[test]
fn launches_record_time_and_place() {
    let mut plan = plan(&["a/one", "a/two"]);
    plan.steps[1].cpus = vec![2, 3];
    let mut backend = FakeBackend::new(|_| Reply::measured(2.0, 100.0));
    let mut scheduler = AfterPilot::new(&[&plan], after_pilot::limits(25.0), &PriorRuns::new());
    drive(&[&plan], &[], reader(false), &mut scheduler, &mut backend).unwrap();
    for (nth, (_, launch)) in backend.stored.iter().enumerate() {
        let step = plan.steps.iter().find(|step| step.id == launch.id).unwrap();
        assert_eq!((&launch.cpus, launch.copies), (&step.cpus, 1));
        assert_eq!(launch.round as usize, nth / 2);
        assert_eq!(launch.start, 2_000_000_000 * nth as u64);
    }
    // the default launch time is a quarter of a second
    assert_eq!(backend.shown[0], "round 1 of 10 until 5 s");
    assert_eq!(backend.shown[2], "round 2 of 10 until 25 s");
    assert_eq!(backend.shown.len(), 12);
}

#[test]
fn launches_reuse_calibrations() {
    let plan = plan(&["a/one"]);
    let mut backend = FakeBackend::new(|_| Reply::measured(1.0, 100.0));
    let mut scheduler = AfterPilot::new(&[&plan], after_pilot::limits(1e6), &PriorRuns::new());
    drive(&[&plan], &[], reader(false), &mut scheduler, &mut backend).unwrap();
    let found = |growth_shown| Calibration { n: Some(1000), growth_shown };
    let passed: Vec<Calibration> = backend.calibrations.iter().map(|(_, passed)| *passed).collect();
    assert_eq!(passed[0], Calibration::default());
    assert_eq!(passed[1..PILOT], [found(false); PILOT - 1]);
    assert!(passed[PILOT..].iter().all(|passed| *passed == found(true)));

    // a resumed run reuses its calibrations, and the other side begins with those of the first
    let mut rest = FakeBackend::new(|_| Reply::measured(1.0, 100.0));
    let plans = [&plan, &plan];
    let mut scheduler = AfterPilot::new(&plans, after_pilot::limits(1e6), &PriorRuns::new());
    let earlier: Vec<Launch> = backend.launches().into_iter().take(PILOT).collect();
    drive(&plans, &earlier, reader(false), &mut scheduler, &mut rest).unwrap();
    for (side, growth_shown) in [(0, true), (1, false)] {
        let first = rest.calibrations.iter().find(|(launch_side, _)| *launch_side == side);
        assert_eq!(first.map(|(_, passed)| *passed), Some(found(growth_shown)));
    }
}
