//! Rounds of both sides until all benchmarks are decided or the budget is spent.

use crate::launches::{Launched, Launcher, Request};
use crate::project::FILE;
use crate::same_output;
use crate::trial::{Margins, Trial};
use crate::work_trees::WorkTree;
use crate::{NotComparable, SIDES};
use anyhow::{Result, bail};
use gritstone_exchange::RoundLaunch;
use gritstone_exchange::harness::HarnessResult;
use gritstone_exec::ExecError;
use gritstone_model::{PrQuantity, PrSideName, PrWithoutValue};
use gritstone_session::measuring_slot::{Slot, warning};
use gritstone_stats::interim::LEVEL;
use gritstone_stats::paired_times::sign_test;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    Building(&'a str),
    Measuring {
        rounds: usize,
        decided: usize,
        benchmarks: usize,
        elapsed: Duration,
        budget: Duration,
    },
}

pub struct Turns<'a> {
    pub quantity: PrQuantity,
    pub margins: &'a Margins,
    pub seed: u64,
    pub budget: Duration,
    /// Restricts verdicts to one benchmark.
    pub only: Option<&'a str>,
}

pub struct MeasuredTurns {
    pub trial: Trial,
    /// False if the user interrupted.
    pub complete: bool,
    /// First failure of the harness, by side.
    pub failures: [Option<String>; 2],
    /// Rounds in which only this side failed.
    pub failed_alone: [usize; 2],
    /// Benchmarks that neither side measures.
    pub without_value: Vec<PrWithoutValue>,
    /// By side and round.
    pub launches: [Vec<RoundLaunch>; 2],
    pub begun: Instant,
    /// Standard output of the base's first launch, with `--same-output`.
    output: Option<Vec<u8>>,
    others: OtherRuns,
}

/// Other processes that measure on this machine, each reported once.
struct OtherRuns {
    slot: Slot,
    reported: BTreeSet<u32>,
}

impl OtherRuns {
    fn claim() -> Self {
        Self { slot: Slot::claim(), reported: BTreeSet::new() }
    }

    fn current(&mut self) -> Option<u32> {
        let process = self.slot.other()?;
        if self.reported.insert(process) {
            log::warn!("{}", warning(process));
        }
        Some(process)
    }
}

impl Turns<'_> {
    /// Measures rounds until all benchmarks are decided or the budget is spent. Both sides have equally many builds.
    ///
    /// # Errors
    /// [`NotComparable`] when a side measures nothing, or both have no benchmark in common.
    pub fn measure(
        &self,
        launcher: &Launcher<'_>,
        trees: [&[WorkTree]; 2],
        progress: &dyn Fn(Progress<'_>),
    ) -> Result<MeasuredTurns> {
        let mut measured = self.begin(launcher, trees.map(|trees| &trees[0]))?;
        let start = measured.begun;
        let benchmarks = measured.trial.open().len();
        let mut expected = Duration::ZERO;
        loop {
            let trial = &measured.trial;
            let open = trial.open();
            let elapsed = start.elapsed();
            progress(Progress::Measuring {
                rounds: trial.rounds,
                decided: benchmarks - open.len(),
                benchmarks,
                elapsed,
                budget: self.budget,
            });
            if open.is_empty() || elapsed + expected > self.budget {
                return Ok(measured);
            }
            match round(launcher, trees, &mut measured, &open) {
                Ok(()) => {}
                Err(why) if matches!(why.downcast_ref(), Some(ExecError::Interrupted)) => {
                    measured.complete = false;
                    return Ok(measured);
                }
                Err(why) => return Err(why),
            }
            // rounds become shorter as benchmarks are decided
            expected = start.elapsed().saturating_sub(elapsed).max(expected * 3 / 4);
        }
    }

    /// After a first launch of each side, whose values do not count.
    fn begin(&self, launcher: &Launcher<'_>, trees: [&WorkTree; 2]) -> Result<MeasuredTurns> {
        let start = Instant::now();
        let others = OtherRuns::claim();
        let base = discover(launcher, trees[0], &[])?;
        let names: Vec<String> =
            base.results.measured.iter().map(|result| result.name.clone()).collect();
        let first = [base, discover(launcher, trees[1], &names)?];
        let mut trial = Trial::new(
            [&first[0].results.measured, &first[1].results.measured],
            self.quantity,
            self.margins,
            self.seed,
        );
        for one in &mut trial.unmatched {
            let other = &first[usize::from(one.only == SIDES[0])];
            one.why = one.why.take().or_else(|| other.reason(&one.name));
        }
        let without_value = without_value(&first);
        for name in self.margins.by_name.keys() {
            if !trial.has(name) {
                log::warn!("{FILE}: [margins] has '{name}', which is no benchmark of both sides");
            }
        }
        if let Some(only) = self.only {
            trial.leave_out_others(only);
        }
        if trial.open().is_empty() {
            bail!(NotComparable(self.only.map_or_else(|| no_common(&first), not_measured)));
        }
        let [base, head] = first;
        if let Some(expected) = &base.output
            && let Err(differs) = same_output::check(expected, SIDES[1], output(&head))
        {
            let again = discover(launcher, trees[0], &names)?;
            same_output::check(expected, SIDES[0], output(&again))?;
            return Err(differs.into());
        }
        let failures = [base.failure, head.failure];
        Ok(MeasuredTurns {
            complete: true,
            trial,
            failed_alone: failed_alone(&failures).map(usize::from),
            failures,
            without_value,
            launches: [vec![], vec![]],
            begun: start,
            output: base.output,
            others,
        })
    }
}

/// Benchmarks that neither side measures, each once.
fn without_value([base, head]: &[Launched; 2]) -> Vec<PrWithoutValue> {
    let measures = |side: &Launched, name: &str| {
        let mut measured = side.results.measured.iter();
        measured.any(|result| result.name == name)
    };
    let names = |side: &Launched| -> BTreeSet<String> {
        let named = side.results.without_value.iter().map(|(name, _)| name);
        let lost = named.filter(|name| !measures(base, name) && !measures(head, name));
        lost.cloned().collect()
    };
    let (of_base, of_head) = (names(base), names(head));
    let each = of_base.union(&of_head).map(|name| PrWithoutValue {
        only: only_side([of_base.contains(name), of_head.contains(name)]),
        why: head.reason(name).or_else(|| base.reason(name)).unwrap_or_default(),
        name: name.clone(),
    });
    each.collect()
}

/// Launches a side to find its benchmarks.
fn discover(launcher: &Launcher<'_>, tree: &WorkTree, known: &[String]) -> Result<Launched> {
    let request = Request { wanted: &[], unwanted: &[], known };
    let why = |why| NotComparable(format!("{} measures nothing: {why:#}", tree.name));
    Ok(launcher.launch(tree, request)?.map_err(why)?)
}

fn output(launched: &Launched) -> &[u8] {
    launched.output.as_deref().unwrap_or_default()
}

fn round(
    launcher: &Launcher<'_>,
    trees: [&[WorkTree]; 2],
    measured: &mut MeasuredTurns,
    open: &[String],
) -> Result<()> {
    let closed = measured.trial.closed();
    let known = [open, &closed].concat();
    let request = Request {
        // without a decision there is no filter, which could miss benchmarks with unexpected names
        wanted: if closed.is_empty() { &[] } else { open },
        unwanted: &closed,
        known: &known,
    };
    let mut results: [Vec<HarnessResult>; 2] = [vec![], vec![]];
    let mut failures = [None, None];
    let builds = trees[0].len();
    let build = measured.trial.build(builds);
    let layout = (builds > 1).then(|| u32::try_from(build).unwrap_or(u32::MAX));
    for side in measured.trial.order() {
        let start = u64::try_from(measured.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let before = measured.others.current();
        // a launch without results counts as a round without values
        failures[side] = match launcher.launch(&trees[side][build], request)? {
            Ok(launched) => {
                if let Some(expected) = &measured.output {
                    same_output::check(expected, SIDES[side], output(&launched))?;
                }
                let failed = failed_benchmark(&launched, open);
                results[side] = launched.results.measured;
                launched.failure.or(failed)
            }
            Err(why) => Some(format!("{why:#}")),
        };
        let other_run = before.or_else(|| measured.others.current());
        measured.launches[side].push(RoundLaunch { start, other_run, layout });
    }
    for (rounds, failed) in measured.failed_alone.iter_mut().zip(failed_alone(&failures)) {
        *rounds += usize::from(failed);
    }
    for (first, failure) in measured.failures.iter_mut().zip(failures) {
        *first = first.take().or(failure);
    }
    let late = late_benchmarks(&results, &known);
    for late in late {
        if !measured.without_value.iter().any(|known| known.name == late.name) {
            measured.without_value.push(late);
        }
    }
    measured.trial.observe([&results[0], &results[1]], build);
    Ok(())
}

fn failed_alone([base, head]: &[Option<String>; 2]) -> [bool; 2] {
    [base.is_some() && head.is_none(), head.is_some() && base.is_none()]
}

/// Whether the head fails more often than the base, by the rounds in which only one of them failed: if the base never does, or
/// significantly.
pub fn head_fails_more([base, head]: [usize; 2]) -> bool {
    head > base && (base == 0 || sign_test(base, head) < LEVEL)
}

/// The first undecided benchmark without a value, with the reason.
fn failed_benchmark(launched: &Launched, open: &[String]) -> Option<String> {
    let mut failed = launched.results.without_value.iter();
    let (name, why) = failed.find(|(name, _)| open.contains(name))?;
    Some(format!("{name}: {why}"))
}

/// Benchmarks that were not in the first launches.
fn late_benchmarks(
    [base, head]: &[Vec<HarnessResult>; 2],
    known: &[String],
) -> impl Iterator<Item = PrWithoutValue> {
    let names = |results: &[HarnessResult]| -> BTreeSet<String> {
        let names = results.iter().map(|result| result.name.clone());
        names.filter(|name| !known.contains(name)).collect()
    };
    let (base, head) = (names(base), names(head));
    let all: BTreeSet<String> = base.union(&head).cloned().collect();
    all.into_iter().map(move |name| PrWithoutValue {
        only: only_side([base.contains(&name), head.contains(&name)]),
        why: "the first launches did not have it".to_owned(),
        name,
    })
}

fn only_side(has: [bool; 2]) -> Option<PrSideName> {
    match has {
        [true, false] => Some(PrSideName::Base),
        [false, true] => Some(PrSideName::Head),
        _ => None,
    }
}

fn not_measured(name: &str) -> String {
    format!("base and head do not both measure {name}")
}

fn no_common(first: &[Launched; 2]) -> String {
    let [base, head] = first.each_ref().map(|launched| {
        let names = launched.results.measured.iter().map(|result| result.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    });
    format!(
        "{} and {} have no benchmark in common ({base}; {head}): give --carry the files of the benchmarks",
        SIDES[0].as_str(),
        SIDES[1].as_str()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flaky_projects_are_no_failure() {
        for (rounds, more) in
            [([0, 0], false), ([0, 1], true), ([1, 5], false), ([1, 12], true), ([12, 1], false)]
        {
            assert_eq!(head_fails_more(rounds), more, "{rounds:?}");
        }
    }
}
