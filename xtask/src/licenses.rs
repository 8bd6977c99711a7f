//! `crates/cli/licenses.txt`: the licenses of everything in the binary, from the sources that cargo has fetched.
//!
//! Crates for tests or build scripts alone are not in the binary, so they are left out (such as openmetrics-parser, LGPL-3.0).

use crate::{PLATFORM, cargo, packages};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Prefixes of files with licenses and notices.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// Parts of file names that are not needed if the MIT license can be chosen.
const OTHERS: [&str; 6] = ["APACHE", "ZLIB", "0BSD", "BOOST", "UNLICENSE", "COPYING"];

/// The complete text.
///
/// # Errors
/// When cargo or a file cannot be read, or a crate has neither a license file nor the MIT license.
pub fn text(root: &Path) -> Result<String, String> {
    let file = |path: &str| read(&root.join(path));
    let mut out = String::from("Gritstone is licensed under MIT OR Apache-2.0, at your choice.\n");
    for path in ["LICENSE-MIT", "LICENSE-APACHE"] {
        section(&mut out, path, &file(path)?);
    }
    section(&mut out, "Libraries of the system", include_str!("licenses/system.txt"));
    section(&mut out, "GNU Lesser General Public License 2.1", include_str!("licenses/LGPL-2.1"));
    let fonts = "Fonts in the PDF: Liberation Sans and Liberation Mono (SIL Open Font License 1.1)";
    section(&mut out, fonts, &file("crates/pdf/fonts/LICENSE-OFL")?);
    section(
        &mut out,
        "uPlot, in the pages of serve and site (MIT)",
        &file("crates/document/src/html/uplot/LICENSE")?,
    );
    // equal texts are listed once, with all their crates
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let words =
        ["tree", "-p", "gritstone", "-e", "normal", "--prefix", "none", "--target", PLATFORM];
    let linked = cargo(root, &words)?;
    let linked: BTreeSet<Vec<&str>> =
        linked.lines().map(|line| line.split(' ').take(2).collect()).collect();
    for package in &packages(root)? {
        let (name, version) = (&package["name"], &package["version"]);
        let version = format!("v{}", version.as_str().unwrap_or_default());
        let is_linked = linked.contains(&vec![name.as_str().unwrap_or_default(), &version]);
        if package["source"].is_null() || !is_linked {
            continue;
        }
        let word = |key: &str| package[key].as_str().unwrap_or_default();
        let name = format!("{} {} ({})", word("name"), word("version"), word("license"));
        for text in of_crate(package, &file("LICENSE-MIT")?)? {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    let mut texts: Vec<(Vec<String>, String)> =
        texts.into_iter().map(|(text, names)| (names.into_iter().collect(), text)).collect();
    texts.sort();
    for (names, text) in texts {
        section(&mut out, &names.join("\n"), &text);
    }
    Ok(out)
}

fn section(out: &mut String, head: &str, text: &str) {
    let line = "-".repeat(80);
    let _ = write!(out, "\n{line}\n{head}\n{line}\n\n{}\n", text.trim_end());
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The license and notices of a crate: MIT, if there is a choice.
fn of_crate(package: &Value, mit: &str) -> Result<Vec<String>, String> {
    let manifest = string(&package["manifest_path"]);
    let folder = Path::new(&manifest).parent().ok_or("a manifest is in a folder")?;
    let entries = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let entries = entries.flatten().filter(|entry| entry.path().is_file());
    let files = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_license =
        |name: &String| NAMES.iter().any(|begin| name.to_uppercase().starts_with(begin));
    let mut files: Vec<String> = files.filter(is_license).collect();
    let has = |name: &String, part: &str| name.to_uppercase().contains(part);
    if files.iter().any(|name| has(name, "MIT")) {
        files.retain(|name| !OTHERS.iter().any(|other| has(name, other)));
    }
    // crates with the C source of a library have its license beside it
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
    let authors = package["authors"].as_array().into_iter().flatten();
    let authors = authors.map(string).collect::<Vec<_>>().join(", ");
    let (_, terms) = mit.split_once("Permission is").ok_or("the MIT license permits")?;
    Ok(vec![format!("MIT License\n\nCopyright (c) {authors}\n\nPermission is{terms}")])
}

/// A text without form feeds and carriage returns.
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
    fn licenses_cover_linked_crates() {
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
    }
}
