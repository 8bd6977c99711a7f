//! Help with commands in groups, which clap has for options only.

use clap::Command;
use std::fmt::Write as _;

pub const GROUPS: [(&str, &[&str]); 7] = [
    ("Measure", &["run", "bench", "ab"]),
    (
        "Look at results",
        &["runs", "show", "compare", "history", "changes", "report", "score", "serve", "site"],
    ),
    ("Gate", &["pr", "check", "bisect"]),
    ("Fleet", &["fleet"]),
    ("This machine", &["doctor", "systems"]),
    ("Benchmarks", &["list", "info", "init", "audit"]),
    ("Data", &["export", "import", "verify", "push", "pull", "sync", "token"]),
];

pub fn grouped(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}\n\n\
         `gritstone help COMMAND` has examples of each command.\n",
        groups(&command)
    );
    command.help_template(template)
}

fn groups(command: &Command) -> String {
    let visible = || command.get_subcommands().filter(|c| !c.is_hide_set());
    let width = visible().map(|c| c.get_name().len()).max().unwrap_or(0);
    let grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut text = String::new();
    let mut list = |heading: &str, commands: Vec<&Command>| {
        if commands.is_empty() {
            return;
        }
        let _ = writeln!(text, "\n{heading}:");
        for command in commands {
            let about = command.get_about().map(ToString::to_string);
            let about = about.unwrap_or_default();
            let _ = writeln!(text, "  {:width$}  {about}", command.get_name());
        }
    };
    for (heading, names) in GROUPS {
        let named = names.iter().filter_map(|name| visible().find(|c| c.get_name() == *name));
        list(heading, named.collect());
    }
    let others = visible().filter(|c| !grouped(c.get_name()));
    list("Other", others.collect());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn commands_have_examples() {
        let mut command = grouped(Cli::command());
        command.build();
        let help = command.clone().render_help().to_string();
        let lines = groups(&command);
        let fits = |line: &str| line.chars().count() <= 80;
        assert!(lines.lines().all(fits), "{lines}");
        // clap's own command `help` is in the last line
        let shown = command.get_subcommands().filter(|c| !c.is_hide_set());
        for subcommand in shown.filter(|c| c.get_name() != "help") {
            let line = format!("\n  {} ", subcommand.get_name());
            assert_eq!(help.matches(&line).count(), 1, "{line} in {help}");
            let example = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
            // clap prints a line end for it
            assert!(!example.contains("{n}"), "{}", subcommand.get_name());
            assert!(example.contains("gritstone "), "{} has no example", subcommand.get_name());
        }
    }
}
