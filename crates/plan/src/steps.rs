//! Steps and skips: which benchmarks can run here, and on which CPUs.

use gritstone_model::{Benchmark, Id, Placement, Plan, Selector, Skip, Step, Work};
use std::collections::{BTreeMap, BTreeSet};

/// What the host offers to a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The CPU for measurements.
    pub cpu: u32,
    /// A second CPU, for benchmarks across two.
    pub peer: Option<u32>,
    /// All CPUs, in the order in which copies take them.
    pub cpus: Vec<u32>,
    /// Found programs, by names of needs.
    pub programs: BTreeSet<String>,
    /// Workloads in this binary.
    pub kernels: BTreeSet<String>,
    /// Benchmarks that the user does not permit, with the reason.
    pub refused: BTreeMap<Id, String>,
}

/// One step for each benchmark that can be launched, one skip for each that cannot.
pub fn steps(benchmarks: Vec<Benchmark>, offer: &Offer) -> Plan {
    let mut plan = Plan::default();
    for benchmark in &benchmarks {
        if let Some(why) = why_not(benchmark, offer) {
            plan.skips.push(Skip { id: benchmark.id.clone(), reason: why });
            continue;
        }
        if matches!(benchmark.work, Work::Derived { .. } | Work::Score { .. }) {
            continue;
        }
        let cpus = match benchmark.placement {
            Placement::OneCpu => vec![offer.cpu],
            Placement::Cross => [offer.cpu].into_iter().chain(offer.peer).collect(),
            Placement::All => vec![],
        };
        plan.steps.push(Step { id: benchmark.id.clone(), cpus, copies: 1 });
    }
    plan.benchmarks = benchmarks;
    plan
}

/// Sorts steps into the order in which a budget reaches them: that of the selectors, and within one that of the
/// catalog. Benchmarks that are only parts of selected ones come last.
pub fn in_order(plan: &mut Plan, selectors: &[String]) {
    let selectors: Vec<Selector> = selectors.iter().map(|text| Selector::new(text)).collect();
    let first = |id: &Id| selectors.iter().position(|selector| selector.matches(id));
    plan.steps.sort_by_key(|step| first(&step.id).unwrap_or(usize::MAX));
}

/// Adds steps that run N simultaneous copies, for each N in `copies`, of the copyable benchmarks in `which`. Returns
/// the number of these benchmarks.
pub fn add_copies(
    plan: &mut Plan,
    offer: &Offer,
    copies: &[u32],
    which: impl Fn(&Id) -> bool,
) -> usize {
    let can = |id: &Id| {
        let mut copied = plan.benchmarks.iter();
        copied.any(|benchmark| benchmark.id == *id && benchmark.can_be_copied())
    };
    let ids = plan.steps.iter().map(|step| &step.id);
    let copied: BTreeSet<Id> = ids.filter(|id| which(id) && can(id)).cloned().collect();
    for id in &copied {
        plan.steps.extend(copies.iter().map(|&copies| Step {
            id: id.clone(),
            cpus: offer.cpus.iter().copied().take(copies as usize).collect(),
            copies,
        }));
    }
    copied.len()
}

/// The first reason for which a benchmark cannot run here, with a remedy.
pub fn why_not(benchmark: &Benchmark, offer: &Offer) -> Option<String> {
    if let Some(why) = offer.refused.get(&benchmark.id) {
        return Some(why.clone());
    }
    let mut missing: Vec<String> = vec![];
    let mut packages: Vec<&str> = vec![];
    for need in &benchmark.needs {
        if !offer.programs.contains(&need.name) {
            missing.push(if need.any.is_empty() {
                need.name.clone()
            } else {
                format!("one of {}", need.any.join(", "))
            });
            if !packages.contains(&need.package.as_str()) {
                packages.push(&need.package);
            }
        }
    }
    if !missing.is_empty() {
        return Some(format!(
            "It needs {}, which is not on PATH: apt-get install {}.",
            missing.join(" and "),
            packages.join(" ")
        ));
    }
    if benchmark.placement == Placement::Cross && offer.peer.is_none() {
        return Some(
            "It needs two CPUs, and this process may use only one: start it where more are allowed."
                .to_owned(),
        );
    }
    let mut programs = match &benchmark.work {
        Work::Kernel(work) => [&work.program].into_iter().chain(&work.uses).collect(),
        Work::Command(work) | Work::Scenario(work) => work.uses.iter().collect(),
        Work::Derived { .. } | Work::Score { .. } => vec![],
    }
    .into_iter();
    let missing = programs.find(|program| !offer.kernels.contains(*program))?;
    Some(format!(
        "The program {missing} is not in this binary, which was built without a compiler for it: apt-get install gcc gfortran, and build Gritstone again."
    ))
}

#[cfg(test)]
pub(crate) mod tests;
