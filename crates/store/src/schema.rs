//! SQLite schema: numbered migrations, and a check that a file has exactly their result.

use crate::error::{Fault, StoreError};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// Migrations in order; the first has number 1. Released migrations never change.
pub(crate) const MIGRATIONS: [&str; 7] = [
    include_str!("../schema/sqlite/0001.sql"),
    include_str!("../schema/sqlite/0002.sql"),
    include_str!("../schema/sqlite/0003.sql"),
    include_str!("../schema/sqlite/0004.sql"),
    include_str!("../schema/sqlite/0005.sql"),
    include_str!("../schema/sqlite/0006.sql"),
    include_str!("../schema/sqlite/0007.sql"),
];

/// The newest known schema.
pub(crate) const KNOWN: u32 = MIGRATIONS.len() as u32;

/// `GRS2` in the file header, for file(1) and for us.
const APPLICATION: i64 = 0x4752_5332;
/// `GRIT`: stores with the numbering of migrations before the present one.
const OLD_APPLICATION: i64 = 0x4752_4954;

pub(crate) enum State {
    Empty,
    /// Our schema, of a known version.
    Ours(u32),
}

/// Checks header and schema: a view in place of a table could occupy a reader forever.
pub(crate) fn state(connection: &Connection, path: &Path) -> Result<State, Fault> {
    // in one transaction: another process may be creating the store
    let _moment = match connection.is_autocommit() {
        true => Some(connection.unchecked_transaction()?),
        false => None,
    };
    let header = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (header("application_id")?, header("user_version")?);
    if application == 0 && version == 0 && header("schema_version")? == 0 {
        return Ok(State::Empty);
    }
    let path = || path.to_owned();
    let known = match (application, u32::try_from(version)) {
        (OLD_APPLICATION, _) => return Err(StoreError::Before(path()).into()),
        (APPLICATION, Ok(found)) if found > KNOWN => {
            return Err(StoreError::Newer(path(), found, KNOWN).into());
        }
        (APPLICATION, Ok(found)) if found > 0 => found,
        _ => return Err(StoreError::Foreign(path()).into()),
    };
    let pattern = Connection::open_in_memory()?;
    for text in &MIGRATIONS[..known as usize] {
        pattern.execute_batch(text)?;
    }
    match difference(&objects(&pattern)?, &objects(connection)?) {
        None => Ok(State::Ours(known)),
        Some(object) => Err(StoreError::Altered(path(), object).into()),
    }
}

/// Type, name, table and SQL of a schema object.
type Object = [Option<String>; 4];

fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut statement = connection
        .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")?;
    let rows =
        statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    rows.collect()
}

/// The first object that only one of two schemas has.
fn difference(known: &[Object], found: &[Object]) -> Option<String> {
    let added = found.iter().find(|object| !known.contains(object));
    let lost = || known.iter().find(|object| !found.contains(object));
    let [kind, name, ..] = added.or_else(lost)?;
    let word = |part: &Option<String>| part.clone().unwrap_or_default();
    Some(format!("{} '{}'", word(kind), word(name)))
}

/// Applies missing migrations in one transaction, possibly concurrently with another process.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = match state(&transaction, path)? {
        State::Empty => 0,
        State::Ours(version) => version,
    };
    for text in &MIGRATIONS[done as usize..] {
        transaction.execute_batch(text)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", KNOWN)?;
    transaction.commit()?;
    Ok(())
}
