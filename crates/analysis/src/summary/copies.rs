//! Simultaneous copies: total rate, rate per copy, efficiency, and the fitted Universal Scalability Law.
//!
//! A copy's rate is its total work over its total time: if copies share a CPU, single samples are not representative. The total is the sum
//! of the rates. Efficiency is computed by round.

use super::draft::Draft;
use super::reading::{Reading, median};
use super::rules::{self, Evidence, Spread};
use super::{Launched, Options, estimate};
use gritstone_model::{
    Benchmark, Claims, CopiesPoint, CopiesView, Estimate, Flag, LawView, Note, Quantity, Repeat,
    RunData, SeriesPoint, in_order,
};
use gritstone_stats::center;
use gritstone_stats::scaling::{self, Law, Peak, Range, Round, Unfitted};
use std::collections::BTreeMap;

/// ns per operation of all copies together, by round; the median of several launches in a round.
type Rounds = BTreeMap<u32, f64>;

/// `None` without launches of several copies.
pub(super) fn view(launched: &Launched, run: &RunData, options: &Options) -> Option<CopiesView> {
    let mut sizes: BTreeMap<u32, Vec<Reading>> = BTreeMap::new();
    for launch in run.launches.iter().filter(|l| l.copies > 1 && l.id == launched.benchmark.id) {
        let of_size = sizes.entry(launch.copies).or_default();
        of_size.push(Reading::new(launch));
    }
    if sizes.is_empty() {
        return None;
    }
    // contended samples count for a single copy too, as they do for several
    let launches = launched.measured();
    let note = rules::smt_contention(&launches, |l| l.mostly_contended()).map(Note::new);
    let one = rounds(&launches);
    let mut all = vec![(1, one.clone())];
    let mut points = vec![point(1, launched, &launches, run, options)];
    points[0].notes.extend(note.clone());
    for (copies, launches) in sizes {
        let benchmark = with_claims_for_copies(launched.benchmark, copies);
        let several = Launched { benchmark: &benchmark, launches };
        let launches = several.measured();
        let together = rounds(&launches);
        let mut point = point(copies, &several, &launches, run, options);
        point.notes.extend(note.clone());
        let efficiency: Vec<f64> = together
            .iter()
            .filter_map(|(round, ns)| Some(one.get(round)? / (f64::from(copies) * ns)))
            .collect();
        let center = center::log_center(&efficiency, options.confidence);
        point.efficiency = center.map(estimate);
        point.efficiencies = efficiency;
        points.push(point);
        all.push((copies, together));
    }
    let law = scaling::fit(&by_round(&all), options.confidence, run.info.settings.seed);
    Some(CopiesView {
        points,
        law: law.as_ref().ok().map(|law| law_view(law, launched.benchmark)),
        unfitted: law.err().map(unfitted),
    })
}

/// Claims for n copies: the minimum time per operation is divided by n; linearity is tested with one copy only.
fn with_claims_for_copies(benchmark: &Benchmark, copies: u32) -> Benchmark {
    let min = benchmark.claims.min_ns_per_op;
    Benchmark {
        claims: Claims {
            linear: false,
            min_ns_per_op: min.map(|ns| ns / f64::from(copies)),
            ..benchmark.claims.clone()
        },
        ..benchmark.clone()
    }
}

fn rounds(launches: &[&Reading]) -> Rounds {
    let mut values: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for reading in launches {
        if let Some(ns) = reading.together_ns() {
            values.entry(reading.launch.round).or_default().push(ns);
        }
    }
    let each = values.into_iter();
    each.filter_map(|(round, ns)| Some((round, median(ns)?))).collect()
}

/// Has notes only for several copies; notes on a single copy belong to the result.
fn point(
    copies: u32,
    launched: &Launched,
    measured: &[&Reading],
    run: &RunData,
    options: &Options,
) -> CopiesPoint {
    let benchmark = launched.benchmark;
    let (timed, ns): (Vec<&Reading>, Vec<f64>) =
        measured.iter().filter_map(|reading| Some((*reading, reading.together_ns()?))).unzip();
    let converted = ns.iter().filter_map(|&ns| benchmark.unit.convert(ns, benchmark.amount_per_op));
    let values: Vec<f64> = converted.collect();
    let total = center::log_center(&values, options.confidence).map(estimate);
    let share = match benchmark.unit.quantity() {
        Quantity::Rate { .. } => 1.0 / f64::from(copies),
        _ => f64::from(copies),
    };
    let mut notes = vec![];
    if copies > 1 {
        let skipped = Draft::new(benchmark, run).is_flagged(Flag::Skipped);
        notes.extend(launched.failure(skipped, run).1);
        let spread = (!values.is_empty()).then(|| Spread {
            n: values.len(),
            what: Repeat::Launch,
            estimate: total,
            confidence: options.confidence,
            precision: run.info.settings.precision,
            modes: None,
            range: rules::range(&values),
        });
        notes.extend(rules::work(&Evidence {
            benchmark,
            launches: measured,
            timed: timed.len(),
            ns: center::log_center(&ns, options.confidence).map(|e| e.value),
            spread,
        }));
    }
    CopiesPoint {
        copies,
        total,
        per_copy: total.map(|total| total.value * share),
        efficiency: total.filter(|_| copies == 1).map(|_| Estimate::exact(1.0)),
        values,
        efficiencies: vec![],
        launches: timed.len(),
        samples: timed.iter().map(|reading| reading.samples.len()).sum(),
        notes: in_order(notes),
    }
}

fn by_round(all: &[(u32, Rounds)]) -> Vec<Round> {
    let mut rounds: BTreeMap<u32, Round> = BTreeMap::new();
    for (copies, together) in all {
        for (round, ns) in together {
            rounds.entry(*round).or_default().push((*copies, 1e9 / ns));
        }
    }
    rounds.into_values().collect()
}

pub(super) fn law_view(law: &Law, benchmark: &Benchmark) -> LawView {
    let convert = |rate: f64| benchmark.unit.convert(1e9 / rate, benchmark.amount_per_op);
    let curve = law.curve.iter().map(|(n, range)| {
        let mut ends = [convert(range.low), convert(range.high)];
        ends.sort_by(|a, b| a.unwrap_or(f64::NAN).total_cmp(&b.unwrap_or(f64::NAN)));
        let interval = ends[0].zip(ends[1]).map(|(low, high)| [low, high]);
        let interval = interval.filter(|[low, high]| *low > 0.0 && high.is_finite());
        SeriesPoint {
            x: *n,
            estimate: convert(range.estimate).map(|value| Estimate { value, interval }),
            ..SeriesPoint::default()
        }
    });
    let ends = |range: Range| [range.low, range.high].map(|end| end.is_finite().then_some(end));
    let peak = match law.peak {
        Peak::At(range) => Some(range),
        Peak::NotSeen => None,
    };
    LawView {
        one: law.one.estimate,
        one_interval: ends(law.one),
        contention: law.contention.estimate,
        contention_interval: ends(law.contention),
        coherence: law.coherence.estimate,
        coherence_interval: ends(law.coherence),
        peak: peak.map(|range| range.estimate),
        peak_interval: peak.map(ends),
        knee: law.knee,
        curve: curve.collect(),
    }
}

pub(super) fn unfitted(why: Unfitted) -> gritstone_model::Unfitted {
    use gritstone_model::Unfitted as Reason;
    match why {
        Unfitted::Sizes(sizes) => Reason::Sizes { sizes, needed: scaling::MIN_SIZES },
        Unfitted::Launches(copies, launches) => {
            Reason::Launches { copies, launches, needed: scaling::MIN_LAUNCHES }
        }
        Unfitted::NoRate => Reason::NoRate,
    }
}
