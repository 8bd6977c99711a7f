//! Sums of other results.

use crate::tests::made_up_runs::*;
use gritstone_model::Flag::*;
use gritstone_model::*;
use gritstone_stats::center;

/// a/long less a/short, with published work; neither enters the kernel of the system.
fn rows() -> Vec<Benchmark> {
    let mut rows = vec![
        claimed("a/long"),
        claimed("a/short"),
        derived("a/rest", &[(1.0, "a/long"), (-1.0, "a/short")]),
    ];
    rows[0].claims.syscalls_per_op = Some(0.0);
    rows[1].claims.syscalls_per_op = Some(0.0);
    rows[2].published = rows[0].published.clone();
    rows
}

fn both(long: f64, short: f64) -> RunData {
    // the short one three rounds later, so that the difference scatters too
    let mut later = scattered("a/short", short);
    for launch in &mut later {
        launch.round = (launch.round + 3) % LAUNCHES;
    }
    run(rows(), [scattered("a/long", long), later].concat())
}

fn rest(run: &RunData) -> Measurement {
    row(&view(run), "a/rest").clone()
}

fn notes(result: &Measurement) -> Vec<(Option<Flag>, Option<&str>, &str)> {
    let note = |n: &'_ Note| n.flag();
    result.notes.iter().map(|n| (note(n), about(n), short(n))).collect()
}

#[test]
fn one_term_keeps_its_estimate() {
    let benchmarks = vec![claimed("a/long"), derived("a/twice", &[(2.0, "a/long")])];
    let found = view(&run(benchmarks, scattered("a/long", 100.0)));
    let [term, twice] = ["a/long", "a/twice"].map(|name| row(&found, name));
    near(twice.cycles(), 2.0 * f64::from(term.cycles().unwrap()));
    let [term, twice] = [term, twice].map(|result| result.estimate().unwrap());
    let ratios = term.interval.unwrap().into_iter().zip(twice.interval.unwrap());
    for (term, twice) in ratios.chain([(term.value, twice.value)]) {
        assert!((twice / term - 2.0).abs() < 1e-9, "{term} {twice}");
    }
}

#[test]
fn the_difference_round_by_round() {
    let mut run = both(100.0, 60.0);
    run.info.settings.precision = 0.05;
    let result = rest(&run);
    assert_eq!(result.outcome(), Status::Measured);
    assert_eq!((result.launches(), result.samples()), (10, 60));
    let center = center::plain_center(result.values(), 0.95).unwrap();
    assert_eq!(result.value(), Some(center.value));
    assert_eq!(result.interval(), center.interval);
    assert!((result.value().unwrap() - 40.12).abs() < 0.1);
    // round 0: 100 * 1.005 - 60
    near(result.values().first().copied(), 40.5);
    // 4 GHz
    near(result.cycle_values().first().copied(), 162.0);
    near(result.ghz(), 4.0);
    assert_eq!(notes(&result), []);
    let published = result.published.unwrap();
    assert!((published.real.unwrap().value - 0.04012).abs() < 1e-4);
    assert!((published.user.unwrap().value - 0.04012).abs() < 1e-4);
    assert_eq!((published.system, published.process), (None, None));
    assert_eq!(published.values.len(), 10);
}

#[test]
fn terms_are_weighted() {
    let rows = vec![
        plain("a/long"),
        plain("a/short"),
        derived("a/rest", &[(1.0, "a/long"), (-2.0, "a/short")]),
    ];
    let launches = [launches("a/long", 100.0), launches("a/short", 20.0)].concat();
    let result = rest(&run(rows, launches));
    near(result.estimate(), 60.0);
    near(result.cycles(), 240.0);
    assert_eq!(notes(&result), []);
}

#[test]
fn user_time_needs_syscall_freedom() {
    let mut run = both(100.0, 60.0);
    run.benchmarks[1].claims.syscalls_per_op = Some(1.0);
    let published = rest(&run).published.unwrap();
    assert!(published.real.is_some());
    assert_eq!(published.user, None);
}

/// Without reference workload.
fn unpublished() -> Vec<Benchmark> {
    let mut rows = rows();
    rows[2].published = None;
    rows
}

#[test]
fn negative_difference_is_reported() {
    let rows = unpublished();
    let launches = [launches("a/long", 60.0), launches("a/short", 100.0)].concat();
    let result = rest(&run(rows, launches));
    near(result.value().map(|x| -x), 40.0);
    let why = "negative value=-40 unit=ns/call because=work";
    assert_eq!(notes(&result), [(Some(Invalid), None, why)]);
}

#[test]
fn negative_by_noise_is_valid() {
    let rows = unpublished();
    // all but as long as each other
    let run = run(rows, [launches("a/long", 100.0), scattered("a/short", 99.8)].concat());
    let result = rest(&run);
    assert!(result.value().unwrap() < 0.0 && result.interval().unwrap()[1] > 0.0);
    let kinds: Vec<_> = notes(&result).iter().map(|(kind, ..)| *kind).collect();
    assert_eq!(kinds, [Some(Noisy)], "{:?}", notes(&result));
    // too few rounds for an interval
    let few =
        RunData { launches: run.launches.iter().filter(|l| l.round < 4).cloned().collect(), ..run };
    let result = rest(&few);
    assert!(result.value().unwrap() < 0.0 && result.interval().is_none());
    let found = notes(&result);
    assert!(found.iter().all(|(kind, ..)| *kind == Some(Noisy)), "{found:?}");
    assert!(found.iter().any(|(.., why)| why.ends_with("because=too-few")), "{found:?}");
}

#[test]
fn negative_by_interference_is_valid() {
    let mut run = run(rows(), [launches("a/long", 60.0), launches("a/short", 100.0)].concat());
    for launch in run.launches.iter_mut().filter(|l| l.id == id("a/short")) {
        launch.conditions.others = Some(launch.conditions.wall / 2);
    }
    let found = rest(&run);
    let kinds: Vec<_> = notes(&found).iter().map(|(kind, ..)| *kind).collect();
    assert!(!kinds.contains(&Some(Invalid)), "{kinds:?}");
    assert!(kinds.contains(&Some(Noisy)) && kinds.contains(&Some(Interference)));
    let why = "negative value=-40 unit=ns/call because=interference";
    assert!(notes(&found).contains(&(Some(Noisy), None, why)));
}

#[test]
fn negative_reference_times_are_noted() {
    let mut run = run(rows(), [launches("a/long", 100.0), launches("a/short", 60.0)].concat());
    for launch in run.launches.iter_mut().filter(|l| l.id == id("a/long")) {
        batches(launch).for_each(|batch| {
            batch.walls.iter_mut().for_each(|wall| *wall /= 2);
            batch.usage.cpu /= 2;
        });
    }
    let result = rest(&run);
    let flagged: Vec<_> =
        notes(&result).into_iter().map(|(flag, about, _)| (flag, about)).collect();
    assert_eq!(flagged, [(Some(Invalid), Some("real_s")), (Some(Invalid), Some("user_s"))]);
    assert!(result.published.unwrap().real.unwrap().value < 0.0);
}

/// A difference whose longer term has contended batches in its first rounds.
fn contended_difference(rounds: u32, factor: u64) -> Measurement {
    let mut run = both(100.0, 60.0);
    let longer = |launch: &&mut Launch| launch.id == id("a/long") && launch.round < rounds;
    for launch in run.launches.iter_mut().filter(longer) {
        batches(launch).for_each(|batch| {
            batch.smt_probe = batch.smt_probe / 2 * 3;
            batch.walls.iter_mut().for_each(|wall| *wall /= factor);
            batch.usage.cpu /= factor;
        });
    }
    rest(&run)
}

#[test]
fn contended_batches_flag_the_difference() {
    let flags = |result: &Measurement| -> Vec<_> {
        let found = notes(result).into_iter();
        found.map(|(kind, about, _)| (kind, about.map(str::to_owned))).collect()
    };
    let both = |kind| ["real_s", "user_s"].map(|time| (kind, Some(time.to_owned())));
    let result = contended_difference(5, 1);
    assert_eq!(flags(&result), []);
    let result = contended_difference(6, 1);
    assert_eq!(flags(&result), both(Some(Interference)));
    assert_eq!(result.published.unwrap().values.len(), 10);
    // less than nothing, but for a reason that is known
    let result = contended_difference(10, 2);
    assert!(result.published.as_ref().unwrap().real.unwrap().value < 0.0);
    assert!(flags(&result).iter().all(|(kind, _)| *kind != Some(Invalid)));
}

#[test]
fn interval_reaching_zero_is_noted() {
    let mut run = both(100.0, 99.9);
    run.benchmarks[2].published = None;
    let result = rest(&run);
    assert!(result.value().unwrap() > 0.0);
    let found = notes(&result);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, Some(Noisy));
    assert!(found[0].2.starts_with("reaches-zero"));
}

#[test]
fn incomplete_rounds_do_not_count() {
    let mut run = both(100.0, 60.0);
    run.benchmarks[2].published = None;
    run.info.settings.precision = 0.05;
    run.launches.remove(12);
    run.launches[3].outcome = Outcome::Failed("fork: EAGAIN".to_owned());
    let result = rest(&run);
    assert_eq!(result.launches(), 8);
    let why = "incomplete-rounds count=2/10";
    assert_eq!(notes(&result), [(Some(Noisy), None, why)]);
}

#[test]
fn repeated_launch_counts_once() {
    let mut run = run(rows(), [launches("a/long", 100.0), launches("a/short", 60.0)].concat());
    run.launches.push(launch("a/long", 4, 104.0));
    let result = rest(&run);
    assert_eq!(result.launches(), 10);
    near(result.values().get(4).copied(), 42.0);
}

#[test]
fn sum_inherits_flags() {
    let mut run = both(100.0, 60.0);
    run.info.settings.precision = 0.05;
    run.benchmarks[0].claims.min_ns_per_op = Some(200.0);
    for launch in run.launches.iter_mut().filter(|l| l.id == id("a/short")) {
        launch.conditions.steal = Some(50_000_000);
    }
    let result = rest(&run);
    let found = notes(&result);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0].0, found[1].0), (Some(Invalid), Some(Interference)));
    assert!(found[0].2.starts_with("inherited from=a/long finding=below-minimum ns=100"));
    assert!(found[1].2.starts_with("inherited from=a/short finding=interfered count=10/10"));
}

#[test]
fn sum_without_terms_is_skipped() {
    let launches = launches("a/long", 100.0);
    let absent = rest(&run(rows(), launches.clone()));
    assert_eq!((absent.outcome(), absent.estimate()), (Status::Skipped, None));
    let why = "parts-missing absent=[] empty=[a/short]";
    assert_eq!(notes(&absent)[0], (Some(Skipped), None, why));

    let mut without = rows();
    without.remove(1);
    let unlisted = rest(&run(without, launches.clone()));
    let why = "parts-missing absent=[a/short] empty=[]";
    assert_eq!(notes(&unlisted)[0], (Some(Skipped), None, why));

    let mut late = scattered("a/short", 60.0);
    late.iter_mut().for_each(|launch| launch.round += 100);
    let apart = rest(&run(rows(), [launches, late].concat()));
    let why = "parts-missing absent=[] empty=[]";
    assert_eq!(notes(&apart)[0], (Some(Skipped), None, why));
}

/// The rate of a/x as a share of that of a/whole, whose operation does half as much.
fn share() -> Benchmark {
    Benchmark {
        unit: unit("%"),
        better: Better::Higher,
        amount_per_op: 2.0,
        work: Work::Derived {
            terms: vec![Term { id: id("a/x"), times: 1.0 }],
            share_of: Some(id("a/whole")),
        },
        ..plain("a/share")
    }
}

#[test]
fn shares_compare_rates_by_round() {
    let rows = vec![plain("a/x"), plain("a/whole"), share()];
    // both scatter together, so that their share does not scatter at all
    let mut launches = scattered("a/x", 400.0);
    launches.extend(scattered("a/whole", 50.0));
    let view = view(&run(rows, launches));
    let found = row(&view, "a/share");
    let estimate = found.value().unwrap();
    assert!((24.999..25.001).contains(&estimate), "{estimate}");
    let [low, high] = found.interval().unwrap();
    assert!(24.99 < low && high < 25.01, "{low} {high}");
    assert_eq!((found.cycles(), found.notes.len()), (None, 0));
}

#[test]
fn absent_results_have_no_share() {
    let rows = vec![plain("a/x"), share()];
    let view = view(&run(rows, scattered("a/x", 400.0)));
    let found = row(&view, "a/share");
    assert_eq!(found.estimate(), None);
    let why = "parts-missing absent=[a/whole] empty=[]";
    assert!(found.notes.iter().any(|note| short(note) == why), "{:?}", found.notes);
}
