//! The rule that programs and entries belong together: no program of which no entry speaks, no entry without its
//! program.

use crate::tidy::Fault;
use crate::tree::Tree;
use gritstone_catalogue::Catalogue;
use gritstone_model::Work;
use std::collections::BTreeMap;

/// Folders of `kernels/` that hold no programs of entries.
const NO_FAMILY: &[&str] = &["runtime", "src", "tests"];

/// The ending of a program, and of the part of it that is written in Fortran.
const PROGRAM: &str = "c";
const FORTRAN: &str = "f90";

pub fn faults(tree: &Tree) -> Vec<Fault> {
    let catalogue = match catalogue(tree) {
        Ok(catalogue) => catalogue,
        Err(fault) => return vec![fault],
    };
    let named = programs(&catalogue);
    let mut faults = Vec::new();
    for (path, _) in tree.files() {
        if let Some(program) = program(path, FORTRAN)
            && !tree.has(&format!("kernels/{program}.{PROGRAM}"))
        {
            faults.push(Fault::of(
                path,
                format!("Fortran without the program that it is a part of: write kernels/{program}.{PROGRAM}, which has the hooks"),
            ));
        }
        if let Some(program) = program(path, PROGRAM)
            && !named.contains_key(program)
        {
            faults.push(Fault::of(
                    path,
                    format!("no entry speaks of program {program}: name it as the `program` of an entry in catalogue/, or in the `uses` of the one that executes it, or remove it"),
                ));
        }
    }
    for (program, by) in named {
        let family = by.split(['/', '@']).next().unwrap_or(by);
        let entry = format!("catalogue/{family}.toml");
        if tree.has(&format!("kernels/{program}.{PROGRAM}")) {
            continue;
        }
        faults.push(Fault::of(
            &entry,
            format!("'{by}' needs program {program}, which is not there: write kernels/{program}.{PROGRAM}, or name another program"),
        ));
    }
    faults
}

/// The catalog as it is in the tree, which need not be the one that this program was built with.
fn catalogue(tree: &Tree) -> Result<Catalogue, Fault> {
    let files: Vec<(&str, &str)> = tree
        .files()
        .filter(|(path, _)| {
            let name = path
                .strip_prefix("catalogue/")
                .and_then(|name| name.strip_suffix(".toml"));
            name.is_some_and(|name| !name.contains('/') && name != "Cargo")
        })
        .collect();
    gritstone_catalogue::load(&files).map_err(|error| {
        Fault::at(
            &error.file,
            error.line,
            format!("{}\n{}", error.what, error.frame),
        )
    })
}

/// Every program that an entry names, and the first entry that does.
fn programs(catalogue: &Catalogue) -> BTreeMap<&str, &str> {
    let mut named = BTreeMap::new();
    for benchmark in &catalogue.benchmarks {
        if let Work::Kernel(work) = &benchmark.work {
            for program in work.uses.iter().chain([&work.program]) {
                named
                    .entry(program.as_str())
                    .or_insert(benchmark.id.as_str());
            }
        }
    }
    named
}

/// `family/name` of a file of a family that has this ending.
fn program<'a>(path: &'a str, wanted: &str) -> Option<&'a str> {
    let inside = path.strip_prefix("kernels/")?;
    let (program, ending) = inside.rsplit_once('.')?;
    let (family, name) = program.split_once('/')?;
    let fits = ending == wanted && !NO_FAMILY.contains(&family) && !name.contains('/');
    fits.then_some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMO: &str = "family = { name = 'demo', title = 't', why = 'w' }\n\
        [[benchmark]]\nid = 'demo/exec/1'\nkind = 'kernel'\nuses = ['demo/job']\ntitle = 't'\nversion = 1\n\
        operation = 'o'\nwhy = 'w'\nsources = [{ document = 'd', place = 'p' }]\nunit = 'ns'\n";

    fn told(files: &[&str]) -> Vec<String> {
        let mut tree = vec![
            ("catalogue/demo.toml", DEMO),
            ("catalogue/Cargo.toml", "[package]"),
        ];
        tree.extend(files.iter().map(|path| (*path, "")));
        faults(&Tree::of(&tree))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn programs_and_entries_that_fit() {
        let none: Vec<String> = Vec::new();
        assert_eq!(told(&["kernels/demo/exec.c", "kernels/demo/job.c"]), none);
        let in_fortran = [
            "kernels/demo/exec.c",
            "kernels/demo/exec.f90",
            "kernels/demo/exec.inc",
            "kernels/demo/job.c",
        ];
        assert_eq!(told(&in_fortran), none);
        let beside = [
            "kernels/runtime/main.c",
            "kernels/runtime/kernel.h",
            "kernels/tests/planted/hangs.c",
            "kernels/demo/common.h",
            "kernels/demo/exec.c",
            "kernels/demo/job.c",
        ];
        assert_eq!(told(&beside), none);
    }

    #[test]
    fn a_program_of_which_no_entry_speaks() {
        let faults = told(&[
            "kernels/demo/exec.c",
            "kernels/demo/job.c",
            "kernels/demo/idle.c",
        ]);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].starts_with("kernels/demo/idle.c: no entry speaks of program demo/idle"));
    }

    #[test]
    fn an_entry_without_its_program() {
        let faults = told(&["kernels/demo/job.c"]);
        assert_eq!(faults.len(), 1);
        assert!(
            faults[0].starts_with("catalogue/demo.toml: 'demo/exec/1' needs program demo/exec")
        );
        // its helper is missed just as well
        assert!(told(&["kernels/demo/exec.c"])[0].contains("needs program demo/job"));
        // and Fortran alone is not a program
        let alone = told(&["kernels/demo/exec.f90", "kernels/demo/job.c"]);
        assert_eq!(alone.len(), 2);
        let fortran = "kernels/demo/exec.f90: Fortran without the program";
        assert!(alone.iter().any(|fault| fault.starts_with(fortran)));
    }

    #[test]
    fn a_catalogue_that_is_wrong() {
        let tree = Tree::of(&[("catalogue/demo.toml", &DEMO.replace("'ns'", "'miles'"))]);
        let faults = faults(&tree);
        assert_eq!(faults.len(), 1);
        assert_eq!(
            (faults[0].file.as_str(), faults[0].line),
            ("catalogue/demo.toml", 11)
        );
        assert!(faults[0].what.contains("'miles' is not a unit"));
    }
}
