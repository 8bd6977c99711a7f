//! `gritstone generate`: manual pages and completions of shells, from the one definition of the command line.

use crate::args::Cli;
use crate::failure::Exit;
use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::fs;
use std::path::Path;

/// Writes a manual page for the program and each of its commands, and what bash, zsh and fish read.
///
/// # Errors
/// When the directory cannot be written.
pub fn generate(directory: &Path) -> Result<Exit> {
    write(directory).with_context(|| format!("cannot write to {}", directory.display()))?;
    Ok(Exit::Done)
}

fn write(directory: &Path) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut command = for_people();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, "gritstone", directory)?;
    }
    clap_mangen::generate_to(for_people(), directory)
}

/// The command line without the commands that are not for people, which zsh and bash would offer all the same.
fn for_people() -> Command {
    let whole = Cli::command();
    let shown = whole
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    Command::new("gritstone")
        .version(env!("CARGO_PKG_VERSION"))
        .about(whole.get_about().cloned().unwrap_or_default())
        .disable_help_subcommand(true)
        .args(whole.get_arguments())
        .subcommands(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_page_and_no_other_has() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let (page, zsh) = (read("gritstone.1"), read("_gritstone"));
        let (bash, fish) = (read("gritstone.bash"), read("gritstone.fish"));
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let own = folder.path().join(format!("gritstone-{name}.1"));
            assert_eq!(own.exists(), !command.is_hide_set(), "{name}");
            for text in [&bash, &zsh, &fish] {
                assert_eq!(text.contains(name), !command.is_hide_set(), "{name}");
            }
            // the dash of roff
            let listed = page.contains(&format!("gritstone\\-{name}(1)"));
            assert_eq!(listed, !command.is_hide_set(), "{name}");
        }
        assert!(page.contains("\\-\\-store"), "{page}");
    }
}
