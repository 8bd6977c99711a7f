//! Made-up runs for the tests of several modules.

pub(crate) mod fuzz;
#[path = "../../../tests/common/mutation.rs"]
mod mutation;

use gritstone_model::{RunData, TrialSide};

/// Sides of trials, two each, on the system of [`fuzz::runs`] and after those runs.
pub(crate) fn sides(count: usize) -> Vec<RunData> {
    let run = &fuzz::runs()[0];
    let side = |number: usize| {
        let mut run = run.clone();
        run.info.id = format!("19700201-000000-{number:08}");
        run.info.started = "1970-02-01T00:00:00Z".to_owned();
        run.info.label = None;
        run.launches.truncate(4);
        run.info.settings.trial = Some(TrialSide {
            trial: format!("trial-{}", number / 2),
            side: ["a", "b"][number % 2].to_owned(),
            margin: 0.01,
            ..TrialSide::default()
        });
        run
    };
    (0..count).map(side).collect()
}
