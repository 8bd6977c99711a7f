//! Results of a trial: sides by their runs, comparisons by pairs of launches.

use crate::compare::word;
use crate::explain::{Side, explain};
use crate::summary::limits;
use crate::summary::reading::Reading;
use crate::summary::{self, Options, Reader};
use gritstone_model::{
    AbComparison, AbFigure, AbRow, AbSide, AbView, Benchmark, Counts, Finding, Id, Launch,
    Measurement, Metric, Note, Number, Param, RunData, RunView, SCHEMA_AB, TrialSide, Verdict,
};
use gritstone_stats::interim::{self, Comparison};
use gritstone_stats::paired_times::{Timed, Times};
use gritstone_stats::{center, multiple, two_sample};
use std::collections::{BTreeMap, BTreeSet};

/// Family of the commands of `ab`.
pub const COMMAND: &str = "command";
/// The benchmark that times a program without work.
pub const START_UP: &str = "command/start-up";
/// Launches of each round, by side, in the order of time.
type Rounds = BTreeMap<u32, Vec<(usize, Option<Timed>)>>;

/// A trial from the launches of its sides. A trial that ended by itself or with its budget is tested once more; an interrupted one is not,
/// since its user saw the interim results.
pub fn view(runs: &[RunData], options: &Options) -> AbView {
    let over = runs.iter().all(|run| run.info.elapsed_s.is_some());
    let views: Vec<RunView> = runs.iter().map(|run| summary::summarize(run, options)).collect();
    let trial = runs.first().and_then(|run| run.info.settings.trial.clone());
    let trial = trial.unwrap_or_default();
    let compared: Vec<&Benchmark> = runs.first().map_or(vec![], |run| compared(run));
    let rounds = rounds(runs, &compared);
    let times: Vec<Times> = rounds.iter().map(|rounds| times(rounds, runs.len())).collect();
    let own_margin = |benchmark: &Benchmark| trial.margins.get(&benchmark.id).copied();
    let margin = |row: usize| own_margin(compared[row]).unwrap_or(trial.margin);
    let judged = interim::decide_all(&times, margin, over);
    let reference = runs.first().is_some_and(|run| settings(run).reference);
    let mut shown: Vec<Vec<Comparison>> = times
        .iter()
        .zip(&judged)
        .map(|(times, judged)| interim::shown_comparisons(times, judged, reference))
        .collect();
    for shown in &mut shown {
        let ratio = |c: &Comparison| c.ratio.map_or(0.0, |ratio| ratio.ratio);
        shown.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    }
    let mut carried = carried_over(&rounds, &shown).into_iter();
    let rows = compared.iter().zip(shown);
    AbView {
        schema: SCHEMA_AB.to_owned(),
        trial: trial.trial.clone(),
        machine: runs.first().map_or_else(String::new, |run| run.info.machine.name.clone()),
        sides: runs.iter().map(side).collect(),
        same: trial.same,
        margin: trial.margin,
        level: interim::LEVEL,
        layouts: layouts(&rounds),
        rows: rows
            .map(|(benchmark, shown)| AbRow {
                id: benchmark.id.clone(),
                title: benchmark.title.clone(),
                unit: benchmark.unit.clone(),
                better: benchmark.better,
                margin: own_margin(benchmark),
                figures: runs
                    .iter()
                    .zip(&views)
                    .map(|(run, view)| side_result(run, view, &benchmark.id))
                    .collect(),
                comparisons: shown
                    .iter()
                    .zip(&mut carried)
                    .map(|(c, carried)| comparison(runs, &views, &benchmark.id, c, carried))
                    .collect(),
            })
            .collect(),
        start_up_ns: start_up(runs),
    }
}

/// Benchmarks with a time, except the start-up program.
fn compared(run: &RunData) -> Vec<&Benchmark> {
    let launched =
        |benchmark: &&Benchmark| run.launches.iter().any(|launch| launch.id == benchmark.id);
    let benchmarks = run.benchmarks.iter().filter(|benchmark| benchmark.id.as_str() != START_UP);
    benchmarks.filter(launched).collect()
}

fn layouts(rounds: &[Rounds]) -> Option<usize> {
    let launches = rounds.iter().flat_map(BTreeMap::values).flatten();
    let layouts = launches.filter_map(|(_, timed)| timed.as_ref().map(|timed| timed.layout));
    let different: BTreeSet<u32> = layouts.collect();
    Some(different.len()).filter(|number| *number > 1)
}

fn settings(run: &RunData) -> TrialSide {
    run.info.settings.trial.clone().unwrap_or_default()
}

fn side(run: &RunData) -> AbSide {
    let TrialSide { side, what, compiled, .. } = settings(run);
    AbSide { compiled, side, run: run.info.id.clone(), label: run.info.label.clone(), what }
}

/// Times of each benchmark by round; empty rounds are left out.
fn rounds(runs: &[RunData], benchmarks: &[&Benchmark]) -> Vec<Rounds> {
    let sides = runs.iter().enumerate();
    let mut launches: Vec<(usize, &Launch)> = sides
        .flat_map(|(side, run)| run.launches.iter().map(move |launch| (side, launch)))
        .collect();
    launches.sort_by_key(|(_, launch)| launch.start);
    let mut reader = runs.first().map_or_else(Reader::default, |run| Reader::new(&run.info));
    let mut found: BTreeMap<&Id, Rounds> = BTreeMap::new();
    let known: BTreeMap<&Id, &Benchmark> =
        benchmarks.iter().map(|benchmark| (&benchmark.id, *benchmark)).collect();
    for (side, launch) in launches {
        match known.get(&launch.id) {
            Some(benchmark) => {
                let rounds = found.entry(&benchmark.id).or_default();
                let round = rounds.entry(launch.round).or_default();
                round.push((side, reader.read(benchmark, launch).timed()));
            }
            // its SMT probe counts as it did during the trial
            None => reader.observe(launch),
        }
    }
    let rounds_of = |benchmark: &&Benchmark| found.remove(&benchmark.id).unwrap_or_default();
    benchmarks.iter().map(rounds_of).collect()
}

fn times(rounds: &Rounds, sides: usize) -> Times {
    let side = |side: usize| {
        let timed = |round: &Vec<(usize, Option<Timed>)>| {
            let of_side = round.iter().find(|(index, _)| *index == side);
            of_side.and_then(|(_, timed)| *timed)
        };
        rounds.values().map(timed).collect()
    };
    Times((0..sides).map(side).collect())
}

/// Tests for carry-over: pairs that the base began against the others, by the rank-sum test, adjusted by Holm over all comparisons. Without
/// carry-over only the random order distinguishes them.
fn carried_over(rounds: &[Rounds], shown: &[Vec<Comparison>]) -> Vec<Option<Finding>> {
    let comparisons =
        rounds.iter().zip(shown).flat_map(|(rounds, shown)| shown.iter().map(move |c| (rounds, c)));
    let found: Vec<Option<([f64; 2], f64)>> = comparisons
        .map(|(rounds, c)| {
            let (mut base_first, mut other_first) = (vec![], vec![]);
            for round in rounds.values() {
                let place = |side: usize| round.iter().position(|(index, _)| *index == side);
                let (Some(b), Some(o)) = (place(c.base), place(c.other)) else {
                    continue;
                };
                if let (Some(base), Some(other)) = (round[b].1, round[o].1) {
                    let ratios = if b < o { &mut base_first } else { &mut other_first };
                    ratios.push(base.ns / other.ns);
                }
            }
            let p = two_sample::ratio(&base_first, &other_first, 0.0, 0.95)?.p?;
            let center = |ratios: &[f64]| Some(center::log_center(ratios, 0.95)?.value);
            Some(([center(&base_first)?, center(&other_first)?], p))
        })
        .collect();
    let p: Vec<Option<f64>> = found.iter().map(|test| Some(test.as_ref()?.1)).collect();
    let adjusted = multiple::holm(&p).into_iter();
    let finding = |(test, p): (Option<([f64; 2], f64)>, Option<f64>)| {
        let ([base_first, other_first], p) = (test?.0, p.filter(|p| *p < interim::LEVEL)?);
        Some(Finding::CarryOver { base_first, other_first, p })
    };
    found.into_iter().zip(adjusted).map(finding).collect()
}

fn comparison(
    runs: &[RunData],
    views: &[RunView],
    id: &Id,
    c: &Comparison,
    carried: Option<Finding>,
) -> AbComparison {
    let [base, other] = [c.base, c.other].map(|side| side_result(&runs[side], &views[side], id));
    let ratio = (c.ratio).filter(|_| !base.at_most && !other.at_most);
    let error = relative_overhead_error(&runs[c.base], &base, id)
        - relative_overhead_error(&runs[c.other], &other, id);
    let counted = |side: usize| Some(Side::new(views[side].get(id)?));
    let verdict = word(c.verdict);
    let tails = c.unequal_tails.filter(|_| verdict == Verdict::Inconclusive);
    let tails = tails.map(|[base, other]| Finding::UnequalTails { base, other });
    let name = |side: usize| settings(&runs[side]).side;
    AbComparison {
        base: name(c.base),
        other: name(c.other),
        pairs: c.pairs,
        contended: c.contended,
        contention_differs: c.contention_differs,
        left_out: c.left_out,
        ratio: ratio.map(|ratio| ratio.ratio),
        interval: ratio.and_then(|ratio| {
            let interval = ratio.interval?;
            Some(widened(ratio.ratio, interval, error.abs()))
        }),
        p: c.p,
        p_adjusted: c.p_adjusted,
        verdict,
        smallest: c.smallest,
        explanation: counted(c.base)
            .zip(counted(c.other))
            .and_then(|(base, other)| explain(base, other)),
        notes: carried.into_iter().chain(tails).map(Note::new).collect(),
    }
}

/// Readings of a benchmark's measured launches.
fn readings<'r>(run: &'r RunData, id: &Id) -> Vec<Reading<'r>> {
    let launches = run.launches.iter().filter(|launch| launch.id == *id);
    launches.map(Reading::new).filter(Reading::measured).collect()
}

/// Relative error of a side's time from the subtracted overhead. Sides that subtract the same overhead share this error.
fn relative_overhead_error(run: &RunData, side: &AbFigure, id: &Id) -> f64 {
    let readings = readings(run, id);
    let error = readings.iter().find_map(Reading::subtraction_error_ns);
    let share = error.zip(side.estimate).map(|(ns, ms)| ns / 1e6 / ms.max(f64::MIN_POSITIVE));
    share.unwrap_or(0.0)
}

/// The interval of a ratio with a further error of its logarithm. Whether it excludes 1 does not change: both sides subtract the same.
fn widened(ratio: f64, [low, high]: [f64; 2], error: f64) -> [f64; 2] {
    let wide = |end: f64| ratio * ((end / ratio).ln().hypot(error) * (end - ratio).signum()).exp();
    [
        if low > 1.0 { wide(low).max(1.0) } else { wide(low) },
        if high < 1.0 { wide(high).min(1.0) } else { wide(high) },
    ]
}

fn side_result(run: &RunData, view: &RunView, id: &Id) -> AbFigure {
    let result: Option<&Measurement> = view.get(id);
    let readings = readings(run, id);
    let samples = || readings.iter().flat_map(|reading| &reading.samples);
    let sum = |value: fn(&gritstone_model::Sample) -> u64| {
        samples().map(|s| value(s) as f64).sum::<f64>()
    };
    let (n, user, system) = (sum(|s| s.n), sum(|s| s.usage.user), sum(|s| s.usage.system));
    let tick = readings.iter().find_map(Reading::tick_ns).unwrap_or(10_000_000) as f64;
    let of_shell = |metric| readings.iter().find_map(|reading| reading.numbers(metric).next());
    let start_up = |metric| of_shell(metric).map_or(0.0, Number::get);
    let [user_0, system_0] = [Metric::StartUpUser, Metric::StartUpSystem].map(start_up);
    let each = |ns: f64, start_up: f64| (n > 0.0).then(|| (ns / n - start_up).max(0.0) / 1e9);
    let enough = user + system >= limits::TICKS as f64 * tick;
    let params = || readings.iter().flat_map(|reading| &reading.params);
    let mut statuses: Vec<i32> = params()
        .filter_map(|param| match param {
            Param::Status(status) => Some(*status),
            _ => None,
        })
        .collect();
    statuses.sort_unstable();
    statuses.dedup();
    let left_out = params().filter(|param| matches!(param, Param::LeftOut(_)));
    let range = result.and_then(Measurement::statistics).map(|s| [s.min, s.max]);
    let error_ns = readings.iter().find_map(Reading::subtraction_error_ns);
    let at_most = |ms: f64| error_ns.is_some_and(|ns| ms * 1e6 <= ns * (1.0 + 1e-9));
    let with_error = |(value, [low, high]): (f64, [f64; 2])| {
        let error = error_ns.unwrap_or(0.0) / 1e6;
        let mut least = value - (value - low).hypot(error);
        // the shell of a shorter command may have been slower than when it was timed alone
        if let Some([min, _]) = range.filter(|_| value * 1e6 < start_up(Metric::StartUp)) {
            least = least.min(min - error);
        }
        [least.max(error.min(low)), value + (high - value).hypot(error)]
    };
    let peak_memory = params().filter_map(|param| match param {
        Param::PeakMemory(kib) => Some(*kib),
        _ => None,
    });
    AbFigure {
        side: settings(run).side,
        estimate: result.and_then(Measurement::value),
        interval: result.and_then(|r| r.value().zip(r.interval())).map(with_error),
        range,
        launches: result.map_or(0, Measurement::launches),
        samples: result.map_or(0, Measurement::samples),
        user_s: each(user, user_0).filter(|_| enough),
        system_s: each(system, system_0).filter(|_| enough),
        cpu_s: each(user + system, user_0 + system_0),
        peak_kb: peak_memory.max(),
        counters: result.map_or_else(Counts::new, |r| r.counters().clone()),
        statuses,
        left_out: left_out.count(),
        at_most: result.and_then(Measurement::value).is_some_and(at_most),
        notes: result.map_or(vec![], |r| r.notes.clone()),
    }
}

fn start_up(runs: &[RunData]) -> Option<f64> {
    let run = runs.first()?;
    let benchmark = run.benchmarks.iter().find(|benchmark| benchmark.id.as_str() == START_UP)?;
    let launches = run.launches.iter().filter(|launch| launch.id == benchmark.id);
    let values: Vec<f64> =
        launches.filter_map(|launch| summary::launch_ns_per_op(benchmark, launch)).collect();
    center::log_center(&values, 0.95).map(|center| center.value)
}
