//! `gritstone`: the composer, and the only crate that knows all the others.
//!
//! Results go to standard output, progress and remarks to standard error.

mod ab;
mod amounts;
mod args;
mod audit;
mod backend;
mod bench;
mod brief;
mod changes;
mod chosen;
mod commands;
mod compiler;
mod completions;
mod config;
mod doctor;
mod dry_run;
mod failure;
mod fleet;
mod help;
mod inspect;
mod instructions;
mod limits;
mod listing;
mod man;
mod output;
mod own;
mod params;
mod past;
mod peer;
mod privileges;
mod progress;
mod prune;
mod rate;
#[cfg(test)]
mod reference;
mod registry;
mod remote;
mod results;
mod resume;
mod run;
#[cfg(test)]
mod schemas;
mod selftest;
mod serve;
mod signals;
mod site;
mod skeleton;
mod ssh;
mod standing;
mod steady;
mod tokens;
mod transfer;
mod trust;
mod world;

use anyhow::Context as _;
use args::{Cli, Command};
use clap::FromArgMatches;
use failure::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Err(error) = limits::enough_to_work() {
        return failed(&error);
    }
    signals::children_can_be_waited_for();
    signals::long_files_are_errors();
    let command = match config::configured() {
        Ok(command) => command,
        Err(error) => return failed(&error),
    };
    let parsed = command.try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // help and version are not errors
            return if output::usage(&error).is_err() || error.use_stderr() {
                Exit::WrongUse.into()
            } else {
                Exit::Done.into()
            };
        }
    };
    let display = match &cli.command {
        Some(Command::Bench(args)) => args.display(cli.display),
        _ => cli.display,
    };
    output::configure(
        display,
        cli.command.as_ref().is_some_and(Command::only_looks),
    );
    match dispatch(&cli) {
        Ok(exit) => exit.into(),
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    output::error(&format!("gritstone: {error:#}{}", failure::advice(error)));
    failure::exit_of(error).into()
}

/// Unpacks and prints the licenses; no other command touches them.
fn licenses() -> anyhow::Result<Exit> {
    const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/licenses.zst"));
    let text =
        zstd::stream::decode_all(PACKED).context("the licenses in this binary are damaged")?;
    output::plain(&String::from_utf8(text)?)?;
    Ok(Exit::Done)
}

/// Whether a word of the command line has the URL of a server with its password.
fn names_a_password(word: &str) -> bool {
    let url = word.find("postgres").map(|at| &word[at..]);
    url.is_some_and(|url| gritstone_store::has_password(url.as_ref()))
}

fn dispatch(cli: &Cli) -> anyhow::Result<Exit> {
    if std::env::args_os().any(|word| names_a_password(&word.to_string_lossy())) {
        output::remark(
            "others can read the password of a command line in /proc: keep it in ~/.pgpass, PGPASSWORD or GRITSTONE_STORE",
        );
    }
    let world = world::World::new(cli.store.clone());
    match &cli.command {
        _ if cli.licenses => licenses(),
        None => inspect::what_next(&world),
        Some(Command::Run(args)) => run::run(&world.with_programs(&args.own)?, args),
        Some(Command::Bench(args)) => commands::bench(&world, args),
        Some(Command::List(args)) => listing::list(world, args),
        Some(Command::Info(args)) => listing::info(world, args),
        Some(Command::Runs(args)) => listing::runs(&world, args),
        Some(Command::Init(args)) => skeleton::new(args),
        Some(Command::Show(args)) => inspect::show(&world, args),
        Some(Command::Compare(args)) => inspect::compare(&world, args),
        Some(Command::Score(args)) => rate::rate(&world, args),
        Some(Command::Report(args)) => brief::brief(&world, args),
        Some(Command::Noise(args)) => selftest::selftest(&world.with_programs(&args.own)?, args),
        Some(Command::Systems(args)) => listing::systems(&world, args),
        Some(Command::Doctor(args)) => doctor::doctor(&world, args),
        Some(Command::Watch {
            base,
            below,
            journal,
        }) => {
            let (base, below) = (base.clone(), below.clone());
            registry::watch(&gritstone_exec::State { base, below }, journal)
        }
        Some(Command::FarEnd { directory, address }) => peer::far_end(directory, *address),
        Some(Command::Config { show: _ }) => config::show(),
        Some(Command::Complete { words }) => completions::complete(&world, words),
        Some(Command::Completions { shell }) => completions::script(*shell),
        Some(Command::Man { command, output }) => man::man(command.as_deref(), output.as_deref()),
        Some(Command::History(args)) => past::history(&world, args),
        Some(Command::Changes(args)) => changes::changes(&world, args),
        Some(Command::Check(args)) => past::check(&world, args),
        Some(Command::Fleet(args)) => fleet::fleet(&world, args),
        Some(Command::Export(args)) => transfer::export(&world, args),
        Some(Command::Import(args)) => transfer::import(&world, args),
        Some(Command::Push(args)) => remote::push(&world, args),
        Some(Command::Pull(args)) => remote::pull(&world, args),
        Some(Command::Sync(args)) => remote::sync(&world, args),
        Some(Command::Token { command }) => tokens::token(&world, command),
        Some(Command::Serve(args)) => serve::serve(&world, args),
        Some(Command::Ab(args)) => ab::ab(&world.with_programs(&args.own)?, args),
        Some(Command::Audit(args)) => audit::audit(&world.with_programs(&args.own)?, args),
    }
}
