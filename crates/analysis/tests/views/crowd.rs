//! Another thread of the core beside some of what was measured: what is left out, what is marked, and what is not.

use crate::made_up::*;
use gritstone_analysis::summary::{Reader, launch_ns_per_op};
use gritstone_model::Flag::*;
use gritstone_model::*;

/// Somebody else's work beside a sample: it takes half as long again, and so do additions that need not wait.
pub fn crowd(sample: &mut Sample) {
    sample.wide = sample.wide / 2 * 3;
    sample.wall = sample.wall / 2 * 3;
}

/// The same beside the whole launch.
fn crowd_all(launch: &mut Launch) {
    samples(launch, crowd);
    for event in &mut launch.events {
        if let Event::Batch(batch) = event {
            batch.wide = batch.wide / 2 * 3;
        }
    }
}

fn sentences(result: &Measurement) -> Vec<(Option<Flag>, &str)> {
    let notes = result.notes.iter();
    notes.map(|note| (note.flag(), short(note))).collect()
}

fn spoilt(crowded: usize) -> Measurement {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches[..crowded] {
        crowd_all(launch);
    }
    only(&run)
}

#[test]
fn one_sample_of_a_launch_changes_nothing() {
    let clean = only(&run(vec![claimed("a/b")], scattered("a/b", 100.0)));
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches {
        let first = launch.events.iter_mut().find_map(|event| match event {
            Event::Sample(sample) => Some(sample),
            _ => None,
        });
        crowd(first.unwrap());
    }
    let result = only(&run);
    assert_eq!(result.estimate, clean.estimate);
    assert_eq!(result.cycles, clean.cycles);
    assert_eq!(result.samples, clean.samples);
    assert_eq!(sentences(&result), []);
}

#[test]
fn whole_launches_are_left_out_while_enough_are_left() {
    let result = spoilt(4);
    assert_eq!(result.launches, 6);
    let estimate = result.value().unwrap();
    assert!((99.0..101.0).contains(&estimate), "{estimate}");
    let note = "left-out count=4/10";
    assert_eq!(sentences(&result), [(None, note)]);
}

#[test]
fn the_figure_is_marked_when_too_few_are_left() {
    let result = spoilt(5);
    assert_eq!(result.launches, 10);
    let why = "interfered count=5/10 causes=[smt]";
    assert!(sentences(&result).contains(&(Some(Interference), why)));
}

#[test]
fn a_core_that_was_never_ours_alone_cannot_be_told_from_one_that_was() {
    let result = spoilt(10);
    assert_eq!(sentences(&result), []);
}

#[test]
fn a_run_from_before_the_smt_probe_is_as_it_was() {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches {
        samples(launch, |sample| sample.wide = 0);
    }
    assert_eq!(only(&run).launches, 10);
    assert_eq!(sentences(&only(&run)), []);
}

#[test]
fn a_sum_leaves_out_the_rounds_of_its_terms() {
    let rows = vec![
        plain("a/x"),
        plain("a/y"),
        derived("a/d", &[(1.0, "a/x"), (-1.0, "a/y")]),
    ];
    let mut all = scattered("a/x", 300.0);
    samples(&mut all[2], crowd);
    let mut other = scattered("a/y", 100.0);
    samples(&mut other[7], crowd);
    all.extend(other);
    let view = view(&run(rows, all));
    let sum = row(&view, "a/d");
    assert_eq!(sum.launches, 8);
    let estimate = sum.value().unwrap();
    assert!((199.0..201.0).contains(&estimate), "{estimate}");
    assert!(sentences(sum).iter().all(|(kind, _)| kind.is_none()));
}

#[test]
fn a_reader_learns_what_the_core_is_alone() {
    let benchmark = claimed("a/b");
    let quiet = launch("a/b", 0, 100.0);
    let mut loud = launch("a/b", 1, 100.0);
    crowd_all(&mut loud);
    let mut reader = Reader::default();
    assert!(!reader.learn(&benchmark, &loud).disturbed);
    assert!(!reader.learn(&benchmark, &quiet).disturbed);
    assert!(reader.learn(&benchmark, &loud).disturbed);
    // of the CPU of somebody else's launches it says nothing
    loud.cpus = vec![0];
    assert!(!reader.learn(&benchmark, &loud).disturbed);
    assert_eq!(launch_ns_per_op(&benchmark, &quiet), Some(100.0));
}

/// A run in whose first launches the published work has a crowd beside it.
fn crowded_batches(launches: usize) -> Measurement {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches[..launches] {
        batches(launch, |batch| batch.wide = batch.wide / 2 * 3);
    }
    only(&run)
}

#[test]
fn published_work_beside_a_crowd_is_left_out_and_told() {
    let result = crowded_batches(3);
    assert_eq!(result.published.as_ref().unwrap().values.len(), 7);
    let of: Vec<_> = result.notes.iter().map(|note| about(note)).collect();
    assert_eq!(of, [Some("real_s"), Some("user_s")]);
    for (kind, why) in sentences(&result) {
        assert_eq!(kind, None);
        assert!(why.starts_with("left-out count=3/10"), "{why}");
    }
}

#[test]
fn published_work_is_marked_when_too_little_was_alone() {
    let result = crowded_batches(5);
    assert_eq!(result.published.as_ref().unwrap().values.len(), 10);
    let marks = result.notes.iter().map(|note| (note.flag(), about(note)));
    assert!(
        marks
            .clone()
            .all(|(kind, of)| kind == Some(Interference) && of.is_some())
    );
    assert!(marks.into_iter().any(|(_, of)| of == Some("real_s")));
}

#[test]
fn a_whole_process_beside_a_crowd_is_told_of_its_own_time() {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches[..3] {
        for event in &mut launch.events {
            if let Event::Process(process) = event {
                crowd(process);
            }
        }
    }
    let result = only(&run);
    let clean = crowded_batches(0).published.unwrap();
    let found = result.published.unwrap().process.unwrap().value;
    assert!((found / clean.process.unwrap().value - 1.0).abs() < 0.01);
    let told = result.notes.iter().find(|note| note.flag().is_none());
    assert_eq!(told.map(|note| note.about), Some(Subject::Process));
}

/// One sample of some launches beside a crowd, where the figure is of everything that a launch did.
fn crowded_whole(row: &Benchmark, launches: usize, latency: bool) -> Measurement {
    let mut run = run(vec![row.clone()], scattered("a/b", 100.0));
    for (at, launch) in run.launches.iter_mut().enumerate() {
        if latency {
            launch.events.push(Event::Latency(Box::new(Histogram {
                count: 1,
                min: 100,
                max: 100,
                sum: 100,
                buckets: vec![(100, 1)],
            })));
        }
        let first = launch.events.iter_mut().find_map(|event| match event {
            Event::Sample(sample) => Some(sample),
            _ => None,
        });
        if at < launches {
            crowd(first.unwrap());
        }
    }
    only(&run)
}

#[test]
fn of_what_cannot_be_taken_apart_the_whole_launch_is_left_out() {
    let files = Benchmark {
        files: true,
        unit: unit("calls/s"),
        better: Better::Higher,
        ..plain("a/b")
    };
    for (row, latency) in [(files, false), (plain("a/b"), true)] {
        let result = crowded_whole(&row, 4, latency);
        assert_eq!(result.launches, 6, "{latency}");
        assert!(sentences(&result).iter().all(|(kind, _)| kind.is_none()));
        let marked = crowded_whole(&row, 5, latency);
        assert_eq!(marked.launches, 10);
        assert!(
            sentences(&marked)
                .iter()
                .any(|(kind, _)| *kind == Some(Interference))
        );
    }
}
