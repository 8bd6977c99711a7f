//! Whether two builds made the same programs.

use crate::work_trees::WorkTree;
use anyhow::{Context as _, Result};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// First bytes of an ELF file.
const MAGIC: [u8; 4] = *b"\x7fELF";
/// Type of an object file, which is not executed.
const RELOCATABLE: u16 = 1;

/// Extensions of files that only compilers and people read. What else changed, an equal program may read.
const SOURCES: [&str; 18] = [
    "adoc", "c", "cc", "cpp", "cxx", "f90", "go", "h", "hh", "hpp", "hxx", "md", "rs", "rst", "s",
    "S", "swift", "zig",
];

/// Whether all of these files are sources.
pub fn only_sources(files: &[PathBuf]) -> bool {
    let extension = |file: &PathBuf| file.extension()?.to_str().map(str::to_owned);
    files.iter().all(|file| extension(file).is_some_and(|one| SOURCES.contains(&one.as_str())))
}

/// Programs and libraries below a work tree, with their hashes.
type Programs = BTreeMap<PathBuf, [u8; 32]>;

/// Whether the program of a command is an ELF file in both work trees, and all ELF programs and libraries there are the same byte for
/// byte. A script says nothing: what it does is in other files.
///
/// # Errors
/// When a work tree cannot be read.
pub fn are_identical(trees: [&WorkTree; 2], directory: &Path, program: &str) -> Result<bool> {
    let Ok(program) = fs::canonicalize(trees[0].root().join(directory).join(program)) else {
        return Ok(false); // on PATH
    };
    let root = fs::canonicalize(trees[0].root()).context("cannot find a work tree")?;
    let Ok(program) = program.strip_prefix(root) else {
        return Ok(false);
    };
    let base = programs(trees[0].root())?;
    Ok(base.contains_key(program) && base == programs(trees[1].root())?)
}

fn programs(root: &Path) -> Result<Programs> {
    let (mut programs, mut folders) = (Programs::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        let what = || format!("cannot read {}", folder.display());
        for entry in fs::read_dir(&folder).with_context(what)? {
            let entry = entry.with_context(what)?;
            let (kind, path) = (entry.file_type().with_context(what)?, entry.path());
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(path);
            } else if kind.is_file()
                && let Some(hash) =
                    hash(&path).with_context(|| format!("cannot read {}", path.display()))?
            {
                programs.insert(path.strip_prefix(root)?.to_owned(), hash);
            }
        }
    }
    Ok(programs)
}

/// Of an ELF file that can be executed or loaded.
fn hash(path: &Path) -> io::Result<Option<[u8; 32]>> {
    let mut file = File::open(path)?;
    let mut head = vec![];
    file.by_ref().take(18).read_to_end(&mut head)?;
    let is_elf = head.len() == 18 && head.starts_with(&MAGIC);
    // the byte order of the file's own processor
    let kind = match head.get(5) {
        Some(2) => head.get(16..18).map(|b| u16::from_be_bytes([b[0], b[1]])),
        _ => head.get(16..18).map(|b| u16::from_le_bytes([b[0], b[1]])),
    };
    if !is_elf || kind == Some(RELOCATABLE) {
        return Ok(None);
    }
    let mut hasher = Sha256::new();
    hasher.update(&head);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Some(hasher.finalize().into())),
            n => hasher.update(&buffer[..n]),
        }
    }
}
