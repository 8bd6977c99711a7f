//! `gritstone completions`: shell scripts that call `gritstone __complete` for candidates, so that runs, benchmarks and options are current.

use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::Result;
use clap::{Arg, Command};
use clap::{Args, ValueEnum};
use gritstone_runs::context::Context;

/// The command that scripts call.
pub const COMPLETER: &str = "__complete";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone completions bash > ~/.local/share/bash-completion/completions/gritstone
  gritstone completions zsh > ~/.zfunc/_gritstone
  gritstone completions fish > ~/.config/fish/completions/gritstone.fish")]
pub struct CompletionsArgs {
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Newest runs that are offered.
const MAX_RUNS: usize = 30;

impl Shell {
    pub fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("completions/bash"),
            Self::Zsh => include_str!("completions/zsh"),
            Self::Fish => include_str!("completions/fish"),
        }
    }
}

pub fn print_script(args: &CompletionsArgs) -> Result<Exit> {
    output::plain(args.shell.script())?;
    Ok(Exit::Done)
}

/// Prints candidates for the last word, a line each, with a description after a tab.
pub fn complete(context: &Context, whole: &Command, words: &[String]) -> Result<Exit> {
    let (begun, before) = words
        .split_last()
        .map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
    let mut text = String::new();
    for (word, what) in candidates(context, whole, before, begun) {
        if word.starts_with(begun) {
            let what = if what.is_empty() {
                String::new()
            } else {
                format!("\t{what}")
            };
            text += &format!("{word}{what}\n");
        }
    }
    output::plain(&text)?;
    Ok(Exit::Done)
}

type Candidates = Vec<(String, String)>;

fn candidates(context: &Context, whole: &Command, before: &[String], begun: &str) -> Candidates {
    let mut command = whole;
    let mut positional = 0;
    let mut value_of: Option<&Arg> = None;
    for word in before {
        if value_of.take().is_some() {
            continue;
        }
        if let Some(option) = option(whole, command, word) {
            value_of = Some(option)
                .filter(|option| option.get_action().takes_values() && !word.contains('='));
        } else if word.starts_with('-') {
            // an unknown flag
        } else if std::ptr::eq(command, whole) {
            match whole.find_subcommand(word) {
                Some(found) => command = found,
                None => return vec![],
            }
        } else {
            positional += 1;
        }
    }
    if let Some(option) = value_of {
        return values(context, command, option);
    }
    if let Some((name, _)) = begun.split_once('=')
        && let Some(found) = option(whole, command, name)
    {
        let prefixed = values(context, command, found).into_iter();
        return prefixed
            .map(|(value, what)| (format!("{name}={value}"), what))
            .collect();
    }
    if begun.starts_with('-') {
        return options(whole, command);
    }
    if std::ptr::eq(command, whole) {
        let shown = whole
            .get_subcommands()
            .filter(|command| !command.is_hide_set());
        return shown
            .map(|c| (c.get_name().to_owned(), about(c.get_about())))
            .collect();
    }
    let places: Vec<&Arg> = command.get_positionals().collect();
    match places.get(positional).or(places.last()) {
        Some(place) => values(context, command, place),
        None => vec![],
    }
}

fn option<'a>(whole: &'a Command, command: &'a Command, word: &str) -> Option<&'a Arg> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let mut all = command.get_arguments().chain(whole.get_arguments());
    let long = name.strip_prefix("--");
    let short = name
        .strip_prefix('-')
        .filter(|short| short.chars().count() == 1);
    let short = short.and_then(|short| short.chars().next());
    all.find(|arg| {
        long.is_some_and(|long| arg.get_long() == Some(long))
            || short.is_some() && arg.get_short() == short
    })
}

fn options(whole: &Command, command: &Command) -> Candidates {
    let global = whole.get_arguments().filter(|arg| arg.is_global_set());
    let all = command.get_arguments().chain(global);
    let mut options: Candidates = all
        .filter(|arg| !arg.is_hide_set())
        .filter_map(|arg| Some((format!("--{}", arg.get_long()?), about(arg.get_help()))))
        .collect();
    options.push(("--help".to_owned(), "Print help".to_owned()));
    options
}

fn about(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

/// Possible values, benchmarks, runs or systems; without candidates, shells offer files.
fn values(context: &Context, command: &Command, arg: &Arg) -> Candidates {
    let named = arg.get_possible_values();
    if !named.is_empty() {
        let shown = named.iter().filter(|value| !value.is_hide_set());
        return shown
            .map(|value| (value.get_name().to_owned(), about(value.get_help())))
            .collect();
    }
    match (command.get_name(), arg.get_id().as_str()) {
        ("bench", _) => vec![],
        (_, "benchmark" | "benchmarks" | "selectors" | "by") | ("ab", "words") => {
            benchmarks(context)
        }
        (_, "run" | "runs" | "base" | "other" | "against" | "of" | "resume")
            if arg.get_num_args().is_none_or(|n| n.takes_values()) =>
        {
            let mut all = runs(context);
            all.extend(systems(context));
            all
        }
        (_, "words") => {
            let mut all = runs(context);
            all.extend(systems(context));
            all.extend(benchmarks(context));
            all
        }
        (_, "systems" | "system") => systems(context),
        _ => vec![],
    }
}

fn benchmarks(context: &Context) -> Candidates {
    let all = &context.catalogue.benchmarks;
    let mut found: Candidates = vec![];
    for benchmark in all {
        let family = benchmark.id.as_str().split('/').next().unwrap_or_default();
        let family = format!("{family}/*");
        if found.iter().all(|(known, _)| *known != family) {
            found.push((family, "all of the family".to_owned()));
        }
    }
    found.extend(
        all.iter()
            .map(|benchmark| (benchmark.id.to_string(), benchmark.title.clone())),
    );
    found
}

/// Labels and ids of the newest runs; none if the store cannot be read.
fn runs(context: &Context) -> Candidates {
    let heads = context
        .reader()
        .ok()
        .flatten()
        .and_then(|store| store.runs().ok());
    let mut found = vec![("last".to_owned(), "the newest run".to_owned())];
    for head in heads.unwrap_or_default().iter().rev().take(MAX_RUNS) {
        if let Some(label) = &head.label {
            found.push((label.clone(), head.started.clone()));
        }
        found.push((head.id.clone(), head.label.clone().unwrap_or_default()));
    }
    found
}

fn systems(context: &Context) -> Candidates {
    let all = context.references.machines.iter();
    all.map(|machine| (format!("ref:{}", machine.id), machine.name.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn offered(line: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let context = Context::new(Some(folder.path().join("store.db")));
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (begun, before) = words.split_last().unwrap();
        let all = candidates(&context, &Cli::command(), before, begun);
        all.into_iter()
            .map(|(word, _)| word)
            .filter(|word| word.starts_with(begun))
            .collect()
    }

    #[test]
    fn candidates_match_the_position() {
        for (line, wanted) in [
            ("comp", "compare"),
            ("run byte/s", "byte/sieve"),
            ("run --quick vm/", "vm/*"),
            ("run --bud", "--budget"),
            ("run --st", "--store"),
            ("show ref:vax", "ref:vax-11-780-4.1bsd"),
            ("compare last ref:vax", "ref:vax-11-780-4.1bsd"),
            ("show --format j", "json"),
            ("show --format=j", "--format=json"),
            ("history by", "byte/sieve"),
            ("show la", "last"),
            ("show last byte/si", "byte/sieve"),
        ] {
            let offered = offered(line);
            assert!(
                offered.iter().any(|word| word == wanted),
                "{line}: {offered:?}"
            );
        }
        assert!(offered("run --label b").is_empty());
        assert!(!offered("").iter().any(|name| name.starts_with("__")));
    }
}
