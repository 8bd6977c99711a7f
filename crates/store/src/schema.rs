//! The schema, as numbered migrations of one SQL text each.
//!
//! A change of the schema is a new file and a new line in [`MIGRATIONS`]; those that were released stay as they are.
//!
//! Must not know: what is stored in it.

use crate::error::{Fault, StoreError};
use crate::sql;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// (name, text), in order; the first has number 1.
const MIGRATIONS: [(&str, &str); 7] = [
    ("runs", include_str!("../migrations/0001_runs.sql")),
    (
        "append-only",
        include_str!("../migrations/0002_append_only.sql"),
    ),
    ("series", include_str!("../migrations/0003_series.sql")),
    ("wide", include_str!("../migrations/0004_wide.sql")),
    ("names", include_str!("../migrations/0005_names.sql")),
    ("lean", include_str!("../migrations/0006_lean.sql")),
    ("events", include_str!("../migrations/0007_events.sql")),
];

/// The newest schema that is known here.
pub(crate) const KNOWN: u32 = MIGRATIONS.len() as u32;

/// `GRIT` in the header of the file, so that file(1) and we can tell it from databases of other programs.
const APPLICATION: i64 = 0x4752_4954;

/// What a file is.
pub(crate) enum State {
    /// Nothing in it yet.
    Empty,
    /// Ours, with this schema, which is known here.
    Ours(u32),
}

/// Looks at the header, and at nothing else.
pub(crate) fn state(connection: &Connection, path: &Path) -> Result<State, Fault> {
    // all of one moment: another process may be making the store, and half of its header is nobody's
    let _moment = match connection.is_autocommit() {
        true => Some(connection.unchecked_transaction()?),
        false => None,
    };
    let header = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (header("application_id")?, header("user_version")?);
    if application == 0 && version == 0 && header("schema_version")? == 0 {
        return Ok(State::Empty);
    }
    let foreign = || StoreError::Foreign { path: path.into() };
    let version = u32::try_from(version).map_err(|_| foreign())?;
    if application != APPLICATION || version == 0 {
        return Err(foreign().into());
    }
    if version > KNOWN {
        return Err(Fault::Whole(StoreError::Newer {
            path: path.into(),
            found: version,
            known: KNOWN,
        }));
    }
    Ok(State::Ours(version))
}

/// Applies what is missing, all or nothing. Another process may do the same at the same time.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = match state(&transaction, path)? {
        State::Empty => 0,
        State::Ours(version) => version,
    };
    for (number, (name, text)) in (1..=KNOWN).zip(MIGRATIONS).skip(done as usize) {
        transaction.execute_batch(text)?;
        let by = env!("CARGO_PKG_VERSION");
        transaction.execute(sql::INSERT_MIGRATION, (number, name, by))?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", KNOWN)?;
    transaction.commit()?;
    Ok(())
}
