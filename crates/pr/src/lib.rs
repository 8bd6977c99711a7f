//! Two revisions of a git repository, by the benchmarks that the project has.
//!
//! [`git`] finds the revisions, [`work_trees`] checks them out and builds them, [`launches`] executes the harness once,
//! [`turns`] repeats it, each time of another build where [`layouts`] made several, [`trial`] orders the sides and judges the benchmarks. [`bisect`] does so for each commit that [`search`] chooses.

pub mod bisect;
mod build_logs;
pub mod compare;
pub mod counts;
pub mod git;
pub mod identical;
pub mod instructions;
pub mod launches;
pub mod layouts;
pub mod project;
pub mod same_output;
pub mod search;
pub mod steps;
mod submodules;
pub mod trial;
pub mod turns;
pub mod work_trees;

/// The sides of a trial.
pub const SIDES: [gritstone_model::PrSideName; 2] =
    [gritstone_model::PrSideName::Base, gritstone_model::PrSideName::Head];

/// There is no comparison, for this reason: a build failed, a harness measured nothing.
#[derive(Debug)]
pub struct NotComparable(pub String);

impl std::fmt::Display for NotComparable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotComparable {}
