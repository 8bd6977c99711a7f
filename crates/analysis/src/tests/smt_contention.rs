//! SMT contention: dropped samples, flags.

use crate::summary::{Reader, launch_ns_per_op};
use crate::tests::made_up_runs::*;
use gritstone_model::Flag::*;
use gritstone_model::*;

/// Contention beside a sample, which takes half as long again, as does the SMT probe.
pub fn contend(sample: &mut Sample) {
    sample.smt_probe = sample.smt_probe / 2 * 3;
    sample.wall = sample.wall / 2 * 3;
}

fn contend_all(launch: &mut Launch) {
    samples(launch).for_each(contend);
    batches(launch).for_each(|batch| batch.smt_probe = batch.smt_probe / 2 * 3);
}

fn sentences(result: &Measurement) -> Vec<(Option<Flag>, &str)> {
    let notes = result.notes.iter();
    notes.map(|note| (note.flag(), short(note))).collect()
}

fn spoilt(contended: usize) -> Measurement {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches[..contended] {
        contend_all(launch);
    }
    only(&run)
}

#[test]
fn contended_samples_are_left_out() {
    let clean = only(&run(vec![claimed("a/b")], scattered("a/b", 100.0)));
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches {
        contend(first_sample(launch));
    }
    let result = only(&run);
    assert_eq!(result.value(), clean.value());
    near(result.cycles(), 4.0 * clean.value().unwrap());
    // of fewer samples a little less is known
    let width = |result: &Measurement| result.interval().map(|[low, high]| high - low);
    assert!(width(&clean) < width(&result) && width(&result) < Some(1.2));
    assert_eq!(result.samples(), clean.samples());
    assert_eq!(sentences(&result), [(None, "left-out count=10/30")]);
    // sides of a trial keep all samples
    run.info.settings.trial = Some(TrialSide::default());
    let (side, n) = (only(&run), clean.launches());
    assert_eq!((side.launches(), sentences(&side)), (n, vec![]));
    let (side, clean) = (side.values()[0], clean.values()[0]);
    assert_eq!(side, clean, "the median of three bears one");
}

#[test]
fn contended_launches_are_flagged() {
    let result = spoilt(5);
    assert!(result.launches() == 10 && !result.is_flagged(Interference));
    let result = spoilt(6);
    assert_eq!(result.launches(), 10);
    let why = "interfered count=6/10 causes=[smt]";
    assert!(sentences(&result).contains(&(Some(Interference), why)));
}

#[test]
fn permanent_neighbors_are_flagged() {
    assert_eq!(sentences(&spoilt(10)), []);
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    // the floor of one run is known in the next
    run.info.settings.smt_floors = view(&run).smt_floors;
    assert_eq!(run.info.settings.smt_floors, [(1, 0.25)].into());
    assert_eq!(sentences(&only(&run)), []);
    run.launches.iter_mut().for_each(contend_all);
    let result = only(&run);
    assert_eq!(result.launches(), 10);
    let why = "interfered count=10/10 causes=[smt]";
    assert!(sentences(&result).contains(&(Some(Interference), why)));
}

#[test]
fn unshared_cores_have_no_contention() {
    // big.LITTLE: three places for additions in a big core, two in a little one; no CPU has a second thread
    let mut board = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    board.info.machine.facts.remove("cpu.smt");
    for (index, launch) in board.launches.iter_mut().enumerate() {
        launch.cpus = [vec![1], vec![]][index % 2].clone();
        let smt_probe = [83_000, 125_000][index / 2 % 2];
        samples(launch).for_each(|sample| sample.smt_probe = smt_probe);
    }
    let result = only(&board);
    assert_eq!((sentences(&result), result.launches()), (vec![], 10));
    assert!(view(&board).smt_floors.is_empty());
    // a laptop with SMT on its big cores: all CPUs at once are of both kinds
    board.info.machine.facts.insert("cpu.smt".into(), "on".into());
    board.launches.iter_mut().for_each(|l| l.cpus = vec![]);
    assert_eq!(sentences(&only(&board)), []);
}

#[test]
fn sibling_share_needs_a_floor() {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    let share = |run: &RunData| view(run).contention.unwrap().siblings_busy;
    assert_eq!(share(&run), Some(0.0));
    run.info.machine.facts.remove("cpu.smt");
    assert_eq!(share(&run), None);
}

#[test]
fn missing_smt_probe_changes_nothing() {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches {
        samples(launch).for_each(|sample| sample.smt_probe = 0);
    }
    assert_eq!(only(&run).launches(), 10);
    assert_eq!(sentences(&only(&run)), []);
}

#[test]
fn sum_uses_undisturbed_samples() {
    let rows = vec![plain("a/x"), plain("a/y"), derived("a/d", &[(1.0, "a/x"), (-1.0, "a/y")])];
    let mut all = scattered("a/x", 300.0);
    contend(first_sample(&mut all[2]));
    all.extend(scattered("a/y", 100.0));
    let view = view(&run(rows, all));
    let sum = row(&view, "a/d");
    assert_eq!((sum.launches(), sentences(sum)), (10, vec![]));
    let estimate = sum.value().unwrap();
    assert!((199.0..201.0).contains(&estimate), "{estimate}");
}

#[test]
fn reader_learns_the_smt_floor() {
    let benchmark = claimed("a/b");
    let quiet = launch("a/b", 0, 100.0);
    let mut loud = launch("a/b", 1, 100.0);
    contend_all(&mut loud);
    let info = run(vec![], vec![]).info;
    let mut reader = Reader::new(&info);
    assert!(!reader.read(&benchmark, &loud).disturbed);
    for _ in 0..3 {
        assert!(!reader.read(&benchmark, &quiet).disturbed);
    }
    assert!(reader.read(&benchmark, &loud).contended);
    // launches on another CPU say nothing
    loud.cpus = vec![0];
    assert!(!reader.read(&benchmark, &loud).disturbed);
    assert_eq!(launch_ns_per_op(&benchmark, &quiet), Some(100.0));
}

/// A run with contended batches in its first launches.
fn with_contended_batches(launches: usize) -> Measurement {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches[..launches] {
        batches(launch).for_each(|batch| batch.smt_probe = batch.smt_probe / 2 * 3);
    }
    only(&run)
}

#[test]
fn contended_batches_are_flagged() {
    let few = with_contended_batches(5);
    assert_eq!(sentences(&few), []);
    let result = with_contended_batches(6);
    assert_eq!(result.published.as_ref().unwrap().values.len(), 10);
    let marks: Vec<_> = result.notes.iter().map(|note| (note.flag(), about(note))).collect();
    let mark = |time| (Some(Interference), Some(time));
    assert_eq!(marks, [mark("real_s"), mark("user_s")]);
}

#[test]
fn contended_process_flags_its_time() {
    let mut run = run(vec![claimed("a/b")], scattered("a/b", 100.0));
    for launch in &mut run.launches[..6] {
        for event in &mut launch.events {
            if let Event::Process(process) = event {
                contend(process);
            }
        }
    }
    let result = only(&run);
    let actual: Vec<_> = result.notes.iter().map(|note| (note.flag(), note.about)).collect();
    assert_eq!(actual, [(Some(Interference), Subject::Process)]);
}

/// Contended samples in six launches of an indivisible benchmark.
fn with_contended_launches(row: &Benchmark, count: usize, latency: bool) -> Measurement {
    let mut run = run(vec![row.clone()], scattered("a/b", 100.0));
    for (index, launch) in run.launches.iter_mut().enumerate() {
        if latency {
            launch.events.push(Event::Latency(Box::new(histogram(&[(100, 1)]))));
        }
        if index < 6 {
            samples(launch).take(count).for_each(contend);
        }
    }
    only(&run)
}

#[test]
fn indivisible_launches_are_flagged() {
    let files =
        Benchmark { files: true, unit: unit("calls/s"), better: Better::Higher, ..plain("a/b") };
    for (row, latency) in [(files, false), (plain("a/b"), true)] {
        let [none, one] = [0, 1].map(|count| with_contended_launches(&row, count, latency));
        assert!(one.launches() == 10 && !one.is_flagged(Interference), "{latency}");
        // time of writeback on the sibling is in the rate
        assert!(latency || one.values()[0] < none.values()[0]);
        let marked = with_contended_launches(&row, 2, latency);
        assert_eq!(marked.launches(), 10);
        let why = "interfered count=6/10 causes=[smt]";
        assert!(sentences(&marked).contains(&(Some(Interference), why)));
    }
}

fn first_sample(launch: &mut Launch) -> &mut Sample {
    samples(launch).next().unwrap()
}
