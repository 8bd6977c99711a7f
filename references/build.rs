//! Reads every `<document>/*.toml` beside this file by the rules of the crate itself, and embeds what comes out, so that no start
//! reads TOML and no list of documents is kept by hand.
//!
//! No `rerun-if-changed` is printed: cargo then looks at the whole package, which is what a new document needs.

use error::Error;
use printed::{Cell, Command, Distribution, Document, References, Seconds, Value};
use std::path::PathBuf;
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
    for document in fs::read_dir(&root)? {
        let document = document?.path();
        let inside = document
            .is_dir()
            .then(|| fs::read_dir(&document))
            .transpose()?;
        for file in inside.into_iter().flatten() {
            let file = file?.path();
            if file
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let name = file.strip_prefix(&root)?.display().to_string();
                files.push((name, fs::read_to_string(&file)?));
            }
        }
    }
    files.sort();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (&**n, &**t)).collect();
    let all = References::parse(&files).unwrap_or_else(|fault| {
        eprintln!("{fault}");
        process::exit(1);
    });
    let text = serde_json::to_string(&all)?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("all.json"), text)?;
    Ok(())
}
