//! `gritstone`: the composer, and the only crate that knows all the others.
//!
//! Results go to standard output, progress and remarks to standard error.

mod cli;
mod command;
#[cfg(test)]
mod tests;
mod ui;

use anyhow::Context as _;
use clap::{CommandFactory, FromArgMatches};
use clap_complete::CompleteEnv;
use cli::{Cli, Command};
use gritstone_runs::context::Context;
use std::process::ExitCode;
use ui::args::CatalogArgs;
use ui::exit::Exit;

fn main() -> ExitCode {
    // a shell asks for candidates by a variable
    CompleteEnv::with_factory(Cli::command).complete();
    if let Err(error) = gritstone_session::rlimits::check_process_limits() {
        return failed(&error);
    }
    gritstone_session::signals::reset_sigchld();
    gritstone_session::signals::catch_sigxfsz();
    let command = match ui::config::configured(ui::help::grouped(Cli::command())) {
        Ok(command) => command,
        Err(error) => return failed(&error),
    };
    let parsed = command.try_get_matches();
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(mut error) => {
            let command = std::env::args_os().nth(1);
            ui::suggestions::add(&mut error, command.as_ref().and_then(|word| word.to_str()));
            // help and version are not errors
            return match ui::output::usage(&error) {
                Err(why) => failed(&why),
                Ok(()) if error.use_stderr() => Exit::WrongUse.into(),
                Ok(()) => Exit::Done.into(),
            };
        }
    };
    let display = match &cli.command {
        Some(Command::Bench(args)) => args.display(cli.display),
        _ => cli.display,
    };
    ui::output::configure(display, cli.command.as_ref().is_some_and(Command::is_read_only));
    match dispatch(&cli) {
        Ok(exit) => exit.into(),
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    ui::output::error(&format!("gritstone: {error:#}{}", ui::exit::advice(error)));
    ui::exit::exit_of(error).into()
}

/// Unpacks and prints the licenses; no other command touches them.
fn licenses() -> anyhow::Result<Exit> {
    const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/licenses.zst"));
    let text =
        zstd::stream::decode_all(PACKED).context("the licenses in this binary are damaged")?;
    ui::output::plain(&String::from_utf8(text)?)?;
    Ok(Exit::Done)
}

/// Whether an argument is the URL of a server with its password.
fn has_password(word: &str) -> bool {
    let url = word.find("postgres").map(|start| &word[start..]);
    url.is_some_and(|url| gritstone_store::has_password(url.as_ref()))
}

fn dispatch(cli: &Cli) -> anyhow::Result<Exit> {
    if std::env::args_os().any(|word| has_password(&word.to_string_lossy())) {
        ui::output::remark(
            "others can read the password of a command line in /proc: keep it in ~/.pgpass, PGPASSWORD or GRITSTONE_STORE",
        );
    }
    let mut context = Context::new(cli.store.clone());
    context.no_store = cli.command.as_ref().is_some_and(Command::stores_nothing);
    match &cli.command {
        _ if cli.licenses => licenses(),
        None => command::overview::print_overview(&context),
        Some(Command::Run(args)) => command::run::run(&with_programs(context, &args.custom)?, args),
        Some(Command::Bench(args)) => command::bench::bench(&context, args),
        Some(Command::List(args)) => command::list::list(context, args),
        Some(Command::Info(args)) => command::info::info(context, args),
        Some(Command::Runs(args)) => command::runs::runs(&context, args),
        Some(Command::Init(args)) => command::init::init(args),
        Some(Command::Show(args)) => command::show::show(&context, args),
        Some(Command::Compare(args)) => command::compare::compare(&context, args),
        Some(Command::Score(args)) => command::score::score(&context, args),
        Some(Command::Report(args)) => command::report::report(&context, args),
        Some(Command::Systems(args)) => command::systems::systems(&context, args),
        Some(Command::Doctor(args)) => command::doctor::doctor(&context, args),
        Some(Command::Watch { base, below, journal }) => {
            let (base, below) = (base.clone(), below.clone());
            gritstone_session::undo::watch(&gritstone_exec::StateDir { base, below }, journal)?;
            Ok(Exit::Done)
        }
        Some(Command::FarEnd { directory, address }) => {
            gritstone_peer::far_end(directory, *address, ui::output::bytes)?;
            Ok(Exit::Done)
        }
        Some(Command::Config(_)) => command::config::show(&Cli::command()),
        Some(Command::Completions(args)) => command::completions::print_script(args),
        Some(Command::Man(args)) => command::man::man(&Cli::command(), args),
        Some(Command::History(args)) => command::history::history(&context, args),
        Some(Command::Changes(args)) => command::changes::changes(&context, args),
        Some(Command::Check(args)) => command::check::check(&context, args),
        #[cfg(feature = "fleet")]
        Some(Command::Fleet(args)) => command::fleet::fleet(&context, args),
        Some(Command::Export(args)) => command::export::export(&context, args),
        Some(Command::Import(args)) => command::import::import(&context, args),
        Some(Command::Verify(args)) => command::verify::verify(&context, args),
        #[cfg(feature = "server")]
        Some(Command::Push(args)) => command::push::push(&context, args),
        #[cfg(feature = "server")]
        Some(Command::Pull(args)) => command::push::pull(&context, args),
        #[cfg(feature = "server")]
        Some(Command::Sync(args)) => command::push::sync(&context, args),
        #[cfg(feature = "server")]
        Some(Command::Token(args)) => command::token::token(&context, &args.command),
        #[cfg(feature = "server")]
        Some(Command::Serve(args)) => command::serve::serve(&context.serving(), args),
        #[cfg(feature = "server")]
        Some(Command::Site(args)) => command::site::site(&context, args),
        Some(Command::Ab(args)) => command::ab::ab(&with_programs(context, &args.custom)?, args),
        Some(Command::Pr(args)) => command::pr::pr(&context, args),
        Some(Command::Bisect(args)) => command::bisect::bisect(args),
        Some(Command::Audit(args)) => {
            command::audit::audit(&with_programs(context, &args.custom)?, args)
        }
    }
}

/// Adds the custom catalog whose programs are to run, once the user trusts it.
fn with_programs(context: Context, args: &CatalogArgs) -> anyhow::Result<Context> {
    let context = context.with_catalog(args.catalog.as_deref())?;
    if let Some(custom) = &context.custom {
        gritstone_session::trust::ensure(custom, args.trust, ui::confirm::run_it)?;
    }
    Ok(context)
}
