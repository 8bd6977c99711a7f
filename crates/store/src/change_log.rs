//! What is known of changes: who acknowledged one, and which were told of.

use crate::engine::{Engine, Purpose, query, whole};
use crate::error::{Fault, StoreError};
use crate::ledger;
use crate::row_codec::row;
use crate::sql;
use crate::store::Store;
use crate::token::Token;

/// The schema that has had them first.
const SINCE: u32 = 4;
/// Letters of a note at most.
const LONGEST: usize = 1000;
const ACKNOWLEDGE: &str = "acknowledge";
const NOTIFY: &str = "notify";

/// An entry on a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeEntry {
    /// Identifier of the event.
    pub event: String,
    /// Whether somebody acknowledged it; else it was told of.
    pub acknowledges: bool,
    /// By whom: a user, or the name of a token.
    pub who: String,
    /// What they say.
    pub note: String,
    /// When, RFC 3339.
    pub at: String,
}

/// Who writes down what is known of a change.
#[derive(Clone, Copy, Debug)]
pub enum Who<'a> {
    /// A user of the machine of the store.
    User(&'a str),
    /// A client of a server.
    Token(&'a Token),
}

impl Store {
    /// Writes down that a change is known, and what it is.
    ///
    /// # Errors
    /// [`StoreError::Unfit`] when the note is empty, too long or has control characters, and what befalls the file.
    pub fn acknowledge(
        &mut self,
        event: &str,
        who: Who,
        note: &str,
        now: &str,
    ) -> Result<(), StoreError> {
        let fits = !note.trim().is_empty()
            && note.chars().count() <= LONGEST
            && !note.contains(char::is_control);
        if !fits {
            let why = format!("a note is one line of 1 to {LONGEST} letters");
            return Err(StoreError::Unfit(why));
        }
        self.reach_disk(true)?;
        self.at(whole(self.engine(), Purpose::Write, |engine| {
            enter(engine, event, ACKNOWLEDGE, who, note.trim(), now)
        }))
    }

    /// Writes down that these changes were told of.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn notified(&mut self, events: &[String], to: &str, now: &str) -> Result<(), StoreError> {
        self.reach_disk(true)?;
        self.at(whole(self.engine(), Purpose::Write, |engine| {
            for event in events {
                enter(engine, event, NOTIFY, Who::User("serve"), to, now)?;
            }
            Ok(())
        }))
    }

    /// All entries, oldest first.
    ///
    /// # Errors
    /// What befalls the file.
    pub fn change_entries(&self) -> Result<Vec<ChangeEntry>, StoreError> {
        let read = || -> Result<Vec<Entry>, Fault> {
            // a store of an older schema is read as it is
            match self.engine().version()? < SINCE {
                true => Ok(vec![]),
                false => query(self.engine(), sql::SELECT_CHANGE_ENTRIES, vec![]),
            }
        };
        let rows = self.at(read())?;
        let entry = |(event, entry, who, note, at): (_, String, _, _, _)| ChangeEntry {
            event,
            acknowledges: entry == ACKNOWLEDGE,
            who,
            note,
            at,
        };
        Ok(rows.into_iter().map(entry).collect())
    }

    /// How far a run has come: its launches, the benchmark of the last one, and whether it has ended.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], and what befalls the file.
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

/// A row as it is stored: the change, the kind of entry, who, the note, when.
type Entry = (String, String, String, String, String);

/// How far a run has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Launches that are stored.
    pub launches: u64,
    /// The benchmark of the last one.
    pub last: Option<String>,
    /// Whether the run has ended.
    pub ended: bool,
}

fn enter(
    engine: &dyn Engine,
    event: &str,
    entry: &str,
    who: Who,
    note: &str,
    now: &str,
) -> Result<(), Fault> {
    let next: Vec<(i64,)> = query(engine, sql::NEXT_CHANGE_ENTRY, vec![])?;
    let (token, name) = match who {
        Who::User(name) => (None, name),
        Who::Token(token) => (Some(token.number), token.name.as_str()),
    };
    let row = row![
        next[0].0,
        event.to_owned(),
        entry.to_owned(),
        token,
        name.to_owned(),
        note.to_owned(),
        now.to_owned(),
    ];
    engine.execute(sql::INSERT_CHANGE_ENTRY, row)
}
