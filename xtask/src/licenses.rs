//! `crates/cli/licenses.txt`: the licenses of all that the binary consists of, from the sources that cargo has fetched.
//!
//! Crates that only tests or build scripts use are in no binary, and so not in it (openmetrics-parser, LGPL-3.0, is one).

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Where the text stands in the repository.
pub const PATH: &str = "crates/cli/licenses.txt";
/// The processor whose crates are listed; those of others differ in none that has another license.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";
/// How the names of files with licenses and notices begin.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];
/// Parts of names of files that are not needed where the MIT license may be chosen.
const OTHERS: [&str; 6] = ["APACHE", "ZLIB", "0BSD", "BOOST", "UNLICENSE", "COPYING"];

/// The whole text.
///
/// # Errors
/// When cargo or a file cannot be read, or a crate has neither a license file nor the MIT license.
pub fn text(root: &Path) -> Result<String, String> {
    let own = |path: &str| read(&root.join(path));
    let mut out = String::from("Gritstone is licensed under MIT OR Apache-2.0, at your choice.\n");
    for path in ["LICENSE-MIT", "LICENSE-APACHE"] {
        section(&mut out, path, &own(path)?);
    }
    section(
        &mut out,
        "Libraries of the system",
        include_str!("licenses/system.txt"),
    );
    section(
        &mut out,
        "GNU Lesser General Public License 2.1",
        include_str!("licenses/LGPL-2.1"),
    );
    let fonts = "Fonts in the PDF: Liberation Sans and Liberation Mono (SIL Open Font License 1.1)";
    section(&mut out, fonts, &own("crates/pdf/fonts/LICENSE-OFL")?);
    // one text with all the crates that have it
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in linked(&metadata(root)?)? {
        let word = |key: &str| package[key].as_str().unwrap_or_default();
        let name = format!("{} {} ({})", word("name"), word("version"), word("license"));
        for text in of_crate(package, &own("LICENSE-MIT")?)? {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    let mut texts: Vec<(BTreeSet<String>, String)> = texts
        .into_iter()
        .map(|(text, names)| (names, text))
        .collect();
    texts.sort();
    for (names, text) in texts {
        let names: Vec<String> = names.into_iter().collect();
        section(&mut out, &names.join("\n"), &text);
    }
    Ok(out)
}

fn section(out: &mut String, head: &str, text: &str) {
    let line = "-".repeat(80);
    let _ = write!(out, "\n{line}\n{head}\n{line}\n\n{}\n", text.trim_end());
}

fn metadata(root: &Path) -> Result<Value, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", PLATFORM])
        .current_dir(root)
        .output()
        .map_err(|why| format!("cannot start cargo metadata: {why}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|why| format!("cargo metadata: {why}"))
}

/// The packages of others that are linked into the binary.
fn linked(metadata: &Value) -> Result<Vec<&Value>, String> {
    let list = |value: &'_ Value| -> Vec<Value> { value.as_array().cloned().unwrap_or_default() };
    let mut needs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let normal = |dep: &Value| {
            list(&dep["dep_kinds"])
                .iter()
                .any(|kind| kind["kind"].is_null())
        };
        let deps = list(&node["deps"]).into_iter().filter(normal);
        needs.insert(
            string(&node["id"]),
            deps.map(|dep| string(&dep["pkg"])).collect(),
        );
    }
    let packages = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata has no packages")?;
    let gritstone = packages
        .iter()
        .find(|package| package["name"] == "gritstone");
    let mut waiting = vec![string(
        &gritstone.ok_or("there is no crate gritstone")?["id"],
    )];
    let mut found = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if found.insert(id.clone()) {
            waiting.extend(needs.get(&id).into_iter().flatten().cloned());
        }
    }
    let foreign =
        |package: &&Value| !package["source"].is_null() && found.contains(&string(&package["id"]));
    Ok(packages.iter().filter(foreign).collect())
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The license and notices of a crate: of several to choose from, MIT.
fn of_crate(package: &Value, mit: &str) -> Result<Vec<String>, String> {
    let manifest = string(&package["manifest_path"]);
    let folder = Path::new(&manifest)
        .parent()
        .ok_or("a manifest is in a folder")?;
    let entries = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut files: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            NAMES
                .iter()
                .any(|begin| name.to_uppercase().starts_with(begin))
                || name == "UNLICENSE"
        })
        .collect();
    if files.iter().any(|name| name.to_uppercase().contains("MIT")) {
        files.retain(|name| {
            !OTHERS
                .iter()
                .any(|other| name.to_uppercase().contains(other))
        });
    }
    // crates that carry the source of a library in C have its license beside it
    if folder.join("zstd/LICENSE").exists() {
        files.push("zstd/LICENSE".to_owned());
    }
    if !files.is_empty() {
        return files.iter().map(|name| read(&folder.join(name))).collect();
    }
    if !string(&package["license"]).contains("MIT") {
        return Err(format!(
            "{} has no file with its license: add the text to {}",
            package["name"],
            file!()
        ));
    }
    let authors: Vec<String> = package["authors"]
        .as_array()
        .into_iter()
        .flatten()
        .map(string)
        .collect();
    let terms = mit
        .split_once("Permission is")
        .map_or(mit, |(_, terms)| terms);
    Ok(vec![format!(
        "MIT License\n\nCopyright (c) {}\n\nPermission is{terms}",
        authors.join(", ")
    )])
}

/// A text without what printers and other systems end their lines and pages with.
fn read(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes).replace(['\r', '\u{c}', '\u{feff}'], "");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(lines.join("\n").trim_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_names_what_is_linked_and_nothing_else() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let text = text(root).unwrap();
        for wanted in [
            "\nserde 1",
            "\nzstd-sys ",
            "GNU LESSER GENERAL PUBLIC LICENSE",
            "SIL OPEN FONT LICENSE",
            "GCC-exception-3.1",
            "SQLite, public domain",
            "Redistributions in binary form",
        ] {
            assert!(text.contains(wanted), "{wanted}");
        }
        for unwanted in ["openmetrics-parser", "proptest", "\ncc 1", "gritstone-"] {
            assert!(!text.contains(unwanted), "{unwanted}");
        }
        let there = fs::read_to_string(root.join(PATH)).unwrap();
        assert!(there == text, "{PATH} is out of date: cargo xtask licenses");
    }
}
