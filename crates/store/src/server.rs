//! A store on a server: a run that begins is kept here first, launch by launch, and sent on as it grows. What the server does not have when it
//! is lost is sent by the next who opens the store, or later in the run.
//!
//! Launches are numbered, and what is sent goes after the last that the server has, in one transaction: sent again, it changes nothing.

use crate::engine::{Engine, query};
use crate::error::{Fault, StoreError};
use crate::postgres::{self, Postgres};
use crate::row_codec::row;
use crate::store::{Kept, PATIENCE, Store};
use crate::{queries, spool, sql, write};
use gritstone_model::{Launch, Origin, Owner, RunData};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How long a run goes on before it looks again for a server that is away.
const AGAIN: Duration = Duration::from_secs(30);

/// The server of a store, and what is kept here for it.
#[derive(Debug)]
pub(crate) struct Server {
    engine: Rc<Postgres>,
    file: PathBuf,
    /// What waits; none before there is anything.
    local: Option<Box<Store>>,
    /// How many launches of a run the server has, as far as is known.
    sent: BTreeMap<String, i64>,
    /// When it was last looked for in vain, and why nothing was sent.
    tried: Option<Instant>,
    why: Option<String>,
}

impl Server {
    pub(crate) fn open(url: &str) -> Result<Store, StoreError> {
        let mut store = Self::store(url, false)?;
        let connected = store.server_mut().map(|server| server.engine.connect());
        match connected {
            Some(Err(error @ StoreError::Away(..))) => {
                if let Some(server) = store.server_mut() {
                    server.failed(&error);
                }
            }
            Some(Err(error)) => return Err(error),
            _ => store.send_waiting(),
        }
        Ok(store)
    }

    /// Who reads sends what waits too, and is told what it reads of by the file that it is in.
    pub(crate) fn open_read_only(url: &str) -> Result<Store, StoreError> {
        let waits = Self::store(url, false)?
            .server
            .and_then(|server| server.local)
            .map_or(Ok(false), |kept| kept.runs().map(|runs| !runs.is_empty()))?;
        if waits {
            let store = Self::open(url)?;
            return match store.server.as_ref().filter(|of| !of.engine.is_connected()) {
                Some(of) => of.engine.connect().map(|()| store),
                None => Ok(store),
            };
        }
        let store = Self::store(url, true)?;
        if let Some(server) = &store.server {
            server.engine.connect()?;
        }
        Ok(store)
    }

    fn store(url: &str, reads_only: bool) -> Result<Store, StoreError> {
        let engine = Rc::new(Postgres::of(url, reads_only, PATIENCE)?);
        let data = spool::default_path(|name| std::env::var_os(name))?;
        let shown = engine.shown().to_owned();
        let file = postgres::unsent(&shown, data.parent().unwrap_or(&data));
        let local = match file.exists() && !reads_only {
            true => Some(Box::new(Store::open(&file)?.durable())),
            false => None,
        };
        let server = Self {
            engine: Rc::clone(&engine),
            file,
            local,
            sent: BTreeMap::new(),
            tried: None,
            why: None,
        };
        let mut store = Store::of(engine, shown, false);
        store.server = Some(Box::new(server));
        Ok(store)
    }

    fn failed(&mut self, why: &StoreError) {
        self.tried = Some(Instant::now());
        self.why = Some(why.to_string());
    }

    fn local(&mut self) -> Result<&mut Store, StoreError> {
        let store = match self.local.take() {
            Some(store) => store,
            None => Box::new(Store::open(&self.file)?.durable()),
        };
        Ok(self.local.insert(store))
    }

    /// Keeps the beginning of a run.
    pub(crate) fn begin(&mut self, data: &RunData, owner: &Owner) -> Result<(), StoreError> {
        let id = &data.info.id;
        if self.engine.is_connected()
            && self
                .there(queries::exists(&*self.engine, id))
                .is_ok_and(|is| is)
        {
            return Err(StoreError::Exists(id.clone()));
        }
        self.local()?.store(data, &Origin::Here(owner.clone()))?;
        self.sent.insert(id.clone(), -1);
        self.forward(id, None)?;
        Ok(())
    }

    /// Keeps a launch.
    pub(crate) fn append(&mut self, run: &str, launch: &Launch) -> Result<Kept, StoreError> {
        if !self.keeps(run) {
            return self
                .there(write::append(&*self.engine, run, launch))
                .map(|()| Kept::Stored);
        }
        let kept = self.local()?.append(run, launch)?;
        if kept != Kept::Stored {
            return Ok(kept);
        }
        Ok(match self.forward(run, Some(launch))? {
            true => Kept::Stored,
            false => Kept::Here,
        })
    }

    /// Keeps the end of a run, and sends it on.
    pub(crate) fn finish(&mut self, run: &str, elapsed_s: f64) -> Result<(), StoreError> {
        if !self.keeps(run) {
            return self.there(write::finish(&*self.engine, run, elapsed_s));
        }
        self.local()?.finish(run, elapsed_s)?;
        self.tried = None;
        if self.forward(run, None)? {
            self.forget(run)?;
        }
        Ok(())
    }

    /// Sends what is kept of a run, of which this launch came last. Whether the server has all of it now.
    fn forward(&mut self, run: &str, last: Option<&Launch>) -> Result<bool, StoreError> {
        if self.tried.is_some_and(|tried| tried.elapsed() < AGAIN) {
            return Ok(false);
        }
        let here = match self.local()?.launches(run) {
            // it had ended, and another process sent it
            Err(StoreError::NoSuchRun(_)) => return Ok(true),
            found => found?,
        };
        let known = self.sent.get(run).copied();
        let sent = self.engine.connect().and_then(|()| {
            let engine = &*self.engine;
            let next = last.filter(|_| known == Some(here - 1));
            let done = match next {
                Some(launch) => write::append_after(engine, run, here - 1, launch),
                None => Ok(false),
            };
            if self.there(done)? {
                return Ok(());
            }
            self.send_rest(run)
        });
        match sent {
            Ok(()) => {
                self.sent.insert(run.to_owned(), here);
                (self.tried, self.why) = (None, None);
                Ok(true)
            }
            Err(StoreError::NoSuchRun(_)) if !self.keeps(run) => Ok(true),
            Err(why) => {
                self.failed(&why);
                Ok(false)
            }
        }
    }

    /// Sends what is missing of a run.
    fn send_rest(&self, run: &str) -> Result<(), StoreError> {
        let local = self
            .kept()
            .ok_or_else(|| StoreError::NoSuchRun(run.to_owned()))?;
        let found = self.there(queries::exists(&*self.engine, run))?;
        let was_sent = local.was_sent(run)?;
        if was_sent && !found {
            return Err(StoreError::Removed(run.to_owned()));
        }
        if !found || !self.has_all(local, run)? {
            let (data, origin) = local.with_origin(run)?;
            self.there(write::send(&*self.engine, &data, &origin))?;
        }
        match was_sent {
            true => Ok(()),
            false => local.at(write::note_sent(local.engine(), run)),
        }
    }

    /// Whether the server has all of a run that is there.
    fn has_all(&self, local: &Store, run: &str) -> Result<bool, StoreError> {
        let extent = |engine: &dyn Engine| -> Result<(i64, bool), Fault> {
            let found = queries::run(engine, run)?;
            Ok((queries::launches(engine, found.number)?, found.ended))
        };
        Ok(self.there(extent(&*self.engine))? == local.at(extent(local.engine()))?)
    }

    fn there<T>(&self, done: Result<T, Fault>) -> Result<T, StoreError> {
        done.map_err(|fault| fault.at(self.engine.shown()))
    }

    fn send_waiting(&mut self) -> Result<(), StoreError> {
        let Some(local) = &self.local else {
            return Ok(());
        };
        let mut wrong = None;
        for run in local.runs()? {
            let sent = self.forward(&run.id, None)?;
            if sent && run.elapsed_s.is_some() {
                self.forget(&run.id)?;
            }
            if !self.engine.is_connected() {
                break;
            }
            // what is wrong with one run says nothing of another, and is said in the end
            wrong = self.why.take().or(wrong);
            self.tried = None;
        }
        self.why = self.why.take().or(wrong);
        Ok(())
    }

    /// Removes what is kept of a run; another process may have.
    pub(crate) fn forget(&mut self, run: &str) -> Result<(), StoreError> {
        match self.local.as_mut().map(|kept| kept.remove(run)) {
            None | Some(Err(StoreError::NoSuchRun(_))) => Ok(()),
            Some(removed) => removed,
        }
    }

    /// Whether the server lacks something, as far as is known.
    pub(crate) fn is_behind(&self) -> bool {
        self.why.is_some()
    }

    /// Whether a run is kept here.
    fn keeps(&self, run: &str) -> bool {
        self.kept().is_some_and(|kept| kept.launches(run).is_ok())
    }

    /// What is kept here.
    pub(crate) fn kept(&self) -> Option<&Store> {
        self.local.as_deref()
    }

    pub(crate) fn kept_mut(&mut self) -> Option<&mut Store> {
        self.local.as_deref_mut()
    }
}

/// What a server does not have yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent {
    /// The runs, oldest first.
    pub runs: Vec<String>,
    /// The store in which they are until it has them.
    pub file: PathBuf,
    /// Why they were not sent.
    pub why: String,
}

impl Store {
    fn server_mut(&mut self) -> Option<&mut Server> {
        self.server.as_deref_mut()
    }

    /// Sends what waits for the server; what stays is in [`Store::unsent`].
    fn send_waiting(&mut self) {
        if let Some(server) = self.server_mut()
            && let Err(why) = server.send_waiting()
        {
            server.failed(&why);
        }
    }

    /// What was begun here and the server does not have yet, if that is known; `None` where it has all.
    #[must_use]
    pub fn unsent(&self) -> Option<Unsent> {
        let server = self.server.as_deref()?;
        let why = server.why.clone()?;
        let runs = server.kept().map_or(Ok(vec![]), Store::runs).ok()?;
        Some(Unsent {
            runs: runs.into_iter().map(|run| run.id).collect(),
            file: server.file.clone(),
            why,
        })
    }

    /// How many launches of a run are stored.
    pub(crate) fn launches(&self, run: &str) -> Result<i64, StoreError> {
        let found = self.at(queries::run(self.engine(), run))?;
        self.at(queries::launches(self.engine(), found.number))
    }

    /// Whether the server has had a run.
    fn was_sent(&self, run: &str) -> Result<bool, StoreError> {
        let found = self.at(queries::run(self.engine(), run))?;
        let of = row![found.number, write::SENT.to_owned()];
        let entries = query::<(String,)>(self.engine(), sql::SELECT_SEALED, of);
        Ok(!self.at(entries)?.is_empty())
    }

    fn with_origin(&self, run: &str) -> Result<(RunData, Origin), StoreError> {
        let found = self.at(queries::run(self.engine(), run))?;
        Ok((self.load(run)?, found.origin))
    }
}
