//! What PostgreSQL says in other words than SQLite: the schema, made of the same migrations, and values.

use crate::engine::{Row, Value};
use ::postgres::types::{FromSql, IsNull, ToSql, Type};
use bytes::BytesMut;
use std::borrow::Cow;
use std::error::Error;

/// What a migration does besides: the versions that were applied, which are not changed either.
pub(super) const VERSIONS: &str = "\
CREATE TABLE gritstone_schema (version INTEGER PRIMARY KEY);
CREATE FUNCTION gritstone_keep() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'append-only: nothing of % can be changed, and no table emptied', TG_TABLE_NAME; END $$;
CREATE TRIGGER version_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON gritstone_schema EXECUTE FUNCTION gritstone_keep();
";

/// The view `line`. A text with the character U+0000 in it cannot be read so, nor what a view has beside it.
const LINE: &str = "\
CREATE VIEW line AS
SELECT launch.run, launch.number AS launch, place.at - 1 AS position, said.key AS kind,
    CASE WHEN key IN ('hello', 'warm', 'sample', 'process', 'batch', 'check', 'fail') THEN (value ->> 0)::numeric END AS n,
    CASE WHEN key IN ('warm', 'sample', 'process') THEN (value ->> 1)::numeric END AS wall_ns,
    CASE WHEN key IN ('sample', 'process', 'batch') THEN (value ->> 2)::numeric END AS pace_fs,
    (value -> 4 ->> 0)::numeric AS user_ns, (value -> 4 ->> 1)::numeric AS system_ns, (value -> 4 ->> 2)::numeric AS cpu_ns,
    (value -> 4 ->> 3)::numeric AS vcsw, (value -> 4 ->> 4)::numeric AS icsw, (value -> 4 ->> 5)::numeric AS minflt,
    (value -> 4 ->> 6)::numeric AS majflt, (value -> 4 ->> 7)::numeric AS inblock, (value -> 4 ->> 8)::numeric AS oublock,
    (value -> 4 ->> 9)::numeric AS migrations,
    CASE key WHEN 'check' THEN (value ->> 1)::numeric END AS got,
    CASE key WHEN 'check' THEN (value ->> 2)::numeric END AS expected,
    CASE WHEN key = 'param' THEN value ->> 0 WHEN key IN ('hello', 'fail') THEN value ->> 1 END AS name,
    CASE WHEN key IN ('param', 'batch') THEN value ->> 1 WHEN key = 'latency' THEN value::text
        WHEN key = 'skip' THEN value ->> 0 WHEN key = 'fail' THEN value ->> 2 END AS value,
    CASE WHEN key IN ('sample', 'process', 'batch') THEN (value ->> 3)::numeric END AS wide_fs
FROM launch, json_array_elements(launch.events::json) WITH ORDINALITY AS place (line, at), json_each(place.line) AS said
";

/// A migration in PostgreSQL's words; `None` where one of its statements has a form that is not known here.
///
/// Text is compared by its bytes, whatever the locale: seals are over rows in that order. A trigger becomes one with a function. What keeps
/// a row from being replaced is left out, since no statement of PostgreSQL replaces without an update, and a table whose rows cannot be
/// changed cannot be emptied.
pub(super) fn migration(text: &str) -> Option<String> {
    let lines = text
        .lines()
        .map(|line| line.split("--").next().unwrap_or(""));
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    let mut all = String::new();
    for statement in text.split(";\n").map(str::trim) {
        all.push_str(&self::statement(statement)?);
    }
    Some(all)
}

fn statement(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some(String::new());
    }
    if text.starts_with("CREATE TABLE ") {
        return Some(text.replace(" TEXT", " TEXT COLLATE \"C\"") + ";\n");
    }
    if text.starts_with("CREATE INDEX ")
        || text.starts_with("DROP INDEX ")
        || text.starts_with("DROP VIEW ")
        || text.starts_with("ALTER TABLE ")
    {
        return Some(text.to_owned() + ";\n");
    }
    if text.starts_with("CREATE VIEW line AS") {
        return Some(LINE.to_owned() + ";\n");
    }
    if let Some(name) = text.strip_prefix("DROP TRIGGER ") {
        return Some(match name.ends_with(REPLACED) {
            true => String::new(),
            false => format!("DROP FUNCTION {name}() CASCADE;\n"),
        });
    }
    trigger(text.strip_prefix("CREATE TRIGGER ")?)
}

/// How the names of triggers end that keep a row from being replaced.
const REPLACED: &str = "_is_not_replaced";

fn trigger(text: &str) -> Option<String> {
    let (name, rest) = text.split_once(" BEFORE ")?;
    if name.ends_with(REPLACED) {
        return Some(String::new());
    }
    let (event, rest) = rest.split_once(" ON ")?;
    let (table, rest) = rest.split_once(char::is_whitespace)?;
    let (condition, rest) = rest.split_once("BEGIN SELECT RAISE(ABORT, ")?;
    let message = rest.strip_suffix("); END")?;
    let condition = match condition.trim() {
        "" => "true",
        condition => condition.strip_prefix("WHEN ")?,
    };
    let (row, truncate) = match event {
        "UPDATE" => {
            let name = format!("{table}_is_not_emptied");
            let truncate = format!(
                "CREATE TRIGGER {name} BEFORE TRUNCATE ON {table} EXECUTE FUNCTION gritstone_keep();\n"
            );
            ("NEW", truncate)
        }
        "INSERT" => ("NEW", String::new()),
        "DELETE" => ("OLD", String::new()),
        _ => return None,
    };
    Some(format!(
        "CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN \
         IF {condition} THEN RAISE EXCEPTION {message}; END IF; RETURN {row}; END $$;\n\
         CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}();\n{truncate}"
    ))
}

/// The names of the triggers that migrations make and leave.
pub(super) fn triggers(migrations: &[&str]) -> Vec<String> {
    let mut names = vec!["version_is_kept".to_owned()];
    for text in migrations.iter().filter_map(|text| migration(text)) {
        for line in text.lines() {
            let dropped = line.strip_prefix("DROP FUNCTION ");
            if let Some((name, _)) = dropped.and_then(|rest| rest.split_once('(')) {
                names.retain(|known| known != name);
            }
            let made = line.strip_prefix("CREATE TRIGGER ");
            names.extend(
                made.and_then(|rest| rest.split(' ').next())
                    .map(str::to_owned),
            );
        }
    }
    names
}

/// PostgreSQL's text has no U+0000: in its place stands this character, of which Unicode says that it is none, and a digit.
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

/// A value as a parameter of the type that the statement has there.
#[derive(Debug)]
pub(super) struct Parameter(pub(super) Value);

impl ToSql for Parameter {
    fn to_sql(
        &self,
        of: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (&self.0, of) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Integer(v), &Type::INT4) => i32::try_from(*v)?.to_sql(of, out),
            (Value::Integer(v), &Type::INT8) => v.to_sql(of, out),
            (Value::Real(v), &Type::FLOAT8) => v.to_sql(of, out),
            (Value::Text(v), &Type::TEXT) => escaped(v).as_ref().to_sql(of, out),
            (Value::Blob(v), &Type::BYTEA) => v.to_sql(of, out),
            (value, of) => Err(format!("{value:?} for {of}").into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    ::postgres::types::to_sql_checked!();
}

/// A value of a row, by the type that the row has there.
struct Column(Value);

impl<'a> FromSql<'a> for Column {
    fn from_sql(of: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *of {
            Type::INT4 => i32::from_sql(of, raw)?.into(),
            Type::INT8 => i64::from_sql(of, raw)?.into(),
            Type::BOOL => bool::from_sql(of, raw)?.into(),
            Type::FLOAT8 => f64::from_sql(of, raw)?.into(),
            Type::TEXT => unescaped(<&str>::from_sql(of, raw)?).into(),
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

/// The values of a row.
pub(super) fn values(row: &::postgres::Row) -> Result<Row, ::postgres::Error> {
    let values = (0..row.len()).map(|at| row.try_get::<_, Column>(at));
    values
        .map(|value| value.map(|Column(value)| value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::MIGRATIONS;

    #[test]
    fn every_migration_can_be_said_and_keeps_its_rules() {
        for text in MIGRATIONS {
            let said = migration(text).expect("a statement of an unknown form");
            assert!(!said.contains("RAISE(ABORT"), "{said}");
            // one for each but those that PostgreSQL does not need
            let kept =
                |line: &&str| line.starts_with("CREATE TRIGGER ") && !line.contains(REPLACED);
            let here = text.lines().filter(kept).count();
            let row =
                |line: &&str| line.starts_with("CREATE TRIGGER ") && line.contains("FOR EACH ROW");
            assert_eq!(said.lines().filter(row).count(), here);
        }
        let triggers = triggers(&MIGRATIONS);
        assert!(
            triggers.contains(&"launch_is_not_emptied".to_owned()),
            "{triggers:?}"
        );
        let removed = |name: &&String| name.as_str() == "run_is_not_removed";
        assert_eq!(triggers.iter().filter(removed).count(), 1);
    }

    #[test]
    fn text_that_postgresql_cannot_hold_comes_back() {
        for text in [
            "",
            "plain",
            "\0",
            "a\0b",
            "\u{10fffe}",
            "\u{10fffe}0\0\u{10fffe}1",
            "\u{10ffff}",
        ] {
            let held = escaped(text);
            assert!(!held.contains('\0'));
            assert_eq!(unescaped(&held), text);
        }
    }
}
