//! Announces skipped benchmarks.

use crate::ui::output;
use gritstone_model::Plan;

/// Skipped benchmarks that are named for each reason.
const SKIPS_NAMED: usize = 3;

/// Prints the skipped benchmarks of a plan, a line for each reason.
pub fn announce(plan: &Plan) {
    let mut reasons: Vec<(&str, Vec<&str>)> = vec![];
    for skip in &plan.skips {
        match reasons.iter_mut().find(|(reason, _)| *reason == skip.reason) {
            Some((_, ids)) => ids.push(skip.id.as_str()),
            None => reasons.push((&skip.reason, vec![skip.id.as_str()])),
        }
    }
    for (reason, ids) in reasons {
        let shown = ids.len().min(SKIPS_NAMED);
        let more = match ids.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let named = ids[..shown].join(", ");
        output::remark(&format!("skipped: {named}{more}: {reason}"));
    }
}
