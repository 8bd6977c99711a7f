//! Percentiles of operations timed one by one: intervals and comparisons.

use crate::compare::{Options, compare};
use crate::tests::made_up_runs::*;
use crate::{run_effect, run_summary::RunSummary, summary};
use gritstone_model::*;
use gritstone_stats::undisturbed;

/// Launches of this number of events, one in 50 at the late time of the launch, the others at 50 ns.
fn timed(events: u64, late: &[u64]) -> RunData {
    let launches = (0..).zip(late).map(|(round, late)| {
        let (slow, mut launch) = (events / 50, launch("a/b", round, 50.0));
        let times = [(50, events - slow), (*late as u32, slow)];
        launch.events.push(Event::Latency(Box::new(histogram(&times))));
        launch
    });
    run(vec![plain("a/b")], launches.collect())
}

fn latencies(run: &RunData) -> Latencies {
    only(run).latencies().unwrap().clone()
}

/// Ten launches about 100 ns, in an order without drift.
const LATE: [u64; 10] = [102, 99, 104, 95, 98, 103, 101, 97, 105, 96];

#[test]
fn percentiles_are_lower_quartiles() {
    let result = only(&timed(3000, &LATE));
    let found = result.latencies().unwrap();
    assert_eq!(found.events, 30_000);
    let names: Vec<&str> =
        found.percentiles.iter().map(|percentile| percentile.name.as_str()).collect();
    assert_eq!(names, ["p50", "p90", "p99", "p99.9"]);
    // rank 0.99 * 3000.333 + 0.333 of 3000, the 60 late ones between the integer less a half and their most
    let p99 = found.get("p99").unwrap();
    assert_eq!(p99.basis, PercentileBasis::Launches);
    let rank = 0.99 * (3000.0 + 1.0 / 3.0) + 1.0 / 3.0 - 2940.0 - 0.5;
    let right = LATE.map(|late| late as f64 - 0.5 + rank / 60.0 * 0.5);
    for (found, right) in p99.values.iter().zip(right) {
        assert!((found - right).abs() < 1e-9, "{found} {right}");
    }
    let center = undisturbed::estimate(&right, &[1.0; 10], 0.95).unwrap();
    let estimate = p99.estimate.unwrap();
    assert!((estimate.value - center.value).abs() < 1e-9);
    let [low, high] = estimate.interval.unwrap();
    assert!(low < 95.0 && 98.0 < high && high < 105.0, "{low} {high}");
    // one number wherever it stands
    assert_eq!(found.get("p50").unwrap().estimate, result.estimate());
    let statistics = result.statistics().unwrap();
    assert_eq!(Some(statistics.median), result.estimate().map(f64::from));
    assert_eq!(statistics.percentiles["p99"], estimate.value);
    assert_eq!((statistics.min, statistics.max), (50.0, 105.0));
}

#[test]
fn operations_are_at_one_frequency() {
    // the launches ran at 4 GHz
    let options = summary::Options { reference_ghz: Some(2.0), ..summary::Options::default() };
    let result = summary::summarize(&timed(500, &LATE), &options).results.remove(0);
    let statistics = result.statistics().unwrap();
    assert_eq!((statistics.min, statistics.max), (100.0, 210.0));
    assert!((99.0..101.0).contains(&statistics.median), "{statistics:?}");
    let pooled = result.latencies().unwrap().get("p99.9").unwrap().estimate.unwrap();
    assert!((209.0..210.0).contains(&pooled.value), "{pooled:?}");
    // samples have other work
    let Data::Measured(measured) = &result.data else { panic!("{:?}", result.data) };
    assert_eq!(measured.sampled.as_ran, None);
}

#[test]
fn medians_of_means_stay_uncompared() {
    let by_mean = |late: &[u64]| {
        let mut run = timed(3000, late);
        run.benchmarks[0].mean = true;
        view(&run)
    };
    let [base, other] = [LATE, LATE.map(|late| late + 20)].map(|late| by_mean(&late));
    let compared = compare(&base, &other, &Options::default());
    let all = compared.rows[0].percentiles.iter();
    let names: Vec<&str> = all.map(|percentile| percentile.name.as_str()).collect();
    assert_eq!(names, ["p90", "p99", "p99.9"]);
}

#[test]
fn sparse_launches_are_pooled() {
    let found = latencies(&timed(500, &LATE));
    let basis = |name: &str| found.get(name).unwrap().basis;
    assert_eq!(basis("p99"), PercentileBasis::Launches);
    assert_eq!(basis("p99.9"), PercentileBasis::Operations);
    let p999 = found.get("p99.9").unwrap();
    assert!(p999.values.is_empty());
    // rank 4995.83 of 5000: of the ten that take 105, the fifth and the sixth from above
    let Estimate { value, interval } = p999.estimate.unwrap();
    assert!((104.5..105.0).contains(&value), "{value}");
    let [low, high] = interval.unwrap();
    assert!(low < value && value < high && high < 110.0, "{low} {high}");
    // 3,000 events support p99.9, not its interval; 2,500 and 280 support less
    let six = latencies(&timed(500, &LATE[..6]));
    assert_eq!(six.get("p99.9").unwrap().estimate.unwrap().interval, None);
    assert!(latencies(&timed(500, &LATE[..5])).get("p99.9").is_none());
    let one = latencies(&timed(280, &LATE[..1]));
    assert!(one.get("p90").is_some() && one.get("p99").is_none());
}

#[test]
fn histograms_use_the_result_unit() {
    let mut data = timed(100, &[100]);
    data.benchmarks[0].unit = unit("us/call");
    let found = latencies(&data).histogram;
    // eight buckets to a power of two: 48 to 52 and 96 to 104 ns
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert_eq!(found.len(), 2);
    assert!(near(found[0].0, 0.048) && near(found[0].1, 0.052) && found[0].2 == 98);
    assert!(near(found[1].0, 0.096) && near(found[1].1, 0.104) && found[1].2 == 2);
}

#[test]
fn rates_have_no_latencies() {
    let mut data = timed(3000, &LATE);
    data.launches[3].events.retain(|event| !matches!(event, Event::Latency(_)));
    assert_eq!(only(&data).latencies(), None);
    let mut data = timed(3000, &LATE);
    data.benchmarks[0].unit = unit("calls/s");
    assert_eq!(only(&data).latencies(), None);
}

fn compared(base: &RunData, other: &RunData, past: &[RunSummary]) -> CompareRow {
    let (base, other) = (view(base), view(other));
    let options = Options::new(0.02, run_effect::estimate(past, &base, &other));
    compare(&base, &other, &options).rows.remove(0)
}

fn verdict(row: &CompareRow, name: &str) -> (Verdict, f64) {
    let percentile = row.percentiles.iter().find(|percentile| percentile.name == name).unwrap();
    (percentile.figure.verdict, percentile.figure.ratio.unwrap())
}

/// A run of a day in January.
fn day(day: u32, events: u64, late: [u64; 10]) -> RunData {
    let mut data = timed(events, &late);
    data.info.id = format!("run-{day}");
    data.info.started = format!("2026-01-{day:02}T00:00:00Z");
    data
}

#[test]
fn slower_tail_with_equal_median() {
    for events in [3000, 500] {
        let [base, other] = [(20, LATE.map(|late| late - 30)), (21, LATE)];
        let [base, other] = [base, other].map(|(date, late)| day(date, events, late));
        let row = compared(&base, &other, &[]);
        assert_eq!(row.verdict, Some(Verdict::Same));
        for name in ["p99", "p99.9"] {
            let (verdict, ratio) = verdict(&row, name);
            assert_eq!(verdict, Verdict::Slower, "{name}, {events}: {row:?}");
            assert!((0.68..0.73).contains(&ratio), "{name}, {events}: {ratio}");
        }
        assert_eq!(verdict(&row, "p50"), (Verdict::Same, 1.0));
        assert_eq!(verdict(&row, "p90").0, Verdict::Same);
    }
}

#[test]
fn percentile_run_variance_is_learned() {
    // the tails of earlier runs differ by a fifth, their medians by nothing
    let off = [0, 20, 3, 17, 8];
    let past: Vec<RunSummary> = (1..)
        .zip(off)
        .map(|(date, off)| RunSummary::new(&view(&day(date, 3000, LATE.map(|late| late + off)))))
        .collect();
    let actual =
        run_effect::estimate(&past, &view(&day(20, 3000, LATE)), &view(&day(21, 3000, LATE)));
    let [p99, estimate] = [&actual.percentiles["p99"], &actual.rows];
    assert!(p99[&id("a/b")].ln_sd > 3.0 * estimate[&id("a/b")].ln_sd);
    let row = compared(&day(20, 3000, LATE.map(|late| late - 15)), &day(21, 3000, LATE), &past);
    assert_eq!(verdict(&row, "p99").0, Verdict::Inconclusive);
    assert_eq!(verdict(&row, "p50").0, Verdict::Same);
}

#[test]
fn interference_leaves_percentiles_inconclusive() {
    let base = day(20, 3000, LATE.map(|late| late - 30));
    let mut other = day(21, 3000, LATE);
    for launch in &mut other.launches {
        launch.conditions.steal = Some(500_000_000);
    }
    let row = compared(&base, &other, &[]);
    let (found, ratio) = verdict(&row, "p99");
    assert!(found == Verdict::Inconclusive && ratio < 0.75, "{row:?}");
}
