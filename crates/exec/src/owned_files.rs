//! Directories and files that a run makes: their names say who made them, and only those are removed.

mod name;

pub use gritstone_files::{Dir, NotOurs, StateDir, read_owned, read_owned_text, safe_parent};
pub(crate) use gritstone_files::{
    Identity, by_descriptor, check_file, is_not_ours, new_file, open_below, remove_within,
};
pub(crate) use name::{check_our_name, creator, fresh_name};
use std::io;
use std::path::Path;

/// Opens a directory of ours if it exists, with this identity if known.
pub(crate) fn open_existing(path: &Path, identity: Option<Identity>) -> io::Result<Option<Dir>> {
    check_our_name(path)?;
    let dir = match Dir::open(path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        dir => dir?,
    };
    match identity {
        Some(identity) if Identity::of_file(&dir)? != identity => {
            Err(NotOurs::Replaced(path.to_owned()).into())
        }
        _ => Ok(Some(dir)),
    }
}

pub(crate) fn remove(path: &Path, identity: Option<Identity>) -> io::Result<()> {
    match open_existing(path, identity)? {
        Some(_) => remove_within(path),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
