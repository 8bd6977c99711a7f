//! Rules for names and comments.

use crate::tidy::{Tree, modules};
use gritstone_catalogue::Catalogue;
use std::collections::BTreeSet;
use std::path::Path;

/// Stems of files that could hold anything.
const VAGUE_FILES: [&str; 8] =
    ["general", "helper", "helpers", "misc", "stuff", "util", "utils", "various"];
/// Banned words, with the words to use instead.
const BANNED: [(&str, &str); 13] = [
    ("crowd", "contention"),
    ("crowded", "contended"),
    ("disturbance", "interference, contention"),
    ("keeper", "supervisor"),
    ("kept", "stored, cached"),
    ("nobody", "unprivileged"),
    ("pacer", "cycle probe"),
    ("said", "the noun: message, output, note"),
    ("somebody", "the noun: user, process"),
    ("steadied", "tuned"),
    ("steady", "tune"),
    ("told", "the noun: message, notification"),
    ("whoever", "the noun: user, reader, process"),
];
/// Names that tell nothing of a variable or a closure's parameter.
const BANNED_VARIABLES: [&str; 6] = ["at", "kept", "made", "of", "own", "told"];
const ITEMS: [&str; 9] =
    ["const", "enum", "fn", "macro_rules!", "mod", "static", "struct", "trait", "type"];
const TEST_NAME_WORDS: usize = 5;
/// Longest comment that is compared with the signature below it.
const SHORT_COMMENT: usize = 3;

/// Places that may name benchmarks: examples of the help, and the command that an explanation recommends.
const MAY_NAME_BENCHMARKS: [&str; 2] = ["crates/cli/src/command/", "crates/report/src/scores.rs"];

/// Facts about single benchmarks belong in the catalog, not in Rust.
pub fn benchmarks(tree: &Tree, catalogue: &Catalogue) -> Vec<String> {
    let all = catalogue.benchmarks.iter();
    let all = all.map(|benchmark| benchmark.id.as_str());
    // an identifier without a case is also the name of a family
    let all: BTreeSet<&str> = all.filter(|id| id.contains('/')).collect();
    let mut faults = vec![];
    for (path, text) in modules(tree) {
        let allowed = MAY_NAME_BENCHMARKS.iter().any(|prefix| path.starts_with(prefix));
        if allowed || path.ends_with("_tests.rs") {
            continue;
        }
        let shipped = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (number, line) in (1..).zip(shipped.lines()) {
            let code = line.split("//").next().unwrap_or_default();
            let named = code.split('"').skip(1).step_by(2);
            faults.extend(named.filter(|id| all.contains(id)).map(|id| {
                format!(
                    "{path}:{number}: benchmark {id}: make what is known of it a field of the catalog"
                )
            }));
        }
    }
    faults
}

/// Names of files, items and tests.
pub fn names(tree: &Tree) -> Vec<String> {
    let mut faults = vec![];
    for path in tree.keys() {
        let stem = Path::new(path).file_stem().unwrap_or_default();
        if VAGUE_FILES.contains(&&*stem.to_string_lossy()) {
            faults.push(format!("{path}: name the file by what is in it"));
        }
    }
    for (path, text) in tree.iter().filter(|(path, _)| path.ends_with(".rs")) {
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in (1..).zip(&lines) {
            let named = BANNED_VARIABLES.iter().filter(|name| binds(line, name));
            faults.extend(named.map(|name| {
                format!("{path}:{number}: the variable {name}: name it by what it holds")
            }));
        }
        for (number, name) in lines.iter().enumerate().filter_map(item) {
            let place = format!("{path}:{}: {name}", number + 1);
            let words = words(name);
            let banned = BANNED.iter().filter(|(word, _)| words.iter().any(|w| w == word));
            faults.extend(
                banned.map(|(word, better)| format!("{place}: instead of {word}: {better}")),
            );
            let attributes = lines[..number].iter().rev().map(|line| line.trim());
            let mut attributes = attributes.take_while(|line| line.starts_with("#["));
            // suffixes by which scripts select tests
            let plain = name.trim_end_matches("_as_root").trim_end_matches("_as_a_file");
            let long = plain.split('_').count() > TEST_NAME_WORDS;
            if long && attributes.any(|line| line == "#[test]") {
                faults.push(format!(
                    "{place}: name the test by what it asserts, in at most {TEST_NAME_WORDS} words"
                ));
            }
        }
    }
    faults
}

/// Whether `let`, a closure or a function binds this name in a line.
fn binds(line: &str, name: &str) -> bool {
    let forms = [
        format!("let {name} "),
        format!("let mut {name} "),
        format!("|{name}|"),
        format!("|&{name}|"),
        format!("|{name}: "),
        format!("({name}: "),
    ];
    let code = line.split("//").next().unwrap_or_default();
    forms.iter().any(|form| code.contains(form.as_str()))
}

/// A line's index with the name of the item that it defines.
fn item<'a>((number, line): (usize, &&'a str)) -> Option<(usize, &'a str)> {
    let mut words = line.split_whitespace();
    let qualifier = |word: &&str| {
        word.starts_with("pub") || ["async", "unsafe"].contains(word) || *word == "const"
    };
    let mut found = words.next()?;
    while qualifier(&found) {
        let next = words.next()?;
        if found == "const" && next != "fn" && next != "unsafe" {
            return Some((number, identifier(next)));
        }
        found = next;
    }
    ITEMS.contains(&found).then(|| words.next())?.map(|name| (number, identifier(name)))
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The words of a text or an identifier, in lower case.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("there is one").extend(c.to_lowercase());
        }
        lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Comments that repeat the signature below them. Those of the command line are texts of the help.
pub fn comments(tree: &Tree) -> Vec<String> {
    let mut faults = vec![];
    let sources =
        tree.iter().filter(|(path, _)| path.ends_with(".rs") && !path.starts_with("crates/cli/"));
    for (path, text) in sources {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for (number, line) in (1_usize..).zip(&lines) {
            let around = [number.checked_sub(2), Some(number)];
            let alone = !around
                .iter()
                .flatten()
                .any(|&index| lines.get(index).is_some_and(|line| line.starts_with("///")));
            let below = lines[number..].iter().find(|line| !line.starts_with("#["));
            if let (Some(comment), Some(below), true) = (line.strip_prefix("/// "), below, alone)
                && repeats(comment, below)
            {
                faults.push(format!("{path}:{number}: the comment repeats the signature: say what that cannot, or nothing"));
            }
        }
    }
    faults
}

/// Whether the signature has all words of a short comment, by their first letters. Code, numbers and units are not repetitions.
fn repeats(comment: &str, signature: &str) -> bool {
    const ARTICLES: [&str; 12] =
        ["a", "all", "an", "each", "in", "is", "it", "its", "of", "one", "the", "their"];
    let stem = |word: &str| word.chars().take(5).collect::<String>();
    let mut words_of_comment = words(comment);
    let long = words_of_comment.len() > SHORT_COMMENT;
    words_of_comment.retain(|word| !ARTICLES.contains(&word.as_str()));
    let names: Vec<String> = words(signature.split(" = ").next().unwrap_or_default());
    let names: Vec<String> = names.iter().map(|name| stem(name)).collect();
    let plain = |c: char| c.is_alphabetic() || " .,'-".contains(c);
    !long
        && comment.chars().all(plain)
        && words_of_comment.iter().all(|word| names.contains(&stem(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(path: &str, text: &str) -> Tree {
        [(path.to_owned(), text.to_owned())].into()
    }

    #[test]
    fn vague_names_are_found() {
        for (path, text, faults) in [
            ("crates/exec/src/utils.rs", "", 1),
            ("scripts/misc.sh", "", 1),
            ("crates/exec/src/a.rs", "pub(crate) const fn told() {}", 1),
            ("crates/exec/src/a.rs", "struct KeptRow;", 1),
            ("crates/exec/src/a.rs", "pub const SAID: u8 = 1;", 1),
            ("crates/exec/src/a.rs", "const fn foretold() {} // fn said()", 0),
            ("tests/a.rs", "#[test]\n#[ignore]\nfn one_two_three_four_five_six() {}", 1),
            ("tests/a.rs", "#[test]\nfn one_two_three_four_five_as_root() {}", 0),
            ("tests/a.rs", "fn one_two_three_four_five_six() {}", 0),
        ] {
            assert_eq!(names(&tree(path, text)).len(), faults, "{path}: {text}");
        }
    }

    #[test]
    fn repeating_comments_are_found() {
        for (text, faults) in [
            ("/// The median.\npub median: f64,", 1),
            ("/// Page faults.\n#[serde(default)]\nPageFaults,", 1),
            ("/// The median, s.\npub median: f64,", 0),
            ("/// Newest first.\npub runs: Vec<Run>,", 0),
            ("/// The runs.\n///\n/// # Errors\npub runs: Vec<Run>,", 0),
        ] {
            let found = comments(&tree("crates/exec/src/a.rs", text));
            assert_eq!(found.len(), faults, "{text}: {found:?}");
        }
        let help = tree("crates/cli/src/command/a.rs", "/// Format\nformat: Format,");
        assert!(comments(&help).is_empty());
    }

    #[test]
    fn named_benchmarks_are_found() {
        let catalogue = gritstone_catalogue::all().unwrap();
        for (path, text, faults) in [
            ("crates/exec/src/a.rs", "const A: &str = \"byte/pipe\";", 1),
            ("crates/exec/src/a.rs", "// \"byte/pipe\"", 0),
            ("crates/exec/src/tests.rs", "\"byte/pipe\"", 0),
            ("crates/cli/src/command/run.rs", "\"byte/pipe\"", 0),
        ] {
            let tree = [(path.to_owned(), text.to_owned())].into();
            assert_eq!(benchmarks(&tree, &catalogue).len(), faults, "{path}: {text}");
        }
    }
}
