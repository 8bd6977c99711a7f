//! A against A: runs of one machine between which nothing was changed, each compared with each. How far they scatter, how often
//! the same is called different, and how large a change must be to be seen.
//!
//! All rows of a run share that run, so k runs are k - 1 degrees of freedom, however many rows there are: the interval
//! of the standard deviation of a row, and that of a quantile over rows, has the factors sqrt((k - 1) / chi^2). Drawing rows
//! or runs again was tried for the quantiles, and misses (docs/validation.md).

use crate::compare;
use crate::run_variance::{self, Figure, Past};
use gritstone_model::{
    CompareView, CriterionView, Difference, Finding, Flag, Id, LeftOut, Measurement, PairsView,
    RunView, SCHEMA_SELFTEST, ScatterView, SelftestRow, SelftestRun, SelftestView, ShareView,
    Subject, VarianceSource, Verdict,
};
use gritstone_stats::{descriptive, quantile};
use statrs::distribution::{Binomial, DiscreteCDF};

/// Share of the comparisons of the same with the same that may be called different, and level of the test of that.
const RATE: f64 = 0.01;
/// Standard deviation between runs that half of the rows may have at most.
const MEDIAN_LIMIT: f64 = 0.01;
/// The same for nine rows of ten.
const P90_LIMIT: f64 = 0.03;
/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;
/// Normal quantile above which one case in twenty lies.
const ONE_IN_TWENTY: f64 = 1.644_854;

/// A row that all runs have.
struct Trial<'a> {
    results: Vec<&'a Measurement>,
    raw: Vec<f64>,
    /// Cycles; empty where a run has none.
    paced: Vec<f64>,
}

/// Two runs compared with each other, by their places.
struct Pair {
    places: [usize; 2],
    view: CompareView,
    /// With what it was compared.
    options: compare::Options,
}

/// Compares each run with each, as they would be compared by someone who has these runs and those that are told of in
/// `past`. At least two runs, in the order of time.
#[must_use]
pub fn selftest(runs: &[RunView], past: &[Past]) -> SelftestView {
    let mut known: Vec<Past> = runs.iter().map(Past::of).collect();
    known.extend_from_slice(past);
    let options = compare::Options::default();
    let pairs = pairs(runs, &known, &options);
    let (trials, left_out) = trials(runs);
    let rows: Vec<SelftestRow> = trials.iter().map(|trial| row(trial, &pairs)).collect();
    let scatters: Vec<f64> = rows.iter().map(|row| counted(row).between).collect();
    let median = criterion(&scatters, runs.len(), MEDIAN_LIMIT, descriptive::median);
    let p90 = criterion(&scatters, runs.len(), P90_LIMIT, |sorted| {
        sorted[(0.9 * sorted.len() as f64).ceil() as usize - 1]
    });
    let all = pairs_view(&rows, &pairs);
    let kept = |criterion: &Option<CriterionView>| criterion.is_none_or(|c| c.passed);
    SelftestView {
        schema: SCHEMA_SELFTEST.to_owned(),
        machine: runs
            .first()
            .map_or(String::new(), |run| run.machine.name.clone()),
        runs: runs.iter().map(head).collect(),
        catalogue: runs
            .iter()
            .find_map(|run| run.settings.as_ref()?.catalogue.clone()),
        differ_in: differ_in(&pairs),
        left_out,
        passed: all.passed && kept(&median) && kept(&p90),
        pairs: all,
        median,
        p90,
        raw_held: held(
            trials
                .iter()
                .map(|t| (&t.raw[..], intervals(t, Measurement::interval))),
        ),
        paced_held: held(
            trials
                .iter()
                .map(|t| (&t.paced[..], intervals(t, cycles_interval))),
        ),
        rows,
    }
}

fn head(run: &RunView) -> SelftestRun {
    SelftestRun {
        id: run.id.clone(),
        label: run.label.clone(),
        started: run.started.clone(),
    }
}

fn pairs(runs: &[RunView], known: &[Past], options: &compare::Options) -> Vec<Pair> {
    let places = (0..runs.len()).flat_map(|i| (i + 1..runs.len()).map(move |j| [i, j]));
    places
        .map(|places| {
            let [base, other] = places.map(|at| &runs[at]);
            let options = compare::Options {
                between_run: run_variance::learn(known, base, other),
                ..options.clone()
            };
            Pair {
                places,
                view: compare::compare(base, other, &options),
                options: options.of(base, other),
            }
        })
        .collect()
}

/// What the first run differs in from any other, each once.
fn differ_in(pairs: &[Pair]) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.places[0] == 0) {
        for difference in &pair.view.differ_in {
            if !found.contains(difference) {
                found.push(difference.clone());
            }
        }
    }
    found
}

/// The rows that all runs have, and those that not all have, or not alike.
fn trials(runs: &[RunView]) -> (Vec<Trial<'_>>, Vec<LeftOut>) {
    let (mut trials, mut left_out) = (Vec::new(), Vec::<LeftOut>::new());
    for result in runs.iter().flat_map(|run| &run.results) {
        let seen = |trial: &Trial| trial.results[0].id == result.id;
        let known = trials.iter().any(seen) || left_out.iter().any(|row| row.id == result.id);
        if known || !run_variance::varies(result) {
            continue;
        }
        match trial(runs, &result.id) {
            Ok(trial) => trials.push(trial),
            Err(why) => left_out.push(LeftOut {
                id: result.id.clone(),
                why: why.into(),
            }),
        }
    }
    (trials, left_out)
}

fn trial<'a>(runs: &'a [RunView], id: &Id) -> Result<Trial<'a>, Finding> {
    let (mut results, mut figures) = (Vec::<&Measurement>::new(), Vec::<Figure>::new());
    for run in runs {
        let name = || run.id.clone();
        let result = run
            .get(id)
            .ok_or_else(|| Finding::NotInRun { run: name() })?;
        let figure = Figure::of(result).ok_or_else(|| Finding::NoEstimateIn { run: name() })?;
        let mut notes = result.own_notes();
        if let Some(note) = notes.find(|note| note.flag() == Some(Flag::Invalid)) {
            return Err(Finding::InvalidIn {
                run: name(),
                finding: Box::new(note.finding.clone()),
            });
        }
        if let Some(first) = figures.first()
            && (first.version, &first.program) != (figure.version, &figure.program)
        {
            return Err(Finding::ProgramsDiffer {
                run: name(),
                first: runs[0].id.clone(),
            });
        }
        results.push(result);
        figures.push(figure);
    }
    let paced: Option<Vec<f64>> = figures.iter().map(|figure| figure.paced).collect();
    Ok(Trial {
        results,
        raw: figures.iter().map(|figure| figure.raw).collect(),
        paced: paced.unwrap_or_default(),
    })
}

fn row(trial: &Trial, pairs: &[Pair]) -> SelftestRow {
    let first = trial.results[0];
    let raw = scatter(&trial.raw, &intervals(trial, Measurement::interval));
    let paced = (!trial.paced.is_empty())
        .then(|| scatter(&trial.paced, &intervals(trial, cycles_interval)));
    let by_cycles = first.processor_bound && paced.is_some();
    let compared: Vec<Verdict> = pairs
        .iter()
        .flat_map(|pair| &pair.view.rows)
        .filter(|row| row.id == first.id && row.p.is_some())
        .filter_map(|row| row.verdict)
        .collect();
    let is_other = |verdict: &&Verdict| matches!(verdict, Verdict::Faster | Verdict::Slower);
    let disturbed = |result: &&&Measurement| result.is(Flag::Interference);
    let between = if by_cycles { paced.unwrap_or(raw) } else { raw }.between;
    SelftestRow {
        id: first.id.clone(),
        title: first.title.clone(),
        unit: first.unit.clone(),
        center: center(&trial.raw),
        raw,
        paced,
        counted: if by_cycles {
            Subject::Cycles
        } else {
            Subject::Estimate
        },
        smallest: smallest(trial, between, pairs),
        pairs: compared.len(),
        different: compared.iter().filter(is_other).count(),
        disturbed: trial.results.iter().filter(disturbed).count(),
    }
}

/// The one of its scatters that counts.
fn counted(row: &SelftestRow) -> ScatterView {
    match row.paced {
        Some(paced) if row.counted == Subject::Cycles => paced,
        _ => row.raw,
    }
}

fn intervals(
    trial: &Trial,
    interval: impl Fn(&Measurement) -> Option<[f64; 2]>,
) -> Vec<Option<[f64; 2]>> {
    trial
        .results
        .iter()
        .map(|result| interval(result))
        .collect()
}

fn cycles_interval(of: &Measurement) -> Option<[f64; 2]> {
    of.cycles?.interval
}

fn logs(figures: &[f64]) -> Vec<f64> {
    figures.iter().map(|x| x.ln()).collect()
}

fn center(figures: &[f64]) -> f64 {
    descriptive::mean(&logs(figures)).exp()
}

fn scatter(figures: &[f64], intervals: &[Option<[f64; 2]>]) -> ScatterView {
    let between = descriptive::deviation(&logs(figures));
    let halves: Vec<f64> = intervals
        .iter()
        .flatten()
        .map(|[low, high]| (high / low).ln() / 2.0)
        .filter(|half| half.is_finite())
        .collect();
    ScatterView {
        between,
        interval: interval_of(between, figures.len()),
        within: (!halves.is_empty()).then(|| descriptive::median(&descriptive::sorted(&halves))),
    }
}

/// Interval at 95% of a standard deviation between so many runs, two at least, or of a quantile over the rows of such.
#[must_use]
pub fn interval_of(sd: f64, runs: usize) -> [f64; 2] {
    let freedom = runs as f64 - 1.0;
    let tail = (1.0 - CONFIDENCE) / 2.0;
    [1.0 - tail, tail].map(|share| sd * (freedom / quantile::chi_square(share, freedom)).sqrt())
}

fn criterion(
    scatters: &[f64],
    runs: usize,
    limit: f64,
    of: impl Fn(&[f64]) -> f64,
) -> Option<CriterionView> {
    let sorted = descriptive::sorted(scatters);
    (!sorted.is_empty()).then(|| {
        let value = of(&sorted);
        let interval = interval_of(value, runs);
        CriterionView {
            value,
            interval,
            limit,
            passed: interval[0] <= limit,
        }
    })
}

/// Where the row alone changes among all that are compared: how far its figures must be apart to be called different, the median over
/// pairs, and on top what that distance itself scatters by, so that 95 changes of 100 are seen.
fn smallest(trial: &Trial, between: f64, pairs: &[Pair]) -> Option<f64> {
    let needed = |pair: &Pair| {
        let [base, other] = pair.places.map(|at| trial.results[at]);
        let tests = compare::tests(pair.view.rows.iter());
        compare::needed(base, other, tests, &pair.options)
    };
    let needed: Vec<f64> = pairs.iter().map(needed).collect::<Option<_>>()?;
    let scatter = ONE_IN_TWENTY * std::f64::consts::SQRT_2 * between;
    Some((descriptive::median(&descriptive::sorted(&needed)) + scatter).exp_m1())
}

fn pairs_view(rows: &[SelftestRow], pairs: &[Pair]) -> PairsView {
    let compared = rows.iter().map(|row| row.pairs).sum();
    let different = rows.iter().map(|row| row.different).sum();
    let counts = |id: &Id| rows.iter().any(|row| row.id == *id);
    let below = pairs.iter().flat_map(|pair| &pair.view.rows);
    let p = at_least(different, compared);
    let mut between_run: Vec<VarianceSource> = Vec::new();
    for told in pairs
        .iter()
        .filter_map(|pair| pair.view.between_run.as_ref())
    {
        if !between_run.contains(told) {
            between_run.push(*told);
        }
    }
    PairsView {
        compared,
        different,
        below_one_percent: below
            .filter(|row| counts(&row.id) && row.p <= Some(RATE) && row.p.is_some())
            .count(),
        rate: RATE,
        p,
        passed: p >= RATE,
        between_run,
    }
}

/// P(so many or more) of so many at the rate.
fn at_least(hits: usize, of: usize) -> f64 {
    match (hits, Binomial::new(RATE, of as u64)) {
        (0, _) | (_, Err(_)) => 1.0,
        (hits, Ok(binomial)) => binomial.sf(hits as u64 - 1),
    }
}

/// How many intervals hold the center of the runs of their row.
fn held<'a>(rows: impl Iterator<Item = (&'a [f64], Vec<Option<[f64; 2]>>)>) -> ShareView {
    let mut share = ShareView::default();
    for (figures, intervals) in rows.filter(|(figures, _)| !figures.is_empty()) {
        let center = center(figures);
        for [low, high] in intervals.into_iter().flatten() {
            share.of += 1;
            share.part += usize::from(low <= center && center <= high);
        }
    }
    share
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deviation_of_five_runs_has_the_interval_of_the_tables() {
        // chi-square for 4 degrees of freedom: 11.143 and 0.4844
        let [low, high] = interval_of(0.01, 5);
        assert!((low - 0.005_991).abs() < 1e-6 && (high - 0.028_736).abs() < 1e-6);
    }

    #[test]
    fn so_many_findings_at_one_in_a_hundred() {
        assert_eq!(at_least(0, 180), 1.0);
        // 1 - 0.99^180, and P(X >= 6), P(X >= 7) of 180
        assert!((at_least(1, 180) - 0.836_195).abs() < 1e-5);
        assert!(at_least(5, 180) > RATE && at_least(7, 180) < RATE);
        assert_eq!(at_least(0, 0), 1.0);
    }
}
