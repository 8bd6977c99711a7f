//! Looks at a whole store for damage.

use crate::error::Fault;
use crate::{find, read};
use rusqlite::Connection;
use std::path::Path;

/// What is wrong, a line each.
pub(crate) fn all(connection: &Connection) -> Result<Vec<String>, Fault> {
    let mut wrong = vec![];
    let mut note = |fault: Fault| match fault {
        Fault::Damaged(what) => wrong.push(what),
        fault => wrong.push(fault.at(Path::new("the store")).to_string()),
    };
    let mut check = connection.prepare("PRAGMA integrity_check")?;
    for line in check.query_map([], |row| row.get::<_, String>(0))? {
        match line {
            Ok(line) if line == "ok" => {}
            Ok(line) => note(Fault::Damaged(format!("SQLite: {line}"))),
            Err(error) => note(error.into()),
        }
    }
    let mut check = connection.prepare("PRAGMA foreign_key_check")?;
    for table in check.query_map([], |row| row.get::<_, String>(0))? {
        match table {
            Ok(table) => note(Fault::Damaged(format!("a {table} without its run"))),
            Err(error) => note(error.into()),
        }
    }
    for looked in [find::complete(connection), read::verify_ledger(connection)] {
        looked.unwrap_or_else(&mut note);
    }
    for id in find::ids(connection)? {
        read::verify(connection, &id).unwrap_or_else(&mut note);
    }
    wrong.dedup();
    Ok(wrong)
}
