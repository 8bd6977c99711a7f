//! The rule that crates depend on each other only as the design has it. Dependencies for tests and for building
//! count like all others: what a test may use, the next change does use.
//!
//! Must not know: what the crates do.

use crate::tidy::Fault;
use crate::tree::Tree;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Every crate, and the crates of this workspace that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("gritstone-model", &[]),
    ("gritstone-kernels", &[]),
    ("gritstone-catalogue", MODEL),
    ("gritstone-references", MODEL),
    ("gritstone-protocol", MODEL),
    ("gritstone-stats", &[]),
    (
        "gritstone-analysis",
        &["gritstone-model", "gritstone-stats"],
    ),
    ("gritstone-host", MODEL),
    ("gritstone-plan", MODEL),
    ("gritstone-store", MODEL),
    (
        "gritstone-exchange",
        &["gritstone-model", "gritstone-report"],
    ),
    (
        "gritstone-exec",
        &["gritstone-model", "gritstone-protocol", "gritstone-kernels"],
    ),
    (
        "gritstone-measure",
        &["gritstone-model", "gritstone-stats", "gritstone-analysis"],
    ),
    ("gritstone-report", MODEL),
    ("gritstone-pdf", &["gritstone-model", "gritstone-report"]),
    (
        "gritstone-web",
        &["gritstone-model", "gritstone-store", "gritstone-report"],
    ),
    (
        "gritstone",
        &[
            "gritstone-model",
            "gritstone-kernels",
            "gritstone-catalogue",
            "gritstone-references",
            "gritstone-protocol",
            "gritstone-stats",
            "gritstone-analysis",
            "gritstone-host",
            "gritstone-plan",
            "gritstone-store",
            "gritstone-exec",
            "gritstone-measure",
            "gritstone-report",
            "gritstone-exchange",
            "gritstone-pdf",
            "gritstone-web",
        ],
    ),
    (
        "gritstone-xtask",
        &["gritstone-model", "gritstone-catalogue"],
    ),
];

const MODEL: &[&str] = &["gritstone-model"];

const SECTIONS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// A manifest that names a package.
struct Manifest<'a> {
    path: &'a str,
    text: &'a str,
    name: String,
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
        let name = at(&table, &["package"]).and_then(|package| package.get("name"));
        if let Some(name) = name.and_then(Value::as_str) {
            let name = name.to_owned();
            manifests.push(Manifest {
                path,
                text,
                name,
                table,
            });
        }
    }
    let ours: BTreeSet<String> = manifests
        .iter()
        .map(|manifest| manifest.name.clone())
        .collect();
    let known = ARROWS.iter().map(|(name, _)| (*name).to_owned());
    let ours: BTreeSet<String> = ours.into_iter().chain(known).collect();
    for manifest in &manifests {
        faults.extend(manifest.faults(&ours, &shared));
    }
    faults
}

impl Manifest<'_> {
    fn faults(&self, ours: &BTreeSet<String>, shared: &Table) -> Vec<Fault> {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == self.name) else {
            return vec![Fault::of(
                self.path,
                format!(
                    "crate {} has no place in the design: give it one in ARROWS in xtask/src/arrows.rs, with what it may depend on",
                    self.name
                ),
            )];
        };
        let mut faults = Vec::new();
        for (section, alias, value) in self.dependencies() {
            let shared = shared.get(alias);
            let renamed = [Some(value), shared]
                .into_iter()
                .flatten()
                .find_map(|v| v.get("package"));
            let package = renamed.and_then(Value::as_str).unwrap_or(alias);
            if ours.contains(package) && !allowed.contains(&package) {
                let may = match allowed {
                    [] => "no crate of the workspace".to_owned(),
                    some => format!("only {}", some.join(", ")),
                };
                faults.push(Fault::at(
                    self.path,
                    self.line(alias),
                    format!("{} must not depend on {package} ({section}): it may use {may}; hand in what it needs from above, or move the code", self.name),
                ));
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

    fn told(name: &str, rest: &str) -> Vec<String> {
        let manifest = format!("[package]\nname = \"{name}\"\n\n{rest}");
        let root = "[workspace]\nmembers = [\"x\"]\n[workspace.dependencies]\nshop = { package = \"gritstone-store\", path = \"y\" }\n";
        let tree = Tree::of(&[("Cargo.toml", root), ("x/Cargo.toml", &manifest)]);
        faults(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arrows_of_the_design_are_allowed() {
        for (name, may) in ARROWS {
            let rest: String = may
                .iter()
                .map(|to| format!("{to} = {{ workspace = true }}\n"))
                .collect();
            let none: Vec<String> = Vec::new();
            assert_eq!(
                told(name, &format!("[dependencies]\nserde = \"1\"\n{rest}")),
                none
            );
            assert_eq!(told(name, &format!("[dev-dependencies]\n{rest}")), none);
        }
    }

    #[test]
    fn every_other_arrow_is_a_fault() {
        for (name, may) in ARROWS {
            for (to, _) in ARROWS.iter().filter(|(to, _)| !may.contains(to)) {
                let faults = told(
                    name,
                    &format!("[dependencies]\n{to} = {{ workspace = true }}\n"),
                );
                assert_eq!(faults.len(), 1, "{name} -> {to}");
                let expected =
                    format!("x/Cargo.toml:5: {name} must not depend on {to} (dependencies)");
                assert!(faults[0].starts_with(&expected), "{}", faults[0]);
            }
        }
    }

    #[test]
    fn arrows_do_not_hide() {
        for rest in [
            "[dev-dependencies]\ngritstone-store.workspace = true\n",
            "[build-dependencies]\ngritstone-store = { path = \"../store\" }\n",
            "[target.'cfg(unix)'.dependencies]\ngritstone-store = { workspace = true }\n",
            "[dependencies]\nother = { package = \"gritstone-store\", version = \"1\" }\n",
            "[dependencies]\nshop = { workspace = true }\n",
        ] {
            let faults = told("gritstone-exec", rest);
            assert_eq!(faults.len(), 1, "{rest}");
            assert!(
                faults[0].contains("must not depend on gritstone-store"),
                "{}",
                faults[0]
            );
        }
    }

    #[test]
    fn a_crate_without_a_place_is_a_fault() {
        assert!(told("gritstone-magic", "")[0].contains("has no place in the design"));
        // and nobody may depend on it
        let tree = Tree::of(&[
            (
                "a/Cargo.toml",
                "[package]\nname = \"gritstone-stats\"\n[dependencies]\nmagic = { path = \"../b\" }\n",
            ),
            ("b/Cargo.toml", "[package]\nname = \"magic\"\n"),
        ]);
        let faults = faults(&tree);
        assert_eq!(faults.len(), 2, "{faults:?}");
    }

    #[test]
    fn a_manifest_that_cannot_be_read_is_a_fault() {
        assert!(told("gritstone-stats", "[dependencies\n")[0].contains("cannot be read"));
    }
}
