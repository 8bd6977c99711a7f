//! A catalog of the user's own beside ours: read by the same rules, held against our rows, and with its programs.

use crate::error::{Error, Text};
use crate::folder::{self, FolderError, is_entries};
use crate::read::{self, File, Row};
use crate::{Catalogue, FILES, check, over};
use gritstone_model::{Kind, OwnCatalogue, OwnFile, Work};
use std::collections::BTreeSet;

/// Names that a family cannot have: those of rows that are no entries, and of folders beside our programs.
const RESERVED: [&str; 5] = ["command", "runtime", "src", "target", "tests"];

/// A catalog of the user's own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Own {
    /// All of it, as a run keeps it.
    pub kept: OwnCatalogue,
    /// Its families and rows.
    pub catalogue: Catalogue,
    /// Its programs that are compiled: `mine/sum` for `mine/sum.c`.
    pub compiled: BTreeSet<String>,
    /// Its programs that are executables.
    pub executables: BTreeSet<String>,
}

/// What is wrong with a catalog of the user's own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OwnError {
    /// With its files.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// In one of them.
    #[error(transparent)]
    Fault(#[from] Error),
}

/// The catalog that these files are, of which `ours` are the paths of the sources that Gritstone has (`runtime/kernel.h`).
///
/// # Errors
/// The first fault in a file, between files, or between it and ours.
pub fn own(mut kept: OwnCatalogue, ours: &BTreeSet<&str>) -> Result<Own, OwnError> {
    folder::names(&kept)?;
    if kept.hash != folder::hash(&kept.files) {
        return Err(FolderError("it is not the catalog that its hash speaks of".to_owned()).into());
    }
    let mut texts = vec![];
    for (path, file) in kept.files.iter().filter(|(path, _)| is_entries(path)) {
        texts.push((path.as_str(), text(path, file)?));
    }
    let read = beside_ours(&texts)?;
    let mut programs = Programs {
        kept: &kept,
        ours,
        compiled: BTreeSet::new(),
        executables: BTreeSet::new(),
    };
    for file in &read {
        for row in &file.rows {
            programs
                .of_row(row)
                .map_err(|what| file.text.error(&row.at, what))?;
        }
    }
    let families: Vec<String> = read.iter().map(|file| file.family.name.clone()).collect();
    programs.orphans(&families)?;
    let (compiled, executables) = (programs.compiled, programs.executables);
    for (path, file) in kept.files.iter().filter(|(path, _)| is_source(path)) {
        let text = text(path, file)?;
        for (number, line) in text.lines().enumerate() {
            if let Some(what) = stray_include(path, line, |file| {
                kept.files.contains_key(file) || ours.contains(file)
            }) {
                let start = text.lines().take(number).map(|line| line.len() + 1).sum();
                let at = Text { name: path, text };
                return Err(at.error(&(start..start + line.len()), what).into());
            }
        }
    }
    let catalogue = Catalogue::of(read);
    kept.families = families;
    Ok(Own {
        kept,
        catalogue,
        compiled,
        executables,
    })
}

fn text<'a>(path: &str, file: &'a OwnFile) -> Result<&'a str, FolderError> {
    let text = file.contents.text();
    text.ok_or_else(|| FolderError(format!("{path} is not text in UTF-8")))
}

/// Reads files of entries as if they stood beside ours.
fn beside_ours<'a>(texts: &[(&'a str, &'a str)]) -> Result<Vec<File<'a>>, Error> {
    let read = |files: &[(&'a str, &'a str)]| -> Result<Vec<File<'a>>, Error> {
        files
            .iter()
            .map(|(name, text)| read::read(name, text))
            .collect()
    };
    let mut all = read(FILES)?;
    over::expand(&mut all, true)?;
    let theirs = read(texts)?;
    for file in &theirs {
        let name = file.family.name.as_str();
        let taken = all.iter().any(|our| our.family.name == name) || RESERVED.contains(&name);
        let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let what = if taken {
            format!(
                "'{name}' is a name of Gritstone's own: call the family, and its file, otherwise"
            )
        } else if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(letter) {
            format!(
                "'{name}' cannot be the name of a family: begin with a-z, and use a-z 0-9 and -"
            )
        } else if let Some(row) = file
            .rows
            .iter()
            .find(|row| row.benchmark.work.kind() == Kind::Rating)
        {
            let what = "a rating is relative to machines of the documents, which have no figures for rows of your own: take it away";
            return Err(file.text.error(&row.at, what));
        } else {
            continue;
        };
        return Err(file.text.error(&file.at, what));
    }
    let ours = all.len();
    all.extend(theirs);
    check::sound(&all, true)?;
    Ok(all.split_off(ours))
}

/// The programs of a catalog, as entries speak of them.
struct Programs<'a> {
    kept: &'a OwnCatalogue,
    ours: &'a BTreeSet<&'a str>,
    compiled: BTreeSet<String>,
    executables: BTreeSet<String>,
}

impl Programs<'_> {
    fn of_row(&mut self, row: &Row) -> Result<(), String> {
        let work = match &row.benchmark.work {
            Work::Kernel(work) => work,
            Work::Command(work) | Work::Scenario(work) => return found_by_path(&work.argv),
            Work::Derived { .. } | Work::Rating { .. } => return Ok(()),
        };
        for program in work.uses.iter().chain([&work.program]) {
            self.take(program)?;
        }
        if self.executables.contains(&work.program) && row.benchmark.published.is_some() {
            return Err(format!(
                "{} is an executable, which is never asked for a fixed amount of work: take `published` away, or write it in C",
                work.program
            ));
        }
        Ok(())
    }

    fn take(&mut self, program: &str) -> Result<(), String> {
        let source = format!("{program}.c");
        let executable = self.kept.files.get(program).map(|file| file.executable);
        match (self.kept.files.contains_key(&source), executable) {
            (true, None) => self.compiled.insert(program.to_owned()),
            (false, Some(true)) => self.executables.insert(program.to_owned()),
            (true, Some(_)) => {
                return Err(format!(
                    "the program {program} is there twice, as {source} and as {program}: remove one"
                ));
            }
            (false, Some(false)) => {
                return Err(format!(
                    "the file {program} is no executable: chmod +x {program}"
                ));
            }
            (false, None) if self.ours.contains(source.as_str()) => false,
            (false, None) => {
                return Err(format!(
                    "the program {program} is not there: write {source}, or an executable {program} that speaks docs/protocol.md"
                ));
            }
        };
        Ok(())
    }

    /// That every source is part of a program, and every folder one of a family.
    fn orphans(&self, families: &[String]) -> Result<(), FolderError> {
        for path in self.kept.files.keys() {
            let Some((folder, _)) = path.split_once('/') else {
                continue;
            };
            if !families.iter().any(|family| family == folder) {
                return Err(FolderError(format!(
                    "{path} is in a folder of no family: there is no {folder}.toml"
                )));
            }
            let part = path
                .strip_suffix(".c")
                .or_else(|| path.strip_suffix(".f90"));
            if part.is_some_and(|program| !self.compiled.contains(program)) {
                return Err(FolderError(format!(
                    "no entry speaks of {path}: name it as `program` or in `uses`, or take it away"
                )));
            }
        }
        Ok(())
    }
}

/// A program is not searched for when its time runs: the entry says where it is, or that it is needed.
fn found_by_path(argv: &[String]) -> Result<(), String> {
    match argv.first() {
        Some(name) if !name.starts_with(['/', '{']) && !name.starts_with("./") => Err(format!(
            "the program '{name}' is not searched for: write its path, or make it a need ([needs] {name} = {{ package = \"...\" }}) and write {{{name}}}"
        )),
        _ => Ok(()),
    }
}

fn is_source(path: &str) -> bool {
    [".c", ".h", ".inc", ".f90"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// What is wrong with a line that includes a file which is not among these: a run keeps what its figures depend on, as far as it
/// is not of the machine.
fn stray_include(path: &str, line: &str, there: impl Fn(&str) -> bool) -> Option<String> {
    let line = line.trim_start();
    let fortran = path.ends_with(".f90") || path.ends_with(".inc");
    let rest = match line.strip_prefix('#') {
        Some(rest) => rest.trim_start().strip_prefix("include")?,
        None if fortran && line.get(..7)?.eq_ignore_ascii_case("include") => &line[7..],
        None => return None,
    };
    let rest = rest.trim_start();
    let named = |close: char| rest.get(1..)?.split_once(close).map(|(name, _)| name);
    let of_the_machine =
        |name: &str| !name.starts_with('/') && !name.split('/').any(|part| part == "..");
    let good = match rest.chars().next() {
        Some('<') if !fortran => named('>').is_some_and(of_the_machine),
        Some(quote @ ('"' | '\'')) => {
            let name = named(quote).and_then(|name| resolved(path, name));
            name.is_some_and(|name| there(&name))
        }
        _ => false,
    };
    (!good).then(|| "what is included must be in the catalog, be one of Gritstone's (\"../runtime/kernel.h\"), or <of the system>".to_owned())
}

/// The path that `name` means in the file `path`; `None` where it leads out.
fn resolved(path: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            ".." => {
                parts.pop()?;
            }
            "." => {}
            // a path that begins at the root, too
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
        let good = |path: &str, line: &str| stray_include(path, line, there).is_none();
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
