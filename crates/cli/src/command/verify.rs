//! `gritstone verify`: checks bundles that users contribute to a gallery.

use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::Result;
use clap::Args;
use gritstone_runs::context::Context;
use gritstone_runs::files;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone verify results/*.jsonl.zst")]
pub struct VerifyArgs {
    /// Bundles
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

/// Prints a line for each file, and one for each of its faults.
pub fn verify(context: &Context, args: &VerifyArgs) -> Result<Exit> {
    let mut outcome = Exit::Done;
    for path in &args.files {
        let name = path.display();
        let lines: Vec<String> = match files::read(path) {
            Ok(file) => {
                let faults = context.verify(&file)?.into_iter();
                faults.map(|fault| format!("{name}: {fault}\n")).collect()
            }
            // the message begins with the name
            Err(why) => vec![format!("{why:#}\n")],
        };
        if lines.is_empty() {
            output::plain(&format!("{name}: ok\n"))?;
            continue;
        }
        outcome = Exit::CheckFailed;
        output::plain(&lines.concat())?;
    }
    Ok(outcome)
}
