//! Chores of the repository: `cargo xtask tidy` finds what reviewers forget, `cargo xtask docgen` writes the pages
//! that are made from the catalog.

mod arrows;
mod docgen;
mod kernels;
mod leftovers;
mod licenses;
mod modules;
mod quotes;
mod streams;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};
use tree::Tree;

const USAGE: &str = "\
cargo xtask tidy               check layout, dependencies, kernels and modules; fails and lists what is wrong
cargo xtask docgen             write docs/benchmarks.md from the catalogue
cargo xtask docgen --check     fail when docs/benchmarks.md is not what docgen would write
cargo xtask licenses           write crates/cli/licenses.txt from the sources of the crates that are linked
cargo xtask licenses --check   fail when crates/cli/licenses.txt is not what licenses would write";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["tidy"] => tidy(&root()),
        ["docgen"] => docgen(&root(), false),
        ["docgen", "--check"] => docgen(&root(), true),
        ["licenses"] => licenses(&root(), false),
        ["licenses", "--check"] => licenses(&root(), true),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// The repository: one above this crate, which cargo names; else where we stand.
fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = manifest.and_then(|folder| folder.parent().map(Path::to_owned));
    root.unwrap_or_else(|| PathBuf::from("."))
}

fn tidy(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root)?;
    for remark in tidy::remarks(&tree) {
        println!("remark: {remark}");
    }
    let faults = tidy::faults(&tree);
    if faults.is_empty() {
        println!("tidy: nothing wrong in {} files", tree.len());
        return Ok(());
    }
    let list: String = faults.iter().map(|fault| format!("{fault}\n")).collect();
    Err(format!("{list}tidy: {} to mend", faults.len()))
}

fn docgen(root: &Path, check: bool) -> Result<(), String> {
    let catalogue = gritstone_catalogue::all().map_err(|error| error.to_string())?;
    made(
        root,
        docgen::PATH,
        &docgen::page(&catalogue),
        "docgen",
        check,
    )
}

fn licenses(root: &Path, check: bool) -> Result<(), String> {
    made(
        root,
        licenses::PATH,
        &licenses::text(root)?,
        "licenses",
        check,
    )
}

/// Writes a file that is made, or says that it is not what it should be.
fn made(root: &Path, name: &str, text: &str, command: &str, check: bool) -> Result<(), String> {
    let path = root.join(name);
    if check {
        let there = fs::read_to_string(&path).unwrap_or_default();
        return if there == text {
            Ok(())
        } else {
            Err(format!(
                "{name} is out of date: run `cargo xtask {command}` and commit it"
            ))
        };
    }
    let failed = |why: std::io::Error| format!("{}: {why}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(&path, text).map_err(failed)?;
    println!("wrote {name}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_keeps_its_rules() {
        tidy(&root()).unwrap_or_else(|faults| panic!("{faults}"));
    }

    #[test]
    fn what_is_made_is_as_it_would_be_made_now() {
        for made in [docgen(&root(), true), licenses(&root(), true)] {
            made.unwrap_or_else(|why| panic!("{why}"));
        }
    }
}
