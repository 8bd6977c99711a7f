//! Trials of simulated runs: rounds, start-up, user and system time.

use crate::ab::{START_UP, view};
use crate::summary::Options;
use crate::tests::made_up_runs::{id, param, plain, samples, unit};
use gritstone_model::*;

fn launch(name: &str, round: u32, ms: f64) -> Launch {
    let wall = (ms * 1e6) as u64;
    let events = vec![
        param("tick_ns", "4000000"),
        param("peak_kb", &(1000 + round).to_string()),
        Event::Sample(Box::new(Sample {
            n: 1,
            wall,
            usage: Usage { user: wall / 2, system: wall / 4, ..Usage::default() },
            ..Sample::default()
        })),
    ];
    Launch { cpus: vec![], ..gritstone_testkit::launch(name, round, events) }
}

/// A side whose launches take about this time.
fn side(name: &str, ms: f64, rounds: u32) -> RunData {
    let mut run = RunData::default();
    run.info.id = format!("run-{name}");
    run.info.elapsed_s = Some(60.0);
    run.info.settings.trial = Some(TrialSide {
        trial: "t".to_owned(),
        side: name.to_owned(),
        what: format!("./{name}"),
        margin: 0.01,
        ..TrialSide::default()
    });
    let row = |name| Benchmark { unit: unit("ms"), ..plain(name) };
    run.info.machine.facts = [("cpu.smt".to_owned(), "on".to_owned())].into();
    run.benchmarks = vec![row("command"), row(START_UP)];
    let scatter = |round: u32| ms * (1.0 + 0.001 * f64::from(round * 7 % 5));
    run.launches = (0..rounds).map(|round| launch("command", round, scatter(round))).collect();
    run
}

fn trial(runs: &[RunData]) -> AbView {
    view(runs, &Options::default())
}

#[test]
fn benchmarks_have_own_margins() {
    let (mut a, b) = (side("a", 10.0, 18), side("b", 10.5, 18));
    let verdict = |a: &RunData| trial(&[a.clone(), b.clone()]).rows[0].comparisons[0].verdict;
    assert_eq!(verdict(&a), Verdict::Slower);
    let margins = &mut a.info.settings.trial.as_mut().unwrap().margins;
    margins.insert(a.benchmarks[0].id.clone(), 0.1);
    assert_eq!(verdict(&a), Verdict::Same);
}

#[test]
fn stored_layouts_are_the_units() {
    let laid_out = |several: bool| {
        let mut sides = [side("a", 10.0, 60), side("b", 10.0, 60)];
        for (side, run) in sides.iter_mut().enumerate() {
            for launch in &mut run.launches {
                let number = launch.round % 6;
                // five of six layouts of the other side are slower
                let effect = [0.02, 0.01, 0.03, -0.02, 0.02, 0.03][number as usize] * side as f64;
                for sample in samples(launch) {
                    sample.wall = (sample.wall as f64 * (1.0 + effect)) as u64;
                }
                if several {
                    launch.events.insert(0, Event::Param(Param::Layout(number)));
                }
            }
        }
        let view = trial(&sides);
        (view.rows[0].comparisons[0].verdict, view.layouts)
    };
    assert_eq!(laid_out(false), (Verdict::Slower, None));
    assert_eq!(laid_out(true), (Verdict::Inconclusive, Some(6)));
}

#[test]
fn launches_pair_by_round() {
    let (a, mut b) = (side("a", 10.0, 13), side("b", 11.0, 14));
    b.launches.reverse();
    b.launches[4].outcome = Outcome::Failed("it was the ninth".to_owned());
    let view = trial(&[a, b]);
    assert_eq!(view.rows.len(), 1, "nothing was launched of {START_UP}");
    let comparison = &view.rows[0].comparisons[0];
    assert_eq!((comparison.pairs, comparison.verdict), (12, Verdict::Slower));
    assert!((comparison.ratio.unwrap() - 10.0 / 11.0).abs() < 1e-6);
    let figure = &view.rows[0].figures[1];
    assert_eq!((figure.launches, figure.peak_kb), (13, Some(1013)));
}

#[test]
fn interrupted_trial_keeps_last_verdict() {
    let (a, mut b) = (side("a", 10.0, 15), side("b", 11.0, 15));
    // one pair against eleven is too much for twelve, the last analysis
    b.launches[0] = launch("command", b.launches[0].round, 9.99);
    let verdict = |a: &RunData, b: &RunData| {
        let view = trial(&[a.clone(), b.clone()]);
        view.rows[0].comparisons[0].verdict
    };
    assert_eq!(verdict(&a, &b), Verdict::Slower);
    b.info.elapsed_s = None;
    assert_eq!(verdict(&a, &b), Verdict::Inconclusive);
}

#[test]
fn carry_over_is_reported() {
    let noted = |slower: f64| {
        let (mut a, mut b) = (side("a", 10.0, 40), side("b", 10.0, 40));
        // no order that a period of the others could meet
        let first = |round: u32| ((round * round + round / 3) % 11).is_multiple_of(2);
        for (a, b) in a.launches.iter_mut().zip(&mut b.launches) {
            // after b, a takes longer
            let after = if first(b.round) { 1.0 } else { slower };
            *a = launch("command", a.round, after * (10.0 + f64::from(a.round * 3 % 7) * 0.01));
            match first(b.round) {
                true => b.start += 1,
                false => a.start += 1,
            }
        }
        trial(&[a, b]).rows.remove(0).comparisons.remove(0).notes
    };
    assert!(noted(1.0).is_empty());
    let notes = noted(1.05);
    let [Note { finding: Finding::CarryOver { base_first, other_first, p }, .. }] = notes[..]
    else {
        panic!("{notes:?}");
    };
    assert!((base_first - 1.0).abs() < 0.01 && (other_first - 1.05).abs() < 0.01);
    assert!(p < 1e-4, "{p}");
}

#[test]
fn slow_minorities_are_noted() {
    let (a, mut b) = (side("a", 10.0, 60), side("b", 10.0, 60));
    for slow in b.launches.iter_mut().step_by(6) {
        *slow = launch("command", slow.round, 13.0);
    }
    let compared = trial(&[a, b]).rows.remove(0).comparisons.remove(0);
    assert_eq!(compared.verdict, Verdict::Inconclusive);
    let [Note { finding: Finding::UnequalTails { base: 0, other: 10 }, .. }] = compared.notes[..]
    else {
        panic!("{:?}", compared.notes);
    };
}

/// With the core to itself the SMT probe takes a quarter of a core cycle; beside another thread half as long again.
fn set_probes(run: &mut RunData, contended: impl Fn(u32) -> bool) {
    for launch in &mut run.launches {
        let busy = contended(launch.round);
        launch.cpus = vec![1];
        for sample in samples(launch) {
            (sample.cycle_probe, sample.smt_probe) = (240_000, if busy { 90_000 } else { 60_000 });
            if busy {
                sample.wall = sample.wall * 3 / 2;
            }
        }
    }
}

#[test]
fn contended_pairs_are_dropped() {
    let (mut a, mut b) = (side("a", 10.0, 16), side("b", 11.0, 16));
    set_probes(&mut a, |round| round == 5);
    set_probes(&mut b, |round| matches!(round, 5 | 9 | 13));
    // in the order of time
    b.launches.iter_mut().for_each(|launch| launch.start += 1);
    let comparison = &trial(&[a.clone(), b.clone()]).rows[0].comparisons[0];
    assert_eq!((comparison.pairs, comparison.verdict), (13, Verdict::Slower));
    assert!((comparison.ratio.unwrap() - 10.0 / 11.0).abs() < 1e-6);
    assert_eq!((comparison.contended, comparison.left_out), ([1, 3], 3));

    // what one side does to its core is compared; earlier runs have seen the core alone
    a.info.settings.smt_floors = [(1, 0.25)].into();
    for share in [1, 2] {
        set_probes(&mut b, |round| round % share == 0);
        set_probes(&mut a, |_| false);
        let comparison = &trial(&[a.clone(), b.clone()]).rows[0].comparisons[0];
        let contended = [0, 16 / share as usize];
        assert_eq!((comparison.contended, comparison.contention_differs), (contended, true));
        assert_eq!((comparison.pairs, comparison.left_out), (16, 0));
    }
}

/// As during the trial: every launch contributes to the SMT floor.
#[test]
fn start_up_sets_smt_floor() {
    let said_of = |nothing: bool| {
        let (mut a, b) = (side("a", 10.0, 12), side("b", 10.0, 12));
        let mut runs = if nothing {
            let before = a.launches.clone().into_iter();
            a.launches = before
                .flat_map(|launch_of_side| {
                    let start = launch_of_side.start.saturating_sub(1);
                    let mut idle = launch(START_UP, launch_of_side.round, 1.0);
                    idle.start = start;
                    [idle, launch_of_side]
                })
                .collect();
            [a, b]
        } else {
            [a, b]
        };
        for run in &mut runs {
            set_probes(run, |_| true);
            for launch in run.launches.iter_mut().filter(|l| l.id == id(START_UP)) {
                samples(launch).for_each(|sample| sample.smt_probe = 60_000);
            }
        }
        trial(&runs).rows[0].comparisons[0].contended
    };
    // all but the first, before which too little was seen
    assert_eq!((said_of(false), said_of(true)), ([0, 0], [9, 9]));
}

#[test]
fn cpu_time_needs_hundred_ticks() {
    // 12 launches of 40 ms have 360 ms of both, which is 90 ticks
    let few = &trial(&[side("a", 40.0, 12)]).rows[0].figures[0];
    assert_eq!((few.user_s, few.system_s), (None, None));
    assert!((few.cpu_s.unwrap() - 0.03).abs() < 1e-4);
    let enough = &trial(&[side("a", 50.0, 12)]).rows[0].figures[0];
    assert!((enough.user_s.unwrap() - 0.025).abs() < 1e-4);
    assert!((enough.system_s.unwrap() - 0.0125).abs() < 1e-4);
}

#[test]
fn start_up_time_is_reported() {
    let mut a = side("a", 10.0, 12);
    a.launches.extend((0..6).map(|round| launch(START_UP, round, 1.5)));
    let view = trial(&[a]);
    assert!((view.start_up_ns.unwrap() - 1.5e6).abs() < 1.0);
    assert!(view.rows[0].comparisons.is_empty());
}

/// Of a command that takes less than its shell, only the least launch bounds the time from below.
#[test]
fn short_commands_may_be_shorter() {
    let interval = |ms: f64, error: &str| {
        let mut side = side("a", ms, 40);
        for (index, launch) in side.launches.iter_mut().enumerate() {
            let start_up = [("start_up_ns", "20000000"), ("start_up_error_ns", error)];
            let start_up = start_up.map(|(key, ns)| Event::Param(Param::new(key, ns)));
            launch.events.splice(0..0, start_up);
            if let Some(Event::Sample(sample)) = launch.events.last_mut().filter(|_| index == 7) {
                sample.wall = 21_500_000;
            }
        }
        trial(&[side]).rows[0].figures[0].interval.unwrap()
    };
    assert!(interval(30.0, "1000000")[0] < 1.6);
    assert!(interval(50.0, "1000000")[0] > 28.0);
    // a measured error counts, if it is larger than the least
    let [low, high] = interval(50.0, "4000000");
    assert!((25.0..27.0).contains(&low) && (33.0..35.0).contains(&high), "{low} {high}");
}

/// The subtracted time has an error of 5%, which both sides share.
#[test]
fn subtracted_time_widens_intervals() {
    let subtracted = |name, ms| {
        let mut side = side(name, ms, 12);
        for launch in &mut side.launches {
            for (key, ns) in [("start_up_ns", "20000000"), ("start_up_user_ns", "10000000")] {
                launch.events.insert(0, Event::Param(Param::new(key, ns)));
            }
        }
        side
    };
    let view = trial(&[subtracted("a", 60.0), subtracted("b", 80.0)]);
    let (figures, comparison) = (&view.rows[0].figures, &view.rows[0].comparisons[0]);
    for (figure, ms) in figures.iter().zip([40.0, 60.0]) {
        let (estimate, [low, high]) = (figure.estimate.unwrap(), figure.interval.unwrap());
        assert!((estimate - ms).abs() < 0.5, "{figure:?}");
        assert!(low < estimate - 1.0 && high > estimate + 1.0, "{figure:?}");
        assert!(low > estimate - 1.5 && high < estimate + 1.5, "{figure:?}");
    }
    assert!((figures[0].user_s.unwrap() - 0.02).abs() < 1e-3, "{figures:?}");
    // of 1/40 and 1/60 the difference
    let (ratio, [low, high]) = (comparison.ratio.unwrap(), comparison.interval.unwrap());
    assert_eq!(comparison.verdict, Verdict::Slower);
    assert!((0.008..0.02).contains(&(high / ratio).ln()), "{comparison:?}");
    assert!((0.008..0.02).contains(&(ratio / low).ln()), "{comparison:?}");
}

#[test]
fn sides_compare_with_the_best() {
    let runs = [side("a", 12.0, 12), side("b", 10.0, 12), side("c", 11.0, 12)];
    let view = trial(&runs);
    let shown = view.rows[0].comparisons.iter();
    let shown: Vec<_> = shown.map(|c| (c.base.as_str(), c.other.as_str(), c.verdict)).collect();
    assert_eq!(shown, [("b", "c", Verdict::Slower), ("b", "a", Verdict::Slower)]);
}

/// A damaged store may say anything.
#[test]
fn huge_rounds_take_no_memory() {
    let mut a = side("a", 10.0, 12);
    a.launches[3].round = u32::MAX;
    let view = trial(&[a, side("b", 10.0, 12)]);
    assert_eq!(view.rows[0].comparisons[0].pairs, 11);
    assert!(trial(&[]).rows.is_empty());
    assert!(trial(&[RunData::default(), RunData::default()]).rows.is_empty());
}
