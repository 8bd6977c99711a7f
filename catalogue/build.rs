//! Reads every `catalogue/*.toml` by the rules of the crate itself, and embeds what comes out, so that the binary needs no file, no
//! start reads TOML, and no list is kept by hand. The texts are embedded too: a catalog of the user's own is held against them.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

#[path = "src/check.rs"]
mod check;
#[path = "src/checks.rs"]
mod checks;
#[path = "src/entry.rs"]
mod entry;
#[path = "src/error.rs"]
mod error;
#[path = "src/over.rs"]
mod over;
#[allow(
    dead_code,
    reason = "where a family is named is told of catalogs of the user's own"
)]
#[path = "src/read.rs"]
mod read;
#[path = "src/tree.rs"]
mod tree;
#[path = "src/whole.rs"]
mod whole;

fn main() -> io::Result<()> {
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    // a folder, so that a file that is added is noticed too
    println!("cargo::rerun-if-changed={}", folder.display());
    let files = families(&folder)?;
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(n, t)| (n.as_str(), t.as_str()))
        .collect();
    let whole = whole::load(&files).unwrap_or_else(|fault| {
        eprintln!("{fault}");
        process::exit(1);
    });
    let code = format!(
        "/// Name and text of every file of the catalog, in the order of their names.\n\
         static FILES: &[(&str, &str)] = &{files:?};\n\
         /// What they come to.\n\
         static ALL: &str = {:?};\n",
        serde_json::to_string(&told(serde_json::to_value(&whole)?))?
    );
    fs::write(Path::new(&variable("OUT_DIR")?).join("files.rs"), code)
}

/// The same without what is not there, a sixth of the fields: whoever reads the catalog would read it each time.
fn told(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let there = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(there.map(|(key, value)| (key, told(value))).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(told).collect()),
        other => other,
    }
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(|why| io::Error::other(format!("{name}: {why}")))
}

/// Name and text of every `.toml` but the manifest.
fn families(folder: &Path) -> io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let toml = path.extension().is_some_and(|e| e == "toml");
        match path.file_name().and_then(|name| name.to_str()) {
            Some(name) if toml && name != "Cargo.toml" => {
                found.push((format!("catalogue/{name}"), fs::read_to_string(&path)?));
            }
            _ => {}
        }
    }
    found.sort();
    Ok(found)
}
