//! Hash of stored rows: SQLite detects a broken page, but neither a changed number in a page nor a missing row.
//!
//! SHA-256 of the kind of row, the hash before it, and type and bytes of each value. It detects faults of disks and
//! software, not forgery: a writer of the file can recompute hashes.

use crate::engine::{Row, Value};
use gritstone_model::hexadecimal;
use sha2::{Digest, Sha256};

/// Hash of rows of one kind after the hash `before`, empty for the first. A run is hashed as head, benchmarks,
/// programs, skips.
pub(crate) fn hash<'a>(
    kind: &str,
    before: &str,
    rows: impl IntoIterator<Item = &'a Row>,
) -> String {
    let mut seal = Seal(Sha256::new());
    seal.long(b"k", kind.as_bytes());
    seal.long(b"s", before.as_bytes());
    rows.into_iter().for_each(|row| seal.row(row));
    hexadecimal(seal.0.finalize())
}

struct Seal(Sha256);

impl Seal {
    fn row(&mut self, values: &[Value]) {
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
    use crate::row_codec::row;

    #[test]
    fn similar_rows_hash_differently() {
        let rows: [&[Row]; 11] = [
            &[],
            &[vec![]],
            &[row![Value::Null]],
            &[row![0]],
            &[row![0.0]],
            &[row![String::new()]],
            &[row!["0".to_owned()]],
            &[row![vec![b'0']]],
            &[row!["ab".to_owned(), "c".to_owned()]],
            &[row!["a".to_owned(), "bc".to_owned()]],
            &[row!["a".to_owned()], row!["bc".to_owned()]],
        ];
        let mut all: Vec<String> = rows.iter().map(|rows| hash("x", "", *rows)).collect();
        all.extend(
            [("", "x"), ("x", "x"), ("xx", "")].map(|(kind, before)| hash(kind, before, [])),
        );
        for (i, one) in all.iter().enumerate() {
            assert!(one.len() == 64 && !all[..i].contains(one), "{i}");
        }
    }
}
