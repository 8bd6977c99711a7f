//! Options of `gritstone runs prune`.

use clap::Args;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone runs prune --keep-samples 90d --dry-run
  gritstone runs prune --keep-samples 12w

Results, comparisons, histories and reports stay. Exports, push and pull need samples.")]
pub struct PruneArgs {
    /// Keep those of runs that began in this time, e.g. 90d, 12w or 36h, and of runs that have not ended
    #[arg(long, value_name = "TIME", value_parser = crate::ui::value_parsers::age)]
    pub keep_samples: Duration,
    /// Say how much would be pruned, and prune nothing
    #[arg(long)]
    pub dry_run: bool,
}
