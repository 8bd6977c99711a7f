//! The privileged actions of a plan, and their announcement.

use crate::bounds::Bounds;
use gritstone_catalogue::CustomBenchmarks;
use gritstone_exec::privileged::{Action, Description, describe, is_needed};
use gritstone_host::{Finding, Severity};
use gritstone_model::{Benchmark, Id, Plan};
use gritstone_runs::custom_catalog;
use nix::unistd::geteuid;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The benchmarks of a plan that are launched.
pub fn measured(plan: &Plan) -> Vec<&Benchmark> {
    let steps: BTreeSet<&Id> = plan.steps.iter().map(|step| &step.id).collect();
    let benchmarks = plan.benchmarks.iter();
    benchmarks.filter(|benchmark| steps.contains(&benchmark.id)).collect()
}

/// A privileged action, and the benchmarks that need it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    #[schemars(with = "String")]
    pub action: Action,
    #[serde(flatten)]
    pub described: Description,
    pub benchmarks: Vec<String>,
}

pub fn actions(plan: &Plan, custom: Option<&CustomBenchmarks>, bounds: Bounds) -> Vec<Listed> {
    let benchmarks = measured(plan);
    let custom = custom_catalog::catalog_in_plan(custom, plan).filter(|_| !bounds.permits.nothing);
    let listed = |action: Action| {
        let needs = |benchmark: &&&Benchmark| match action {
            Action::ProcessGroup => custom.is_some_and(|custom| custom.stored.has(&benchmark.id)),
            Action::Settings => bounds.tune && !bounds.permits.nothing,
            action => is_needed(action, benchmark),
        };
        let needing = benchmarks.iter().filter(needs);
        Listed {
            action,
            described: describe(action),
            benchmarks: needing.map(|benchmark| benchmark.id.to_string()).collect(),
        }
    };
    let all = Action::ALL.into_iter().map(listed);
    all.filter(|listed| !listed.benchmarks.is_empty()).collect()
}

/// Announces the actions of a run as root.
pub(crate) fn announce(plan: &Plan, custom: Option<&CustomBenchmarks>, bounds: Bounds) {
    let actions = actions(plan, custom, bounds);
    let whats: Vec<&str> = actions.iter().map(|l| l.described.what).collect();
    if geteuid().is_root() && !whats.is_empty() {
        log::warn!(
            "as root this run uses {} (--dry-run explains it, --no-privileged prevents it)",
            whats.join(", ")
        );
    }
}

/// Findings of `doctor` about privileged actions.
pub fn findings(benchmarks: &[Benchmark]) -> Vec<Finding> {
    if !geteuid().is_root() {
        return vec![];
    }
    let finding = |action: Action| {
        let needing = benchmarks.iter().filter(|benchmark| is_needed(action, benchmark));
        let described = describe(action);
        let value = match (action, needing.count()) {
            (Action::Swap, count) => format!("only with --allow swap, for {count} benchmarks"),
            (Action::Settings, _) => "only with --tune, not with --no-privileged".to_owned(),
            (Action::ProcessGroup, _) => "for custom benchmarks".to_owned(),
            (_, count) => format!("for {count} benchmarks, not with --no-privileged"),
        };
        Finding {
            name: format!("as root: {}", described.what),
            value,
            why: format!("{}; {}.", described.why, described.undone),
            todo: None,
            severity: Severity::Note,
        }
    };
    Action::ALL.into_iter().map(finding).collect()
}
