//! `gritstone completions`: the script by which a shell asks this program for candidates.

use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context as _, Result};
use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone completions bash > ~/.local/share/bash-completion/completions/gritstone
  gritstone completions zsh > ~/.zfunc/_gritstone
  gritstone completions fish > ~/.config/fish/completions/gritstone.fish")]
pub struct CompletionsArgs {
    /// Shell that reads them
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Names of reference systems have colons, at which readline would split them.
const WHOLE_NAMES: &str = "COMP_WORDBREAKS=${COMP_WORDBREAKS//:}\n";

pub fn print_script(args: &CompletionsArgs) -> Result<Exit> {
    const NAME: &str = env!("CARGO_PKG_NAME");
    let shell = args.shell.to_string();
    let shells = Shells::builtins();
    let completer =
        shells.completer(&shell).with_context(|| format!("{shell} cannot be completed"))?;
    let mut script = vec![];
    completer.write_registration("COMPLETE", NAME, NAME, NAME, &mut script)?;
    let mut script = String::from_utf8(script)?;
    if args.shell == Shell::Bash {
        script += WHOLE_NAMES;
    }
    output::plain(&script)?;
    Ok(Exit::Done)
}
