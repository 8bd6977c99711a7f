//! Announces skipped benchmarks.

use crate::ui::output;
use gritstone_document::listed;
use gritstone_model::{Plan, grouped};

/// Skipped benchmarks that are named for each reason.
const SKIPS_NAMED: usize = 3;

/// Prints the skipped benchmarks of a plan, a line for each reason.
pub fn announce(plan: &Plan) {
    let skips = plan.skips.iter();
    for (reason, ids) in grouped(skips.map(|skip| (&skip.reason, skip.id.as_str()))) {
        output::remark(&format!("skipped: {}: {reason}", listed(&ids, SKIPS_NAMED)));
    }
}
