//! Names in Rust that belong elsewhere.

use crate::tidy::{Tree, modules};
use gritstone_catalogue::Catalogue;
use std::collections::BTreeSet;

/// Places that may name benchmarks: examples of the help, and the command that an explanation recommends.
const MAY_NAME_BENCHMARKS: [&str; 2] = ["crates/cli/src/command/", "crates/report/src/ratings.rs"];

/// What is known of single benchmarks is in the catalog, not in Rust.
pub fn benchmarks(tree: &Tree, catalogue: &Catalogue) -> Vec<String> {
    let all = catalogue.benchmarks.iter();
    let all = all.map(|benchmark| benchmark.id.as_str());
    // an identifier without a case is also the name of a family
    let all: BTreeSet<&str> = all.filter(|id| id.contains('/')).collect();
    let mut faults = vec![];
    for (path, text) in modules(tree) {
        let may = MAY_NAME_BENCHMARKS.iter().any(|may| path.starts_with(may));
        if may || path.ends_with("_tests.rs") {
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

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(
                benchmarks(&tree, &catalogue).len(),
                faults,
                "{path}: {text}"
            );
        }
    }
}
