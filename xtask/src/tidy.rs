//! All rules together. A rule is a function from a tree to the faults in it.

use crate::tree::Tree;
use crate::{arrows, kernels, leftovers, modules, quotes, streams};
use std::fmt;

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// Path from the root.
    pub file: String,
    /// Line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

impl Fault {
    /// A fault of a file as a whole.
    pub fn of(file: &str, what: impl Into<String>) -> Self {
        Self::at(file, 0, what)
    }

    /// A fault in a line.
    pub fn at(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.what),
            line => write!(f, "{}:{line}: {}", self.file, self.what),
        }
    }
}

/// What must not be.
pub fn faults(tree: &Tree) -> Vec<Fault> {
    let rules = [
        arrows::faults,
        kernels::faults,
        modules::faults,
        leftovers::faults,
        quotes::faults,
        streams::faults,
    ];
    let mut faults: Vec<Fault> = rules.iter().flat_map(|rule| rule(tree)).collect();
    faults.sort();
    faults
}

/// What should be looked at, and may be.
pub fn remarks(tree: &Tree) -> Vec<Fault> {
    modules::remarks(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_asked() {
        let todo = concat!("// TO", "DO");
        let tree = Tree::of(&[
            (
                "crates/stats/Cargo.toml",
                "[package]\nname = \"gritstone-stats\"\n[dependencies]\ngritstone-store = {}\n",
            ),
            ("crates/stats/src/lib.rs", "//! Statistics.\n"),
            ("crates/stats/src/bare.rs", ""),
            ("kernels/byte/alone.c", todo),
        ]);
        let files: Vec<String> = faults(&tree).into_iter().map(|fault| fault.file).collect();
        assert_eq!(
            files,
            [
                "crates/stats/Cargo.toml",
                "crates/stats/src/bare.rs",
                "kernels/byte/alone.c",
                "kernels/byte/alone.c"
            ]
        );
    }
}
