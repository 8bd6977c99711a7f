//! JSON of other programs: a damaged entry does not affect others, and unused fields may have any type.

use super::{HarnessError, HarnessFile, malformed, place};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The JSON of a file, with `null` for `NaN` and `Infinity`.
pub(super) fn json(file: &HarnessFile) -> Cow<'_, str> {
    finite(json_part(&file.text))
}

/// The text from the first line that opens JSON; the whole text without such a line. Some programs print warnings before, such as
/// `[warning] ...`.
pub(super) fn json_part(text: &str) -> &str {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        start += line.len();
        (&text[start - line.len()..], line)
    });
    let mut opening = lines.filter(|(_, line)| line.trim_start().starts_with(['{', '[']));
    let Some((first, line)) = opening.next() else {
        return text;
    };
    let mut all = std::iter::once((first, line)).chain(opening);
    all.find(|(_, line)| begins_document(line)).map_or(first, |(rest, _)| rest)
}

/// Whether a line is correct as far as it goes.
fn begins_document(line: &str) -> bool {
    let line = finite(line);
    let mut values = serde_json::Deserializer::from_str(&line).into_iter::<IgnoredAny>();
    values.next().is_some_and(|value| value.map_or_else(|why| why.is_eof(), |_| true))
}

/// Consecutive documents up to the first damaged one; text between them is skipped.
pub(super) fn documents(json: &str) -> Vec<&RawValue> {
    let (mut found, mut rest) = (vec![], json);
    while !rest.is_empty() {
        let mut whole = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let Some(Ok(document)) = whole.next() else {
            break;
        };
        found.push(document);
        rest = &rest[whole.byte_offset()..];
        let next = json_part(rest);
        rest = if next.trim_start().starts_with(['{', '[']) { next } else { "" };
    }
    found
}

/// # Errors
/// Errors name the file, line and column.
pub(super) fn parse_json<'a, T: Deserialize<'a>>(
    file: &HarnessFile,
    text: &'a str,
    program: &str,
) -> Result<T, HarnessError> {
    serde_json::from_str(text).map_err(|why| {
        let what = match why.is_eof() {
            true if text.trim().is_empty() => format!("empty, not JSON of {program}"),
            true => format!("truncated JSON of {program}: {why}"),
            false => format!("not JSON of {program}: {why}"),
        };
        malformed(place(file, ""), what)
    })
}

/// The entries of an array of a file, each with its place; a damaged entry has no fields.
pub(super) fn entries<'a, T: Deserialize<'a> + Default>(
    file: &HarnessFile,
    array: &str,
    entries: &[&'a RawValue],
) -> impl Iterator<Item = (String, T)> {
    entries.iter().enumerate().map(move |(number, raw)| {
        let location = place(file, &format!("{array}[{number}]"));
        (location, serde_json::from_str(raw.get()).unwrap_or_default())
    })
}

/// The text with `null` for numbers that JSON lacks.
fn finite(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut clean, mut copied, mut position) = (String::new(), 0, 0);
    while position < bytes.len() {
        match bytes[position] {
            b'"' => position = end_of_string(bytes, position),
            byte if is_word(byte) => {
                let length = bytes[position..].iter().take_while(|byte| is_word(**byte)).count();
                let word = &text[position..position + length];
                if is_no_number(word) {
                    clean += &text[copied..position];
                    clean += "null";
                    copied = position + length;
                }
                position += length;
            }
            _ => position += 1,
        }
    }
    match copied {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(clean + &text[copied..]),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'#')
}

/// `NaN`, `-Infinity`, `inf`, and `1.#INF` of Windows.
fn is_no_number(word: &str) -> bool {
    let word = word.trim_start_matches(['-', '+']).to_ascii_lowercase();
    word.starts_with("nan") || word.starts_with("inf") || word.contains('#')
}

/// Position after the string that begins at `start`.
pub(super) fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut end = start + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    (end + 1).min(bytes.len())
}

/// A field of an entry, of any type.
pub(super) type Field<'a> = Option<&'a RawValue>;

/// Defines structs of such fields.
macro_rules! fields {
    ($($(#[$of_struct:meta])* struct $name:ident { $($(#[$of_field:meta])* $field:ident,)+ })+) => {
        $(
            #[derive(Default, serde::Deserialize)]
            $(#[$of_struct])*
            struct $name<'a> {
                $($(#[$of_field])* #[serde(borrow)] $field: $crate::harness::json_text::Field<'a>,)+
            }
        )+
    };
}
pub(super) use fields;

/// The number of a field.
pub(super) fn number(field: Field<'_>) -> Option<f64> {
    let number: Option<f64> = parsed(field);
    number.filter(|number| number.is_finite())
}

/// Text of a field: the content of a string, any other value as written.
pub(super) fn text(field: Field<'_>) -> Option<String> {
    let raw = field.map(RawValue::get).filter(|raw| *raw != "null")?;
    Some(serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned()))
}

/// The value of a field, if it has this type.
pub(super) fn parsed<'a, T: Deserialize<'a>>(field: Field<'a>) -> Option<T> {
    serde_json::from_str(field?.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_json_numbers_are_null() {
        let text =
            r#"{"a": NaN, "NaN": [-Infinity, 1.#INF, inf], "b\"": "Infinity", "c": -1.5e-3}"#;
        let clean = r#"{"a": null, "NaN": [null, null, null], "b\"": "Infinity", "c": -1.5e-3}"#;
        assert_eq!(finite(text), clean);
        assert!(matches!(finite(clean), Cow::Borrowed(_)));
        assert_eq!(finite(r#""open"#), r#""open"#);
        assert_eq!(finite(r#"{"a": NaN"#), r#"{"a": null"#);
    }

    #[test]
    fn warnings_before_json_are_skipped() {
        assert_eq!(json_part("note: slow\n {\"a\": 1}\n"), " {\"a\": 1}\n");
        assert_eq!(json_part("no json"), "no json");
        assert_eq!(json_part("[2026-11-30] [info] ready\n[1]\n"), "[1]\n");
        assert_eq!(json_part("[info] ready\n"), "[info] ready\n");
        let cut_off = "{\n  \"a\": {\"b\": 1},\n  {";
        assert_eq!(json_part(cut_off), cut_off);
        let text = "{\"a\": 1}\ntable | 1\n{\"b\": 2}{\"c\": 3}\nrest";
        let found: Vec<&str> = documents(text).into_iter().map(RawValue::get).collect();
        assert_eq!(found, [r#"{"a": 1}"#, r#"{"b": 2}"#, r#"{"c": 3}"#]);
        assert_eq!(documents("{\"a\": 1}\n{\"b\": ").len(), 1);
    }
}
