//! Estimates, intervals, cycles, statistics, outcomes and curves.

use crate::summary;
use crate::tests::made_up_runs::*;
use gritstone_model::*;
use gritstone_stats::undisturbed;

#[test]
fn estimates_are_lower_quartiles() {
    let result = only(&run(vec![claimed("a/b")], scattered("a/b", 100.0)));
    assert_eq!(result.outcome(), Status::Measured);
    near(result.estimate(), 100.0);
    assert_eq!((result.launches(), result.samples()), (10, 30));
    assert_eq!(result.values().len(), 10);
    near(result.values().first().copied(), 100.5);
    let center = undisturbed::estimate(result.values(), &[1.0; 10], 0.95).unwrap();
    assert_eq!(result.interval(), center.interval);
    let [low, high] = result.interval().unwrap();
    assert!(low > 99.4 && low < 100.0 && high > 100.0 && high < 100.5);
    assert_eq!(result.confidence(), Some(0.95));
    let statistics = result.statistics().unwrap().clone();
    near(Some(statistics.max), 100.8);
    assert_eq!(statistics.modes, Some(1));
}

#[test]
fn option_sets_confidence() {
    let run = run(vec![plain("a/b")], scattered("a/b", 100.0));
    let result = |confidence| {
        let options = summary::Options { confidence, ..summary::Options::default() };
        summary::summarize(&run, &options).results.remove(0)
    };
    assert_eq!(result(0.99).confidence(), Some(0.99));
    let width = |r: Measurement| r.interval().map(|[low, high]| high - low).unwrap();
    assert!(width(result(0.99)) > width(result(0.95)));
}

#[test]
fn interrupted_sample_moves_no_launch() {
    let mut spoilt = launches("a/b", 100.0);
    for launch in &mut spoilt {
        // one sample of three was interrupted
        samples(launch).next().unwrap().wall *= 7;
    }
    let result = only(&run(vec![plain("a/b")], spoilt));
    near(result.estimate(), 100.0);
    near(result.interval().map(|ends| ends[0]), 100.0);
    near(result.interval().map(|ends| ends[1]), 100.0);
}

#[test]
fn cycles_follow_the_core_frequency() {
    let result = only(&run(vec![claimed("a/b")], launches("a/b", 100.0)));
    // 100 ns at 4 GHz
    near(result.cycles(), 400.0);
    near(result.ghz(), 4.0);
    near(result.cycles().and_then(|e| e.interval).map(|ends| ends[1]), 400.0);
    assert_eq!(result.cycle_values().len(), 10);
    assert!(result.processor_bound);

    // a slow core takes longer and needs as many cycles
    let mut half = launches("a/b", 200.0);
    for launch in &mut half {
        samples(launch).for_each(|sample| set_cycle_probe(sample, 500_000));
    }
    let result = only(&run(vec![claimed("a/b")], half));
    near(result.estimate(), 200.0);
    near(result.cycles(), 400.0);
    near(result.ghz(), 2.0);
}

#[test]
fn paced_times_are_as_ran() {
    let result = |paced, reference_ghz| {
        let benchmark = Benchmark { paced, ..plain("a/b") };
        let options = summary::Options { reference_ghz, ..summary::Options::default() };
        let run = run(vec![benchmark], launches("a/b", 100.0));
        summary::summarize(&run, &options).results.remove(0)
    };
    // the launches ran at 4 GHz
    near(result(false, Some(2.0)).estimate(), 200.0);
    near(result(true, Some(2.0)).estimate(), 100.0);
    assert_eq!(result(true, Some(2.0)).cycles(), None);
}

#[test]
fn cycles_need_every_probe() {
    let mut unprobed = launches("a/b", 100.0);
    samples(&mut unprobed[3]).for_each(|sample| sample.cycle_probe = 0);
    let result = only(&run(vec![plain("a/b")], unprobed));
    near(result.estimate(), 100.0);
    assert_eq!((result.cycles(), result.ghz()), (None, None));
    assert!(result.cycle_values().is_empty());
}

#[test]
fn file_rates_divide_by_time() {
    let slow_last = |launch: &mut Launch| samples(launch).last().unwrap().wall *= 4;
    let mut written = launches("a/b", 512.0);
    written.iter_mut().for_each(slow_last);
    let mut benchmark = plain("a/b");
    benchmark.unit = unit("MB/s");
    benchmark.better = Better::Higher;
    benchmark.amount_per_op = 512.0;
    // 512 bytes in 512 ns are 1,000 MB/s; writeback makes 3 samples take as long as 6
    let plain_rate = only(&run(vec![benchmark.clone()], written.clone()));
    near(plain_rate.estimate(), 1000.0);
    benchmark.files = true;
    let on_files = only(&run(vec![benchmark.clone()], written.clone()));
    near(on_files.estimate(), 500.0);
    // a time on files stays the median
    benchmark.unit = unit("ns/call");
    benchmark.amount_per_op = 1.0;
    near(only(&run(vec![benchmark], written)).estimate(), 512.0);
}

#[test]
fn rate_interval_is_ordered() {
    let mut benchmark = plain("a/b");
    benchmark.unit = unit("calls/s");
    benchmark.better = Better::Higher;
    let result = only(&run(vec![benchmark], scattered("a/b", 100.0)));
    near(result.estimate(), 1e7);
    let [low, high] = result.interval().unwrap();
    assert!(low < 1e7 && 1e7 < high);
}

#[test]
fn launch_latencies_are_pooled() {
    let mut with = launches("a/b", 100.0);
    for (launch, ns) in with.iter_mut().zip([50, 100].into_iter().cycle()) {
        launch.events.push(Event::Latency(Box::new(histogram(&[(ns, 10)]))));
    }
    let mut benchmark = plain("a/b");
    benchmark.unit = unit("us/call");
    let statistics =
        only(&run(vec![benchmark.clone()], with.clone())).statistics().unwrap().clone();
    assert_eq!((statistics.min, statistics.mean, statistics.max), (0.05, Some(0.075), 0.1));
    near(statistics.percentiles.get("p90").copied(), 0.1);
    // drift and modes are those of the launches
    assert_eq!((statistics.drift, statistics.modes), (Some(0.0), Some(1)));

    // a rate keeps the statistics of its launches
    benchmark.unit = unit("calls/s");
    let statistics = only(&run(vec![benchmark], with)).statistics().unwrap().clone();
    near(Some(statistics.max), 1e7);
    near(Some(statistics.min), 1e7);
}

#[test]
fn medium_is_reported() {
    let mut reported = launches("a/b", 100.0);
    let want = "page cache of ext4 on /dev/vda1";
    for launch in &mut reported {
        launch.events.push(param("measured", want));
    }
    let result = only(&run(vec![plain("a/b")], reported));
    assert_eq!(result.measured.as_deref(), Some(want));
    assert_eq!(result.program.unwrap().compiler, "cc 14.2");
    let silent = only(&run(vec![plain("a/b")], launches("a/b", 100.0)));
    assert_eq!(silent.measured, None);
}

#[test]
fn only_measured_launches_count() {
    let mut some = launches("a/b", 100.0);
    for launch in &mut some[..2] {
        samples(launch).for_each(|sample| sample.wall *= 50);
        launch.outcome = Outcome::TimedOut("no answer within 10 s".to_owned());
    }
    let result = only(&run(vec![plain("a/b")], some));
    assert_eq!((result.outcome(), result.launches()), (Status::Measured, 8));
    near(result.estimate(), 100.0);
    assert_eq!(result.values().len(), 8);
}

#[test]
fn working_set_curve_finds_caches() {
    let curve_notes = |caches| {
        let mut last = plain("a/64");
        let points = [(16.0, "a/16"), (32.0, "a/32"), (64.0, "a/64")];
        last.curve = Some(Curve { caches, ..curve("working set, KB", points) });
        let rows = vec![plain("a/16"), plain("a/32"), last];
        let launches = [("a/16", 10.0), ("a/32", 10.0), ("a/64", 30.0)];
        let launches = launches.map(|(name, ns)| scattered(name, ns)).concat();
        let mut run = run(rows, launches);
        let fact = ("cache.l1d".to_owned(), "32 KiB".to_owned());
        run.info.machine.facts.extend([fact]);
        row(&view(&run), "a/64").notes.clone()
    };
    assert!(curve_notes(false).is_empty());
    let notes = curve_notes(true);
    let [note] = notes.as_slice() else {
        panic!("{notes:?}");
    };
    let Finding::CacheRises { rises, unseen } = &note.finding else {
        panic!("{note:?}");
    };
    assert_eq!((rises.len(), unseen.len()), (1, 0));
    assert_eq!((rises[0].from, rises[0].to), (32.0, 64.0));
    near(Some(rises[0].factor), 3.0);
    assert_eq!(rises[0].cache.as_ref().map(|cache| cache.bytes), Some(32 << 10));
}

#[test]
fn curve_points_are_results() {
    let mut last = plain("a/2");
    let points = [(1.0, "a/1"), (2.0, "a/2"), (3.0, "a/3"), (4.0, "a/4")];
    last.curve = Some(curve("processes", points));
    let rows = vec![plain("a/1"), last, plain("a/3")];
    let launches = [launches("a/1", 10.0), launches("a/2", 20.0)].concat();
    let view = view(&run(rows, launches));
    let result = row(&view, "a/2");
    assert_eq!(result.curve.as_ref().unwrap().label, "processes");
    let series = result.series().unwrap();
    let points: Vec<(f64, Option<f64>)> =
        series.iter().map(|p| (p.x, p.estimate.map(f64::from))).collect();
    assert_eq!(points[0].0, 1.0);
    near(points[0].1, 10.0);
    near(points[1].1, 20.0);
    // one that was not measured, and one that is not part of the run
    assert_eq!(points[2..], [(3.0, None), (4.0, None)]);
    assert_eq!(series[1].estimate, result.estimate());
    assert!(row(&view, "a/1").series().is_none());
}
