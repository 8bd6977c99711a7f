//! What programs ask of a server, and by which token: runs are sent, listed, fetched and removed.

use crate::http::{Answer, Asked, Key, Media, Status};
use crate::pages::{Answered, Pages, Refused, plain, said};
use anyhow::Context;
use gritstone_model::{Acknowledged, RunData, RunList, SCHEMA_RUNS, escape_json};
use gritstone_runs::listing::listed;
use gritstone_store::{Scope, Sent, Store, StoreError, Token, Who};
use serde::Deserialize;
use std::rc::Rc;

impl Pages {
    /// The token by which something may be done, where one is needed for it.
    pub(super) fn may(
        &self,
        asked: &Asked,
        store: Option<&Rc<Store>>,
        scopes: &[Scope],
    ) -> Result<Option<Token>, Refused> {
        let reads = scopes.contains(&Scope::Read);
        let secret = match &asked.key {
            Key::Token(secret) => secret,
            // a browser sends it with whatever a page of another site makes it ask
            Key::Password(secret) if reads => secret,
            _ if reads && self.open => return Ok(None),
            _ => return Err(Refused::Unknown("A token is needed.")),
        };
        let found = match store {
            Some(store) => store.token(secret)?,
            None => None,
        };
        let Some(token) = found else {
            return Err(Refused::Unknown("The token is unknown or revoked."));
        };
        match scopes.iter().any(|scope| token.scopes.contains(scope)) {
            true => Ok(Some(token)),
            false if reads && self.open => Ok(Some(token)),
            false => Err(Refused::Forbidden),
        }
    }

    /// All runs, newest first.
    pub(super) fn runs(&self, store: Option<&Rc<Store>>) -> Answered {
        let heads = store.map_or(Ok(vec![]), |store| store.runs())?;
        let list = RunList {
            schema: SCHEMA_RUNS.to_owned(),
            runs: heads.into_iter().rev().map(listed).collect(),
        };
        // without the notes that other views have: of thousands of runs, to look for them took most of the time
        let text = serde_json::to_string_pretty(&list).context("cannot write JSON")?;
        Ok(plain(Media::Json, escape_json(text + "\n")))
    }

    /// A run with all its launches.
    pub(super) fn bundle(&self, store: &Rc<Store>, id: &str) -> Answered {
        let run = store.load(id)?;
        let text = gritstone_exchange::write_bundle(&run);
        Ok(plain(Media::JsonLines, text))
    }

    /// Keeps a run that was sent, once.
    pub(super) fn receive(&self, asked: &Asked, by: &Token, bytes: &[u8]) -> Answered {
        let unfit = |why: anyhow::Error| Refused::Unfit(format!("{why:#}"));
        let run = gritstone_runs::files::bundle(bytes).map_err(unfit)?;
        if run.info.elapsed_s.is_none() {
            let why = "The run has not ended: send it when it has.".to_owned();
            return Err(Refused::Unfit(why));
        }
        let mut store = self.context.writer()?;
        let sent = store.receive(by, &run, &gritstone_runs::clock::now())?;
        let id = &run.info.id;
        let status = match sent {
            Sent::Stored => Status::Stored,
            Sent::Known => Status::Found,
            Sent::Differs => {
                let why = format!("Another run {id} is in the store already.");
                return Err(Refused::Conflict(why));
            }
        };
        if sent == Sent::Stored {
            log::warn!("gritstone: run {id} was sent by {}", by.name);
        }
        self.told(asked, &run, status)
    }

    /// Keeps what is known of a change.
    pub(super) fn acknowledge(
        &self,
        asked: &Asked,
        store: Option<&Rc<Store>>,
        by: &Token,
        event: &str,
        bytes: &[u8],
    ) -> Answered {
        #[derive(Deserialize)]
        struct Note {
            note: String,
        }
        let note: Note = serde_json::from_slice(bytes)
            .map_err(|why| Refused::Unfit(format!("This is no JSON with a note: {why}.")))?;
        let unknown = || Refused::NotFound(format!("There is no change {event}."));
        let event = self.known_event(store.ok_or_else(unknown)?, event)?;
        let (mut store, now) = (self.context.writer()?, gritstone_runs::clock::now());
        store.acknowledge(&event.id, Who::Token(by), &note.note, &now)?;
        let (id, name) = (&event.id, &by.name);
        log::warn!("gritstone: change {id} is acknowledged by {name}");
        let value = serde_json::json!({
            "event": id,
            "acknowledged": Acknowledged {
                who: name.clone(),
                at: now,
                note: note.note.trim().to_owned(),
            },
        });
        let answer = said(asked, &value, Default::default)?;
        Ok(Answer {
            status: Status::Stored,
            ..answer
        })
    }

    fn told(&self, asked: &Asked, run: &RunData, status: Status) -> Answered {
        let value = serde_json::json!({ "run": run.info.id, "stored": status == Status::Stored });
        let answer = said(asked, &value, Default::default)?;
        Ok(Answer { status, ..answer })
    }

    /// Removes a run.
    pub(super) fn remove(&self, asked: &Asked, by: &Token, id: &str) -> Answered {
        let mut store = self.context.writer()?;
        store.remove_by(by, id, &gritstone_runs::clock::now())?;
        log::warn!("gritstone: run {id} was removed by {}", by.name);
        Ok(said(
            asked,
            &serde_json::json!({ "removed": id }),
            Default::default,
        )?)
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuchRun(_) => Self::NotFound(error.to_string()),
            StoreError::Pruned(..) | StoreError::Removed(_) => Self::Gone(error.to_string()),
            StoreError::Full(_) => Self::Full(error),
            StoreError::Unfit(_) => Self::Unfit(error.to_string()),
            StoreError::Locked(_) => Self::Busy,
            StoreError::Away(..) => Self::Away(error),
            error => Self::Broken(error.into()),
        }
    }
}
