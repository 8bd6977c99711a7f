//! Triage log of changes, and sent notifications.

use crate::engine::{Engine, query};
use crate::error::{Fault, StoreError};
use crate::ledger;
use crate::row_codec::row;
use crate::sql;
use crate::store::Store;
use crate::token::Token;
use gritstone_model::{ChangeState, Id, TriageEntry};

/// First schema versions with this log, with assignees and with benchmarks.
const LOG_SINCE: u32 = 4;
const ASSIGNEES_SINCE: u32 = 6;
const BENCHMARKS_SINCE: u32 = 7;
/// Longest note and longest name, in characters.
const LONGEST_NOTE: usize = 1000;
const LONGEST_NAME: usize = 100;
const NOTIFY: &str = "notify";

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeEntry {
    /// Identifier of the change event.
    pub event: String,
    pub content: EntryContent,
}

/// Content of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryContent {
    Triage(TriageEntry),
    /// Sent notification, with its channel, and with the benchmarks of the event; empty in older entries.
    Notified {
        channel: String,
        benchmarks: Vec<Id>,
    },
}

/// Author of an entry.
#[derive(Clone, Copy, Debug)]
pub enum Who<'a> {
    /// A user of the machine of the store.
    User(&'a str),
    /// A client of a server.
    Token(&'a Token),
}

impl Store {
    /// Sets the state of a change.
    ///
    /// # Errors
    /// [`StoreError::Unfit`] when a text is too long, has control characters or is missing, and I/O errors of the store.
    pub fn triage(
        &mut self,
        event: &str,
        who: Who,
        entry: &NewTriageEntry,
        now: &str,
    ) -> Result<(), StoreError> {
        entry.check().map_err(StoreError::Unfit)?;
        let assignee = entry.assignee.map(str::trim);
        let row = NewRow {
            event,
            kind: entry_kind(entry.state),
            note: entry.note.trim(),
            now,
            assignee,
            benchmarks: entry.benchmarks,
        };
        self.write(|engine| enter(engine, who, &row))
    }

    /// Records notifications that were sent.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn notified(
        &mut self,
        events: &[(String, Vec<Id>)],
        to: &str,
        now: &str,
    ) -> Result<(), StoreError> {
        self.write(|engine| {
            for (event, benchmarks) in events {
                let row = NewRow { event, kind: NOTIFY, note: to, now, assignee: None, benchmarks };
                enter(engine, Who::User("serve"), &row)?;
            }
            Ok(())
        })
    }

    /// All entries, oldest first.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn change_entries(&self) -> Result<Vec<ChangeEntry>, StoreError> {
        let read = || -> Result<Vec<Entry>, Fault> {
            // stores with an older schema have no log
            match self.engine().version()? {
                ..LOG_SINCE => Ok(vec![]),
                LOG_SINCE..ASSIGNEES_SINCE => {
                    query(self.engine(), sql::SELECT_CHANGE_ENTRIES_BEFORE_6, vec![])
                }
                ASSIGNEES_SINCE..BENCHMARKS_SINCE => {
                    query(self.engine(), sql::SELECT_CHANGE_ENTRIES_BEFORE_7, vec![])
                }
                _ => query(self.engine(), sql::SELECT_CHANGE_ENTRIES, vec![]),
            }
        };
        let entry = |(event, entry, who, note, time, assignee, benchmarks): Entry| {
            let ids = benchmarks.iter().flat_map(|ids| ids.split(' '));
            let benchmarks = ids.filter_map(|id| Id::parse(id).ok()).collect();
            if entry == NOTIFY {
                let content = EntryContent::Notified { channel: note, benchmarks };
                return Some(ChangeEntry { event, content });
            }
            // a newer Gritstone may write other entries
            let state = ChangeState::ALL.into_iter().find(|state| entry_kind(*state) == entry)?;
            let content = EntryContent::Triage(TriageEntry {
                state,
                who,
                at: time,
                assignee,
                note,
                benchmarks,
            });
            Some(ChangeEntry { event, content })
        };
        Ok(self.at(read())?.into_iter().filter_map(entry).collect())
    }

    /// Runs that stand for removed ones, with the identifiers of these.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn replaced(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.at(query(self.engine(), sql::SELECT_REPLACED, vec![]))
    }

    /// Progress of a run: its launches, the benchmark of the last one, and whether it has ended.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and I/O errors of the store.
    pub fn progress(&self, run_id: &str) -> Result<Progress, StoreError> {
        let read = || -> Result<Progress, Fault> {
            let engine = self.engine();
            let found = ledger::run(engine, run_id)?;
            let last = query(engine, sql::LAST_BENCHMARK, row![found.number])?;
            let last: Option<(i64, String)> = last.into_iter().next();
            let (number, benchmark) = last.unzip();
            Ok(Progress {
                launches: number.map_or(0, |number| number + 1).unsigned_abs(),
                last: benchmark,
                ended: found.ended,
            })
        };
        self.at(read())
    }
}

/// Columns of an entry: event, kind, author, note, time, assignee, benchmarks.
type Entry = (String, String, String, String, String, Option<String>, Option<String>);

/// A new state of a change.
#[derive(Clone, Copy, Debug)]
pub struct NewTriageEntry<'a> {
    pub state: ChangeState,
    /// Present if the state is [`ChangeState::Assigned`].
    pub assignee: Option<&'a str>,
    /// Required in other states.
    pub note: &'a str,
    /// Benchmarks of the change at present.
    pub benchmarks: &'a [Id],
}

impl NewTriageEntry<'_> {
    fn check(&self) -> Result<(), String> {
        let is_line =
            |text: &str, max| text.chars().count() <= max && !text.contains(char::is_control);
        let is_assigned = self.state == ChangeState::Assigned;
        let note_is_missing = self.note.trim().is_empty() && !is_assigned;
        if note_is_missing || !is_line(self.note, LONGEST_NOTE) {
            return Err(format!("a note is one line of 1 to {LONGEST_NOTE} letters"));
        }
        let fits = |name: &str| !name.trim().is_empty() && is_line(name, LONGEST_NAME);
        if !self.assignee.map_or(!is_assigned, fits) {
            return Err(format!("who is to look at it is named by 1 to {LONGEST_NAME} letters"));
        }
        Ok(())
    }
}

/// Kind of the entry that sets a state.
fn entry_kind(state: ChangeState) -> &'static str {
    match state {
        ChangeState::New => "reopen",
        ChangeState::Assigned => "assign",
        ChangeState::Acknowledged => "acknowledge",
        ChangeState::Expected => "expect",
        ChangeState::Fixed => "fix",
    }
}

/// Progress of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Stored launches.
    pub launches: u64,
    /// Benchmark of the last launch.
    pub last: Option<String>,
    pub ended: bool,
}

/// The number of the next entry.
pub(crate) fn next(engine: &dyn Engine) -> Result<i64, Fault> {
    if engine.version()? < LOG_SINCE {
        return Ok(1);
    }
    let next: Vec<(i64,)> = query(engine, sql::NEXT_CHANGE_ENTRY, vec![])?;
    Ok(next[0].0)
}

struct NewRow<'a> {
    event: &'a str,
    kind: &'a str,
    note: &'a str,
    now: &'a str,
    assignee: Option<&'a str>,
    benchmarks: &'a [Id],
}

fn enter(engine: &dyn Engine, who: Who, row: &NewRow) -> Result<(), Fault> {
    let (token, name) = match who {
        Who::User(name) => (None, name),
        Who::Token(token) => (Some(token.number), token.name.as_str()),
    };
    let benchmarks: Vec<&str> = row.benchmarks.iter().map(Id::as_str).collect();
    let row = row![
        next(engine)?,
        row.event.to_owned(),
        row.kind.to_owned(),
        token,
        name.to_owned(),
        row.note.to_owned(),
        row.now.to_owned(),
        row.assignee.map(str::to_owned),
        benchmarks.join(" "),
    ];
    engine.execute(sql::INSERT_CHANGE_ENTRY, row)
}
