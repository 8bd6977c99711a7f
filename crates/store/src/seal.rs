//! A seal over the values of stored rows: SQLite notices a broken page, but not a number that changed within one.
//!
//! FNV-1a over 64 bits, of each value's type and bytes. Every step of it is one to one in the state so far, so that
//! a change of any single byte always changes the seal. It guards against discs, not against people.
//!
//! Must not know: what the values mean.

use rusqlite::types::{Value, ValueRef};

/// A seal that is being made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seal(u64);

impl Seal {
    /// Nothing sealed yet.
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Seals the values of a row, in order.
    pub(crate) fn row(&mut self, values: &[Value]) {
        self.values(values.iter().map(ValueRef::from));
    }

    /// Seals the values of an event. The column that came last counts where it has a value, so that launches that were sealed
    /// before it was there keep their seals.
    pub(crate) fn event<'a>(
        &mut self,
        values: impl ExactSizeIterator<Item = ValueRef<'a>> + DoubleEndedIterator + Clone,
    ) {
        let mut before = values.clone();
        match before.next_back() {
            Some(ValueRef::Null) => self.values(before),
            _ => self.values(values),
        }
    }

    fn values<'a>(&mut self, values: impl ExactSizeIterator<Item = ValueRef<'a>>) {
        self.bytes(&(values.len() as u64).to_le_bytes());
        for value in values {
            match value {
                ValueRef::Null => self.bytes(b"n"),
                ValueRef::Integer(v) => self.bytes(b"i").bytes(&v.to_le_bytes()),
                ValueRef::Real(v) => self.bytes(b"r").bytes(&v.to_bits().to_le_bytes()),
                ValueRef::Text(v) => self.long(b"t", v),
                ValueRef::Blob(v) => self.long(b"b", v),
            };
        }
    }

    /// As it is stored: the same 64 bits.
    pub(crate) fn value(self) -> Value {
        Value::Integer(self.0 as i64)
    }

    fn long(&mut self, kind: &[u8], bytes: &[u8]) -> &mut Self {
        self.bytes(kind)
            .bytes(&(bytes.len() as u64).to_le_bytes())
            .bytes(bytes)
    }

    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal(rows: &[&[Value]]) -> Value {
        let mut seal = Seal::new();
        rows.iter().for_each(|row| seal.row(row));
        seal.value()
    }

    #[test]
    fn fnv_1a_as_published() {
        let mut seal = Seal::new();
        seal.bytes(b"foobar");
        assert_eq!(seal.0, 0x8594_4171_f739_67e8);
    }

    #[test]
    fn what_looks_alike_is_not_the_same() {
        let text = |t: &str| Value::Text(t.to_owned());
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
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(!all[..i].contains(one), "{i}");
        }
    }

    #[test]
    fn an_event_without_the_last_column_is_sealed_as_before_there_was_one() {
        let of = |values: &[Value]| {
            let mut seal = Seal::new();
            seal.event(values.iter().map(ValueRef::from));
            seal.value()
        };
        let old = [Value::Integer(7), Value::Null];
        let [a, b] = old.clone();
        assert_eq!(of(&[a.clone(), b.clone(), Value::Null]), seal(&[&old]));
        let with = [a, b, Value::Integer(0)];
        assert_eq!(of(&with), seal(&[&with]));
    }
}
