//! Checks across files: duplicate names, missing references, cycles, and the parts of scores. The build reads the files of Gritstone, and
//! the binary contains the result, so that no start parses TOML.

use crate::entry;
use crate::error::Error;
use crate::read::{File, Parsed, Reference};
use crate::suite::Suite;
use gritstone_model::{
    Benchmark, Chapter, Family, Id, Kind, Privilege, Profile, Selector, Timeline, Work,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Deepest nesting of derived results: computing them recurses.
const DEEPEST: usize = 64;

/// All catalog entries and selections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    /// The families, in the order of their files.
    pub families: Vec<Family>,
    /// The entries and their variants, by family, in the order of the files.
    pub benchmarks: Vec<Benchmark>,
    #[serde(default)]
    pub suites: Vec<Suite>,
    /// Weights of benchmarks, by name.
    #[serde(default)]
    pub profiles: Vec<Profile>,
    /// Drawings of the report.
    #[serde(default)]
    pub timelines: Vec<Timeline>,
    /// Chapters of `report --classic`.
    #[serde(default)]
    pub chapters: Vec<Chapter>,
}

/// Builds a catalog from all its files, each a path (`catalogue/byte.toml`) and a text.
///
/// # Errors
/// The first fault in a file or between files, with its place.
pub fn load(files: &[(&str, &str)]) -> Result<Catalogue, Error> {
    let mut files =
        files.iter().map(|(name, text)| entry::read(name, text)).collect::<Result<Vec<_>, _>>()?;
    sound(&mut files)?;
    Ok(Catalogue::from_files(files))
}

impl Catalogue {
    /// The contents of checked files.
    pub(crate) fn from_files(files: Vec<File<'_>>) -> Self {
        let mut catalogue = Self::default();
        for file in files {
            catalogue.families.extend(file.family);
            let benchmarks = file.benchmarks.into_iter().map(|parsed| parsed.benchmark);
            catalogue.benchmarks.extend(benchmarks);
        }
        catalogue
    }
}

/// A benchmark and its file.
type ParsedById<'a> = BTreeMap<&'a Id, (&'a File<'a>, &'a Parsed)>;

/// Expands scores, and checks the files against each other.
pub(crate) fn sound(files: &mut [File<'_>]) -> Result<(), Error> {
    for file in &*files {
        let described = files.iter().any(|other| other.name == file.name && other.family.is_some());
        file.text.must(described, &file.span, || {
            format!("there is no {0}.toml, which says what family '{0}' is", file.name)
        })?;
    }
    expand(files)?;
    grant(files)?;
    let mut by_id = ParsedById::new();
    for file in &*files {
        for parsed in &file.benchmarks {
            let id = &parsed.benchmark.id;
            if let Some((other, first)) = by_id.insert(id, (file, parsed)) {
                let (name, (line, _)) = (other.text.name, other.text.position(first.span.start));
                let what = format!(
                    "'{id}' is here a second time (first in {name}, line {line}): rename one of them"
                );
                return Err(file.text.error(&parsed.span, what));
            }
        }
    }
    for (file, parsed) in by_id.values() {
        for reference in &parsed.references {
            check_reference(&parsed.benchmark, reference, &by_id)
                .map_err(|what| file.text.error(&reference.span, what))?;
        }
    }
    let mut done = BTreeSet::new();
    by_id.keys().try_for_each(|id| acyclic(&mut vec![*id], &by_id, &mut done))
}

/// Adds the privileges of programs to their benchmarks. It is an error if no benchmark uses the program.
fn grant(files: &mut [File<'_>]) -> Result<(), Error> {
    let mut all = vec![];
    for file in &mut *files {
        for entry in std::mem::take(&mut file.head.privilege) {
            let (span, entry) = (entry.span(), entry.into_inner());
            for program in entry.programs {
                let (action, when) = (entry.action, entry.when.clone());
                let privilege = Privilege { action, program, when };
                all.push((file.text.name.to_owned(), span.clone(), privilege));
            }
        }
    }
    for (name, span, privilege) in all {
        let mut used = false;
        for parsed in files.iter_mut().flat_map(|file| &mut file.benchmarks) {
            let benchmark = &mut parsed.benchmark;
            if benchmark.privileged_programs().contains(&&*privilege.program) {
                used = true;
                benchmark.privileges.push(privilege.clone());
            }
        }
        if let (false, Some(file)) = (used, files.iter().find(|file| file.text.name == name)) {
            let what = format!("no entry uses the program '{}'", privilege.program);
            return Err(file.text.error(&span, what));
        }
    }
    Ok(())
}

/// Expands the parts of every score. A selector matches everything but other scores, so that a family with a score over `family/*` can
/// grow; an identifier also matches a score.
fn expand(files: &mut [File<'_>]) -> Result<(), Error> {
    let all = files.iter().flat_map(|file| &file.benchmarks);
    let plain = all.filter(|parsed| parsed.benchmark.work.kind() != Kind::Score);
    let plain: Vec<Id> = plain.map(|parsed| parsed.benchmark.id.clone()).collect();
    for file in files {
        for parsed in &mut file.benchmarks {
            let Work::Score { over, .. } = &mut parsed.benchmark.work else {
                continue;
            };
            for name in std::mem::take(&mut parsed.over) {
                let (span, name) = (name.span(), name.into_inner());
                let found: Vec<Id> = if name.contains(['*', '?']) {
                    let selector = Selector::new(&name);
                    let matched = plain.iter().filter(|id| selector.matches(id));
                    matched.cloned().collect()
                } else {
                    vec![Id::parse(&name).map_err(|why| file.text.error(&span, why.to_string()))?]
                };
                if found.is_empty() {
                    let what = format!("no benchmark matches '{name}': name existing ones");
                    return Err(file.text.error(&span, what));
                }
                for id in found.into_iter().filter(|id| !over.contains(id)).collect::<Vec<_>>() {
                    over.push(id.clone());
                    let (span, curve) = (span.clone(), false);
                    parsed.references.push(Reference { id, span, curve });
                }
            }
        }
    }
    Ok(())
}

/// Checks that referenced benchmarks exist and have the expected kind.
fn check_reference(
    benchmark: &Benchmark,
    reference: &Reference,
    by_id: &ParsedById<'_>,
) -> Result<(), String> {
    let id = &reference.id;
    let Some((_, found)) = by_id.get(id) else {
        let family = by_id.keys().filter(|other| other.family() == id.family());
        let family: Vec<&str> = family.map(|other| other.as_str()).collect();
        return Err(match family.as_slice() {
            [] => format!("no benchmark '{id}', and no family '{}'", id.family()),
            ids => {
                format!("no benchmark '{id}': family '{}' has {}", id.family(), ids.join(", "))
            }
        });
    };
    let (unit, derived) = (&found.benchmark.unit, matches!(benchmark.work, Work::Derived { .. }));
    if reference.curve && benchmark.unit != *unit {
        return Err(format!(
            "'{id}' is in {unit} and the curve of '{}' in {}: the points of a curve have one unit",
            benchmark.id, benchmark.unit
        ));
    }
    if !reference.curve && derived && unit.convert(1.0, 1.0).is_none() {
        return Err(format!(
            "'{id}' is in {unit}, which is not a unit of time: a derived benchmark is a sum of times"
        ));
    }
    Ok(())
}

/// Checks that the last benchmark of a path is not derived from itself, or too deeply nested.
fn acyclic<'a>(
    path: &mut Vec<&'a Id>,
    by_id: &ParsedById<'a>,
    done: &mut BTreeSet<&'a Id>,
) -> Result<(), Error> {
    let id = path[path.len() - 1];
    let Some((file, parsed)) = by_id.get(id).filter(|_| !done.contains(id)) else {
        return Ok(());
    };
    for part in parsed.references.iter().filter(|part| !part.curve) {
        let what = if let Some(first) = path.iter().position(|id| **id == part.id) {
            let circle: Vec<&str> = path[first..].iter().map(|id| id.as_str()).collect();
            let circle = circle.join(" needs ");
            format!("a benchmark cannot be derived from itself: {circle} needs {}", part.id)
        } else if path.len() > DEEPEST {
            format!("derived benchmarks are nested more than {DEEPEST} deep: name their parts")
        } else {
            path.push(&part.id);
            acyclic(path, by_id, done)?;
            path.pop();
            continue;
        };
        return Err(file.text.error(&part.span, what));
    }
    done.insert(id);
    Ok(())
}
