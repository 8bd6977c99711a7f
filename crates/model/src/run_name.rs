//! Identifiers and labels of runs: their only parser.

use crate::is_unprintable;

/// The newest run.
pub const LAST: &str = "last";
/// Most characters of an identifier.
const LONGEST_ID: usize = 64;
/// Most characters of a label.
const LONGEST_LABEL: usize = 200;

/// Rejects an identifier that cannot be typed, or has another meaning.
///
/// # Errors
/// Describes a valid one.
pub fn check_run_id(id: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let fits = id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.len() <= LONGEST_ID
        && id.chars().all(plain)
        && !is_reserved(id);
    match fits {
        true => Ok(()),
        false => Err(format!(
            "'{}' is not an identifier of a run (at most {LONGEST_ID} letters, digits and -, of which - is not the first)",
            beginning(id)
        )),
    }
}

/// Rejects an invalid label, or one with another meaning.
///
/// # Errors
/// Describes the fault.
pub fn check_label(label: &str) -> Result<(), String> {
    let shown = beginning(label);
    if label.trim().is_empty() {
        return Err("a label has at least one character".to_owned());
    }
    if is_reserved(label) || is_like_id(label) || label.starts_with('-') {
        return Err(format!("the label '{shown}' has another meaning; choose another one"));
    }
    if label.chars().count() > LONGEST_LABEL || label.contains(is_unprintable) {
        return Err(format!(
            "the label '{shown}' is not a line of at most {LONGEST_LABEL} printable letters"
        ));
    }
    Ok(())
}

/// `last`, `last~2`, and the reference systems, which no run can have as its name.
fn is_reserved(name: &str) -> bool {
    name == LAST || name.starts_with("last~") || name.starts_with("ref:")
}

/// Whether it begins with a date and `-`, like identifiers.
fn is_like_id(name: &str) -> bool {
    let Some((date, rest)) = name.split_once('-') else {
        return false;
    };
    date.len() == 8
        && date.bytes().all(|b| b.is_ascii_digit())
        && rest.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Its first letters, with control characters escaped: a terminal would obey them, or clap remove them.
fn beginning(text: &str) -> String {
    let escaped = |c: char| match is_unprintable(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().take(LONGEST_ID).map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_can_be_typed() {
        for id in ["20261121-093012-4f2a19c3", "a", &"a".repeat(64)] {
            check_run_id(id).unwrap();
        }
        let long = "a".repeat(65);
        for id in ["", "last", "a b", "../x", "ref:vax", "ä", "-x", "a\n", &long] {
            assert!(check_run_id(id).is_err(), "{id}");
        }
    }

    #[test]
    fn labels_mean_nothing_else() {
        for label in ["before", "2026-11-21", "main 4f2a", "20261121", "東京"] {
            check_label(label).unwrap();
        }
        let long = "a".repeat(201);
        for label in [
            "",
            " ",
            "last",
            "last~1",
            "ref:vax",
            "-x",
            "20261121-",
            "20261121-09",
            "20261121-093012-4f2a19c3",
            "a\nb",
            "\u{1b}[31m",
            "\u{202e}a",
            &long,
        ] {
            assert!(check_label(label).is_err(), "{label}");
        }
        assert!(check_label("\u{1b}[31m").unwrap_err().contains(r"'\u{1b}[31m'"));
    }
}
