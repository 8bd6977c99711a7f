//! The rule that nothing is left for later in the sources.

use crate::tidy::Fault;
use crate::tree::{Tree, extension};

// in pieces, so that this file does not break its own rule
const WORDS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("to", "do!"),
    concat!("un", "implemented!"),
];

pub fn faults(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| extension(path) != "md") {
        for (number, line) in text.lines().enumerate() {
            for word in WORDS.iter().filter(|word| contains_word(line, word)) {
                let what = format!("{word}: do it, or say in an issue what is missing and why");
                faults.push(Fault::at(path, number + 1, what));
            }
        }
    }
    faults
}

fn contains_word(line: &str, word: &str) -> bool {
    let part_of_a_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let ends = word.ends_with('!') || !after.is_some_and(part_of_a_word);
        ends && !before.is_some_and(part_of_a_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_for_later_is_found_in_every_language() {
        for word in WORDS {
            for path in [
                "crates/x/src/lib.rs",
                "kernels/byte/pipe.c",
                "catalogue/byte.toml",
                "Makefile",
                "tests/run.sh",
            ] {
                let text = format!("first\n/* {word}(\"x\") */\n");
                let faults = faults(&Tree::of(&[(path, &text)]));
                assert_eq!(faults.len(), 1, "{word} in {path}");
                assert_eq!((faults[0].file.as_str(), faults[0].line), (path, 2));
            }
        }
    }

    #[test]
    fn parts_of_words_and_prose_are_not() {
        let list = concat!("AUTO", "DOCK TO", "DOS mas", "to", "do!() ", "to", "do");
        assert_eq!(faults(&Tree::of(&[("a.rs", list)])), []);
        let word = WORDS[0];
        assert_eq!(faults(&Tree::of(&[("CONTRIBUTING.md", word)])), []);
    }
}
