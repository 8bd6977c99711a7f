//! `gritstone changes`: change points over all benchmarks and systems, grouped into events by the run that begins them.

use crate::ui::args::HistoryFilterArgs;
use crate::ui::display::FormatArgs;
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::value_parsers;
use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use gritstone_model::{ChangeEvent, ChangeState, ChangesView, SCHEMA_CHANGES};
use gritstone_runs::changes::{add_triage, events, is_compared, recurring};
use gritstone_runs::clock;
use gritstone_runs::context::Context;
use gritstone_runs::earlier_runs::MAX_RUNS;
use gritstone_store::{NewTriageEntry, Who};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  gritstone changes                       the newest 30
  gritstone changes assign cfe385a0-worse ana
  gritstone changes expect cfe385a0-worse --note 'microcode 0x1000066, accepted'
  gritstone changes fix cfe385a0-worse --note 'commit 3f1c2ab'"
)]
pub struct ChangesArgs {
    /// List all of them [default: the newest 30]
    #[arg(short, long)]
    pub all: bool,
    /// Number of newest runs of each benchmark on each system that are searched
    #[arg(long, value_name = "N", global = true, default_value_t = MAX_RUNS as u32, value_parser = value_parsers::whole(2..=u32::MAX))]
    pub runs: u32,
    #[command(flatten)]
    pub filter: HistoryFilterArgs,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(subcommand)]
    pub command: Option<ChangesCommand>,
}

#[derive(Debug, Subcommand)]
pub enum ChangesCommand {
    /// Say what a change is
    #[command(alias = "ack")]
    Acknowledge(NoteArgs),
    /// Name who is to look at a change
    Assign {
        /// The change, by its id or a part of it
        event: String,
        /// Who is to look at it
        who: String,
        /// What is to be done, in a line
        #[arg(long, value_name = "TEXT", default_value = "")]
        note: String,
    },
    /// Say that a change was intended, or is accepted: `check` passes it
    Expect(NoteArgs),
    /// Say that the cause of a change is gone
    Fix(NoteArgs),
    /// Say that a change is as new again
    Reopen(NoteArgs),
}

#[derive(Debug, Args)]
pub struct NoteArgs {
    /// The change, by its id or a part of it
    pub event: String,
    /// What it is, in a line
    #[arg(long, value_name = "TEXT")]
    pub note: String,
}

impl ChangesCommand {
    /// The event, and its new state.
    fn triage(&self) -> (&str, NewTriageEntry<'_>) {
        let (state, change) = match self {
            Self::Assign { event, who, note } => {
                let entry = NewTriageEntry {
                    state: ChangeState::Assigned,
                    assignee: Some(who),
                    note,
                    benchmarks: &[],
                };
                return (event, entry);
            }
            Self::Acknowledge(change) => (ChangeState::Acknowledged, change),
            Self::Expect(change) => (ChangeState::Expected, change),
            Self::Fix(change) => (ChangeState::Fixed, change),
            Self::Reopen(change) => (ChangeState::New, change),
        };
        let entry = NewTriageEntry { state, assignee: None, note: &change.note, benchmarks: &[] };
        (&change.event, entry)
    }
}

/// Events that are listed without `--all`.
const NEWEST: usize = 30;
pub fn changes(context: &Context, args: &ChangesArgs) -> Result<Exit> {
    let store =
        context.reader()?.context("no run is stored yet: `gritstone run --quick` makes one")?;
    let histories = recurring(context, &store, args.filter.extent(args.runs))?;
    let mut events = events(&store, &histories)?;
    add_triage(&mut events, store.change_entries()?);
    drop(store);
    if let Some(command) = &args.command {
        let (event, entry) = command.triage();
        let event = named(&events, event)?;
        let (who, now) = (user(), clock::now());
        let mut store = context.administrator()?;
        let benchmarks: Vec<_> = event.benchmarks().collect();
        let entry = NewTriageEntry { benchmarks: &benchmarks, ..entry };
        store.triage(&event.id, Who::User(&who), &entry, &now)?;
        let state = entry.state.as_str();
        output::remark(&format!("change {} is {state}, says {who}", event.id));
        return Ok(Exit::Done);
    }
    let max = if args.all { usize::MAX } else { NEWEST };
    let view = ChangesView {
        schema: SCHEMA_CHANGES.to_owned(),
        events: events.iter().take(max).cloned().collect(),
    };
    output::write(args.format.format, &view, || {
        gritstone_report::changes(&events, max, is_compared(&histories))
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
            bail!("'{name}' may be {} or {}: write more of it", one.id, other.id)
        }
    }
}

/// Login name of the current user.
fn user() -> String {
    let uid = nix::unistd::getuid();
    let user = nix::unistd::User::from_uid(uid).ok().flatten();
    user.map_or_else(|| format!("user {uid}"), |user| user.name)
}
