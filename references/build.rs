//! Embeds every `<document>/*.toml` beside this file, so that no list of documents is kept by hand.
//!
//! Must not know: what is in the files. No `rerun-if-changed` is printed: cargo then looks at the whole package,
//! which is what a new document needs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn entries(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(dir)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut code = String::from("&[\n");
    for document in entries(&root)?.into_iter().filter(|path| path.is_dir()) {
        for file in entries(&document)? {
            if file
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let name = file.strip_prefix(&root)?.display().to_string();
                let path = file.display().to_string();
                writeln!(code, "    ({name:?}, include_str!({path:?})),")?;
            }
        }
    }
    code.push_str("]\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("files.rs"), code)?;
    Ok(())
}
