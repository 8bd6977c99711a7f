//! Chores of the repository: `cargo xtask tidy` checks its rules, `cargo xtask docgen` generates the pages from the catalog.

mod circles;
mod docgen;
mod documents;
mod licenses;
mod names;
mod promises;
mod tidy;
mod vendored;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

const USAGE: &str = "\
cargo xtask tidy               check layout, dependencies, kernels and modules; fails and lists what is wrong
cargo xtask docgen             write docs/benchmarks/ from the catalog and the references
cargo xtask docgen --check     fail when docs/benchmarks/ is not what docgen would write
cargo xtask licenses           write crates/cli/licenses.txt from the sources of the crates that are linked
cargo xtask licenses --check   fail when crates/cli/licenses.txt is not what licenses would write";

/// The platform whose dependencies are examined; those of others have no other licenses.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

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

/// The repository: the parent of this crate, by cargo's variable; else the working directory.
fn root() -> PathBuf {
    let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = manifest.and_then(|folder| folder.parent().map(Path::to_owned));
    root.unwrap_or_else(|| PathBuf::from("."))
}

/// Output of a cargo command about the locked crates.
fn cargo(root: &Path, words: &[&str]) -> Result<String, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(words)
        .args(["--locked", "--offline"])
        .current_dir(root)
        .output()
        .map_err(|why| format!("cannot start cargo {words:?}: {why}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    }
}

/// The packages of the repository and its dependencies.
fn packages(root: &Path) -> Result<Vec<Value>, String> {
    let words = ["metadata", "--format-version=1", "--filter-platform", PLATFORM];
    let metadata: Value = serde_json::from_str(&cargo(root, &words)?)
        .map_err(|why| format!("cargo metadata: {why}"))?;
    let packages = metadata["packages"].as_array().cloned();
    packages.ok_or_else(|| "cargo metadata has no packages".to_owned())
}

fn tidy(root: &Path) -> Result<(), String> {
    let catalogue = gritstone_catalogue::all().map_err(|error| error.to_string())?;
    let tree = tidy::read(root)?;
    for remark in tidy::lengths(&tree) {
        println!("remark: {remark}");
    }
    let mut faults = tidy::imports(&tree, root, &packages(root)?);
    faults.extend(tidy::programs(&tree, &catalogue));
    faults.extend(names::benchmarks(&tree, &catalogue));
    faults.extend(names::names(&tree));
    faults.extend(names::comments(&tree));
    faults.extend(circles::circles(&tree));
    faults.extend(tidy::openings(&tree));
    faults.extend(tidy::words(&tree));
    faults.extend(tidy::quotes(&tree));
    faults.extend(tidy::links(&tree, root));
    faults.extend(promises::check_promises(&tree));
    faults.extend(vendored::vendored(root));
    if faults.is_empty() {
        println!("tidy: nothing wrong in {} files", tree.len());
        return Ok(());
    }
    faults.sort();
    Err(format!("{}\ntidy: {} to mend", faults.join("\n"), faults.len()))
}

fn docgen(root: &Path, check: bool) -> Result<(), String> {
    let catalogue = gritstone_catalogue::all().map_err(|error| error.to_string())?;
    let references = gritstone_references::all().map_err(|error| error.to_string())?;
    let mut pages = docgen::pages(&catalogue);
    pages.push(("documents.md".to_owned(), documents::page(&catalogue, &references)));
    for (name, text) in pages {
        let name = format!("docs/benchmarks/{name}");
        write_or_check(root, &name, &text, "docgen", check)?;
    }
    Ok(())
}

fn licenses(root: &Path, check: bool) -> Result<(), String> {
    write_or_check(root, "crates/cli/licenses.txt", &licenses::text(root)?, "licenses", check)
}

/// Writes a generated file, or reports that it is outdated.
fn write_or_check(
    root: &Path,
    name: &str,
    text: &str,
    command: &str,
    check: bool,
) -> Result<(), String> {
    let path = root.join(name);
    if !check {
        fs::write(&path, text).map_err(|why| format!("{}: {why}", path.display()))?;
        println!("wrote {name}");
    } else if fs::read_to_string(&path).unwrap_or_default() != text {
        return Err(format!("{name} is out of date: run `cargo xtask {command}` and commit it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_is_tidy() {
        for result in [tidy(&root()), docgen(&root(), true), licenses(&root(), true)] {
            result.unwrap_or_else(|why| panic!("{why}"));
        }
    }
}
