//! Generates `docs/reference/` from the command line.

use super::check;
use crate::cli::Cli;
use crate::command::man;
use crate::ui::config;
use crate::ui::help;
use crate::ui::settable::SetBy;
use clap::{Arg, ArgAction, Command, CommandFactory};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Columns of the help.
const WIDTH: usize = 120;
const HEADER: &str = "<!-- Written from the definition of the command line: GRITSTONE_WRITE_REFERENCE=1 cargo test --workspace --bins reference -->\n";

/// Environment variables that correspond to keys.
const VARIABLES: [(&str, &str); 5] = [
    ("store", "`GRITSTONE_STORE`"),
    ("color", "`NO_COLOR`, `CLICOLOR_FORCE`"),
    ("no-pager", "`PAGER` (which pager)"),
    ("cc", "`CC` (with `--catalog`)"),
    ("fc", "`FC` (with `--catalog`)"),
];

#[test]
fn reference_pages_are_current() {
    let mut root = Cli::command();
    root.build();
    for (file, text) in
        [("commands.md", commands(&root)), ("configuration.md", configuration(&root))]
    {
        check(&format!("reference/{file}"), &text, "GRITSTONE_WRITE_REFERENCE");
    }
}

/// Every visible command, grouped as in the help.
fn commands(root: &Command) -> String {
    let mut text = format!(
        "# Commands\n\n{HEADER}\n`gritstone help COMMAND` and `gritstone man COMMAND` print the same. [Exit codes](../exit-codes.md), \
         [formats](../formats.md), [configuration](configuration.md).\n"
    );
    let known = |name: &&str| root.find_subcommand(name).is_some_and(|c| !c.is_hide_set());
    let mut left: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
    left.retain(|name| known(name) && *name != "help");
    for (heading, names) in help::GROUPS {
        left.retain(|name| !names.contains(name));
        let _ = write!(text, "\n## {heading}\n");
        names
            .iter()
            .filter(|name| known(name))
            .for_each(|name| append_command(&mut text, root, &[name]));
    }
    text.push_str("\n## Other\n");
    left.iter().for_each(|name| append_command(&mut text, root, &[name]));
    text.push_str("\n## Options of every command\n");
    let hide_others = |arg: Arg| {
        let hidden = !arg.is_global_set();
        arg.hide(hidden)
    };
    let global = root.clone().mut_args(hide_others);
    append_help(&mut text, global.about("").help_template("{options}").after_help(""));
    text
}

/// A command by its path, then its subcommands.
fn append_command(text: &mut String, root: &Command, path: &[&str]) {
    let command = path
        .iter()
        .fold(root, |command, name| command.find_subcommand(name).expect("a listed command"));
    let _ = write!(text, "\n{} {}\n", "#".repeat(2 + path.len()), path.join(" "));
    append_help(
        text,
        command.clone().mut_args(|arg| {
            let of_root = root.get_arguments().any(|other| other.get_id() == arg.get_id());
            let of_all = arg.is_global_set() && of_root;
            let hidden = arg.is_hide_set() || of_all || arg.get_id() == "help";
            arg.hide(hidden)
        }),
    );
    let below = command.get_subcommands();
    let below = below.filter(|command| !command.is_hide_set() && command.get_name() != "help");
    for command in below {
        append_command(text, root, &[path, &[command.get_name()]].concat());
    }
}

fn append_help(text: &mut String, command: Command) {
    let help = command.term_width(WIDTH).render_long_help().to_string();
    let lines: Vec<&str> = help.trim().lines().map(str::trim_end).collect();
    let _ = write!(text, "\n```\n{}\n```\n", lines.join("\n"));
}

/// Every key that a file may set.
fn configuration(root: &Command) -> String {
    let mut text = format!(
        "# Configuration\n\n{HEADER}\nFiles set defaults of options; what is typed wins. `[run]` and the like are sections by command; \
         a key of a section is an option of that command. Keys before the first section are options of every command.\n\n\
         ```toml\n# gritstone.toml\n[run]\nsuite = \"classic\"\nbudget = \"3m\"\n```\n\n\
         *yours*: `$XDG_CONFIG_HOME/gritstone/config.toml` [default: `~/.config`] may set every key. *any*: `gritstone.toml` or \
         `.gritstone.toml` of the current directory may set it too, and wins. A file that another user can write is not read. \
         `gritstone config --show` prints what holds, and where it comes from.\n\n\
         | key | sections | type | default | file | variable |\n| --- | --- | --- | --- | --- | --- |\n"
    );
    let mut keys: BTreeMap<(SetBy, &str), Vec<(&str, &Arg)>> = BTreeMap::new();
    let shown = root.get_subcommands().filter(|c| !c.is_hide_set());
    let sections = shown.map(|command| (command.get_name(), command));
    for (section, command) in [("before the first", root)].into_iter().chain(sections) {
        let global = section == "before the first";
        for arg in config::settable(command).filter(|arg| arg.is_global_set() == global) {
            let by = *arg.get::<SetBy>().unwrap();
            let found = keys.entry((by, config::key(arg))).or_default();
            found.push((section, arg));
        }
    }
    for (option, _) in VARIABLES {
        assert!(keys.keys().any(|(_, key)| *key == option), "no key {option}");
    }
    for ((by, key), found) in keys {
        let file = match by {
            SetBy::AnyFile => "any",
            SetBy::UserFile => "yours",
        };
        let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
        let (_, arg) = found[0];
        let mut defaults: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, arg) in &found {
            defaults.entry(default(arg)).or_default().push(name);
        }
        let one = defaults.len() == 1;
        let options = defaults.into_iter().filter(|(default, _)| !default.is_empty());
        let defaults: Vec<String> = options
            .map(|(default, names)| match one {
                true => default,
                false => format!("{default} ({})", names.join(", ")),
            })
            .collect();
        let variable = VARIABLES
            .iter()
            .find(|(option, _)| *option == key)
            .map_or("", |(_, variable)| *variable);
        let _ = writeln!(
            text,
            "| `{key}` | {} | {} | {} | {file} | {variable} |",
            names.join(", "),
            cell(&kind(arg)),
            cell(&defaults.join("; "))
        );
    }
    let _ = write!(text, "\n## Environment\n\n{}", man::ENVIRONMENT);
    text.push_str("\nAn empty variable counts as unset. [Files and environment](../files.md) lists what is written where.\n");
    text
}

/// Type of a key's value.
fn kind(arg: &Arg) -> String {
    let named = arg.get_possible_values();
    let one = match arg.get_action() {
        ArgAction::SetTrue => return "true or false".to_owned(),
        _ if !named.is_empty() => {
            let shown = named.iter().filter(|value| !value.is_hide_set());
            let names: Vec<String> = shown.map(|value| format!("`{}`", value.get_name())).collect();
            names.join(", ")
        }
        _ => format!("text: {}", value(arg, "").trim().to_lowercase()),
    };
    match arg.get_action() {
        ArgAction::Append => format!("{one}; or a list of them"),
        _ => one,
    }
}

/// The value of an option as its help names it; empty for a flag.
fn value(arg: &Arg, before: &str) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    match arg.get_action().takes_values() {
        true => names.iter().map(|name| format!("{before}{name}")).collect(),
        false => String::new(),
    }
}

/// The default of an option, or that in its help.
fn default(arg: &Arg) -> String {
    let values: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.display())).collect();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let default = help.split_once("[default: ").and_then(|(_, default)| default.split_once(']'));
    match (default, arg.get_action()) {
        (None, ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Count) => String::new(),
        (Some((default, _)), _) => default.to_owned(),
        (None, _) => values.join(", "),
    }
}

/// Escapes text for a Markdown table, except in code.
fn cell(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts: Vec<String> = parts
        .map(|(index, part)| match index % 2 {
            0 => part.replace('*', "\\*").replace('<', "&lt;").replace('|', "\\|"),
            _ => part.replace('|', "\\|"),
        })
        .collect();
    parts.join("`").replace('\n', " ")
}
