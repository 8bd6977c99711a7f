//! Reads every `catalogue/*.toml` by the rules of the crate itself, and embeds the result, so that the binary needs no file, no start
//! parses TOML, and no list is maintained by hand. The texts are embedded too, since custom catalogs are checked against them.

use serde_json::Value;
use std::path::PathBuf;
use std::{env, fs, process};

#[path = "src/chapters.rs"]
mod chapters;
#[path = "src/check.rs"]
mod check;
#[path = "src/cross_checks.rs"]
mod cross_checks;
#[path = "src/entry.rs"]
mod entry;
#[path = "src/error.rs"]
mod error;
#[path = "src/profile.rs"]
mod profile;
#[path = "src/read.rs"]
mod read;
#[path = "src/suite.rs"]
mod suite;
#[path = "src/timeline.rs"]
mod timeline;

const SUITES: &str = "catalogue/suites.toml";
const PROFILES: &str = "catalogue/profiles.toml";
const TIMELINES: &str = "catalogue/timelines.toml";
const CHAPTERS: &str = "catalogue/chapters.toml";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    // the folder, so that added files are noticed too
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = vec![];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".toml") && name != "Cargo.toml" {
            files.push((format!("catalogue/{name}"), fs::read_to_string(&path)?));
        }
    }
    let mut files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (&**n, &**t)).collect();
    read::in_order(&mut files);
    let selects = |(name, _): &(&str, &str)| [SUITES, PROFILES, TIMELINES, CHAPTERS].contains(name);
    let (selections, files): (Vec<_>, Vec<_>) = files.into_iter().partition(selects);
    let mut whole = cross_checks::load(&files).unwrap_or_else(|fault| stop(&fault));
    for (name, text) in selections {
        let benchmarks = &whole.benchmarks;
        let read = match name {
            SUITES => suite::suites(name, text, benchmarks).map(|all| whole.suites = all),
            PROFILES => profile::profiles(name, text, benchmarks).map(|all| whole.profiles = all),
            CHAPTERS => chapters::chapters(name, text, benchmarks).map(|all| whole.chapters = all),
            _ => timeline::timelines(name, text, benchmarks).map(|all| whole.timelines = all),
        };
        read.unwrap_or_else(|fault| stop(&fault));
    }
    let code = format!(
        "/// Name and text of every file of the catalog, in the order of their names.\n\
         static FILES: &[(&str, &str)] = &{files:?};\n\
         /// The catalog of these files, as JSON.\n\
         static ALL: &str = {:?};\n",
        serde_json::to_string(&without_nulls(serde_json::to_value(&whole)?))?
    );
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("files.rs"), code)?;
    Ok(())
}

fn stop(fault: &error::Error) -> ! {
    eprintln!("{fault}");
    process::exit(1);
}

/// Removes nulls, a sixth of the fields, which every reader of the catalog would have to parse.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let there = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(there.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
