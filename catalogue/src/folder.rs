//! Reads the folder of a custom catalog once: the same bytes are trusted, compiled and stored with a run.
//!
//! The author is not trusted yet: no link is followed, nothing is executed, and sizes are limited.

use gritstone_model::{Contents, CustomCatalog, CustomFile, hexadecimal};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Most files, and most bytes of an entry file, of any other, and of all together.
const MOST_FILES: usize = 500;
const LARGEST_ENTRIES: u64 = 1 << 20;
const LARGEST: u64 = 4 << 20;
const LARGEST_FOLDER: u64 = 8 << 20;

/// Why a folder is not a catalog.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FolderError(pub(crate) String);

fn wrong<T>(what: impl Into<String>) -> Result<T, FolderError> {
    Err(FolderError(what.into()))
}

/// All files of a folder and its subfolders, except hidden ones and backups of editors (`x~`).
///
/// # Errors
/// When it contains anything unexpected, or too much.
pub fn read(folder: &Path) -> Result<CustomCatalog, FolderError> {
    let resolved = fs::canonicalize(folder).map_err(|why| match why.kind() {
        io::ErrorKind::NotFound => FolderError(format!(
            "there is no folder {}: `gritstone init FAMILY/NAME --catalog DIR` writes a catalog",
            folder.display()
        )),
        _ => failed(folder)(why),
    })?;
    let name = resolved.file_name().unwrap_or_default();
    let mut found = Found::default();
    found.add(&resolved, "")?;
    let Some(name) = name.to_str().filter(|name| is_plain_name(name)) else {
        return wrong(format!(
            "the folder {name:?} cannot be a catalog: name it with letters, digits and . _ + -"
        ));
    };
    if !found.files.keys().any(|path| is_entries(path)) {
        return wrong(format!(
            "there is no catalog in {}, which is a file FAMILY.toml: `gritstone init FAMILY/NAME --catalog DIR` writes one",
            folder.display()
        ));
    }
    Ok(CustomCatalog {
        name: name.to_owned(),
        hash: hash(&found.files),
        families: vec![],
        files: found.files,
    })
}

/// SHA-256 of all files: paths, executable bits, and contents.
pub fn hash(files: &BTreeMap<String, CustomFile>) -> String {
    let mut hash = Sha256::new();
    for (path, file) in files {
        let bytes = file.contents.bytes().unwrap_or_default();
        // lengths make the concatenation unambiguous
        hash.update((path.len() as u64).to_le_bytes());
        hash.update(path);
        hash.update([u8::from(file.executable)]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    hexadecimal(hash.finalize())
}

/// Whether a path is that of a file with entries.
pub(crate) fn is_entries(path: &str) -> bool {
    !path.contains('/') && path.ends_with(".toml")
}

fn failed(path: &Path) -> impl Fn(io::Error) -> FolderError {
    move |why| FolderError(format!("cannot read {path:?}: {why}"))
}

/// A name without characters that are special to a shell, a compiler or a terminal.
fn is_plain_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    !name.is_empty() && !name.starts_with(['-', '+']) && name.chars().all(letter)
}

/// Checks that a stored catalog has only names that a folder could have, since a bundle is untrusted.
///
/// # Errors
/// Names the invalid one.
pub(crate) fn names(stored: &CustomCatalog) -> Result<(), FolderError> {
    let stands = |name: &str| is_plain_name(name) && !left_out(name);
    let path = |path: &str| {
        let parts = path.split('/');
        parts.clone().count() <= 2 && parts.into_iter().all(stands)
    };
    if !is_plain_name(&stored.name) {
        return wrong(format!("{:?} cannot name a catalog", stored.name));
    }
    match stored.files.keys().find(|name| !path(name)) {
        Some(name) => wrong(format!(
            "{name:?} cannot be a file of a catalog, which is NAME or FOLDER/NAME: nothing of it is used"
        )),
        None => Ok(()),
    }
}

#[derive(Default)]
struct Found {
    files: BTreeMap<String, CustomFile>,
    bytes: u64,
}

impl Found {
    /// Adds the files of one folder; `prefix` is its path within the catalog.
    fn add(&mut self, folder: &Path, prefix: &str) -> Result<(), FolderError> {
        for entry in fs::read_dir(folder).map_err(failed(folder))? {
            let entry = entry.map_err(failed(folder))?;
            let (name, path) = (entry.file_name(), entry.path());
            if left_out(&name.to_string_lossy()) {
                continue;
            }
            let Some(name) = name.to_str().filter(|name| is_plain_name(name)) else {
                return wrong(format!(
                    "{prefix}{name:?} cannot be a name in a catalog: use letters, digits and . _ + -"
                ));
            };
            let inside = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(failed(&path))?;
            let what = if kind.is_file() {
                self.take(&path, inside)?;
                continue;
            } else if kind.is_dir() && prefix.is_empty() {
                self.add(&path, &format!("{inside}/"))?;
                continue;
            } else if kind.is_dir() {
                "a folder in a folder of the catalog: a program is FAMILY/NAME, no deeper"
            } else if kind.is_symlink() {
                "a symbolic link, which may lead out of the catalog"
            } else if kind.is_fifo() {
                "a FIFO: a catalog has only regular files"
            } else if kind.is_socket() {
                "a socket: a catalog has only regular files"
            } else {
                "a device: a catalog has only regular files"
            };
            return wrong(format!("{inside} is {what}"));
        }
        Ok(())
    }

    fn take(&mut self, file: &Path, path: String) -> Result<(), FolderError> {
        if self.files.len() == MOST_FILES {
            return wrong(format!(
                "there are more than {MOST_FILES} files in the catalog: is it the right folder?"
            ));
        }
        let max = if is_entries(&path) { LARGEST_ENTRIES } else { LARGEST };
        let (all, each) = (LARGEST_FOLDER >> 20, max >> 20);
        let Some((bytes, executable)) = contents(file, max).map_err(failed(file))? else {
            return wrong(format!(
                "{path} is too large: it may have {each} MB, and all files together {all} MB"
            ));
        };
        self.bytes += bytes.len() as u64;
        if self.bytes > LARGEST_FOLDER {
            return wrong(format!(
                "the files of the catalog have more than {all} MB together: is it the right folder?"
            ));
        }
        let contents = Contents::new(bytes);
        self.files.insert(path, CustomFile { executable, contents });
        Ok(())
    }
}

/// The bytes of a file, and whether it is executable; `None` if it has more than `max`. A link or pipe that replaced the file since the
/// folder was listed is neither followed nor waited for.
fn contents(file: &Path, max: u64) -> io::Result<Option<(Vec<u8>, bool)>> {
    let open = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(file)?;
    let metadata = open.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file any more"));
    }
    if metadata.len() > max {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    open.take(max + 1).read_to_end(&mut bytes)?;
    let executable = metadata.permissions().mode() & 0o111 != 0;
    Ok((bytes.len() as u64 <= max).then_some((bytes, executable)))
}

/// Files that tools leave behind.
fn left_out(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~')
}
