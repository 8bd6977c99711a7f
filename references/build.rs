//! Parses every `<document>/*.toml` beside this file by the rules of the crate itself, and embeds the result, so that no start parses TOML
//! and no list of documents is maintained by hand. The bundles in `measured/` and their systems are embedded, too.
//!
//! No `rerun-if-changed` is printed: cargo then watches the whole package, including new documents.

use error::Error;
use gritstone_model::Machine;
use printed::{Cell, Command, Distribution, Document, References, Seconds, Value};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::{env, fs, process};

#[path = "src/error.rs"]
mod error;
#[allow(dead_code, reason = "the crate itself asks for more")]
#[path = "src/printed.rs"]
mod printed;
#[path = "src/read.rs"]
mod read;
#[path = "src/shape.rs"]
mod shape;
#[path = "src/table.rs"]
mod table;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut files = vec![];
    let mut bundles = vec![];
    for document in fs::read_dir(&root)? {
        let document = document?.path();
        let inside = document.is_dir().then(|| fs::read_dir(&document)).transpose()?;
        for file in inside.into_iter().flatten() {
            let file = file?.path();
            let name = file.strip_prefix(&root)?.display().to_string();
            if name.ends_with(".toml") {
                files.push((name, fs::read_to_string(&file)?));
            } else if name.ends_with(BUNDLE) {
                bundles.push(file);
            }
        }
    }
    files.sort();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (&**n, &**t)).collect();
    let mut all = References::parse(&files).unwrap_or_else(|fault| {
        eprintln!("{fault}");
        process::exit(1);
    });
    bundles.sort();
    let mut list = String::from("&[\n");
    for bundle in bundles {
        let machine = measured(&bundle)?;
        list += &format!("({:?}, include_bytes!({bundle:?})),\n", machine.id);
        all.machines.push(machine);
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("bundles.rs"), list + "]")?;
    fs::write(out.join("all.json"), serde_json::to_string(&all)?)?;
    Ok(())
}

/// Suffix of a bundle.
const BUNDLE: &str = ".jsonl.zst";

/// The system of a bundle, by its first line; its identifier is the name of the file.
fn measured(bundle: &Path) -> Result<Machine, Box<dyn std::error::Error>> {
    let mut head = String::new();
    let unpacked = zstd::Decoder::new(fs::File::open(bundle)?)?;
    BufReader::new(unpacked).read_line(&mut head)?;
    let head: serde_json::Value = serde_json::from_str(&head)?;
    let info = &head["info"];
    let machine: Machine = serde_json::from_value(info["machine"].clone())?;
    let cpus = machine.allowed_cpus().map_or(0, |cpus| cpus.len());
    let name = bundle.file_name().and_then(|name| name.to_str());
    let id = name.and_then(|name| name.strip_suffix(BUNDLE));
    let year = info["started"].as_str().and_then(|date| date.get(..4)?.parse().ok());
    Ok(Machine {
        id: id.ok_or("a bundle without a name")?.to_owned(),
        name: format!("{}, {cpus} CPUs", machine.name),
        document: Some("measured".to_owned()),
        year,
        ..machine
    })
}
