//! Parses the command line of `gritstone ab` into sides.

use crate::command::ab::args::AbArgs;
use crate::ui::parameters::{self, Values, fill_in, list};
use anyhow::{Context, Result, bail, ensure};
use gritstone_analysis::ab::{COMMAND, START_UP};
use gritstone_document::listed;
use gritstone_model::{Benchmark, Id, UserCommand};
use gritstone_session::trial::{MAX_LETTERS, command_benchmark, side_name};

/// Options of `ab` that are rejected behind `--`, where they would be words of a command.
const REJECTED_OPTIONS: [&str; 2] = ["--budget", "--margin"];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    pub name: String,
    /// Its difference from the other sides, in words.
    pub what: String,
    /// Extra variables.
    pub environment: Values,
    /// Shell command before its launches.
    pub setting: Option<String>,
    /// Compiler with flags.
    pub compiler: Option<String>,
    /// One per benchmark; empty if catalog entries are measured.
    pub commands: Vec<Benchmark>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sides {
    /// The base comes first.
    pub sides: Vec<Side>,
    /// A/A test.
    pub same: bool,
    /// Shell command that undoes settings.
    pub undo: Option<String>,
}

/// # Errors
/// When the options name no sides, or contradict each other.
pub fn read(args: &AbArgs) -> Result<Sides> {
    let mut sides = unset(args)?;
    ensure!(
        sides.len() > 1,
        "one command has nothing to compare it with: write `gritstone ab -- ./old -- ./new`, each command after its own `--`, or --self for an A/A test"
    );
    let settings = [(&args.a, &args.env_a), (&args.b, &args.env_b)];
    if set(args) {
        ensure!(
            sides.len() == 2,
            "--a, --b, --env-a and --env-b are for two sides, and here are {}",
            sides.len()
        );
        for (side, (setting, environment)) in sides.iter_mut().zip(settings) {
            side.setting.clone_from(setting);
            side.environment.clone_from(environment);
        }
    }
    let same = sides.len() == 2 && sides[0] == sides[1];
    ensure!(!args.same || same, "--self is an A/A test: it takes one command, or benchmarks");
    ensure!(
        sides.len() <= MAX_LETTERS,
        "{} sides are more than the {MAX_LETTERS} that have a letter",
        sides.len()
    );
    let many = sides.len();
    for (index, side) in sides.iter_mut().enumerate() {
        side.name = side_name(index, many);
        side.what = describe_difference(side);
    }
    Ok(Sides { sides, same, undo: args.undo.clone().or_else(|| args.a.clone()) })
}

fn set(args: &AbArgs) -> bool {
    args.a.is_some() || !args.env_a.is_empty() || !args.env_b.is_empty()
}

/// Sides before options of single sides apply.
fn unset(args: &AbArgs) -> Result<Vec<Side>> {
    if args.commands.is_empty() {
        return catalog_sides(args);
    }
    let commands: Vec<&[String]> = args.commands.split(|word| word == "--").collect();
    ensure!(
        commands.iter().all(|command| !command.is_empty()),
        "a command is empty: write `gritstone ab -- ./old -- ./new`"
    );
    if let Some(option) =
        (args.commands.iter()).find(|word| REJECTED_OPTIONS.contains(&word.as_str()))
    {
        bail!(
            "{option} comes after `--`, where it is an argument of the command: put options of Gritstone before the first `--`. If it belongs to the command, write the command as one word: -- './command {option} ...'"
        );
    }
    let values = combinations(args)?;
    let rows: Vec<(String, &Values)> = slugs(&values).into_iter().zip(&values).collect();
    match commands.as_slice() {
        [one] if args.same || set(args) => {
            [one, one].map(|command| command_side(args, command, &rows)).into_iter().collect()
        }
        [one] => {
            values.iter().map(|value| command_side(args, one, &[(String::new(), value)])).collect()
        }
        many => many.iter().map(|command| command_side(args, command, &rows)).collect(),
    }
}

fn catalog_sides(args: &AbArgs) -> Result<Vec<Side>> {
    let compiled = |compiler: &String| Side { compiler: Some(compiler.clone()), ..Side::default() };
    match args.compilers().as_slice() {
        [] if set(args) || args.same => Ok(vec![Side::default(); 2]),
        [] => bail!(
            "nothing to compare: give commands (`gritstone ab -- ./old -- ./new`), or benchmarks with --cc, --env-b, --a and --b, or --self"
        ),
        [_] => bail!("name two compilers at least, each with its flags: gcc:-O2 clang:-O2"),
        many => Ok(many.iter().map(compiled).collect()),
    }
}

/// A side with one benchmark per combination of parameter values.
fn command_side(args: &AbArgs, command: &[String], rows: &[(String, &Values)]) -> Result<Side> {
    let directory = std::env::current_dir()
        .context("cannot read the current directory, in which the commands run")?;
    let user = UserCommand {
        directory: directory
            .to_str()
            .context("the name of this directory cannot be recorded")?
            .to_owned(),
        prepare: args.prepare.clone(),
        cleanup: args.conclude.clone(),
        ignore_failure: args.ignore_failure,
        leave_out_failures: args.leave_out_failures,
        allow_background: args.allow_background,
        ..UserCommand::default()
    };
    let row = |(slug, values): &(String, &Values)| {
        let id = match slug.as_str() {
            "" => COMMAND.to_owned(),
            slug => format!("{COMMAND}/{slug}"),
        };
        let words: Vec<String> = command.iter().map(|word| fill_in(word, values)).collect();
        Ok(benchmark(Id::parse(&id)?, &words, user.clone()))
    };
    Ok(Side { commands: rows.iter().map(row).collect::<Result<_>>()?, ..Side::default() })
}

fn benchmark(id: Id, argv: &[String], user: UserCommand) -> Benchmark {
    let shell = argv.len() == 1 && argv[0].contains([' ', '\t', '\n']);
    let words = if shell {
        vec!["/bin/sh".to_owned(), "-c".to_owned(), argv[0].clone()]
    } else {
        argv.to_vec()
    };
    Benchmark {
        remark: shell.then(|| "Started by a shell, whose start-up time is included.".to_owned()),
        ..command_benchmark(id, &argv.join(" "), words, user)
    }
}

/// Benchmark of a program that does nothing.
pub fn start_up(program: &str) -> Benchmark {
    let user = UserCommand { directory: "/".to_owned(), ..UserCommand::default() };
    let id = Id::parse(START_UP).expect("it is an identifier");
    benchmark(id, &[program.to_owned()], user)
}

/// All combinations of parameter values; a single empty one without parameters.
fn combinations(args: &AbArgs) -> Result<Vec<Values>> {
    for (name, _) in &args.parameter {
        let place = format!("{{{name}}}");
        ensure!(
            args.commands.iter().any(|word| word.contains(&place)),
            "no command has {place}, so the parameter {name} changes nothing"
        );
    }
    let all = args.parameter.iter();
    parameters::combine(all.map(|(name, values)| (name.clone(), list(values))).collect())
}

/// Distinct slugs: values may be equal in the characters of an identifier (`-1` and `+1`), or equal the start-up benchmark.
fn slugs(all: &[Values]) -> Vec<String> {
    let mut slugs: Vec<String> = vec![];
    for values in all {
        let plain = slug(values);
        let mut free = plain.clone();
        let mut number = 2;
        while slugs.contains(&free) || format!("{COMMAND}/{free}") == START_UP {
            free = format!("{plain}.{number}");
            number += 1;
        }
        slugs.push(free);
    }
    slugs
}

/// Part of an identifier that distinguishes most values: `n-4.file-a`.
fn slug(values: &Values) -> String {
    let plain = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "_")
    };
    let parts: Vec<String> =
        values.iter().map(|(name, value)| format!("{}-{}", plain(name), plain(value))).collect();
    let slug = parts.join(".");
    slug.trim_start_matches(['_', '.', '-']).to_owned()
}

/// Describes the difference of a side.
fn describe_difference(side: &Side) -> String {
    let environment = side.environment.iter();
    let mut parts: Vec<String> =
        environment.map(|(name, value)| format!("{name}={value}")).collect();
    parts.extend(side.setting.clone());
    parts.extend(side.compiler.clone());
    let titles: Vec<&str> = side.commands.iter().map(|command| command.title.as_str()).collect();
    match titles.as_slice() {
        [] if parts.is_empty() => parts.push("as it is".to_owned()),
        [] => {}
        titles => parts.push(listed(titles, 1)),
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests;
