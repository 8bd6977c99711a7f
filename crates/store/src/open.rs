//! Opens a store for writing or for reading: a file, or what a server has.

use crate::error::StoreError;
use crate::postgres;
use crate::server::Server;
use crate::spool;
use crate::sqlite::Sqlite;
use crate::store::{PATIENCE, Store};
use std::path::Path;
use std::rc::Rc;

impl Store {
    /// Opens the store at `path` for writing. Creates its folder (for the owner alone) and the file where they are
    /// missing; on a server (`postgres://USER@HOST/DATABASE`), its tables.
    ///
    /// A server that is away is no error yet: runs that begin are kept here until it is there, and what waits already is sent when it is.
    /// What cannot be kept here fails with [`StoreError::Away`].
    ///
    /// # Errors
    /// Says what is wrong with the file or its place, and what to do; see [`StoreError`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(url) = postgres::of(path) {
            return Server::open(url);
        }
        let path = spool::absolute(path)?;
        let (engine, log) = Sqlite::open(&path, PATIENCE)?;
        Ok(Self::of(Rc::new(engine), path, log))
    }

    /// Opens the store at `path` for reading, also where nothing can be written.
    ///
    /// Where no file can be put beside it, SQLite takes the promise that nobody writes meanwhile: hold such a store
    /// no longer than it takes to read.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when there is none, [`StoreError::Away`] when its server is, else as [`Store::open`].
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        if let Some(url) = postgres::of(path) {
            return Server::open_read_only(url);
        }
        let path = spool::absolute(path)?;
        let engine = Sqlite::open_read_only(&path, PATIENCE)?;
        Ok(Self::of(Rc::new(engine), path, false))
    }
}
