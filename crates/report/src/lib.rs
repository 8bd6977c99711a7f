//! Views of runs, systems and comparisons as documents. Every sentence about a result is written here.

pub mod findings;
pub mod lists;
pub mod table;

mod ab;
mod absent;
mod audit;
mod bench;
mod benchmark_page;
mod bisect;
mod brief;
mod changes;
mod check;
mod classic;
mod columns;
mod compare;
mod copies;
mod counters;
mod fleet;
mod history;
mod json;
mod latencies;
mod many_runs;
mod overview;
mod pairs;
mod pr;
mod profile;
mod responses;
mod scores;
mod show;
mod verdicts;
mod words;

pub use ab::{ab, ab_unstored};
pub use audit::audit;
pub use bench::{Ranking, TimeScale, TimeStatistics, Timing, commands, percentile};
pub use benchmark_page::{line, one};
pub use bisect::bisect;
pub use brief::{Brief, Pair, brief, data_sheet, pair};
pub use changes::{change, changes, event, event_lines, new_events, newest_entry};
pub use check::{check, check_counts, check_since, missing_reason};
pub use classic::{Classic, classic};
pub use compare::{Comparison, compare};
pub use fleet::{fleet, fleet_lines, fleet_progress, node, nodes};
pub use history::{benchmark, histories, history, history_svg};
pub use json::json;
pub use lists::runs;
pub use many_runs::{Other, several};
pub use overview::overview;
pub use pr::{pr, pr_remarks, pr_verdict, pr_word};
pub use scores::{score_lines, scores};
pub use show::{machine_line, show};
pub use verdicts::side as compared_value;
pub use words::{
    Detail, bare_ratio, bytes, change as value_change, duration, fact as fact_name, minute, peer,
    plural, samples,
};
