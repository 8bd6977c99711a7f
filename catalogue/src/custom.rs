//! Custom catalogs: read by the same rules, checked against our benchmarks, with their programs.

use crate::entry;
use crate::error::{Error, Text};
use crate::folder::{self, FolderError, is_entries};
use crate::read::{self, File, Parsed};
use crate::{Catalogue, FILES, cross_checks};
use gritstone_model::{CustomCatalog, CustomFile, KernelWork, Kind, Work};
use std::collections::BTreeSet;

/// Names that a family cannot have: those of benchmarks without entries, and of folders beside our programs.
const RESERVED: [&str; 5] = ["command", "runtime", "src", "target", "tests"];

/// A custom catalog.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CustomBenchmarks {
    /// All its files, as stored with a run.
    pub stored: CustomCatalog,
    /// Its families and benchmarks.
    pub catalogue: Catalogue,
    /// Its compiled programs: `mine/sum` for `mine/sum.c`.
    pub compiled: BTreeSet<String>,
    pub executables: BTreeSet<String>,
}

/// Fault of a custom catalog.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CustomCatalogError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// In one of its files.
    #[error(transparent)]
    Fault(#[from] Error),
}

/// Parses these files; `ours` are the paths of Gritstone's sources (`runtime/kernel.h`).
///
/// # Errors
/// The first fault in a file, between files, or against ours.
pub fn check_custom(
    mut stored: CustomCatalog,
    ours: &BTreeSet<&str>,
) -> Result<CustomBenchmarks, CustomCatalogError> {
    folder::names(&stored)?;
    if stored.hash != folder::hash(&stored.files) {
        return Err(FolderError("its hash is of another catalog".to_owned()).into());
    }
    let mut texts = vec![];
    for (path, file) in stored.files.iter().filter(|(path, _)| is_entries(path)) {
        texts.push((path.as_str(), text(path, file)?));
    }
    read::in_order(&mut texts);
    let read = beside_ours(&texts)?;
    let (mut compiled, mut executables) = (BTreeSet::new(), BTreeSet::new());
    for file in &read {
        for parsed in &file.benchmarks {
            let wrong = |what| file.text.error(&parsed.span, what);
            for program in programs(parsed).map_err(wrong)? {
                match kind_of(program, &stored, ours).map_err(wrong)? {
                    Program::Compiled => drop(compiled.insert(program.clone())),
                    Program::Executable => drop(executables.insert(program.clone())),
                    Program::Ours => {}
                }
            }
            if let Work::Kernel(KernelWork { program, .. }) = &parsed.benchmark.work {
                let fixed = parsed.benchmark.published.is_some() && executables.contains(program);
                file.text.must(!fixed, &parsed.span, || {
                    format!(
                        "{program} is an executable, which is never asked for a fixed amount of work: take `published` away, or write it in C"
                    )
                })?;
            }
        }
    }
    let described = read.iter().filter(|file| file.family.is_some());
    let families: Vec<String> = described.map(|file| file.name.clone()).collect();
    for (path, file) in &stored.files {
        used(path, &families, &compiled)?;
        if [".c", ".h", ".inc", ".f90"].iter().any(|end| path.ends_with(end)) {
            let text = Text { name: path, text: text(path, file)? };
            includes_stay(text, |file| stored.files.contains_key(file) || ours.contains(file))?;
        }
    }
    let catalogue = Catalogue::from_files(read);
    stored.families = families;
    Ok(CustomBenchmarks { stored, catalogue, compiled, executables })
}

fn text<'a>(path: &str, file: &'a CustomFile) -> Result<&'a str, FolderError> {
    let text = file.contents.text();
    let text = text.ok_or_else(|| FolderError(format!("{path} is not text in UTF-8")))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Reads files of entries as if they were among ours.
fn beside_ours<'a>(texts: &[(&'a str, &'a str)]) -> Result<Vec<File<'a>>, Error> {
    let all = FILES.iter().chain(texts);
    let mut all = all.map(|(name, text)| entry::read(name, text)).collect::<Result<Vec<_>, _>>()?;
    let (ours, theirs) = all.split_at(FILES.len());
    for file in theirs {
        let name = file.name.as_str();
        let taken = ours.iter().any(|our| our.name == name) || RESERVED.contains(&name);
        file.text.must(!taken, &file.span, || {
            format!("'{name}' is a family of Gritstone: rename yours, and its file")
        })?;
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
        file.text.must(begins && name.chars().all(letter), &file.span, || {
            format!(
                "'{name}' cannot be the name of a family: begin with a-z, and use a-z 0-9 and -"
            )
        })?;
        for parsed in &file.benchmarks {
            let score = parsed.benchmark.work.kind() == Kind::Score;
            file.text.must(!score, &parsed.span, || {
                "a score is relative to systems of the documents, which have no results of custom benchmarks: remove it"
            })?;
        }
    }
    cross_checks::sound(&mut all)?;
    Ok(all.split_off(FILES.len()))
}

/// Programs of a benchmark that the catalog must contain.
fn programs(parsed: &Parsed) -> Result<Vec<&String>, String> {
    match &parsed.benchmark.work {
        Work::Kernel(work) => Ok(work.uses.iter().chain([&work.program]).collect()),
        // programs are not looked up during a measurement: the entry has a path, or a need
        Work::Command(work) | Work::Scenario(work) => match work.argv.first() {
            Some(name) if !["/", "{", "./"].iter().any(|begin| name.starts_with(begin)) => {
                Err(format!(
                    "the program '{name}' is not looked up on PATH: write its path, or make it a need ([needs] {name} = {{ package = \"...\" }}) and write {{{name}}}"
                ))
            }
            _ => Ok(vec![]),
        },
        Work::Derived { .. } | Work::Score { .. } => Ok(vec![]),
    }
}

enum Program {
    Compiled,
    Executable,
    Ours,
}

fn kind_of(
    program: &str,
    stored: &CustomCatalog,
    ours: &BTreeSet<&str>,
) -> Result<Program, String> {
    let source = format!("{program}.c");
    let executable = stored.files.get(program).map(|file| file.executable);
    match (stored.files.contains_key(&source), executable) {
        (true, None) => Ok(Program::Compiled),
        (false, Some(true)) => Ok(Program::Executable),
        (true, Some(_)) => Err(format!(
            "the program {program} is there twice, as {source} and as {program}: remove one"
        )),
        (false, Some(false)) => {
            Err(format!("the file {program} is no executable: chmod +x {program}"))
        }
        (false, None) if ours.contains(source.as_str()) => Ok(Program::Ours),
        (false, None) => Err(format!(
            "no program {program}: write {source}, or an executable {program} that speaks docs/protocol.md"
        )),
    }
}

/// Checks that a source belongs to a program, and a folder to a family.
fn used(path: &str, families: &[String], compiled: &BTreeSet<String>) -> Result<(), FolderError> {
    let Some((folder, _)) = path.split_once('/') else {
        return Ok(());
    };
    if !families.iter().any(|family| family == folder) {
        return Err(FolderError(format!(
            "{path} is in a folder of no family: there is no {folder}.toml"
        )));
    }
    let program = path.strip_suffix(".c").or_else(|| path.strip_suffix(".f90"));
    if program.is_some_and(|program| !compiled.contains(program)) {
        return Err(FolderError(format!(
            "no entry uses {path}: name it as `program` or in `uses`, or remove it"
        )));
    }
    Ok(())
}

/// Checks that every included file is `there`: a run stores everything that its results depend on, except the system's files.
fn includes_stay(source: Text<'_>, there: impl Fn(&str) -> bool) -> Result<(), Error> {
    let mut start = 0;
    for line in source.text.split('\n') {
        let span = start..start + line.trim_end_matches('\r').len();
        start += line.len() + 1;
        source.must(!stray_include(source.name, line, &there), &span, || {
            "what is included must be in the catalog, be one of Gritstone's (\"../runtime/kernel.h\"), or <of the system>"
        })?;
    }
    Ok(())
}

fn stray_include(path: &str, line: &str, there: impl Fn(&str) -> bool) -> bool {
    let line = line.trim_start();
    let fortran = path.ends_with(".f90") || path.ends_with(".inc");
    let directive = line.strip_prefix('#');
    let rest = directive.and_then(|rest| rest.trim_start().strip_prefix("include"));
    let statement = || match line.get(..7) {
        Some(word) if fortran && word.eq_ignore_ascii_case("include") => line.get(7..),
        _ => None,
    };
    let Some(rest) = rest.or_else(statement).map(str::trim_start) else {
        return false;
    };
    let named = |close: char| rest.get(1..)?.split_once(close).map(|(name, _)| name);
    let name = match rest.chars().next() {
        Some('<') if !fortran => {
            let out =
                |name: &str| name.starts_with('/') || name.split('/').any(|part| part == "..");
            return named('>').is_none_or(out);
        }
        Some(quote @ ('"' | '\'')) => named(quote),
        _ => None,
    };
    let file = name.and_then(|name| resolved(path, name));
    !file.is_some_and(|file| there(&file))
}

/// The path that `name` means in the file `path`; `None` outside the catalog.
fn resolved(path: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            ".." => {
                parts.pop()?;
            }
            "." => {}
            // also for an absolute path
            "" => return None,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_stay_within() {
        let there = |file: &str| ["mine/a.h", "runtime/kernel.h", "b.h"].contains(&file);
        let good = |path: &str, line: &str| !stray_include(path, line, there);
        for line in [
            "#include \"a.h\"",
            "  #  include \"../runtime/kernel.h\"",
            "#include \"./../mine/a.h\" /* twice */",
            "#include \"../b.h\"",
            "#include <stdio.h>",
            "#include <sys/stat.h>",
            "int include;",
            "#if 0",
        ] {
            assert!(good("mine/x.c", line), "{line}");
        }
        for line in [
            "#include \"/etc/passwd\"",
            "#include \"../../etc/passwd\"",
            "#include \"../../mine/a.h\"",
            "#include </etc/passwd>",
            "#include <../etc/passwd>",
            "#include \"c.h\"",
            "#include NAME",
            "#include \"a.h",
            "#include",
        ] {
            assert!(!good("mine/x.c", line), "{line}");
        }
        assert!(good("mine/x.f90", "  INCLUDE 'a.h'"));
        assert!(!good("mine/x.f90", "include '/etc/passwd'"));
        assert!(good("mine/x.f90", "incl"));
    }
}
