//! Log of acknowledgments and sent notifications of changes.

use crate::engine::{Engine, Purpose, query, whole};
use crate::error::{Fault, StoreError};
use crate::ledger;
use crate::row_codec::row;
use crate::sql;
use crate::store::Store;
use crate::token::Token;

/// First schema version with this log.
const SINCE: u32 = 4;
/// Maximum length of a note, in characters.
const LONGEST: usize = 1000;
const ACKNOWLEDGE: &str = "acknowledge";
const NOTIFY: &str = "notify";

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeEntry {
    /// Identifier of the change event.
    pub event: String,
    /// Acknowledgment; otherwise a sent notification.
    pub acknowledges: bool,
    /// A user, or the name of a token.
    pub who: String,
    pub note: String,
    /// RFC 3339.
    pub at: String,
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
    /// Acknowledges a change with a note.
    ///
    /// # Errors
    /// [`StoreError::Unfit`] when the note is empty, too long or has control characters, and I/O errors of the store.
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

    /// Records notifications that were sent.
    ///
    /// # Errors
    /// I/O errors of the store.
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
    /// I/O errors of the store.
    pub fn change_entries(&self) -> Result<Vec<ChangeEntry>, StoreError> {
        let read = || -> Result<Vec<Entry>, Fault> {
            // stores with an older schema have no log
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

/// Columns of an entry: event, kind, author, note, time.
type Entry = (String, String, String, String, String);

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
    if engine.version()? < SINCE {
        return Ok(1);
    }
    let next: Vec<(i64,)> = query(engine, sql::NEXT_CHANGE_ENTRY, vec![])?;
    Ok(next[0].0)
}

fn enter(
    engine: &dyn Engine,
    event: &str,
    entry: &str,
    who: Who,
    note: &str,
    now: &str,
) -> Result<(), Fault> {
    let (token, name) = match who {
        Who::User(name) => (None, name),
        Who::Token(token) => (Some(token.number), token.name.as_str()),
    };
    let row = row![
        next(engine)?,
        event.to_owned(),
        entry.to_owned(),
        token,
        name.to_owned(),
        note.to_owned(),
        now.to_owned(),
    ];
    engine.execute(sql::INSERT_CHANGE_ENTRY, row)
}
