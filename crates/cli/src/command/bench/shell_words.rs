//! Splits a command as a shell would, if it needs no shell.

use anyhow::{Result, ensure};
use gritstone_model::split_words;
use std::path::Path;

/// Special characters of shells outside of quotes.
const META: &str = "|&;<>()$`\\*?[]#~\n";
/// Special characters within double quotes.
const META_QUOTED: &str = "$`\\";

/// The words of a command without special characters that names a program; else `None`.
pub fn plain_words(text: &str) -> Option<Vec<String>> {
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

/// The words of a command that starts without a shell.
///
/// # Errors
/// When a quote is not closed, or there is no word.
pub fn split(text: &str) -> Result<Vec<String>> {
    let words = split_words(text)?;
    ensure!(!words.is_empty(), "a command is empty");
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_need_a_shell() {
        for text in ["sleep 0.3", "sh 'a; b'", "/bin/sh \"a b\"", "sh a=b"] {
            assert!(plain_words(text).is_some(), "{text}");
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
            assert!(plain_words(text).is_none(), "{text}");
        }
    }
}
