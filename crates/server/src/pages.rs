//! The answers to what a browser asks: the documents that the terminal shows, from the same store, as pages and as JSON.

use crate::FollowFleet;
use crate::form_options::option;
use crate::http::{Answer, Answers, Asked, Form, Media, Question, Sent, Status};
use crate::lists::{self, LISTED};
use crate::summary_worker::{Digest, Digests};
use anyhow::{Context as _, Result};
use gritstone_document::About;
use gritstone_document::Document;
use gritstone_document::html::{self, Choice, Frame};
use gritstone_model::{
    ChangeEvent, ChangesView, FactChange, FoundBenchmark, ListedSystem, Machine, Origin,
    OverviewView, RunView, SCHEMA_CHANGES, SCHEMA_OVERVIEW, SCHEMA_SEARCH, SCHEMA_SYSTEM,
    SearchView, SystemView,
};
use gritstone_runs::changes::{self, differences};
use gritstone_runs::context::Context;
use gritstone_runs::scores;
use gritstone_store::{ResolveError, RunHead, Scope, Store, StoreError};
use serde::Serialize;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Changes in the feed.
const CHANGES: usize = 200;
/// Newest runs of a system in which facts that changed are looked for: each is read with its seals.
const EXAMINED: usize = 200;
/// Runs that a run can be compared with by a choice.
const CHOICES: usize = 20;
/// A page waits so long for what takes all runs to know; who asks for nothing else waits longer.
const SOON: Duration = Duration::from_millis(300);
const LATER: Duration = Duration::from_secs(10);

/// Answers from a store.
pub struct Pages {
    pub(super) context: Context,
    digests: Arc<Digests>,
    /// Whether everyone may read.
    pub(super) open: bool,
    pub(super) follow_fleet: FollowFleet,
    /// Whether there was a store at any time.
    seen: Arc<AtomicBool>,
}

/// Why there is no answer.
pub(super) enum Refused {
    /// There is no such thing.
    NotFound(String),
    /// It was there, and is not any more.
    Gone(String),
    /// It cannot be asked so.
    Wrong(String),
    /// The store cannot be read.
    Broken(anyhow::Error),
    /// A token is needed, or another.
    Unknown(&'static str),
    /// The token is for something else.
    Forbidden,
    /// Something else has the name.
    Conflict(String),
    /// What was sent is no run, or no note.
    Unfit(String),
    /// Another process keeps the store busy, or what is asked for is not computed yet.
    Busy,
    /// The server of the store is away, as this says.
    Away(StoreError),
    /// The store was there, and is not: it was moved, or is not mounted.
    Missing,
    /// There is no space left for what is sent.
    Full(StoreError),
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        error
            .downcast::<StoreError>()
            .map_or_else(Self::Broken, Self::from)
    }
}

pub(super) type Answered = Result<Answer, Refused>;

impl Answers for Pages {
    fn answer(&mut self, asked: &Asked) -> Answer {
        let refused = match self.respond(asked) {
            Ok(answer) => return answer,
            Err(refused) => refused,
        };
        let (status, title, why) = match refused {
            Refused::NotFound(why) => (Status::NotFound, "Not found", why),
            Refused::Gone(why) => (Status::Gone, "Not there any more", why),
            Refused::Wrong(why) => (Status::Wrong, "Cannot be answered", why),
            Refused::Unknown(why) => (Status::Unknown, "A token is needed", why.to_owned()),
            Refused::Forbidden => {
                let why = "The token is for something else.".to_owned();
                (Status::Forbidden, "Not allowed", why)
            }
            Refused::Conflict(why) => (Status::Conflict, "Already there", why),
            Refused::Unfit(why) => (Status::Unfit, "Not taken", why),
            Refused::Busy => {
                let why = "The store is busy: ask again later.".to_owned();
                (Status::Busy, "Busy", why)
            }
            Refused::Away(error) => {
                log::warn!("gritstone: {error}");
                let why = "The server of the store is away: ask again later.";
                (Status::Busy, "Busy", why.to_owned())
            }
            Refused::Missing => {
                log::warn!("gritstone: the store is not there any more");
                let why = "The store is not there any more: ask again later.";
                (Status::Busy, "Busy", why.to_owned())
            }
            Refused::Full(error) => {
                log::warn!("gritstone: {error}");
                let why = "No space is left where the store is.";
                (Status::Full, "Full", why.to_owned())
            }
            Refused::Broken(error) => {
                log::warn!("gritstone: {error:#}");
                // what is wrong with a file is for those who can see the file
                let why = "The store cannot be read; the log of the server says why.";
                (Status::Broken, "Out of order", why.to_owned())
            }
        };
        let document = gritstone_report::refused(title, &why);
        let error = serde_json::json!({ "error": why });
        match said(asked, &error, || (document, Frame::default())) {
            Ok(answer) => Answer { status, ..answer },
            Err(_) => Answer {
                status,
                ..plain(Media::Text, title)
            },
        }
    }
}

/// A value as JSON, or as the page that is made of it.
pub(super) fn said<T: Serialize>(
    asked: &Asked,
    value: &T,
    page: impl FnOnce() -> (Document, Frame),
) -> Result<Answer> {
    let (media, text) = match asked.form {
        Form::Json => {
            let value = gritstone_report::json(value).context("cannot write JSON")?;
            let text = gritstone_model::escape_json(format!("{value:#}\n"));
            (Media::Json, text)
        }
        Form::Page | Form::Feed => {
            let (document, frame) = page();
            let json = asked.json.clone();
            let text = html::served(&document, &Frame { json, ..frame });
            (Media::Html, text)
        }
    };
    Ok(Answer {
        status: Status::Found,
        media,
        text,
    })
}

pub(super) fn plain(media: Media, text: impl Into<String>) -> Answer {
    Answer {
        status: Status::Found,
        media,
        text: text.into(),
    }
}

impl Pages {
    /// Of this store.
    pub fn new(
        context: Context,
        digests: Arc<Digests>,
        open: bool,
        follow_fleet: FollowFleet,
        seen: Arc<AtomicBool>,
    ) -> Self {
        Self {
            context,
            digests,
            open,
            follow_fleet,
            seen,
        }
    }

    fn respond(&self, asked: &Asked) -> Answered {
        // open as long as the answer is made
        let store = self.context.reader()?;
        match &store {
            Some(_) => self.seen.store(true, Ordering::Relaxed),
            None if self.seen.load(Ordering::Relaxed) => return Err(Refused::Missing),
            None => {}
        }
        let there = || store.as_ref().ok_or_else(no_runs);
        let token = match &asked.question {
            Question::Icon | Question::Health | Question::Api => None,
            Question::MaySend(what) | Question::Send(what, _) => {
                let scopes: &[Scope] = match what {
                    Sent::Run => &[Scope::Write],
                    Sent::Note(_) => &[Scope::Write, Scope::Admin],
                };
                self.may(asked, store.as_ref(), scopes)?
            }
            Question::Remove(_) => self.may(asked, store.as_ref(), &[Scope::Admin])?,
            // who sends runs may know which are there
            Question::Runs => self.may(asked, store.as_ref(), &[Scope::Read, Scope::Write])?,
            _ => self.may(asked, store.as_ref(), &[Scope::Read])?,
        };
        match &asked.question {
            Question::MaySend(_) => Ok(plain(Media::Text, "")),
            Question::Send(what, bytes) => match (&token, what) {
                (Some(by), Sent::Run) => self.receive(asked, by, bytes),
                (Some(by), Sent::Note(event)) => {
                    self.acknowledge(asked, store.as_ref(), by, event, bytes)
                }
                (None, _) => Err(Refused::Forbidden),
            },
            Question::Remove(id) => match &token {
                Some(by) => self.remove(asked, by, id),
                None => Err(Refused::Forbidden),
            },
            Question::Runs => self.runs(store.as_ref()),
            Question::Bundle(id) => self.bundle(there()?, id),
            Question::Api => Ok(plain(Media::Json, include_str!("openapi.json"))),
            Question::Icon => Ok(plain(Media::Svg, include_str!("icon.svg"))),
            Question::Health => {
                if let Some(store) = &store {
                    store.revision()?;
                }
                Ok(plain(Media::Text, "ok\n"))
            }
            Question::Overview => self.overview(asked, store.as_ref()),
            Question::Changes => self.changes(asked, store.as_ref()),
            Question::Event(id) => self.event(asked, there()?, id),
            Question::Fleet => self.fleet(asked, store.as_ref()),
            Question::Follow(id) => self.follow(there()?, id),
            Question::FollowFleet => self.follow_fleet(store.as_ref()),
            Question::Metrics => self.metrics(store.as_ref()),
            Question::Search(query) => self.search(asked, query, store.as_ref()),
            Question::Run(id) => self.run(asked, there()?, id),
            Question::System(id) => self.system(asked, there()?, id),
            Question::Benchmark(of) => self.benchmark(asked, store.as_ref(), of),
            Question::Compare(of) => self.compare(asked, store.as_ref(), of),
        }
    }

    fn overview(&self, asked: &Asked, store: Option<&Rc<Store>>) -> Answered {
        let digest = self.digest(store, SOON)?;
        let systems = reliable(lists::systems(store)?, digest.as_deref());
        let events = match digest {
            Some(digest) => Some(known(store, &digest.events, LISTED)?),
            None => None,
        };
        let view = OverviewView {
            schema: SCHEMA_OVERVIEW.to_owned(),
            stored: systems.iter().map(|of| of.runs).sum(),
            events,
            runs: lists::runs(newest_runs(store)?),
            systems,
        };
        let page = || (gritstone_report::overview(&view), Frame::default());
        Ok(said(asked, &view, page)?)
    }

    /// What takes all runs to know, as far as it is known.
    fn digest(
        &self,
        store: Option<&Rc<Store>>,
        patience: Duration,
    ) -> Result<Option<Arc<Digest>>, Refused> {
        let revision = store.map_or(Ok(String::new()), |store| store.revision())?;
        Ok(self.digests.of(&revision, patience))
    }

    /// The same, and the systems.
    pub(super) fn known(
        &self,
        store: Option<&Rc<Store>>,
    ) -> Result<(Option<Arc<Digest>>, Vec<ListedSystem>), Refused> {
        let digest = self.digest(store, LATER)?;
        let systems = reliable(lists::systems(store)?, digest.as_deref());
        Ok((digest, systems))
    }

    fn changes(&self, asked: &Asked, store: Option<&Rc<Store>>) -> Answered {
        let digest = self.digest(store, LATER)?.ok_or(Refused::Busy)?;
        let events = known(store, &digest.events, CHANGES)?;
        if asked.form == Form::Feed {
            return Ok(plain(Media::Atom, gritstone_exchange::atom(&events)));
        }
        let view = ChangesView {
            schema: SCHEMA_CHANGES.to_owned(),
            events,
        };
        Ok(said(asked, &view, || {
            let all = digest.events.len();
            let document = gritstone_report::changes(&view.events, all);
            (document, Frame::default())
        })?)
    }

    /// An event as it is known.
    pub(super) fn known_event(&self, store: &Rc<Store>, id: &str) -> Result<ChangeEvent, Refused> {
        let digest = self.digest(Some(store), LATER)?.ok_or(Refused::Busy)?;
        let found = digest.events.iter().find(|event| event.id == id);
        let none = || Refused::NotFound(format!("There is no change {id}."));
        let mut found = vec![found.ok_or_else(none)?.clone()];
        changes::add_acknowledgments(&mut found, store.change_entries()?);
        found.pop().ok_or_else(none)
    }

    fn event(&self, asked: &Asked, store: &Rc<Store>, id: &str) -> Answered {
        let view = ChangesView {
            schema: SCHEMA_CHANGES.to_owned(),
            events: vec![self.known_event(store, id)?],
        };
        Ok(said(asked, &view, || {
            let document = gritstone_report::change(&view.events[0]);
            (document, Frame::default())
        })?)
    }

    /// How far a run has come.
    fn follow(&self, store: &Rc<Store>, id: &str) -> Answered {
        let id = self.resolve(store, id)?;
        let so_far = store.progress(&id)?;
        let value = serde_json::json!({
            "launches": so_far.launches,
            "benchmark": so_far.last,
            "said": gritstone_report::progress(so_far.launches, so_far.last.as_deref()),
        });
        let text = gritstone_model::escape_json(value.to_string());
        let status = match so_far.ended {
            true => Status::Last,
            false => Status::Found,
        };
        Ok(Answer {
            status,
            ..plain(Media::Json, text)
        })
    }

    fn metrics(&self, store: Option<&Rc<Store>>) -> Answered {
        let stored = store.map_or(Ok(0), |store| store.count())? as usize;
        let digest = self.digest(store, LATER)?.ok_or(Refused::Busy)?;
        let views: Vec<&RunView> = digest.newest.iter().collect();
        let text = gritstone_exchange::scraped(&views, stored);
        Ok(plain(Media::OpenMetrics, text))
    }

    fn search(&self, asked: &Asked, query: &str, store: Option<&Rc<Store>>) -> Answered {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let has_all = |text: &str| {
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let systems = lists::systems(store)?.into_iter();
        let systems = systems.filter(|of| has_all(&format!("{} {} {}", of.id, of.name, of.system)));
        let systems: Vec<ListedSystem> = systems.collect();
        let (found, runs) = match (store, words.as_slice()) {
            (None, _) => (0, vec![]),
            (Some(store), []) => (store.count()? as usize, newest_runs(Some(store))?),
            (Some(store), [first, others @ ..]) => {
                let mut ids = store.mentioning(first)?;
                for word in others {
                    let known: BTreeSet<String> = store.mentioning(word)?.into_iter().collect();
                    ids.retain(|id| known.contains(id));
                }
                let newest = ids.iter().take(LISTED).map(|id| store.head(id));
                (ids.len(), newest.collect::<Result<_, _>>()?)
            }
        };
        let benchmarks = self.context.catalogue.benchmarks.iter();
        let benchmarks = benchmarks
            .filter(|of| !words.is_empty() && has_all(&format!("{} {}", of.id, of.title)));
        let view = SearchView {
            schema: SCHEMA_SEARCH.to_owned(),
            query: query.to_owned(),
            benchmarks: benchmarks
                .map(|of| FoundBenchmark {
                    id: of.id.clone(),
                    title: of.title.clone(),
                })
                .collect(),
            systems,
            found,
            runs: lists::runs(runs),
        };
        let frame = Frame {
            query: query.to_owned(),
            ..Frame::default()
        };
        Ok(said(asked, &view, || {
            (gritstone_report::search(&view), frame)
        })?)
    }

    fn run(&self, asked: &Asked, store: &Rc<Store>, id: &str) -> Answered {
        let id = self.resolve(store, id)?;
        let view = self.context.stored(store, &id)?;
        if asked.form == Form::Json {
            let view = self.context.with_run_variance(view);
            return Ok(said(asked, &view, || {
                (Document::default(), Frame::default())
            })?);
        }
        let base = scores::base(&self.context, std::iter::once(&view));
        let document = whole_report(&self.context, &view, base)?;
        let own = store.head(&id)?;
        // one that was imported takes nothing more
        let live = match own.elapsed_s.is_none() && own.origin != Origin::Imported {
            true => {
                let so_far = store.progress(&id)?;
                let said = gritstone_report::progress(so_far.launches, so_far.last.as_deref());
                Some([
                    said,
                    format!("{}/events", html::path(&About::Run(id.clone()))),
                ])
            }
            false => None,
        };
        let newest = store.newest_runs(Some(&view.machine.id), CHOICES + 1)?;
        let others = newest.into_iter().filter(|run| run.id != id);
        let options: Vec<_> = others.take(CHOICES).map(option).collect();
        let form = (!options.is_empty()).then(|| html::Form {
            to: "/compare".to_owned(),
            button: "Compare",
            kept: vec![("run", id.clone())],
            choices: vec![Choice {
                name: "base",
                label: "Against",
                options,
                chosen: String::new(),
            }],
        });
        let frame = Frame {
            form,
            live,
            ..Frame::default()
        };
        Ok(said(asked, &view, || (document, frame))?)
    }

    fn system(&self, asked: &Asked, store: &Rc<Store>, id: &str) -> Answered {
        let mut heads = store.newest_runs(Some(id), EXAMINED)?;
        let mut changes: Vec<FactChange> = vec![];
        let mut before: Option<Machine> = None;
        let examined = heads.len();
        for head in heads.iter().rev() {
            let Ok(info) = store.info(&head.id) else {
                continue;
            };
            if let Some(before) = &before {
                let facts = differences(before, &info.machine);
                changes.extend(facts.map(|(fact, before, after)| FactChange {
                    fact,
                    before,
                    after,
                    run: head.id.clone(),
                    started: head.started.clone(),
                }));
            }
            before = Some(info.machine);
        }
        changes.reverse();
        let machine = before
            .ok_or_else(|| Refused::NotFound(format!("No stored run is of a system {id}.")))?;
        heads.truncate(LISTED);
        let view = SystemView {
            schema: SCHEMA_SYSTEM.to_owned(),
            machine,
            changes,
            examined,
            runs: lists::runs(heads),
        };
        let page = || (gritstone_report::system(&view), Frame::default());
        Ok(said(asked, &view, page)?)
    }

    /// A run of the store, or a reference system: never a file.
    pub(super) fn view(&self, store: Option<&Rc<Store>>, name: &str) -> Result<RunView, Refused> {
        if name.starts_with("ref:") {
            let found = self.context.view(name);
            return found.map_err(|why| Refused::NotFound(format!("{why:#}.")));
        }
        let store = store.ok_or_else(no_runs)?;
        let id = self.resolve(store, name)?;
        Ok(self.context.stored(store, &id)?)
    }

    /// The run that a name stands for; `last` is that of the machine of the server.
    fn resolve(&self, store: &Store, name: &str) -> Result<String, Refused> {
        let found = store.resolve(name, gritstone_runs::context::here);
        match found {
            Ok(named) => Ok(named.id),
            Err(ResolveError::Store(error)) => Err(error.into()),
            Err(why) => Err(Refused::NotFound(format!("{why}."))),
        }
    }
}

/// Events with what is known of them, so many at most.
fn known(
    store: Option<&Rc<Store>>,
    events: &[ChangeEvent],
    most: usize,
) -> Result<Vec<ChangeEvent>, Refused> {
    let mut events: Vec<ChangeEvent> = events.iter().take(most).cloned().collect();
    if let Some(store) = store {
        changes::add_acknowledgments(&mut events, store.change_entries()?);
    }
    Ok(events)
}

/// Systems with the reliability of their newest runs.
fn reliable(mut systems: Vec<ListedSystem>, digest: Option<&Digest>) -> Vec<ListedSystem> {
    for system in &mut systems {
        let known = digest.and_then(|digest| digest.reliability.get(&system.id));
        system.reliability = known.copied();
    }
    systems
}

/// The newest runs of all, newest first.
fn newest_runs(store: Option<&Rc<Store>>) -> Result<Vec<RunHead>, StoreError> {
    store.map_or(Ok(vec![]), |store| store.newest_runs(None, LISTED))
}

fn no_runs() -> Refused {
    Refused::NotFound("No run is stored yet.".to_owned())
}

/// The report of a run.
fn whole_report(context: &Context, run: &RunView, base: &str) -> anyhow::Result<Document> {
    let parts = gritstone_runs::brief::parts(context, run, base)?;
    Ok(gritstone_report::brief(&gritstone_report::Brief {
        run,
        assessment: &parts.assessment,
        scores: &parts.scores,
        base: &parts.base,
        baseline: &parts.baseline,
        references: &parts.references,
        benchmarks: &parts.benchmarks,
        timelines: &parts.timelines,
    }))
}
