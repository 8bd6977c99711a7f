//! State of a comparison: the order of the sides, and which benchmarks are decided. Pure.

use crate::counts;
use gritstone_exchange::SideBenchmark;
use gritstone_exchange::harness::HarnessResult;
use gritstone_model::{Better, CheckOutcome, PrQuantity, PrRow, PrSideName, PrUnmatched, Verdict};
use gritstone_stats::interim::{self, Comparison, INTERIM_ANALYSES, LEVEL, MAX_PAIRS};
use gritstone_stats::paired_times::{Timed, Times};
use gritstone_stats::{descriptive, multiple, verdict};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use std::collections::{BTreeMap, BTreeSet};

/// Failed launches after which a benchmark with fewer successful pairs is closed.
const MAX_FAILED: usize = 3;

/// Allowed slowdowns: 0.05 is 5%.
#[derive(Clone, Debug)]
pub struct Margins {
    pub default: f64,
    pub by_name: BTreeMap<String, f64>,
}

impl Margins {
    fn get(&self, name: &str) -> f64 {
        self.by_name.get(name).copied().unwrap_or(self.default)
    }
}

#[derive(Debug)]
struct BenchmarkTrial {
    name: String,
    unit: String,
    better: Better,
    margin: f64,
    /// Inverse values of rates, so that less is better.
    times: Times,
    failed: usize,
    closed: bool,
}

impl BenchmarkTrial {
    fn is_over(&self) -> bool {
        let pairs = self.times.pairs(0, 1).base.len();
        pairs >= MAX_PAIRS || (self.failed >= MAX_FAILED && self.failed > pairs)
    }

    fn is_analysis_due(&self) -> bool {
        !self.closed && INTERIM_ANALYSES.contains(&self.times.pairs(0, 1).base.len())
    }

    fn counts(&self, side: usize) -> Vec<f64> {
        let values = self.times.0[side].iter().flatten();
        values.map(|timed| timed.ns).collect()
    }

    /// Converts a time to the unit of the harness.
    fn value(&self, time: f64) -> f64 {
        match self.better {
            Better::Lower => time,
            Better::Higher => 1.0 / time,
        }
    }

    /// Median over launches, in the unit of the harness.
    fn typical(&self, side: usize) -> Option<f64> {
        Some(self.value(median(&self.counts(side))?))
    }
}

/// Launches of base and head in turns.
#[derive(Debug)]
pub struct Trial {
    random: Pcg64,
    rows: Vec<BenchmarkTrial>,
    /// Benchmarks excluded by [`Self::leave_out_others`].
    left_out: Vec<String>,
    pub unmatched: Vec<PrUnmatched>,
    pub rounds: usize,
    quantity: PrQuantity,
    /// Builds of the next rounds, last first.
    builds: Vec<usize>,
}

fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| descriptive::median_of(values))
}

/// One value per launch: the lower quartile of repetitions, as a time. Contention makes repetitions longer, never shorter, and often more
/// than half of them.
fn time(result: &HarnessResult) -> Option<Timed> {
    let time = |value: &f64| match result.better {
        Better::Lower => *value,
        Better::Higher => 1.0 / value,
    };
    let times: Vec<f64> = result.values.iter().map(time).collect();
    let sorted = descriptive::sorted(&times);
    sorted.get(sorted.len() / 4).copied().map(Timed::from)
}

impl Trial {
    /// The benchmarks of the first launch of each side, without its values.
    pub fn new(
        first: [&[HarnessResult]; 2],
        quantity: PrQuantity,
        margins: &Margins,
        seed: u64,
    ) -> Self {
        let names =
            first.map(|results| results.iter().map(|r| r.name.as_str()).collect::<BTreeSet<_>>());
        let [base, head] = &names;
        let only = |name: &&str, only| PrUnmatched { name: (*name).to_owned(), only, why: None };
        let missing = base.difference(head).map(|name| only(name, PrSideName::Base));
        let unmatched =
            missing.chain(head.difference(base).map(|name| only(name, PrSideName::Head)));
        let in_base = |name: &str| first[0].iter().find(|result| result.name == name);
        let (both, otherwise): (Vec<_>, Vec<_>) = (first[1].iter())
            .filter_map(|result| Some((result, in_base(&result.name)?)))
            .partition(|(head, base)| head.unit == base.unit);
        let unlike = otherwise.into_iter().map(|(head, base)| PrUnmatched {
            name: head.name.clone(),
            only: PrSideName::Head,
            why: Some(format!("it is in {} there, and in {} in the base", head.unit, base.unit)),
        });
        let unmatched = unmatched.chain(unlike);
        let row = |result: &HarnessResult| BenchmarkTrial {
            name: result.name.clone(),
            unit: result.unit.clone(),
            better: result.better,
            margin: margins.get(&result.name),
            times: Times(vec![vec![]; 2]),
            failed: 0,
            closed: false,
        };
        Self {
            unmatched: unmatched.collect(),
            rows: both.into_iter().map(|(head, _)| row(head)).collect(),
            left_out: vec![],
            random: Pcg64::seed_from_u64(seed),
            rounds: 0,
            quantity,
            builds: vec![],
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.rows.iter().any(|row| row.name == name)
    }

    /// Restricts measuring and verdicts to one benchmark.
    pub fn leave_out_others(&mut self, only: &str) {
        let others = self.rows.extract_if(.., |row| row.name != only);
        self.left_out.extend(others.map(|row| row.name));
    }

    /// The sides of the next round, in random order.
    pub fn order(&mut self) -> [usize; 2] {
        let mut order = [0, 1];
        order.shuffle(&mut self.random);
        order
    }

    /// The build of the next round: each of `builds` once in random order, then again.
    pub fn build(&mut self, builds: usize) -> usize {
        if self.builds.is_empty() {
            self.builds = (0..builds).collect();
            self.builds.shuffle(&mut self.random);
        }
        self.builds.pop().unwrap_or(0)
    }

    fn names(&self, closed: bool) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| row.closed == closed);
        rows.map(|row| row.name.clone()).collect()
    }

    /// Benchmarks that are not decided.
    pub fn open(&self) -> Vec<String> {
        self.names(false)
    }

    /// Benchmarks that need no more launches, including those of one side only.
    pub fn closed(&self) -> Vec<String> {
        let unmatched = self.unmatched.iter().map(|unmatched| unmatched.name.clone());
        let left_out = self.left_out.iter().cloned();
        (self.names(true).into_iter()).chain(left_out).chain(unmatched).collect()
    }

    /// Adds a round of one build per side; a failed side has no results.
    pub fn observe(&mut self, sides: [&[HarnessResult]; 2], build: usize) {
        self.rounds += 1;
        let layout = u32::try_from(build).unwrap_or(u32::MAX);
        for row in self.rows.iter_mut().filter(|row| !row.closed) {
            let found = sides.map(|results| {
                let result = results.iter().find(|result| result.name == row.name)?;
                let timed = time(result).filter(|_| result.unit == row.unit)?;
                Some(Timed { layout, ..timed })
            });
            row.failed += usize::from(found.contains(&None));
            for (times, timed) in row.times.0.iter_mut().zip(found) {
                times.push(timed);
            }
        }
        self.close();
    }

    fn close(&mut self) {
        for row in &mut self.rows {
            row.closed |= row.is_over() || decided_count(row, self.quantity).is_some();
        }
        if !self.rows.iter().any(BenchmarkTrial::is_analysis_due) {
            return;
        }
        let judged = self.judge(false);
        let family = family_wise(&judged);
        for ((row, judged), p) in self.rows.iter_mut().zip(judged).zip(family) {
            row.closed |= match judged.verdict {
                verdict::Verdict::Inconclusive => false,
                // a regression, which sets the exit code, needs more evidence than "slower"
                verdict::Verdict::Slower => p.is_some_and(|p| p < LEVEL),
                verdict::Verdict::Faster | verdict::Verdict::Same => true,
            };
        }
    }

    /// One comparison per benchmark, with a verdict by its margin.
    fn judge(&self, over: bool) -> Vec<Comparison> {
        let times: Vec<Times> = self.rows.iter().map(|row| row.times.clone()).collect();
        let judged = interim::decide_all(&times, |row| self.rows[row].margin, over);
        judged.into_iter().flatten().collect()
    }

    /// Results of a side.
    pub fn side(&self, side: usize) -> Vec<SideBenchmark> {
        let values = |row: &BenchmarkTrial| {
            let times = row.times.0[side].iter();
            times.map(|timed| timed.map(|timed| row.value(timed.ns))).collect()
        };
        let benchmark = |row: &BenchmarkTrial| SideBenchmark {
            name: row.name.clone(),
            unit: row.unit.clone(),
            better: row.better,
            margin: row.margin,
            values: values(row),
        };
        self.rows.iter().map(benchmark).collect()
    }

    /// Regressions first, then slower, faster, inconclusive and the same; by name among these.
    pub fn rows(&self, harness: &str) -> Vec<PrRow> {
        let judged = self.judge(true);
        let family = family_wise(&judged);
        let rows = self.rows.iter().zip(judged).zip(family);
        let mut rows: Vec<PrRow> = rows
            .map(|((row, c), p)| match self.quantity {
                PrQuantity::Time => pr_row(harness, row, &c, p),
                PrQuantity::Instructions => shown_count(pr_row(harness, row, &c, p), row),
            })
            .collect();
        let rank = |row: &PrRow| match row.verdict {
            _ if row.regressed => 0,
            Verdict::Slower => 1,
            Verdict::Faster => 2,
            Verdict::Inconclusive => 3,
            Verdict::Same => 4,
        };
        rows.sort_by(|a, b| (rank(a), &a.name).cmp(&(rank(b), &b.name)));
        rows
    }
}

/// p adjusted for the family-wise error rate: the share of trials in which any equal benchmark is called a regression.
fn family_wise(judged: &[Comparison]) -> Vec<Option<f64>> {
    let p: Vec<Option<f64>> = judged.iter().map(|c| Some(c.p.unwrap_or(1.0))).collect();
    multiple::holm(&p)
}

/// `None` for times, and if the executions of one side do not agree.
fn decided_count(row: &BenchmarkTrial, quantity: PrQuantity) -> Option<counts::Decided> {
    let sides = [row.counts(0), row.counts(1)];
    let counted = quantity == PrQuantity::Instructions;
    counted.then(|| counts::decide(sides.each_ref().map(Vec::as_slice), row.margin))?
}

/// Replaces the test by the decision of the counts, if these agree.
fn shown_count(tested: PrRow, row: &BenchmarkTrial) -> PrRow {
    let sides = [row.counts(0), row.counts(1)];
    let spread = counts::spread(sides.each_ref().map(Vec::as_slice));
    let tested = PrRow { spread, ..tested };
    match decided_count(row, PrQuantity::Instructions) {
        None => tested,
        Some(decided) => PrRow {
            verdict: decided.verdict,
            regressed: decided.regressed,
            ratio: Some(decided.ratio),
            interval: Some(decided.interval),
            p_adjusted: None,
            smallest: Some(row.margin),
            ..tested
        },
    }
}

fn pr_row(harness: &str, row: &BenchmarkTrial, c: &Comparison, p_family: Option<f64>) -> PrRow {
    let ratio = c.ratio.map(|ratio| ratio.ratio);
    let verdict = match c.verdict {
        verdict::Verdict::Faster => Verdict::Faster,
        verdict::Verdict::Slower => Verdict::Slower,
        verdict::Verdict::Same => Verdict::Same,
        verdict::Verdict::Inconclusive => Verdict::Inconclusive,
    };
    let beyond = ratio.is_some_and(|ratio| ratio < 1.0 / (1.0 + row.margin));
    PrRow {
        id: format!("{harness}/{}", row.name),
        name: row.name.clone(),
        unit: row.unit.clone(),
        better: row.better,
        verdict,
        regressed: verdict == Verdict::Slower && beyond && p_family.is_some_and(|p| p < LEVEL),
        margin: row.margin,
        ratio,
        interval: c.ratio.and_then(|ratio| ratio.interval),
        p_adjusted: c.p_adjusted,
        smallest: c.smallest_beyond(row.margin),
        spread: None,
        pairs: c.pairs,
        failed: row.failed,
        base: row.typical(0),
        head: row.typical(1),
    }
}

/// Regressed if a benchmark is; inconclusive if one is probably regressed, fails or lacks a counterpart, or none is decided.
pub fn outcome(rows: &[PrRow], unmatched: &[PrUnmatched]) -> CheckOutcome {
    let all_open = rows.iter().all(|row| row.verdict == Verdict::Inconclusive);
    let is_open = |row: &PrRow| row.failed > row.pairs || row.is_uncertain();
    let any_open = rows.iter().any(is_open);
    match rows.iter().any(|row| row.regressed) {
        true => CheckOutcome::Regressed,
        false if all_open || any_open || !unmatched.is_empty() => CheckOutcome::Inconclusive,
        false => CheckOutcome::Passed,
    }
}

#[cfg(test)]
mod tests;
