//! `gritstone man`: manual pages, from the command line and docs/exit-codes.md.

use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context, Result};
use clap::Args;
use clap::Command;
use clap_mangen::Man;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone man run | man -l -
  gritstone man --output ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Command [default: the page of the program]
    pub command: Option<String>,
    /// Write all pages to this directory
    #[arg(short, long, value_name = "DIR", conflicts_with = "command")]
    pub output: Option<PathBuf>,
}

pub const ENVIRONMENT: [(&str, &str); 11] = [
    (
        "GRITSTONE_STORE",
        "Database of runs, unless --store names one.",
    ),
    (
        "XDG_DATA_HOME",
        "Where gritstone/gritstone.db is [default: ~/.local/share].",
    ),
    (
        "XDG_CONFIG_HOME",
        "Where gritstone/config.toml is [default: ~/.config].",
    ),
    (
        "XDG_STATE_HOME",
        "Where changes to the machine are written down until they are undone [default: ~/.local/state].",
    ),
    (
        "TMPDIR",
        "Directory for files that are measured, where /var/tmp does not serve.",
    ),
    ("PATH", "Programs that benchmarks time, and compilers."),
    (
        "COLUMNS",
        "Width of tables, in place of that of the terminal.",
    ),
    ("NO_COLOR", "If not empty, no styles."),
    (
        "CLICOLOR_FORCE",
        "If not empty and not 0, styles in a pipe too.",
    ),
    (
        "PAGER",
        "Pager of commands that look, on a terminal [default: less -FRX].",
    ),
    (
        "CC, FC",
        "Compilers of custom benchmarks, where --cc and --fc are not given.",
    ),
];

const FILES: [(&str, &str); 3] = [
    (
        "~/.local/share/gritstone/gritstone.db",
        "All runs, with every sample.",
    ),
    (
        "~/.config/gritstone/config.toml",
        "Defaults of options, by command; `gritstone config` shows them.",
    ),
    (
        "gritstone.toml, .gritstone.toml",
        "The same for a directory: suite, selection, budget, label and display alone.",
    ),
];

pub fn man(whole: &Command, args: &ManArgs) -> Result<Exit> {
    let whole = visible(whole);
    if let Some(directory) = &args.output {
        write(&whole, directory)
            .with_context(|| format!("cannot write to {}", directory.display()))?;
        return Ok(Exit::Done);
    }
    let page = match &args.command {
        None => page(&whole, &whole, "gritstone")?,
        Some(name) => {
            let found = whole.find_subcommand(name);
            let found = found
                .with_context(|| format!("no command '{name}'; `gritstone --help` lists them"))?;
            page(&whole, found, &format!("gritstone-{}", found.get_name()))?
        }
    };
    output::plain(&page)?;
    Ok(Exit::Done)
}

fn write(whole: &Command, directory: &Path) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(
        directory.join("gritstone.1"),
        page(whole, whole, "gritstone")?,
    )?;
    for command in whole.get_subcommands() {
        let name = format!("gritstone-{}", command.get_name());
        fs::write(
            directory.join(format!("{name}.1")),
            page(whole, command, &name)?,
        )?;
    }
    Ok(())
}

/// Removes hidden commands.
fn visible(whole: &Command) -> Command {
    let shown = whole
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let mut shown = Command::new("gritstone")
        .version(env!("CARGO_PKG_VERSION"))
        .about(whole.get_about().cloned().unwrap_or_default())
        .disable_help_subcommand(true)
        .args(whole.get_arguments())
        .subcommands(shown);
    shown.build();
    shown
}

/// A page with clap's sections, and the shared ones.
fn page(whole: &Command, command: &Command, name: &str) -> std::io::Result<String> {
    let man = Man::new(command.clone())
        .title(name)
        .date("")
        .source(concat!("gritstone ", env!("CARGO_PKG_VERSION")))
        .manual("Gritstone");
    let mut page = vec![];
    man.render_title(&mut page)?;
    let mut page = String::from_utf8_lossy(&page).into_owned();
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let _ = write!(
        page,
        ".SH NAME\n{} \\- {}\n",
        escaped(name),
        escaped(&about)
    );
    let usage = command.clone().render_usage().to_string();
    let usage = usage
        .trim_start_matches("Usage:")
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join("\n");
    let _ = write!(page, ".SH SYNOPSIS\n.nf\n{}\n.fi\n", escaped(&usage));
    let mut rest = vec![];
    man.render_description_section(&mut rest)?;
    man.render_options_section(&mut rest)?;
    page.push_str(&String::from_utf8_lossy(&rest));
    if command.has_subcommands() {
        terms(
            &mut page,
            "COMMANDS",
            whole.get_subcommands().map(|c| {
                (
                    format!("gritstone-{}(1)", c.get_name()),
                    c.get_about().map(ToString::to_string).unwrap_or_default(),
                )
            }),
        );
    }
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let examples = examples.trim_start_matches("Examples:").trim_matches('\n');
        let _ = write!(page, ".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped(examples));
    }
    terms(&mut page, "EXIT STATUS", exit_codes());
    let own = |(term, what): (&str, &str)| (term.to_owned(), what.to_owned());
    terms(&mut page, "ENVIRONMENT", ENVIRONMENT.into_iter().map(own));
    terms(&mut page, "FILES", FILES.into_iter().map(own));
    let others = whole
        .get_subcommands()
        .map(|c| format!("gritstone-{}", c.get_name()));
    let others = others.filter(|other| other != name && name != "gritstone");
    let others = others.map(|other| format!("{}(1)", escaped(&other)));
    let main = (name != "gritstone").then(|| "gritstone(1)".to_owned());
    let also: Vec<String> = main
        .into_iter()
        .chain(others)
        .chain([
            "perf(1)".to_owned(),
            "hyperfine(1)".to_owned(),
            "fio(1)".to_owned(),
        ])
        .collect();
    let _ = write!(page, ".SH SEE ALSO\n{}\n", also.join(", "));
    Ok(page)
}

/// The table of docs/exit-codes.md.
fn exit_codes() -> impl Iterator<Item = (String, String)> {
    let lines = include_str!("../../../../docs/exit-codes.md").lines();
    lines.filter_map(|line| {
        let mut cells = line
            .strip_prefix("| ")?
            .trim_end_matches(" |")
            .splitn(2, " | ");
        let code: u8 = cells.next()?.parse().ok()?;
        Some((code.to_string(), cells.next()?.replace('`', "")))
    })
}

fn terms(page: &mut String, heading: &str, all: impl Iterator<Item = (String, String)>) {
    let _ = writeln!(page, ".SH {heading:?}");
    for (term, what) in all {
        let _ = write!(
            page,
            ".TP\n\\fB{}\\fR\n{}\n",
            escaped(&term),
            escaped(&what)
        );
    }
}

/// Escapes text for roff.
fn escaped(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        match line.starts_with(['.', '\'']) {
            true => format!("\\&{line}"),
            false => line,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn visible_commands_have_pages() {
        let folder = tempfile::tempdir().unwrap();
        write(&visible(&Cli::command()), folder.path()).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let whole = read("gritstone.1");
        assert!(
            whole.contains("\\-\\-store") && whole.contains("GRITSTONE_STORE"),
            "{whole}"
        );
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let file = format!("gritstone-{name}.1");
            let shown = !command.is_hide_set();
            assert_eq!(folder.path().join(&file).exists(), shown, "{name}");
            assert_eq!(
                whole.contains(&format!("gritstone\\-{name}(1)")),
                shown,
                "{name}"
            );
            if shown {
                let page = read(&file);
                for section in [
                    "NAME",
                    "SYNOPSIS",
                    "DESCRIPTION",
                    "\"EXIT STATUS\"",
                    "\"ENVIRONMENT\"",
                    "\"FILES\"",
                    "SEE ALSO",
                ] {
                    assert!(
                        page.contains(&format!("\n.SH {section}\n")),
                        "{name} lacks {section}: {page}"
                    );
                }
                assert!(page.contains(&format!(".TH gritstone-{name} 1")), "{page}");
            }
        }
        let bench = read("gritstone-bench.1");
        assert!(
            bench.contains(".SH EXAMPLES") && bench.contains("gritstone bench"),
            "{bench}"
        );
        assert!(exit_codes().count() >= 6);
    }
}
