//! `gritstone config`: the defaults that configuration files set, with their places.

use crate::ui::config::{Setting, read, sources};
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::Result;
use clap::{Args, Command};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone config --show
  printf '[run]\\nbudget = \"3m\"\\n' > gritstone.toml     default of `run` here")]
pub struct ConfigArgs {
    /// Show them; the default
    #[arg(long)]
    pub show: bool,
}

pub fn show(root: &Command) -> Result<Exit> {
    let settings = read(root)?;
    let mut text = String::new();
    for source in sources() {
        let state = if source.path().exists() { "" } else { " (not there)" };
        text += &format!("# {}{state}\n", source.path().display());
    }
    for (index, setting) in settings.iter().enumerate() {
        let Setting { command, key, values, place } = setting;
        let same = |later: &Setting| (&later.command, &later.key) == (command, key);
        let section = command.as_ref().map_or(String::new(), |command| format!("{command}."));
        // a store may be a URL with a password
        let shown = values.iter().map(|value| gritstone_store::shown(value.as_ref()));
        let shown: Vec<String> = shown.map(|value| value.display().to_string()).collect();
        let value = match shown.as_slice() {
            [one] => format!("{one:?}"),
            many => format!("{many:?}"),
        };
        let over = if settings[index + 1..].iter().any(same) { ", overridden below" } else { "" };
        text += &format!("{section}{key} = {value}  # {place}{over}\n");
    }
    output::plain(&text)?;
    Ok(Exit::Done)
}
