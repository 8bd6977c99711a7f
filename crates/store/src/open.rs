//! Opens a store, a file or a PostgreSQL database, for writing or for reading.

use crate::address::server_url;
use crate::error::StoreError;
use crate::file;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::store::{IN_MEMORY, PATIENCE, Store};
use std::path::Path;
use std::rc::Rc;

impl Store {
    /// Opens the store at `path` for writing. Creates a missing directory (accessible by its owner only) and file; in a
    /// database (`postgres://USER@HOST/DATABASE`), its tables.
    ///
    /// # Errors
    /// Says what is wrong with the file or its place, and what to do; see [`StoreError`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(url) = server_url(path) {
            return Self::connect(url, false);
        }
        let path = file::absolute(path)?;
        let (engine, log) = Sqlite::open(&path, PATIENCE)?;
        Ok(Self::new(Rc::new(engine), path, log))
    }

    /// Opens the store at `path` for reading, on read-only media too.
    ///
    /// On read-only media SQLite assumes an immutable file: close such a store after reading.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when there is none, [`StoreError::Away`] when its server cannot be reached, else as
    /// [`Store::open`].
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        if let Some(url) = server_url(path) {
            return Self::connect(url, true);
        }
        let path = file::absolute(path)?;
        let engine = Sqlite::open_read_only(&path, PATIENCE)?;
        Ok(Self::new(Rc::new(engine), path, false))
    }

    /// An empty store that is lost when this process ends. No file is written, so none is left after `kill -9`.
    ///
    /// # Errors
    /// I/O errors of SQLite.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = Path::new(IN_MEMORY);
        let engine = Sqlite::in_memory(path, PATIENCE)?;
        Ok(Self::new(Rc::new(engine), path.to_owned(), false))
    }

    fn connect(url: &str, reads_only: bool) -> Result<Self, StoreError> {
        let engine = Postgres::new(url, reads_only, PATIENCE)?;
        engine.connect()?;
        let shown = engine.shown().to_owned();
        Ok(Self::new(Rc::new(engine), shown, false))
    }
}
