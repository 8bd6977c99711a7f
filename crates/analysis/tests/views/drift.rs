//! A core whose frequency moves during a run: what the intervals of times and of cycles make of it.

use crate::made_up::*;
use gritstone_model::*;
use gritstone_stats::drift;

/// Twenty launches each of two rows that take 400 and 240 cycles, and a third whose time is not the processor's, on a core that is
/// slower by this share in the middle of the run.
fn moved(share: f64) -> RunData {
    let mut paced = [claimed("a/b"), plain("a/c")];
    paced[1].processor_bound = true;
    let [b, c] = paced;
    let difference = Benchmark {
        processor_bound: true,
        published: b.published.clone(),
        ..derived("a/difference", &[(1.0, "a/b"), (-1.0, "a/c")])
    };
    let mut launches = Vec::new();
    for round in 0..20 {
        let factor = SCATTER[round as usize % 10];
        let slow = 1.0 + share * f64::from(u8::from((5..15).contains(&round)));
        for (name, ns) in [("a/b", 100.0), ("a/c", 60.0), ("a/disk", 100.0)] {
            let time = if name == "a/disk" { ns } else { ns * slow };
            let mut launch = launch(name, round, time * factor);
            samples(&mut launch, |s| at_pace(s, (250_000.0 * slow) as u64));
            launches.push(launch);
        }
    }
    run(vec![b, c, difference, plain("a/disk")], launches)
}

fn half(interval: Option<[f64; 2]>) -> f64 {
    interval.map_or(f64::NAN, |[low, high]| (high / low).ln() / 2.0)
}

fn remark(result: &Measurement) -> Option<&str> {
    let mut notes = result.notes.iter();
    let found = notes.find(|note| note.flag().is_none() && note.about == Subject::Result);
    found.map(short)
}

#[test]
fn times_have_the_drift_and_cycles_are_free_of_it() {
    let (still, view) = (view(&moved(0.0)), view(&moved(0.03)));
    let t = 2.364_624; // for 7 degrees of freedom
    let pace = |round: u32| if (5..15).contains(&round) { 1.03 } else { 1.0 };
    let paces: Vec<f64> = (0..60).map(|at| pace(at / 3)).collect();
    let sd = drift::of_run(&paces).ln_sd;
    assert!((0.012..0.018).contains(&sd), "{sd}");
    for name in ["a/b", "a/c"] {
        let (still, moved) = (row(&still, name), row(&view, name));
        assert!(half(moved.interval()) > t * sd, "{name}");
        assert!(half(moved.interval()) < half(still.interval()) * 3.0 + 0.03 + t * sd);
        assert!(
            (half(moved.cycles.unwrap().interval) - half(still.cycles.unwrap().interval)).abs()
                < 1e-5
        );
        let why = remark(moved).unwrap();
        assert!(why.starts_with("frequency-drift sd=0.015"), "{why}");
        assert_eq!(remark(still), None);
    }
    let published = |view: &RunView, name| row(view, name).published.clone().unwrap();
    let (before, after) = (published(&still, "a/b"), published(&view, "a/b"));
    for (before, after) in [
        (before.real, after.real),
        (before.user, after.user),
        (before.system, after.system),
        (before.process, after.process),
    ] {
        assert!(
            half(before.unwrap().interval) < 0.005 && half(after.unwrap().interval) > t * sd,
            "{before:?} {after:?}"
        );
    }
    let after = published(&view, "a/difference");
    assert!(half(row(&view, "a/difference").interval()) > t * sd);
    assert!(half(after.real.unwrap().interval) > t * sd);
}

#[test]
fn work_that_the_processor_does_not_bound_is_left_alone() {
    let (still, view) = (view(&moved(0.0)), view(&moved(0.03)));
    let [still, moved] = [&still, &view].map(|view| row(view, "a/disk"));
    assert_eq!((moved.interval(), remark(moved)), (still.interval(), None));
}

#[test]
fn launches_that_tell_nothing_of_the_core_do_not_count() {
    type Change = fn(&mut Launch);
    let changes: [Change; 3] = [
        |launch| launch.cpus = vec![],
        |launch| launch.conditions.steal = Some(900_000_000),
        |launch| launch.outcome = Outcome::Failed("it fell".to_owned()),
    ];
    for change in changes {
        // every third launch of each row, and it has a pace that is off by half
        let mut run = moved(0.0);
        for launch in run
            .launches
            .iter_mut()
            .filter(|launch| launch.round % 3 == 0)
        {
            samples(launch, |s| at_pace(s, 500_000));
            change(launch);
        }
        assert_eq!(remark(row(&view(&run), "a/b")), None);
    }
}
