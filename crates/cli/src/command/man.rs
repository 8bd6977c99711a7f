//! `gritstone man`: manual pages, from the command line, environment.md and docs/exit-codes.md.

use crate::ui::display::DISPLAY;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result};
use clap::{Arg, Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use gritstone_runs::output_file;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone man run
  gritstone man --output ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Command, whose page a terminal shows by `man`, and a pipe gets as its source [default: the page of the program]
    pub command: Option<String>,
    /// Write all pages to this directory
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    pub output: Option<PathBuf>,
}

/// A table of a variable and what it does; docs/reference/configuration.md shows it.
pub const ENVIRONMENT: &str = include_str!("../../environment.md");

const FILES: [(&str, &str); 3] = [
    ("~/.local/share/gritstone/gritstone.db", "All runs, with every sample."),
    (
        "~/.config/gritstone/config.toml",
        "Defaults of options, by command; `gritstone config` shows them.",
    ),
    (
        "gritstone.toml, .gritstone.toml",
        "The same for a directory: suite, selection, budget, label and display alone.",
    ),
];

pub fn man(root: &Command, args: &ManArgs) -> Result<Exit> {
    let mut root = root.clone().disable_help_subcommand(true);
    root.build();
    if let Some(directory) = &args.output {
        write(&root, directory)
            .with_context(|| format!("cannot write to {}", directory.display()))?;
        return Ok(Exit::Done);
    }
    let command = match &args.command {
        None => &root,
        Some(name) => root
            .find_subcommand(name)
            .with_context(|| format!("no command '{name}'; `gritstone --help` lists them"))?,
    };
    output::manual_page(&String::from_utf8(page(command)?.1)?)?;
    Ok(Exit::Done)
}

/// Writes the pages of a command and of all commands below it.
fn write(command: &Command, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    let (name, text) = page(command)?;
    output_file::write(&directory.join(name), &text)?;
    let shown = command.get_subcommands().filter(|c| !c.is_hide_set());
    for command in shown {
        write(command, directory)?;
    }
    Ok(())
}

/// The name of a page and its text: the sections of clap, and those that all pages share.
fn page(command: &Command) -> std::io::Result<(String, Vec<u8>)> {
    let source = concat!("gritstone ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(arranged(command));
    let man = man.source(source).manual("Gritstone");
    let mut page = vec![];
    man.render(&mut page)?;
    let mut shared = Roff::new();
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let examples = examples.trim_start_matches("Examples:").trim_matches('\n');
        shared.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in examples.lines() {
            shared.text([roman(line)]);
        }
        shared.control("fi", []);
    }
    terms(&mut shared, "EXIT STATUS", table(include_str!("../../exit-codes.md")));
    terms(&mut shared, "ENVIRONMENT", table(ENVIRONMENT));
    terms(&mut shared, "FILES", FILES.map(|(path, what)| (path.into(), what.into())));
    shared.to_writer(&mut page)?;
    Ok((man.get_filename(), page))
}

/// Without what clap renders badly: it reflows examples, and a synopsis has every option without its value.
fn arranged(command: &Command) -> Command {
    let heading = |arg: Arg| match arg.get_id().as_str() {
        "help" | "version" => arg.help_heading(DISPLAY),
        _ if arg.is_positional() => arg.help_heading("Arguments"),
        _ => arg,
    };
    command
        .clone()
        .after_help(None::<&str>)
        .override_usage(usage(command))
        .subcommand_help_heading("COMMANDS")
        .mut_args(heading)
}

/// `gritstone run [OPTIONS] [SELECTOR]...`, as in help.
fn usage(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    usage.trim_start_matches("Usage:").trim().to_owned()
}

/// Rows of the table of a document.
fn table(document: &str) -> impl Iterator<Item = (String, String)> {
    let rows = document.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.skip(2).filter_map(|row| {
        let (term, what) = row.split_once(" | ")?;
        Some((term.replace('`', ""), what.replace('`', "")))
    })
}

fn terms(page: &mut Roff, heading: &str, all: impl IntoIterator<Item = (String, String)>) {
    page.control("SH", [heading]);
    for (term, what) in all {
        page.control("TP", []).text([bold(term)]).text([roman(what)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn visible_commands_have_pages() {
        let folder = tempfile::tempdir().unwrap();
        let mut root = Cli::command().disable_help_subcommand(true);
        root.build();
        write(&root, folder.path()).unwrap();
        for command in root.get_subcommands() {
            let file = folder.path().join(format!("gritstone-{}.1", command.get_name()));
            assert_eq!(file.exists(), !command.is_hide_set(), "{file:?}");
            if file.exists() {
                let page = fs::read_to_string(file).unwrap();
                for section in ["EXAMPLES", "\"EXIT STATUS\"", "ENVIRONMENT", "FILES"] {
                    let heading = format!(".SH {section}\n");
                    assert!(page.contains(&heading), "{section}: {page}");
                }
            }
        }
        assert!(table(include_str!("../../exit-codes.md")).count() >= 6);
    }
}
