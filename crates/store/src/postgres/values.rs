//! Conversion of values from and to PostgreSQL.

use crate::engine::{Row, Value};
use ::postgres::types::{FromSql, IsNull, ToSql, Type};
use bytes::BytesMut;
use std::borrow::Cow;
use std::error::Error;

/// PostgreSQL's text has no U+0000: it is stored as this noncharacter and a digit.
const ESCAPE: char = '\u{10fffe}';

fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return text.into();
    }
    let mut all = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => all.extend([ESCAPE, '0']),
            ESCAPE => all.extend([ESCAPE, '1']),
            c => all.push(c),
        }
    }
    all.into()
}

fn unescaped(text: &str) -> String {
    if !text.contains(ESCAPE) {
        return text.to_owned();
    }
    let mut all = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        all.push(match c {
            ESCAPE if letters.next() == Some('0') => '\0',
            c => c,
        });
    }
    all
}

/// A parameter, converted to the type that the statement expects.
#[derive(Debug)]
pub(super) struct Parameter(pub(super) Value);

impl ToSql for Parameter {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (&self.0, ty) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Integer(v), &Type::INT4) => i32::try_from(*v)?.to_sql(ty, out),
            (Value::Integer(v), &Type::INT8) => v.to_sql(ty, out),
            (Value::Real(v), &Type::FLOAT8) => v.to_sql(ty, out),
            (Value::Text(v), &Type::TEXT) => escaped(v).as_ref().to_sql(ty, out),
            (Value::Blob(v), &Type::BYTEA) => v.to_sql(ty, out),
            (value, ty) => Err(format!("{value:?} for {ty}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    ::postgres::types::to_sql_checked!();
}

/// A column of a row, converted from its type.
struct Column(Value);

impl<'a> FromSql<'a> for Column {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *ty {
            Type::INT4 => i32::from_sql(ty, raw)?.into(),
            Type::INT8 => i64::from_sql(ty, raw)?.into(),
            Type::BOOL => bool::from_sql(ty, raw)?.into(),
            Type::FLOAT8 => f64::from_sql(ty, raw)?.into(),
            Type::TEXT => unescaped(<&str>::from_sql(ty, raw)?).into(),
            Type::BYTEA => Value::Blob(raw.to_vec()),
            ref other => return Err(format!("a value of type {other}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

pub(super) fn values(row: &::postgres::Row) -> Result<Row, ::postgres::Error> {
    let values = (0..row.len()).map(|index| row.try_get::<_, Column>(index));
    values.map(|value| value.map(|Column(value)| value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_characters_round_trip() {
        for text in
            ["", "plain", "\0", "a\0b", "\u{10fffe}", "\u{10fffe}0\0\u{10fffe}1", "\u{10ffff}"]
        {
            let held = escaped(text);
            assert!(!held.contains('\0'));
            assert_eq!(unescaped(&held), text);
        }
    }
}
