//! From the command line of `gritstone ab` to sides and rows.
//!
//! Must not know: how they are measured, what becomes of them.

use crate::args::AbArgs;
use anyhow::{Context, Result, bail, ensure};
use gritstone_analysis::ab::START_UP;
use gritstone_model::{Benchmark, CommandWork, Id, Placement, Unit, UserCommand, Work};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A name, and the values that take its place.
type Parameter = (String, Vec<String>);
/// One value for each name.
type Values = Vec<(String, String)>;

/// Family of the commands of the user's: whatever they are, they have these rows.
pub const COMMAND: &str = "command";

/// More sides have no letter.
const MOST: usize = 26;

/// One side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// `a`, `b` and so on.
    pub name: String,
    /// What is special about it, in words.
    pub what: String,
    /// What its environment has besides.
    pub environment: Vec<(String, String)>,
    /// The command that sets the machine for it.
    pub setting: Option<String>,
    /// Its compiler, and its flags.
    pub compiler: Option<(String, Vec<String>)>,
    /// The catalogue that its programs are of, where each side has its own.
    pub catalogue: Option<PathBuf>,
    /// Its commands, one for each row; nothing where rows of the catalogue are measured.
    pub commands: Vec<Benchmark>,
}

/// All sides, and what puts the machine back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// The first is the base.
    pub sides: Vec<Side>,
    /// Whether they are known to be the same.
    pub same: bool,
    /// The command for the shell that undoes settings.
    pub undo: Option<String>,
}

/// Reads them.
///
/// # Errors
/// When it is not said what is to be compared with what, or it makes no sense.
pub fn read(args: &AbArgs) -> Result<Sides> {
    let commands: Vec<Vec<String>> = args
        .commands
        .split(|word| word == "--")
        .map(<[_]>::to_vec)
        .collect();
    let commands = if args.commands.is_empty() {
        vec![]
    } else {
        commands
    };
    ensure!(
        commands.iter().all(|command| !command.is_empty()),
        "a command is empty: write `gritstone ab -- ./old -- ./new`"
    );
    let sets = set_by(args)?;
    let parameters = parameters(&args.parameter, &commands)?;
    let two = !sets.is_empty() || args.same;
    let mut sides = match commands.len() {
        0 => of_rows(args, !sets.is_empty())?,
        1 if !two && !parameters.is_empty() => of_values(args, &commands[0], &parameters)?,
        1 if two => of_each(args, &[&commands[..], &commands[..]].concat(), &parameters)?,
        _ => of_each(args, &commands, &parameters)?,
    };
    ensure!(
        sets.is_empty() || sides.len() == 2,
        "--a, --b, --env-a and --env-b are for two sides, and here are {}",
        sides.len()
    );
    ensure!(
        !args.same || sides.len() == 2,
        "--self takes one command, or rows"
    );
    ensure!(
        sides.len() <= MOST,
        "{} sides are more than the {MOST} that have a letter",
        sides.len()
    );
    for (i, side) in sides.iter_mut().enumerate() {
        side.name = char::from(b'a' + i as u8).to_string();
        if let Some(set) = sets.get(i) {
            side.environment.clone_from(&set.environment);
            side.setting.clone_from(&set.setting);
        }
        side.what = what(side);
    }
    let same = match sides.as_slice() {
        [a, b] => {
            let unnamed = |side: &Side| Side {
                name: String::new(),
                ..side.clone()
            };
            unnamed(a) == unnamed(b)
        }
        _ => false,
    };
    ensure!(
        !args.same || same,
        "--self compares the same with the same, so it takes neither --cc, --a, --b, --env-a nor --env-b"
    );
    Ok(Sides {
        sides,
        same,
        undo: args.undo.clone().or_else(|| args.a.clone()),
    })
}

/// What the options for two sides set on each; nothing where there is none of them.
fn set_by(args: &AbArgs) -> Result<Vec<Side>> {
    if args.a.is_none() && args.b.is_none() && args.env_a.is_empty() && args.env_b.is_empty() {
        ensure!(
            args.undo.is_none(),
            "--undo puts back what --a and --b set, and there is neither"
        );
        return Ok(vec![]);
    }
    ensure!(
        args.b.is_none() || args.a.is_some(),
        "--b needs --a, the setting of the first side: what --b sets would stay for it"
    );
    ensure!(
        args.a.is_none() || args.b.is_some(),
        "--a needs --b, the setting of the second side"
    );
    [(&args.a, &args.env_a), (&args.b, &args.env_b)]
        .into_iter()
        .map(|(setting, environment)| {
            Ok(Side {
                setting: setting.clone(),
                environment: environment
                    .iter()
                    .map(|pair| variable(pair))
                    .collect::<Result<_>>()?,
                ..Side::default()
            })
        })
        .collect()
}

fn variable(pair: &str) -> Result<(String, String)> {
    match pair.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => bail!("'{pair}' is no variable of an environment: write NAME=VALUE"),
    }
}

/// Sides of rows of the catalogue.
fn of_rows(args: &AbArgs, set: bool) -> Result<Vec<Side>> {
    if args.cc.is_empty() {
        ensure!(
            set || args.same || args.catalogue_b.is_some(),
            "say what is to be compared: commands (`gritstone ab -- ./old -- ./new`), or rows with --cc, --catalogue-b, --env-b, --a and --b, or --self"
        );
        let second = args.catalogue_b.as_ref();
        let first = second.and(args.own.catalogue.as_ref());
        let side = |catalogue: Option<&PathBuf>| Side {
            catalogue: catalogue.cloned(),
            ..Side::default()
        };
        return Ok(vec![side(first), side(second)]);
    }
    ensure!(
        args.cc.len() >= 2,
        "one compiler cannot be compared: give --cc once for each side"
    );
    let compiler = |text: &String| {
        let mut words = text.split_whitespace().map(str::to_owned);
        let name = words
            .next()
            .context("--cc has no compiler: write --cc 'gcc -O2'")?;
        Ok(Side {
            compiler: Some((name, words.collect())),
            ..Side::default()
        })
    };
    args.cc.iter().map(compiler).collect()
}

/// A side for each value of the parameters of one command.
fn of_values(args: &AbArgs, command: &[String], parameters: &[Parameter]) -> Result<Vec<Side>> {
    let values = combinations(parameters);
    let side = |value: &Values| of_commands(args, vec![(String::new(), fill_in(command, value))]);
    values.iter().map(side).collect()
}

/// A side for each command, with a row for each value of the parameters.
fn of_each(args: &AbArgs, commands: &[Vec<String>], parameters: &[Parameter]) -> Result<Vec<Side>> {
    let values = combinations(parameters);
    let slugs = slugs(&values);
    let side = |command: &Vec<String>| {
        let words = values.iter().map(|value| fill_in(command, value));
        of_commands(args, slugs.iter().cloned().zip(words).collect())
    };
    commands.iter().map(side).collect()
}

/// A side of commands: pairs of row and words.
fn of_commands(args: &AbArgs, rows: Vec<(String, Vec<String>)>) -> Result<Side> {
    let directory = std::env::current_dir()
        .context("cannot tell the directory in which the commands are to be started")?;
    let user = UserCommand {
        directory: directory
            .to_str()
            .context("the name of this directory cannot be written down")?
            .to_owned(),
        prepare: args.prepare.clone(),
        cleanup: args.cleanup.clone(),
        ignore_failure: args.ignore_failure,
    };
    let row = |(slug, argv): (String, Vec<String>)| {
        let id = if slug.is_empty() {
            COMMAND.to_owned()
        } else {
            format!("{COMMAND}/{slug}")
        };
        Ok(benchmark(Id::parse(&id)?, &argv, user.clone()))
    };
    Ok(Side {
        commands: rows.into_iter().map(row).collect::<Result<_>>()?,
        ..Side::default()
    })
}

/// The row of a command.
fn benchmark(id: Id, argv: &[String], user: UserCommand) -> Benchmark {
    let shell = argv.len() == 1 && argv[0].contains(char::is_whitespace);
    let words = if shell {
        vec!["/bin/sh".to_owned(), "-c".to_owned(), argv[0].clone()]
    } else {
        argv.to_vec()
    };
    Benchmark {
        title: argv.join(" "),
        operation: "one process".to_owned(),
        placement: Placement::All,
        remark: shell.then(|| "A shell starts it, and is in its time.".to_owned()),
        ..Benchmark::new(
            id,
            Unit::parse("ms").expect("ms is a unit"),
            Work::Command(CommandWork {
                argv: words,
                user: Some(user),
                ..CommandWork::default()
            }),
        )
    }
}

/// The row of a program that does nothing.
pub fn start_up(program: &str) -> Benchmark {
    let user = UserCommand {
        directory: "/".to_owned(),
        ..UserCommand::default()
    };
    let id = Id::parse(START_UP).expect("it is an identifier");
    benchmark(id, &[program.to_owned()], user)
}

/// Names with their values.
fn parameters(texts: &[String], commands: &[Vec<String>]) -> Result<Vec<Parameter>> {
    let mut names = BTreeSet::new();
    let one = |text: &String| {
        let (name, values) = text
            .split_once('=')
            .filter(|(name, values)| !name.is_empty() && !values.is_empty())
            .with_context(|| format!("'{text}' is no parameter: write --parameter n=1,2,4"))?;
        let place = format!("{{{name}}}");
        ensure!(
            names.insert(name.to_owned()),
            "the parameter {name} is there twice"
        );
        ensure!(
            commands.iter().flatten().any(|word| word.contains(&place)),
            "no command has {place}, so the parameter {name} changes nothing"
        );
        Ok((
            name.to_owned(),
            values.split(',').map(str::to_owned).collect(),
        ))
    };
    texts.iter().map(one).collect()
}

/// One value of each parameter, in all ways; one empty way without parameters.
fn combinations(parameters: &[Parameter]) -> Vec<Values> {
    parameters
        .iter()
        .fold(vec![vec![]], |ways, (name, values)| {
            let more = |way: &Values| {
                let with = |value: &String| {
                    let mut way = way.clone();
                    way.push((name.clone(), value.clone()));
                    way
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            ways.iter().flat_map(more).collect()
        })
}

fn fill_in(command: &[String], values: &[(String, String)]) -> Vec<String> {
    let word = |word: &String| {
        values.iter().fold(word.clone(), |word, (name, value)| {
            word.replace(&format!("{{{name}}}"), value)
        })
    };
    command.iter().map(word).collect()
}

/// A slug for each, all different: values may look alike in what an identifier may hold (`-1` and `+1`), or like the row of the program
/// that does nothing.
fn slugs(all: &[Values]) -> Vec<String> {
    let mut slugs: Vec<String> = vec![];
    for values in all {
        let plain = slug(values);
        let taken = |slug: &String| slugs.contains(slug) || format!("{COMMAND}/{slug}") == START_UP;
        let numbered = (2..).map(|number| format!("{plain}.{number}"));
        let free = std::iter::once(plain.clone())
            .chain(numbered)
            .find(|slug| !taken(slug));
        slugs.extend(free);
    }
    slugs
}

/// A part of an identifier that tells most values apart: `n-4.file-a`.
fn slug(values: &[(String, String)]) -> String {
    let plain = |text: &str| -> String {
        let letter = |c: char| match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() || c == '.' => c,
            _ => '_',
        };
        text.chars().map(letter).collect()
    };
    let parts: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{}-{}", plain(name), plain(value)))
        .collect();
    parts
        .join(".")
        .trim_start_matches(['_', '.', '-'])
        .to_owned()
}

/// What is special about a side, in words.
fn what(side: &Side) -> String {
    let mut said: Vec<String> = side
        .environment
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    said.extend(side.setting.clone());
    said.extend(side.compiler.iter().map(|(name, flags)| {
        [std::slice::from_ref(name), flags.as_slice()]
            .concat()
            .join(" ")
    }));
    let catalogue = side.catalogue.iter();
    said.extend(catalogue.map(|folder| folder.display().to_string()));
    match side.commands.as_slice() {
        [] => {}
        [one] => said.push(one.title.clone()),
        [first, rest @ ..] => said.push(format!("{} and {} more", first.title, rest.len())),
    }
    if said.is_empty() {
        "as it is".to_owned()
    } else {
        said.join("; ")
    }
}

#[cfg(test)]
mod tests;
