//! `gritstone changes`: change points over all benchmarks and systems, grouped into events by the run that begins them.

use crate::ui::display::FormatArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use gritstone_model::{ChangeEvent, ChangesView, SCHEMA_CHANGES};
use gritstone_runs::changes::{add_acknowledgments, events};
use gritstone_runs::clock;
use gritstone_runs::context::Context;
use gritstone_store::Who;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  gritstone changes                       the newest 30
  gritstone changes acknowledge cfe385a0-worse --note 'microcode 0x1000066, accepted'"
)]
pub struct ChangesArgs {
    /// List all of them [default: the newest 30]
    #[arg(short, long)]
    pub all: bool,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(subcommand)]
    pub command: Option<ChangesCommand>,
}

#[derive(Debug, Subcommand)]
pub enum ChangesCommand {
    /// Say that a change is known, and what it is
    Acknowledge {
        /// The change, by its id or a part of it
        event: String,
        /// What it is, in a line
        #[arg(long, value_name = "TEXT")]
        note: String,
    },
}

/// Events that are listed without `--all`.
const NEWEST: usize = 30;
pub fn changes(context: &Context, args: &ChangesArgs) -> Result<Exit> {
    let store = context
        .reader()?
        .context("no run is stored yet: `gritstone run --quick` makes one")?;
    let mut events = events(context, &store)?;
    add_acknowledgments(&mut events, store.change_entries()?);
    drop(store);
    if let Some(ChangesCommand::Acknowledge { event, note }) = &args.command {
        let event = named(&events, event)?;
        let who = user();
        let now = clock::now();
        let mut store = context.administrator()?;
        store.acknowledge(&event.id, Who::User(&who), note, &now)?;
        output::remark(&format!("change {} is acknowledged by {who}", event.id));
        return Ok(Exit::Done);
    }
    let all = events.len();
    if !args.all {
        events.truncate(NEWEST);
    }
    let view = ChangesView {
        schema: SCHEMA_CHANGES.to_owned(),
        events,
    };
    output::write(args.format.format, &view, || {
        gritstone_report::changes(&view.events, all)
    })?;
    Ok(Exit::Done)
}

/// The event of an id or of a unique part of it.
fn named<'a>(events: &'a [ChangeEvent], name: &str) -> Result<&'a ChangeEvent> {
    let like = events.iter().filter(|event| event.id.contains(name));
    let like: Vec<&ChangeEvent> = like.collect();
    let whole = like.iter().find(|event| event.id == name);
    match (whole, like.as_slice()) {
        (Some(event), _) => Ok(event),
        (None, [one]) => Ok(one),
        (None, []) => bail!("no change is called '{name}': `gritstone changes` lists them"),
        (None, [one, other, ..]) => {
            bail!(
                "'{name}' may be {} or {}: write more of it",
                one.id,
                other.id
            )
        }
    }
}

/// Login name of the current user.
fn user() -> String {
    let uid = nix::unistd::getuid();
    let user = nix::unistd::User::from_uid(uid).ok().flatten();
    user.map_or_else(|| format!("user {uid}"), |user| user.name)
}
