//! The rule that a document which shows a file shows it as it is.
//!
//! A block of code that follows a line which names a file of the repository in backticks, and ends with a colon, is all of that file
//! or a part of it.

use crate::tidy::Fault;
use crate::tree::{Tree, extension};

pub fn faults(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| extension(path) == "md") {
        for quote in quotes(tree, text) {
            let same = tree
                .text(&quote.file)
                .is_some_and(|text| text.contains(&quote.code));
            if !same {
                let what = format!(
                    "this is not what stands in {}: show the file as it is",
                    quote.file
                );
                faults.push(Fault::at(path, quote.line, what));
            }
        }
    }
    faults
}

struct Quote {
    file: String,
    /// Where the block begins, from 1.
    line: usize,
    code: String,
}

fn quotes(tree: &Tree, text: &str) -> Vec<Quote> {
    let mut quotes = Vec::new();
    let mut named: Option<String> = None;
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        if line.starts_with("```") {
            let block = lines.by_ref().map(|(_, line)| line);
            let code: Vec<&str> = block.take_while(|line| !line.starts_with("```")).collect();
            let code = code.join("\n") + "\n";
            quotes.extend(named.take().map(|file| Quote {
                file,
                line: number,
                code,
            }));
        } else if !line.trim().is_empty() {
            named = file_named(tree, line);
        }
    }
    quotes
}

/// The last file that a line names, which ends with a colon.
fn file_named(tree: &Tree, line: &str) -> Option<String> {
    let words: Vec<&str> = line.trim_end().strip_suffix(':')?.split('`').collect();
    let mut quoted = words.iter().skip(1).step_by(2).rev();
    quoted
        .find(|word| tree.has(word))
        .map(|word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn told(page: &str) -> Vec<usize> {
        let tree = Tree::of(&[("HOW.md", page), ("a/b.c", "one\ntwo\nthree\n")]);
        faults(&tree).iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn what_is_shown_is_what_is_there() {
        assert!(told("In `a/b.c`:\n\n```c\ntwo\nthree\n```\n").is_empty());
        assert_eq!(told("In `a/b.c`:\n\n```c\ntwo\nfour\n```\n"), [3]);
        assert_eq!(
            told("```c\nfour\n```\n\nThe file `x` and `a/b.c`:\n```\nfour\n```\n"),
            [6]
        );
    }

    #[test]
    fn other_blocks_show_no_file() {
        for page in [
            "In `a/c.c`:\n```\nfour\n```\n",
            "`a/b.c` is a file.\n```\nfour\n```\n",
            "In `a/b.c`:\nno, elsewhere:\n```\nfour\n```\n",
        ] {
            assert!(told(page).is_empty(), "{page}");
        }
    }

    #[test]
    fn the_documents_that_teach_show_files() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let tree = Tree::read(root).unwrap();
        for (page, files) in [
            (
                "CONTRIBUTING.md",
                &["kernels/kernel/sigmask.c", "catalogue/kernel.toml"][..],
            ),
            ("docs/protocol.md", &["examples/mine/mine/words.py"]),
            (
                "docs/own.md",
                &["examples/mine/mine.toml", "examples/mine/mine/checksum.c"],
            ),
        ] {
            let quotes = quotes(&tree, tree.text(page).unwrap());
            for file in files {
                assert!(
                    quotes.iter().any(|quote| quote.file == *file),
                    "{page} shows no {file}"
                );
            }
        }
    }
}
