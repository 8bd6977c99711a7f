//! Questions on the terminal.

use crate::ui::output;
use anyhow::{Context, Result};
use std::io::IsTerminal;

/// Shows what would run, and asks whether to run it; `None` where there is no terminal.
///
/// # Errors
/// When the answer cannot be read.
pub fn run_it(what: &str) -> Result<Option<bool>> {
    output::remark(what);
    match std::io::stdin().is_terminal() && output::is_terminal() {
        true => answered_yes("Run it?").map(Some),
        false => Ok(None),
    }
}

/// Asks a question, to be answered with y or n.
///
/// # Errors
/// When there is no answer.
pub fn answered_yes(question: &str) -> Result<bool> {
    output::say(&format!("{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
