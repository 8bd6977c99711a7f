//! The rule that nothing is printed past the two functions that take out what a terminal would obey.

use crate::tidy::Fault;
use crate::tree::Tree;

/// The only files that write to a stream, and the one that answers its parent on a pipe.
const WRITERS: &[&str] = &["crates/cli/src/output.rs", "crates/exec/src/watchdog.rs"];

// in pieces, so that this file does not break its own rule
const WORDS: &[&str] = &[
    concat!("print", "!("),
    concat!("println", "!("),
    concat!("db", "g!("),
    concat!("stdout", "()"),
    concat!("stderr", "()"),
    concat!("/dev/std", "out"),
    concat!("/dev/std", "err"),
    concat!("/proc/self/", "fd/1"),
    concat!("/proc/self/", "fd/2"),
];

pub fn faults(tree: &Tree) -> Vec<Fault> {
    let mut faults = vec![];
    for (path, text) in tree.files().filter(|(path, _)| is_program(path)) {
        let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in shipped.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if let Some(word) = WORDS.iter().find(|word| has_word(code, word)) {
                let what = format!(
                    "{word}: print with `output` of the command line, which leaves no control character in foreign text"
                );
                faults.push(Fault::at(path, number + 1, what));
            }
        }
    }
    faults
}

/// Whether a line has it, and not as the end of a longer name (`use_stderr`).
fn has_word(line: &str, word: &str) -> bool {
    let before = |at: usize| line[..at].chars().next_back();
    let mut found = line.match_indices(word);
    found.any(|(at, _)| before(at) != Some('_'))
}

/// Whether a file is part of what is shipped and may not write.
fn is_program(path: &str) -> bool {
    let source = path.ends_with(".rs") && path.contains("/src/");
    let test = path.contains("/tests") || path.ends_with("_tests.rs");
    source && !path.starts_with("xtask/") && !test && !WRITERS.contains(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_print_is_found() {
        for word in WORDS {
            let text = format!("//! X.\nfn f() {{ let x = {word}; }}\n");
            let tree = Tree::of(&[("crates/x/src/a.rs", &text)]);
            assert_eq!(faults(&tree).len(), 1, "{word}");
            assert_eq!(faults(&tree)[0].line, 2);
        }
    }

    #[test]
    fn tests_build_scripts_and_the_two_functions_may() {
        let text = format!("fn f() {{ {}\"x\"); }}", WORDS[1]);
        let in_tests = format!("#[cfg(test)]\nmod tests {{ {text} }}");
        let tree = Tree::of(&[
            ("crates/cli/src/output.rs", &text),
            ("crates/x/src/y/tests.rs", &text),
            ("crates/x/build.rs", &text),
            ("crates/x/src/lib.rs", &in_tests),
        ]);
        assert_eq!(faults(&tree), []);
    }
}
