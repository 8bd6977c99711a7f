//! Trials: sides, each a run of its own, launched in turns until they are decided. `ab` and `bench` are front ends.

use crate::host_context::HostContext;
use crate::local_backend::{self, End, Side, plans, random};
use anyhow::Result;
use gritstone_measure::{AfterPilot, Bounded, Design, Limits, PriorRuns, Scheduler, Sequential};
use gritstone_model::{
    Benchmark, CommandWork, Id, Placement, RunData, RunInfo, Settings, Step, TrialSide, Unit,
    UserCommand, Work,
};
use gritstone_store::Store;
use std::collections::BTreeMap;
use std::time::Duration;

/// Half-width of the interval of a single side, which is measured as a run is.
const PRECISION: f64 = 0.01;
/// Sides with a letter.
pub const MAX_LETTERS: usize = 26;

pub struct Trial<'a> {
    pub host: &'a HostContext,
    pub id: String,
    /// Prefix of the labels of its runs.
    pub label: String,
    /// Its runs are stored, and have labels by which they are found.
    pub stored: bool,
    pub seed: u64,
    pub budget: Duration,
    /// Differences within this margin are "same".
    pub margin: f64,
    /// The sides are known to be the same: an A/A test.
    pub same: bool,
    /// Sides are compared with the first, not with the best.
    pub reference: bool,
}

impl<'a> Trial<'a> {
    /// `command` begins the default label.
    pub fn new(
        host: &'a HostContext,
        command: &str,
        label: Option<String>,
        seed: Option<u64>,
    ) -> Self {
        let id = gritstone_store::new_id(jiff::Timestamp::now(), random());
        Self {
            host,
            label: label.unwrap_or_else(|| format!("{command}-{id}")),
            stored: true,
            id,
            seed: seed.unwrap_or_else(|| u64::from(random())),
            budget: Duration::ZERO,
            margin: 0.0,
            same: false,
            reference: false,
        }
    }

    pub fn settings(&self, side: &str, what: &str) -> Settings {
        Settings {
            seed: self.seed,
            budget_s: Some(self.budget.as_secs_f64()),
            precision: self.margin,
            dir: self.host.dir.display().to_string(),
            trial: Some(TrialSide {
                trial: self.id.clone(),
                side: side.to_owned(),
                what: what.to_owned(),
                margin: self.margin,
                margins: BTreeMap::new(),
                same: self.same,
                reference: self.reference,
                compiled: None,
            }),
            ..Settings::default()
        }
    }

    pub fn run_info(&self, side: &str, settings: Settings) -> RunInfo {
        let label = self.stored.then(|| format!("{}-{side}", self.label));
        local_backend::info(self.host, label, settings)
    }

    /// Pairs until all is decided; a single side is measured as a run is. The first side has `start_up` as its last step.
    /// `launches` bounds those of each side.
    pub fn scheduler(
        &self,
        sides: &[Side],
        start_up: bool,
        launches: Option<[u32; 2]>,
    ) -> Box<dyn Scheduler> {
        let (budget, seed) = (self.budget, self.seed);
        let scheduler: Box<dyn Scheduler> = match sides {
            [_] => Box::new(AfterPilot::new(
                &plans(sides),
                Limits { budget: Some(budget), precision: PRECISION, quick: false, seed },
                &PriorRuns::new(),
            )),
            _ => Box::new(Sequential::new(Design {
                steps: sides[0].plan.steps.len() - usize::from(start_up),
                sides: sides.len(),
                start_up,
                reference: self.reference,
                budget,
                margin: self.margin,
                seed,
            })),
        };
        match launches {
            None => scheduler,
            Some(bounds) => Box::new(Bounded::new(scheduler, sides.len(), bounds, seed)),
        }
    }
}

/// What a trial measured, however it ended.
pub struct Measured {
    /// One per side.
    pub runs: Vec<RunData>,
    pub end: Result<End>,
}

/// Fails if nothing was stored, with the failure that ended the trial.
pub fn measured(store: &Store, sides: &[Side], end: Result<End>) -> Result<Measured> {
    match (load_runs(store, sides), end) {
        (Ok(runs), end) => Ok(Measured { runs, end }),
        (Err(_), Err(why)) | (Err(why), Ok(_)) => Err(why),
    }
}

/// The stored runs of all sides.
fn load_runs(store: &Store, sides: &[Side]) -> Result<Vec<RunData>> {
    let runs = sides.iter().map(|side| Ok(store.load(&side.info.id)?));
    runs.collect()
}

/// Name of side `index` of `count`: a letter, or a number with leading zeros, so that names sort as sides do.
pub fn side_name(index: usize, count: usize) -> String {
    match u8::try_from(index) {
        Ok(index) if count <= MAX_LETTERS => char::from(b'a' + index).to_string(),
        _ => format!("{:0width$}", index + 1, width = count.to_string().len()),
    }
}

pub fn command_benchmark(id: Id, title: &str, argv: Vec<String>, user: UserCommand) -> Benchmark {
    let work = Work::Command(CommandWork { argv, user: Some(user), ..CommandWork::default() });
    Benchmark {
        title: title.to_owned(),
        operation: "one process".to_owned(),
        placement: Placement::All,
        ..Benchmark::new(id, Unit::parse("ms").expect("ms is a unit"), work)
    }
}

/// A user command runs on any CPU.
pub fn command_step(command: &Benchmark) -> Step {
    Step { id: command.id.clone(), cpus: vec![], copies: 1 }
}

/// Variables that are not UTF-8 are dropped.
pub fn user_environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_store::trial_of;

    #[test]
    fn first_sides_have_names() {
        for count in [1, 2, 26, 27, 100] {
            let label = |index| format!("cut-{}", side_name(index, count));
            let is_first = |index: &usize| trial_of(&label(*index)) == Some("cut");
            let first: Vec<usize> = (0..count).filter(is_first).collect();
            assert_eq!(first, [0], "{count}");
        }
        assert_eq!(["cut-1", "a"].map(trial_of), [None; 2]);
    }
}
