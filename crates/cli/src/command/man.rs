//! `gritstone man`: manual pages, from the command line and docs/exit-codes.md.

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

pub const ENVIRONMENT: [(&str, &str); 15] = [
    ("GRITSTONE_STORE", "Database of runs, unless --store names one."),
    ("XDG_DATA_HOME", "Where gritstone/gritstone.db is [default: ~/.local/share]."),
    ("XDG_CONFIG_HOME", "Where gritstone/config.toml is [default: ~/.config]."),
    ("XDG_STATE_HOME", "Directory of the undo journals [default: ~/.local/state]."),
    ("TMPDIR", "Directory for files that are measured, where /var/tmp does not serve."),
    ("PATH", "Programs that benchmarks time, and compilers."),
    ("COLUMNS", "Width of tables, in place of that of the terminal."),
    ("NO_COLOR", "If not empty, no styles."),
    ("CLICOLOR_FORCE", "If not empty and not 0, styles in a pipe too."),
    ("PAGER", "Pager of commands that look, on a terminal [default: less -FRX]."),
    ("CC, FC", "Compilers of custom benchmarks, where --cc and --fc are not given."),
    ("GRITSTONE_TOKEN", "Token of a server, where --token-file is not given."),
    ("SSL_CERT_FILE", "Certificates that are trusted, as PEM, in place of those of the system."),
    ("PGUSER, PGPASSWORD, PGPASSFILE", "Of a store on PostgreSQL, where its URL does not say."),
    ("CI", "If true, pr and bisect execute the commands of gritstone-pr.toml."),
];

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
    terms(&mut shared, "EXIT STATUS", exit_codes());
    let owned = |(term, what): (&str, &str)| (term.to_owned(), what.to_owned());
    terms(&mut shared, "ENVIRONMENT", ENVIRONMENT.into_iter().map(owned));
    terms(&mut shared, "FILES", FILES.into_iter().map(owned));
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

/// The table of docs/exit-codes.md.
fn exit_codes() -> impl Iterator<Item = (String, String)> {
    let lines = include_str!("../../exit-codes.md").lines();
    lines.filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.trim_end_matches(" |").splitn(2, " | ");
        let code: u8 = cells.next()?.parse().ok()?;
        Some((code.to_string(), cells.next()?.replace('`', "")))
    })
}

fn terms(page: &mut Roff, heading: &str, all: impl Iterator<Item = (String, String)>) {
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
        assert!(exit_codes().count() >= 6);
    }
}
