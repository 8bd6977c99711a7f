//! The rule that crates depend on each other only as the map in ARCHITECTURE.md has it. Dependencies for tests and for building
//! count like all others: what a test may use, the next change does use.

use crate::tidy::Fault;
use crate::tree::Tree;
use std::collections::BTreeMap;
use toml::{Table, Value};

/// The page with the map: a row for each crate, with its folder, what it is, what it must not know, and which crates it may import.
const MAP: &str = "ARCHITECTURE.md";
/// How the names of our packages begin.
const OURS: &str = "gritstone";
const SECTIONS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// A manifest of a package.
struct Manifest<'a> {
    path: &'a str,
    text: &'a str,
    table: Table,
}

pub fn faults(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut manifests = Vec::new();
    let mut shared = Table::new();
    for (path, text) in tree.files() {
        if path.rsplit('/').next() != Some("Cargo.toml") {
            continue;
        }
        let table: Table = match text.parse() {
            Ok(table) => table,
            Err(why) => {
                faults.push(Fault::of(path, format!("cannot be read: {why}")));
                continue;
            }
        };
        if let Some(all) = at(&table, &["workspace", "dependencies"]) {
            shared.extend(all.clone());
        }
        if table.contains_key("package") {
            manifests.push(Manifest { path, text, table });
        }
    }
    let map = map(tree.text(MAP).unwrap_or_default());
    for manifest in &manifests {
        let folder = manifest.path.trim_end_matches("/Cargo.toml");
        faults.extend(match map.get(folder) {
            Some(may) => manifest.faults(may, &shared),
            None => vec![Fault::of(
                manifest.path,
                format!("crate {folder} has no row in the map of {MAP} that says what it must not know and which crates it may import"),
            )],
        });
    }
    faults
}

/// What each crate may import, by its folder; one of which nothing is said that it must not know has no place.
fn map(page: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut map = BTreeMap::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, folder, _, must_not_know, may, _] = cells[..]
            && !must_not_know.is_empty()
        {
            map.extend(named(folder).next().map(|at| (at, named(may).collect())));
        }
    }
    map
}

/// What stands in backticks.
fn named(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

impl Manifest<'_> {
    fn faults(&self, may: &[&str], shared: &Table) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (section, alias, value) in self.dependencies() {
            let shared = shared.get(alias);
            let renamed = [Some(value), shared]
                .into_iter()
                .flatten()
                .find_map(|v| v.get("package"));
            let package = renamed.and_then(Value::as_str).unwrap_or(alias);
            let own = package.strip_prefix(OURS);
            if own.is_some_and(|name| !may.contains(&name.trim_start_matches('-'))) {
                let what = format!(
                    "{package} must not be imported here ({section}): {MAP} allows [{}]; hand in what is needed from above, or move the code",
                    may.join(", ")
                );
                faults.push(Fault::at(self.path, self.line(alias), what));
            }
        }
        faults
    }

    /// Section, name and value of every dependency, those for some platforms too.
    fn dependencies(&self) -> Vec<(&'static str, &str, &Value)> {
        let targets = at(&self.table, &["target"]).into_iter().flatten();
        let targets = targets.filter_map(|(_, value)| value.as_table());
        let mut found = Vec::new();
        for table in targets.chain([&self.table]) {
            for section in SECTIONS {
                for (alias, value) in at(table, &[section]).into_iter().flatten() {
                    found.push((*section, alias.as_str(), value));
                }
            }
        }
        found
    }

    fn line(&self, alias: &str) -> usize {
        let named = |line: &str| {
            let rest = line.trim_start().strip_prefix(alias);
            rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
        };
        self.text.lines().position(named).map_or(0, |line| line + 1)
    }
}

/// The table at a path of keys.
fn at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Table> {
    path.iter()
        .try_fold(table, |table, key| table.get(*key)?.as_table())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "| where | what | what it must not know | imports |\n| --- | --- | --- | --- |\n\
        | `crates/exec` | starts | stores | `model`, `kernels` |\n| `crates/model` | types | files | |\n| `crates/magic` | all | | `exec` |\n";

    fn told(folder: &str, rest: &str) -> Vec<String> {
        let manifest = format!("[package]\nname = \"x\"\n\n{rest}");
        let root = "[workspace]\nmembers = [\"x\"]\n[workspace.dependencies]\nshop = { package = \"gritstone-store\", path = \"y\" }\n";
        let path = format!("{folder}/Cargo.toml");
        let tree = Tree::of(&[("Cargo.toml", root), (MAP, PAGE), (&path, &manifest)]);
        faults(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arrows_of_the_map_are_allowed() {
        for section in SECTIONS {
            let rest = format!(
                "[{section}]\nserde = \"1\"\ngritstone-model.workspace = true\ngritstone-kernels = {{}}\n"
            );
            assert_eq!(told("crates/exec", &rest), Vec::<String>::new());
            assert_eq!(told("crates/model", &rest).len(), 2);
        }
    }

    #[test]
    fn arrows_do_not_hide() {
        for (line, rest) in [
            (5, "[dev-dependencies]\ngritstone-store.workspace = true\n"),
            (
                5,
                "[build-dependencies]\ngritstone-store = { path = \"../store\" }\n",
            ),
            (
                5,
                "[target.'cfg(unix)'.dependencies]\ngritstone-store = { workspace = true }\n",
            ),
            (
                5,
                "[dependencies]\nother = { package = \"gritstone-store\", version = \"1\" }\n",
            ),
            (5, "[dependencies]\nshop = { workspace = true }\n"),
        ] {
            let faults = told("crates/exec", rest);
            assert_eq!(faults.len(), 1, "{rest}");
            let expected =
                format!("crates/exec/Cargo.toml:{line}: gritstone-store must not be imported");
            assert!(faults[0].starts_with(&expected), "{}", faults[0]);
        }
    }

    #[test]
    fn a_crate_of_which_the_map_says_too_little_is_a_fault() {
        for folder in ["crates/none", "crates/magic"] {
            assert!(
                told(folder, "")[0].contains("has no row in the map"),
                "{folder}"
            );
        }
    }

    #[test]
    fn a_manifest_that_cannot_be_read_is_a_fault() {
        assert!(told("crates/exec", "[dependencies\n")[0].contains("cannot be read"));
    }
}
