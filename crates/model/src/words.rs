//! Arguments of commands: split as by a shell, with placeholders replaced.

use thiserror::Error;

/// A command with an unclosed quote.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{0}' has a quote that is not closed, or ends in a backslash")]
pub struct UnclosedQuote(String);

/// Splits at blanks (space, tab, end of line), with the quotes and backslashes of a POSIX shell.
///
/// # Errors
/// When a quote is not closed.
pub fn split_words(text: &str) -> Result<Vec<String>, UnclosedQuote> {
    shlex::split(text).ok_or_else(|| UnclosedQuote(text.to_owned()))
}

/// Replaces each `{NAME}` that has a value, in one pass: braces in values stay.
pub fn fill_places(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    fill(text, |rest| {
        let name = &rest[1..rest.find('}')?];
        Some((name.len() + 2, value(name)?))
    })
}

/// The same in a catalog, where `{{NAME}}` is a literal `{NAME}`.
pub fn fill_catalog_places(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    fill(text, |rest| {
        if let Some(name) = rest
            .strip_prefix("{{")
            .and_then(|rest| rest.split_once("}}"))
            .map(|(name, _)| name)
            .filter(|name| is_place_name(name))
        {
            return Some((name.len() + 4, format!("{{{name}}}")));
        }
        let name = &rest[1..rest.find('}')?];
        let value = is_place_name(name).then(|| value(name))??;
        Some((name.len() + 2, value))
    })
}

/// The inverse of [`fill_catalog_places`] for literal text.
pub fn escape_catalog_places(text: &str) -> String {
    fill_places(text, |name| is_place_name(name).then(|| format!("{{{{{name}}}}}")))
}

/// True if `{NAME}` may be a placeholder in a catalog.
pub fn is_place_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    !name.is_empty() && name.chars().all(letter)
}

/// `place` returns the length and the replacement of a placeholder at a brace, if it is one.
fn fill(text: &str, place: impl Fn(&str) -> Option<(usize, String)>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        filled.push_str(&rest[..open]);
        rest = &rest[open..];
        let (length, value) = place(rest).unwrap_or_else(|| (1, "{".to_owned()));
        filled.push_str(&value);
        rest = &rest[length..];
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_like_a_shell() {
        let cases: [(&str, &[&str]); 8] = [
            ("sleep 0.3", &["sleep", "0.3"]),
            ("  a\tb\nc ", &["a", "b", "c"]),
            (r#"grep 'two words' "a b"c"#, &["grep", "two words", "a bc"]),
            (r#"echo '' "\$x\y" a\ b"#, &["echo", "", r"$x\y", "a b"]),
            (r"echo 'a\b'", &["echo", r"a\b"]),
            ("a''b", &["ab"]),
            // Unicode spaces are part of a word
            ("cat a\u{a0}b\u{2003}c \u{3000}", &["cat", "a\u{a0}b\u{2003}c", "\u{3000}"]),
            (" ", &[]),
        ];
        for (text, words) in cases {
            assert_eq!(split_words(text).unwrap(), words, "{text}");
        }
        for bad in ["echo 'a", "echo \"a", "echo \\"] {
            assert!(split_words(bad).is_err(), "{bad}");
        }
        assert_eq!(split_words(&crate::quote_word("it's")).unwrap(), ["it's"]);
    }

    #[test]
    fn values_are_not_filled_again() {
        let value = |name: &str| match name {
            "a" => Some("{b}".to_owned()),
            "b" => Some("1".to_owned()),
            _ => None,
        };
        for (text, filled) in [
            ("{a}{b}", "{b}1"),
            ("{{a}} {c} {", "{{b}} {c} {"),
            ("{b", "{b"),
            ("é{b}é", "é1é"),
            ("}{b}", "}1"),
        ] {
            assert_eq!(fill_places(text, value), filled, "{text}");
        }
    }

    #[test]
    fn doubled_braces_are_literal() {
        let value = |name: &str| (name == "cc").then(|| "/bin/{x}".to_owned());
        for (text, filled) in [
            ("{cc} {{cc}}", "/bin/{x} {cc}"),
            ("{{{cc}}}", "{{cc}}"),
            ("awk '{{print} END {print}}'", "awk '{{print} END {print}}'"),
            ("{{ {cc}", "{{ /bin/{x}"),
        ] {
            assert_eq!(fill_catalog_places(text, value), filled, "{text}");
        }
        for text in ["%{x}", "{{x}}", "{x", "{ x }", "{{{a/b}}} {"] {
            let escaped = escape_catalog_places(text);
            let any = |_: &str| Some("filled".to_owned());
            assert_eq!(fill_catalog_places(&escaped, any), text, "{escaped}");
        }
    }
}
