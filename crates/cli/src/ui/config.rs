//! Configuration files: defaults of options, by command. A file of the current directory may come with a cloned repository, so it sets only
//! selection, time and display; programs, paths and permissions can only be set in the file of the user.

use crate::ui::output;
use crate::ui::settable::{Selects, SetBy};
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::builder::ArgPredicate;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use gritstone_exec::NotOurs;
use gritstone_model::decode_text;
use std::io;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const FILE_NAMES: [&str; 2] = ["gritstone.toml", ".gritstone.toml"];

#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// `None` for options of all commands.
    pub command: Option<String>,
    pub key: String,
    pub values: Vec<String>,
    /// FILE:LINE
    pub place: String,
}

/// A file that may be missing.
pub struct Source {
    directory: PathBuf,
    name: &'static str,
    is_user_file: bool,
}

impl Source {
    pub fn path(&self) -> PathBuf {
        self.directory.join(self.name)
    }

    /// A file of the current directory that other users can write, and one that this user cannot read, is skipped with a warning.
    fn settings(&self, root: &Command) -> Result<Vec<Setting>> {
        let path = self.path();
        match gritstone_exec::read_owned(&self.directory, self.name) {
            Ok(Some(bytes)) => {
                let text = decode_text(bytes).with_context(|| path.display().to_string())?;
                parse(&text, &path, self.is_user_file, root)
            }
            Ok(None) => Ok(vec![]),
            // of another user, as under sudo -E, or writable by others
            Err(why) if !self.is_user_file || is_closed(&why) => {
                output::remark(&format!("gritstone: {} is not read: {why}", path.display()));
                Ok(vec![])
            }
            Err(why) => Err(anyhow!(why).context(format!("{} cannot be read", path.display()))),
        }
    }
}

/// True if access to it is denied.
fn is_closed(why: &io::Error) -> bool {
    let reason = why.get_ref().and_then(|inner| inner.downcast_ref());
    match reason {
        Some(reason) => matches!(reason, NotOurs::Owner { .. }),
        None => why.kind() == io::ErrorKind::PermissionDenied,
    }
}

/// Later files win.
pub fn sources() -> Vec<Source> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let user = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config")));
    let user = user.map(|directory| Source {
        directory: directory.join("gritstone"),
        name: "config.toml",
        is_user_file: true,
    });
    let here =
        FILE_NAMES.map(|name| Source { directory: PathBuf::from("."), name, is_user_file: false });
    user.into_iter().chain(here).collect()
}

/// # Errors
/// When a file cannot be read, or sets a key that it may not.
pub fn read(root: &Command) -> Result<Vec<Setting>> {
    let mut all = vec![];
    for source in sources() {
        all.extend(source.settings(root)?);
    }
    Ok(all)
}

fn parse(text: &str, path: &Path, is_user_file: bool, root: &Command) -> Result<Vec<Setting>> {
    let line = |offset: usize| {
        text.as_bytes()[..offset.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1
    };
    let place = |offset: usize| format!("{}:{}", path.display(), line(offset));
    let table = DeTable::parse(text).map_err(|why| {
        let offset = why.span().map_or(0, |span| span.start);
        anyhow!("{}: {}", place(offset), why.message())
    })?;
    let mut settings = vec![];
    let mut take =
        |command: Option<&str>, key: &str, offset: usize, value: &Spanned<DeValue<'_>>| {
            let setting = Setting {
                command: command.map(str::to_owned),
                key: key.to_owned(),
                values: values(value.get_ref())
                    .with_context(|| format!("{}: {key}", place(offset)))?,
                place: place(offset),
            };
            setting.check(is_user_file, root)?;
            settings.push(setting);
            Ok::<_, anyhow::Error>(())
        };
    for (key, value) in table.get_ref() {
        let (name, offset) = (key.get_ref().as_ref(), key.span().start);
        match value.get_ref() {
            DeValue::Table(section) => {
                for (key, value) in section {
                    take(Some(name), key.get_ref().as_ref(), key.span().start, value)?;
                }
            }
            _ => take(None, name, offset, value)?,
        }
    }
    Ok(settings)
}

/// A value as typed on the command line.
fn values(value: &DeValue<'_>) -> Result<Vec<String>> {
    Ok(match value {
        DeValue::String(text) => vec![text.to_string()],
        DeValue::Boolean(yes) => vec![yes.to_string()],
        DeValue::Integer(number) => vec![number.to_string()],
        DeValue::Float(number) => vec![number.to_string()],
        DeValue::Array(all) => {
            let each = all.iter().map(|value| values(value.get_ref()));
            each.collect::<Result<Vec<_>>>()?.concat()
        }
        _ => bail!("expected a string, number, boolean or list of them"),
    })
}

/// Key of an option: its long name; that of positional benchmarks is `select`.
pub fn key(arg: &Arg) -> &str {
    arg.get_long().unwrap_or("select")
}

/// The option of a command that files set by `key`.
pub fn argument<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    settable(command).find(|arg| self::key(arg) == key)
}

/// Options that files set.
pub fn settable(command: &Command) -> impl Iterator<Item = &Arg> {
    let all = command.get_arguments();
    all.filter(|arg| arg.get::<SetBy>().is_some())
}

impl Setting {
    /// Checks permission, option and value.
    fn check(&self, is_user_file: bool, root: &Command) -> Result<()> {
        let Self { key, place, .. } = self;
        let (command, section) = match &self.command {
            None => (Some(root), "gritstone".to_owned()),
            Some(name) => (root.find_subcommand(name).filter(|c| !c.is_hide_set()), name.clone()),
        };
        let command = command.with_context(|| format!("{place}: [{section}] is not a command"))?;
        let mut commands = std::iter::once(root).chain(root.get_subcommands());
        ensure!(
            commands.any(|command| argument(command, key).is_some()),
            "{place}: unknown key '{key}'"
        );
        let arg = argument(command, key)
            .with_context(|| format!("{place}: {section} has no option --{key}"))?;
        ensure!(
            is_user_file || arg.get() == Some(&SetBy::AnyFile),
            "{place}: '{key}' can only be set in your own configuration, $XDG_CONFIG_HOME/gritstone/config.toml"
        );
        let flag = matches!(arg.get_action(), ArgAction::SetTrue);
        ensure!(
            !flag
                || matches!(self.values.as_slice(), [value] if value == "true" || value == "false"),
            "{place}: '{key}' is true or false"
        );
        if !flag && !arg.is_positional() {
            self.validate(root.clone())?;
        }
        Ok(())
    }

    /// Validates the value by parsing it as if typed.
    fn validate(&self, command: Command) -> Result<()> {
        let mut line = vec!["gritstone".to_owned()];
        line.extend(self.command.clone());
        line.extend(self.values.iter().map(|value| format!("--{}={value}", self.key)));
        match command.try_get_matches_from(line) {
            Err(why)
                if matches!(why.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue) =>
            {
                let message = why.to_string();
                let message = message.lines().next().unwrap_or_default();
                bail!("{}: {}", self.place, message.trim_start_matches("error: "))
            }
            _ => Ok(()),
        }
    }

    fn apply(&self, command: Command) -> Command {
        let target = match &self.command {
            None => Some(&command),
            Some(name) => command.find_subcommand(name),
        };
        let arg = target.and_then(|target| Some((target, argument(target, &self.key)?)));
        let Some((target, arg)) = arg else {
            return command;
        };
        let id = arg.get_id().clone();
        let conflict = |one: &Arg, other: &Arg| {
            let conflicts = target.get_arg_conflicts_with(one);
            conflicts.iter().any(|arg| arg.get_id() == other.get_id())
        };
        // what is typed wins
        let replaces = |other: &&Arg| {
            let both_select = arg.get::<Selects>().is_some() && other.get::<Selects>().is_some();
            *other.get_id() != id && (both_select || conflict(arg, other) || conflict(other, arg))
        };
        // a flag that is not typed is present, as false
        let typed = |other: &Arg| match other.get_action() {
            ArgAction::SetTrue => ArgPredicate::Equals("true".into()),
            _ => ArgPredicate::IsPresent,
        };
        let others = target.get_arguments().filter(replaces);
        let others: Vec<(clap::Id, ArgPredicate)> =
            others.map(|other| (other.get_id().clone(), typed(other))).collect();
        let built_in: Option<&'static str> = match arg.get_action() {
            ArgAction::SetTrue => Some("false"),
            _ => arg.get_default_values().first().map(|value| leaked(&value.to_string_lossy())),
        };
        let values: Vec<&'static str> = self.values.iter().map(|value| leaked(value)).collect();
        let with = |arg: Arg| {
            // help would show the password
            let secret = values.iter().any(|value| gritstone_store::has_password(value.as_ref()));
            let arg = arg.hide_default_value(secret).default_values(values);
            let unless = |(other, predicate)| (other, predicate, built_in);
            arg.default_value_ifs(others.into_iter().map(unless))
        };
        match &self.command {
            None => command.mut_arg(id, with),
            Some(name) => command.mut_subcommand(name, |command| command.mut_arg(id, with)),
        }
    }
}

/// clap needs default values for the life of the process.
fn leaked(value: &str) -> &'static str {
    value.to_owned().leak()
}

/// The command line with defaults from all files.
pub fn configured(root: Command) -> Result<Command> {
    // the watchdog may be started in any directory
    if std::env::args_os().nth(1).is_some_and(|first| first == gritstone_session::undo::WATCHDOG) {
        return Ok(root);
    }
    let settings = read(&root)?;
    let apply = |command, setting: &Setting| setting.apply(command);
    Ok(settings.iter().fold(root, apply))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    fn parsed(text: &str, is_user_file: bool) -> Result<Vec<Setting>> {
        parse(text, Path::new("x.toml"), is_user_file, &Cli::command())
    }

    #[test]
    fn forbidden_keys_are_refused() {
        let cases = [
            ("store = 'x'", false, "x.toml:1: 'store' can only be set in your own"),
            ("[run]\nallow = ['swap']", false, "x.toml:2: 'allow' can only"),
            ("[run]\nbudgett = '5m'", true, "x.toml:2: unknown key 'budgett'"),
            ("[run]\n\nbudget = 'x'", false, "x.toml:3: invalid value 'x' for '--budget"),
            ("[ruin]\nbudget = '5m'", true, "[ruin] is not a command"),
            ("[list]\nbudget = '5m'", true, "list has no option --budget"),
            ("[run]\ntune = 'yes'", true, "'tune' is true or false"),
            ("[run\n", true, "x.toml:1: "),
            ("[run]\ntrust = true", true, "unknown key 'trust'"),
        ];
        for (text, is_user_file, message) in cases {
            let error = parsed(text, is_user_file).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn typed_options_override_files() {
        let settings =
            parsed("[run]\nbudget = '5m'\nselect = ['byte/*']\ntune = true", true).unwrap();
        let command =
            settings.iter().fold(Cli::command(), |command, setting| setting.apply(command));
        let run = |line: &[&str]| {
            use clap::FromArgMatches;
            let all = ["gritstone", "run"].iter().chain(line);
            let matches = command.clone().try_get_matches_from(all).unwrap();
            match Cli::from_arg_matches(&matches).unwrap().command {
                Some(crate::cli::Command::Run(args)) => args,
                _ => panic!("it is another command"),
            }
        };
        let by_file = run(&[]);
        assert_eq!(by_file.budget, Some(std::time::Duration::from_secs(300)));
        assert!(by_file.tune && by_file.selectors == ["byte/*"]);
        let typed = run(&["--budget", "1m", "vm/*"]);
        assert_eq!(typed.budget, Some(std::time::Duration::from_secs(60)));
        assert_eq!(typed.selectors, ["vm/*"]);
        let typed = run(&["--suite", "standard"]);
        assert_eq!((typed.suite.as_deref(), typed.selectors.len()), (Some("standard"), 0));
        let both = run(&["--suite", "standard", "vm/*"]);
        assert_eq!((both.suite.is_some(), both.selectors), (true, vec!["vm/*".to_owned()]));
        let resumed = run(&["--resume=last"]);
        assert_eq!((resumed.budget, resumed.selectors.len()), (None, 0));
    }

    #[test]
    fn untyped_flags_leave_defaults() {
        let text = "[bench]\nstyle = 'basic'\nlabel = 'x'\n[ab]\nmargin = '3%'\nlabel = 'y'";
        let settings = parsed(text, true).unwrap();
        let command = settings.iter().fold(Cli::command(), |command, s| s.apply(command));
        let label = |line: &[&str]| {
            use clap::FromArgMatches;
            let all = ["gritstone"].iter().chain(line);
            let matches = command.clone().try_get_matches_from(all).unwrap();
            match Cli::from_arg_matches(&matches).unwrap().command {
                Some(crate::cli::Command::Bench(args)) => args.label,
                Some(crate::cli::Command::Ab(args)) => args.label,
                _ => panic!("it is another command"),
            }
        };
        assert_eq!(label(&["bench", "true"]).as_deref(), Some("x"));
        assert_eq!(label(&["bench", "--no-store", "true"]), None);
        assert_eq!(label(&["bench", "--show-output", "true"]).as_deref(), Some("x"));
        assert_eq!(label(&["ab", "a/b", "--self"]).as_deref(), Some("y"));
        assert_eq!(label(&["ab", "--of", "z"]), None);
    }

    #[test]
    fn typed_options_drop_conflicting_defaults() {
        let settings = parsed("[check]\nagainst = 'main'", true).unwrap();
        let command = settings.iter().fold(Cli::command(), |command, s| s.apply(command));
        let against = |line: &[&str]| {
            let all = ["gritstone", "check"].iter().chain(line);
            let matches = command.clone().try_get_matches_from(all).unwrap();
            let check = matches.subcommand_matches("check").unwrap();
            check.get_one::<String>("against").cloned()
        };
        assert_eq!(against(&[]).as_deref(), Some("main"));
        for typed in [["--accept", "byte/loop"], ["--base-branch", "x"], ["--same", "kernel"]] {
            assert_eq!(against(&typed), None, "{typed:?}");
        }
    }
}
