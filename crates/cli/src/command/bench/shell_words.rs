//! Splits a command as a shell would, if it needs no shell.

use anyhow::{Result, bail};
use std::path::Path;

/// Special characters of shells outside of quotes.
const META: &str = "|&;<>()$`\\*?[]#~\n";
/// Special characters within double quotes.
const META_QUOTED: &str = "$`\\";

/// The words of a command without special characters that names a program; else `None`.
pub fn plain(text: &str) -> Option<Vec<String>> {
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, c) if META.contains(c) => return None,
            (Some('"'), c) if META_QUOTED.contains(c) => return None,
            _ => {}
        }
    }
    let words = split(text).ok()?;
    let first = words.first()?;
    (!first.contains('=') && is_program(first)).then_some(words)
}

/// Built-in commands and functions are not programs.
fn is_program(name: &str) -> bool {
    if name.contains('/') {
        return Path::new(name).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Understands quotes and backslashes only.
///
/// # Errors
/// When a quote is not closed, or there is no word.
pub fn split(text: &str) -> Result<Vec<String>> {
    let mut words: Vec<String> = vec![];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(c) = letters.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if open == c => quote = None,
            (None | Some('"'), '\\') => {
                let Some(next) = letters.next() else {
                    bail!("'{text}' ends in a backslash");
                };
                let word = word.get_or_insert_default();
                if quote.is_some() && !"\\\"$`".contains(next) {
                    word.push('\\');
                }
                word.push(next);
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        bail!("'{text}' has a {open} that is not closed");
    }
    words.extend(word);
    if words.is_empty() {
        bail!("a command is empty");
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let cases: [(&str, &[&str]); 6] = [
            ("sleep 0.3", &["sleep", "0.3"]),
            ("  a\tb ", &["a", "b"]),
            (r#"grep 'two words' "a b"c"#, &["grep", "two words", "a bc"]),
            (r#"echo '' "\$x\y" a\ b"#, &["echo", "", r"$x\y", "a b"]),
            (r"echo 'a\b'", &["echo", r"a\b"]),
            ("a''b", &["ab"]),
        ];
        for (text, words) in cases {
            assert_eq!(split(text).unwrap(), words, "{text}");
        }
        for bad in ["echo 'a", "echo \"a", "echo \\", " "] {
            assert!(split(bad).is_err(), "{bad}");
        }
        assert_eq!(
            split(&gritstone_model::quote_word("it's")).unwrap(),
            ["it's"]
        );
    }

    #[test]
    fn built_in_commands_need_a_shell() {
        for text in ["sleep 0.3", "sh 'a; b'", "/bin/sh \"a b\"", "sh a=b"] {
            assert!(plain(text).is_some(), "{text}");
        }
        for text in [
            "sleep 1; sleep 2",
            "cat < file",
            "ls *.c",
            "sh \"$HOME\"",
            "A=1 sh",
            "no-such-program-here x",
            "cd /",
            "sh 'a",
            "",
        ] {
            assert!(plain(text).is_none(), "{text}");
        }
    }
}
