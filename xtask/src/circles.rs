//! Cycles among the modules of a crate, from the paths in its sources.

use crate::tidy::{Tree, modules};
use std::collections::{BTreeMap, BTreeSet};

/// A module, by its path below `src`; the root is empty.
type Module = Vec<String>;
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Modules of a crate do not import each other in a cycle.
pub fn circles(tree: &Tree) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeMap<Module, &str>> = BTreeMap::new();
    for (path, text) in modules(tree) {
        if let Some((folder, file)) = path.split_once("/src/") {
            crates.entry(folder).or_default().insert(module(file), text);
        }
    }
    let mut faults = vec![];
    for (folder, sources) in &crates {
        let circles = strongly_connected(&imports(sources));
        faults.extend(circles.iter().map(|circle| {
            let circle = circle.join(", ");
            format!(
                "{folder}: modules import each other: {circle}; move what they share below both"
            )
        }));
    }
    faults
}

fn module(file: &str) -> Module {
    let path = file.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "lib" | "main" => vec![],
        _ => path.split('/').map(str::to_owned).collect(),
    }
}

/// Modules that each module names, outside comments and tests.
fn imports(sources: &BTreeMap<Module, &str>) -> Imports {
    let mut all = Imports::new();
    for (module, text) in sources {
        let shipped = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let code: Vec<&str> =
            shipped.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
        let code = code.join("\n");
        let found = all.entry(module.clone()).or_default();
        for (word, base) in [
            ("crate::", &[][..]),
            ("self::", &module[..]),
            ("super::", &module[..module.len().saturating_sub(1)]),
        ] {
            for (start, _) in code.match_indices(word) {
                let inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                if !code[..start].ends_with(inside) {
                    named(&code[start + word.len()..], base.to_vec(), sources, found);
                }
            }
        }
        found.remove(module);
    }
    all
}

/// Adds the modules of a path, from `base` on: the deepest module of each of its branches.
fn named(path: &str, base: Module, sources: &BTreeMap<Module, &str>, found: &mut BTreeSet<Module>) {
    let path = path.trim_start();
    if let Some(group) = path.strip_prefix('{') {
        let (mut depth, mut start) = (0, 0);
        for (index, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    if !group[start..index].trim().is_empty() {
                        named(&group[start..index], base.clone(), sources, found);
                    }
                    start = index + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
        return;
    }
    let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    let (word, rest) = path.split_at(end);
    let mut next = base.clone();
    match word {
        "super" => drop(next.pop()),
        "self" => {}
        _ => next.push(word.to_owned()),
    }
    match rest.strip_prefix("::") {
        Some(rest) if sources.contains_key(&next) => named(rest, next, sources, found),
        _ if sources.contains_key(&next) => drop(found.insert(next)),
        _ => drop(found.insert(base)),
    }
}

/// The cycles: groups of modules that all reach each other.
fn strongly_connected(imports: &Imports) -> Vec<Vec<String>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = imports
        .keys()
        .map(|from| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
            while let Some(module) = next.pop() {
                let new = imports.get(module).into_iter().flatten();
                next.extend(new.filter(|module| seen.insert(*module)));
            }
            (from, seen)
        })
        .collect();
    let mut circles = BTreeSet::new();
    for (module, seen) in &reached {
        let back =
            |other: &&&Module| reached.get(**other).is_some_and(|seen| seen.contains(module));
        let circle: Vec<String> = seen.iter().filter(back).map(|module| name(module)).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

fn name(module: &Module) -> String {
    match module.is_empty() {
        true => "the root".to_owned(),
        false => module.join("::"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let owned =
            |(path, text): &(&str, &str)| (format!("crates/exec/src/{path}"), (*text).to_owned());
        files.iter().map(owned).collect()
    }

    #[test]
    fn circles_are_found() {
        let there = ("a.rs", "use crate::b::{C, d::E};");
        for (back, found) in [
            ("use crate::a::F;", true),
            ("fn f(_: super::a::F) {}", true),
            ("use super::{c::G,\n    a};", true),
            ("// crate::a::F", false),
            ("#[cfg(test)]\nmod tests { use crate::a::F; }", false),
            ("use other_crate::a::F;", false),
        ] {
            let faults = circles(&tree(&[there, ("b.rs", back), ("c.rs", "")]));
            let expected =
                "crates/exec: modules import each other: a, b; move what they share below both";
            assert_eq!(
                faults.first().is_some_and(|fault| fault == expected),
                found,
                "{back}: {faults:?}"
            );
        }
    }

    #[test]
    fn parent_imports_are_circles() {
        let files = [("a/mod.rs", "use self::b::C;"), ("a/b.rs", "use super::D;")];
        assert_eq!(circles(&tree(&files)).len(), 1);
    }
}
