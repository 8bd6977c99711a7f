//! Steps of a search, stored in the user's state directory, so that an interrupted search can be resumed.

use anyhow::{Context as _, Result};
use gritstone_exec::{Dir, OFlags};
use gritstone_model::{BisectStep, PrRow};
use gritstone_session::undo;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read as _, Write as _};

/// A line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Record {
    Followed(Box<PrRow>),
    Step(BisectStep),
}

/// The file of a search, named by its commits, repository and command.
#[derive(Debug)]
pub struct StepFile {
    state: Dir,
    name: OsString,
}

impl StepFile {
    /// `search` identifies the search.
    ///
    /// # Errors
    /// When there is no directory for state.
    pub fn new(search: &[&str]) -> Result<Self> {
        let state =
            undo::state().context("neither XDG_STATE_HOME nor HOME says where steps are kept")?;
        let mut hasher = Sha256::new();
        for word in search {
            hasher.update((word.len() as u64).to_le_bytes());
            hasher.update(word);
        }
        let mut name = String::from("bisect-");
        for byte in &hasher.finalize()[..8] {
            let _ = write!(name, "{byte:02x}");
        }
        Ok(Self {
            state: state
                .make()
                .with_context(|| format!("cannot make {}", state.path().display()))?,
            name: (name + ".jsonl").into(),
        })
    }

    /// The followed benchmark and the steps so far. A truncated line is ignored.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self) -> Result<(Option<PrRow>, Vec<BisectStep>)> {
        let mut text = String::new();
        match self.state.file(&self.name, OFlags::RDONLY) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok((None, vec![])),
            file => file?.read_to_string(&mut text).context("cannot read the file of steps")?,
        };
        let (mut followed, mut steps) = (None, vec![]);
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(Record::Followed(row)) => followed = Some(*row),
                Ok(Record::Step(step)) => steps.push(step),
                // empty, or cut off
                Err(_) => {}
            }
        }
        Ok((followed, steps))
    }

    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, record: &Record) -> Result<()> {
        // the last line may be cut off
        let text = format!("\n{}\n", serde_json::to_string(record)?);
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let file = self.state.file(&self.name, flags);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .context("cannot write to the file of steps")
    }

    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self) -> Result<()> {
        self.state.unlink(&self.name).context("cannot remove the file of steps")
    }
}
