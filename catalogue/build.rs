//! Embeds every `catalogue/*.toml`, so that the binary needs no file and no list is kept by hand.
//!
//! Must not know: what is in the files.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    // a folder, so that a file that is added is noticed too
    println!("cargo::rerun-if-changed={}", folder.display());
    let code = format!(
        "/// Name and text of every file of the catalogue, in the order of their names.\n\
         static FILES: &[(&str, &str)] = &[\n{}];\n",
        families(&folder)?
            .iter()
            .map(|path| embed(path))
            .collect::<String>()
    );
    fs::write(Path::new(&variable("OUT_DIR")?).join("files.rs"), code)
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(|why| io::Error::other(format!("{name}: {why}")))
}

/// Every `.toml` but the manifest.
fn families(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let toml = path.extension().is_some_and(|e| e == "toml");
        if toml && path.file_name().is_some_and(|name| name != "Cargo.toml") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn embed(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let path = path.to_string_lossy();
    format!(
        "    ({:?}, include_str!({path:?})),\n",
        format!("catalogue/{name}")
    )
}
