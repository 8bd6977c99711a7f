//! Tokens: permissions of clients of a server. The store has only the SHA-256 of a token: with 256 random bits it needs
//! neither salt nor a slow hash.

use crate::engine::{Engine, query};
use crate::error::{Fault, StoreError};
use crate::row_codec::row;
use crate::store::Store;
use crate::{ledger, sql, write};
use gritstone_model::{Origin, RunData, hexadecimal};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// First schema version with tokens.
const TOKENS_SINCE: u32 = 3;

/// Permission of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Read all runs.
    Read,
    /// Send runs.
    Write,
    /// Remove runs.
    Admin,
}

impl Scope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub(crate) number: i64,
    pub name: String,
    pub scopes: Vec<Scope>,
    /// RFC 3339.
    pub created: String,
    /// RFC 3339; `None` while valid.
    pub revoked: Option<String>,
    /// What is wrong with its row, which then permits nothing.
    pub damage: Option<String>,
}

/// Result of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadOutcome {
    Created,
    /// An identical run is stored.
    Unchanged,
    /// A different run has the identifier.
    Conflict,
}

impl Store {
    /// Adds a token by its secret.
    ///
    /// # Errors
    /// [`StoreError::Unfit`] when the name is taken or invalid, and I/O errors of the store.
    pub fn add_token(
        &mut self,
        name: &str,
        secret: &str,
        scopes: &[Scope],
        now: &str,
    ) -> Result<(), StoreError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
            let why =
                format!("'{name}' cannot name a token: use letters, digits, '-', '_' and '.'");
            return Err(StoreError::Unfit(why));
        }
        let known = self.tokens()?;
        if known.iter().any(|token| token.name == name) {
            let why = format!("a token '{name}' exists or existed; choose another name");
            return Err(StoreError::Unfit(why));
        }
        let scopes = serde_json::to_string(scopes);
        let scopes = scopes.map_err(|why| StoreError::Unfit(why.to_string()))?;
        let row =
            row![known.len() as i64 + 1, name.to_owned(), hash(secret), scopes, now.to_owned(),];
        self.write(|engine| engine.execute(sql::INSERT_TOKEN, row))
    }

    /// All tokens, revoked ones included, oldest first.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        if !self.has_tokens()? {
            return Ok(vec![]);
        }
        let rows = query(self.engine(), sql::SELECT_TOKENS, vec![]);
        let rows: Vec<Stored> = self.at(rows)?;
        Ok(rows.into_iter().map(read).collect())
    }

    /// The valid token with this secret.
    ///
    /// # Errors
    /// I/O errors of the store.
    pub fn token(&self, secret: &str) -> Result<Option<Token>, StoreError> {
        if !self.has_tokens()? {
            return Ok(None);
        }
        let rows = query(self.engine(), sql::FIND_TOKEN, row![hash(secret)]);
        let found: Option<Stored> = self.at(rows)?.pop();
        Ok(found.map(read).filter(|token| token.revoked.is_none()))
    }

    /// Stores with an older schema have no table of tokens.
    fn has_tokens(&self) -> Result<bool, StoreError> {
        Ok(self.at(self.engine().version())? >= TOKENS_SINCE)
    }

    /// Revokes a token permanently.
    ///
    /// # Errors
    /// [`StoreError::NoToken`] when no valid token has the name, and I/O errors of the store.
    pub fn revoke_token(&mut self, name: &str, now: &str) -> Result<(), StoreError> {
        let known = self.tokens()?.into_iter();
        let mut valid = known.filter(|token| token.revoked.is_none());
        let Some(token) = valid.find(|token| token.name == name) else {
            return Err(StoreError::NoToken(name.to_owned()));
        };
        let row = row![token.number, now.to_owned()];
        self.write(|engine| engine.execute(sql::INSERT_REVOKED, row))
    }

    /// Stores an uploaded run, atomically and idempotently.
    ///
    /// # Errors
    /// As [`Store::import`], except for a run that exists; [`StoreError::Removed`] for one that was removed.
    pub fn receive(
        &mut self,
        by: &Token,
        data: &RunData,
        now: &str,
    ) -> Result<UploadOutcome, StoreError> {
        let id = &data.info.id;
        let stored = self.write(|engine| {
            if !ledger::exists(engine, id)? && write::was_removed(engine, data)? {
                return Err(StoreError::Removed(id.clone()).into());
            }
            write::store(engine, data, &Origin::Imported)?;
            log(engine, by, "send", id, now)
        });
        self.sent(data, stored)
    }

    /// Imports a run atomically, unless it exists.
    ///
    /// # Errors
    /// As [`Store::import`], except for a run that exists.
    pub fn import_once(&mut self, data: &RunData) -> Result<UploadOutcome, StoreError> {
        let stored = self.import(data);
        self.sent(data, stored)
    }

    fn sent(
        &self,
        data: &RunData,
        stored: Result<(), StoreError>,
    ) -> Result<UploadOutcome, StoreError> {
        match stored {
            Ok(()) => Ok(UploadOutcome::Created),
            Err(StoreError::Exists(_)) => Ok(match self.has(data)? {
                true => UploadOutcome::Unchanged,
                false => UploadOutcome::Conflict,
            }),
            Err(error) => Err(error),
        }
    }

    /// Removes a whole run for a token.
    ///
    /// # Errors
    /// As [`Store::remove`].
    pub fn remove_by(&mut self, by: &Token, run_id: &str, now: &str) -> Result<(), StoreError> {
        self.write(|engine| {
            write::remove(engine, run_id)?;
            log(engine, by, "remove", run_id, now)
        })
    }
}

/// Columns of a token; the last is its revocation.
type Stored = (i64, String, String, String, Option<String>);

fn read((number, name, scopes, created, revoked): Stored) -> Token {
    let scopes: Result<Vec<Scope>, _> = serde_json::from_str(&scopes);
    let damage = scopes.as_ref().err();
    Token {
        number,
        damage: damage.map(|why| format!("the scopes of token {name} are damaged: {why}")),
        name,
        scopes: scopes.unwrap_or_default(),
        created,
        revoked,
    }
}

fn hash(secret: &str) -> String {
    hexadecimal(Sha256::digest(secret))
}

/// Logs an action.
fn log(engine: &dyn Engine, by: &Token, done: &str, run: &str, now: &str) -> Result<(), Fault> {
    let next: Vec<(i64,)> = query(engine, sql::NEXT_DONE, vec![])?;
    let row = row![next[0].0, by.number, done.to_owned(), run.to_owned(), now.to_owned(),];
    engine.execute(sql::INSERT_DONE, row)
}
