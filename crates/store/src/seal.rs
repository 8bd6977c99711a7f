//! A seal over the values of stored rows: SQLite notices a broken page, but neither a number that changed within one nor a row
//! that is gone.
//!
//! SHA-256 of what kind of row it is, the seal before it, and each value's type and bytes. It guards against disks and mistakes; who can
//! write the file can also make new seals.

use crate::rows::Row;
use rusqlite::types::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Of a run: its head, its benchmarks, its programs, its skips.
pub(crate) fn of_run<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let seal = Seal::after("run", "");
    rows.into_iter().fold(seal, |seal, row| seal.row(row)).hex()
}

/// Of a launch, after the launch or the run before it.
pub(crate) fn of_launch(before: &str, row: &Row) -> String {
    Seal::after("launch", before).row(row).hex()
}

/// Of the end of a run, after its last launch.
pub(crate) fn of_end(before: &str, row: &Row) -> String {
    Seal::after("end", before).row(row).hex()
}

/// Of an entry of the ledger, after the one before it.
pub(crate) fn of_entry(before: &str, row: &Row) -> String {
    Seal::after("entry", before).row(row).hex()
}

/// Of cached results, without them.
pub(crate) fn of_cached_run(row: &[Value]) -> String {
    Seal::after("cached run", "").row(row).hex()
}

/// Of a cached result, after what holds them together.
pub(crate) fn of_cached_result(before: &str, row: &[Value]) -> String {
    Seal::after("cached result", before).row(row).hex()
}

/// A seal that is being made.
struct Seal(Sha256);

impl Seal {
    /// Of a row of some kind that comes after another, whose seal is `before`; empty where it is the first.
    fn after(kind: &str, before: &str) -> Self {
        let mut seal = Self(Sha256::new());
        seal.long(b"k", kind.as_bytes());
        seal.long(b"s", before.as_bytes());
        seal
    }

    /// Seals the values of a row, in order.
    fn row(mut self, values: &[Value]) -> Self {
        self.0.update((values.len() as u64).to_le_bytes());
        for value in values {
            match value {
                Value::Null => self.0.update(b"n"),
                Value::Integer(v) => self.fixed(b"i", v.to_le_bytes()),
                Value::Real(v) => self.fixed(b"r", v.to_bits().to_le_bytes()),
                Value::Text(v) => self.long(b"t", v.as_bytes()),
                Value::Blob(v) => self.long(b"b", v),
            }
        }
        self
    }

    /// As it is stored.
    fn hex(self) -> String {
        let mut hex = String::with_capacity(64);
        for byte in self.0.finalize() {
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }

    fn fixed(&mut self, kind: &[u8], bytes: [u8; 8]) {
        self.0.update(kind);
        self.0.update(bytes);
    }

    fn long(&mut self, kind: &[u8], bytes: &[u8]) {
        self.fixed(kind, (bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_not_the_same() {
        let text = |t: &str| Value::Text(t.to_owned());
        let seal = |rows: &[&[Value]]| {
            let seal = Seal::after("x", "");
            rows.iter().fold(seal, |seal, row| seal.row(row)).hex()
        };
        let all = [
            seal(&[]),
            seal(&[&[]]),
            seal(&[&[Value::Null]]),
            seal(&[&[Value::Integer(0)]]),
            seal(&[&[Value::Integer(1)]]),
            seal(&[&[Value::Real(0.0)]]),
            seal(&[&[text("")]]),
            seal(&[&[text("0")]]),
            seal(&[&[Value::Blob(vec![b'0'])]]),
            seal(&[&[text("ab"), text("c")]]),
            seal(&[&[text("a"), text("bc")]]),
            seal(&[&[text("a")], &[text("bc")]]),
            Seal::after("", "x").hex(),
            Seal::after("x", "x").hex(),
            Seal::after("xx", "").hex(),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(one.len() == 64 && !all[..i].contains(one), "{i}");
        }
    }
}
