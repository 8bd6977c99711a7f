//! The answers to what a browser asks: the documents that the terminal shows, from the same store, as pages and as JSON.

use super::digest::Digests;
use super::lists::{LISTED, differences, newest, systems};
use crate::past::over_runs;
use crate::world::World;
use crate::{brief, inspect, output, rate};
use anyhow::{Context, Result};
use gritstone_model::{
    ChangesView, CompareRow, FactChange, FoundBenchmark, Id, ListedSystem, Machine, OverviewView,
    RunView, SCHEMA_CHANGES, SCHEMA_OVERVIEW, SCHEMA_SEARCH, SCHEMA_SYSTEM, SearchView, SystemView,
    Verdict,
};
use gritstone_report::html::{self, Choice, Frame};
use gritstone_report::{Document, Pair};
use gritstone_serve::{Answer, Answers, Asked, Form, Media, Question, Status};
use gritstone_store::{ResolveError, RunHead, Scope, Store};
use serde::Serialize;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
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
    pub(super) world: World,
    digests: Arc<Digests>,
    /// Whether everyone may read.
    pub(super) open: bool,
}

/// Why there is no answer.
pub(super) enum Refused {
    /// There is no such thing.
    NotFound(String),
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
    /// What was sent is no run.
    Unfit(String),
    /// Another process keeps the store busy, or what is asked for is not computed yet.
    Busy,
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Self {
        Self::Broken(error)
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
            Refused::Wrong(why) => (Status::Wrong, "Cannot be answered", why),
            Refused::Unknown(why) => (Status::Unknown, "A token is needed", why.to_owned()),
            Refused::Forbidden => {
                let why = "The token is for something else.".to_owned();
                (Status::Forbidden, "Not allowed", why)
            }
            Refused::Conflict(why) => (Status::Conflict, "Already there", why),
            Refused::Unfit(why) => (Status::Unfit, "No run", why),
            Refused::Busy => {
                let why = "The store is busy: ask again later.".to_owned();
                (Status::Busy, "Busy", why)
            }
            Refused::Broken(error) => {
                output::remark(&format!("gritstone: {error:#}"));
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
    pub fn new(world: World, digests: Arc<Digests>, open: bool) -> Self {
        Self {
            world,
            digests,
            open,
        }
    }

    fn respond(&self, asked: &Asked) -> Answered {
        // open as long as the answer is made
        let store = self.world.reader()?;
        let there = || store.as_ref().ok_or_else(no_runs);
        let token = match &asked.question {
            Question::Icon | Question::Health | Question::Api => None,
            Question::MaySend | Question::Send(_) => {
                self.may(asked, store.as_ref(), &[Scope::Write])?
            }
            Question::Remove(_) => self.may(asked, store.as_ref(), &[Scope::Admin])?,
            // who sends runs may know which are there
            Question::Runs => self.may(asked, store.as_ref(), &[Scope::Read, Scope::Write])?,
            _ => self.may(asked, store.as_ref(), &[Scope::Read])?,
        };
        match &asked.question {
            Question::MaySend => Ok(plain(Media::Text, "")),
            Question::Send(bytes) => match &token {
                Some(by) => self.receive(asked, by, bytes),
                None => Err(Refused::Forbidden),
            },
            Question::Remove(id) => match &token {
                Some(by) => self.remove(asked, by, id),
                None => Err(Refused::Forbidden),
            },
            Question::Runs => self.runs(asked, store.as_ref()),
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
            Question::Metrics => self.metrics(store.as_ref()),
            Question::Search(query) => self.search(asked, query, store.as_ref()),
            Question::Run(id) => self.run(asked, there()?, id),
            Question::System(id) => self.system(asked, there()?, id),
            Question::Benchmark(id, runs) => self.benchmark(asked, store.as_ref(), id, *runs),
            Question::Compare {
                base,
                run,
                family,
                verdict,
            } => {
                let sides = [base, run].map(|name| self.view(store.as_ref(), name));
                let [base, run] = sides;
                self.compare(asked, &base?, &run?, family, verdict)
            }
        }
    }

    fn overview(&self, asked: &Asked, store: Option<&Rc<Store>>) -> Answered {
        let heads = store.map_or(Ok(vec![]), |store| store.runs())?;
        let revision = store.map_or(Ok(String::new()), |store| store.revision())?;
        let digest = self.digests.of(&revision, SOON);
        let mut systems = systems(&heads);
        if let Some(digest) = &digest {
            for system in &mut systems {
                system.reliability = digest.reliability.get(&system.id).copied();
            }
        }
        let events = digest.map(|digest| digest.events.iter().take(LISTED).cloned().collect());
        let view = OverviewView {
            schema: SCHEMA_OVERVIEW.to_owned(),
            stored: heads.len(),
            events,
            runs: newest(heads),
            systems,
        };
        let page = || (gritstone_report::overview(&view), Frame::default());
        Ok(said(asked, &view, page)?)
    }

    fn changes(&self, asked: &Asked, store: Option<&Rc<Store>>) -> Answered {
        let revision = store.map_or(Ok(String::new()), |store| store.revision())?;
        let digest = self.digests.of(&revision, LATER).ok_or(Refused::Busy)?;
        let events: Vec<_> = digest.events.iter().take(CHANGES).cloned().collect();
        if asked.form == Form::Json {
            let schema = SCHEMA_CHANGES.to_owned();
            let view = ChangesView { schema, events };
            return Ok(said(asked, &view, || {
                (Document::default(), Frame::default())
            })?);
        }
        Ok(plain(Media::Atom, gritstone_exchange::atom(&events)))
    }

    fn metrics(&self, store: Option<&Rc<Store>>) -> Answered {
        let stored = store.map_or(Ok(vec![]), |store| store.runs())?.len();
        let revision = store.map_or(Ok(String::new()), |store| store.revision())?;
        let digest = self.digests.of(&revision, LATER).ok_or(Refused::Busy)?;
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
        let mut heads = store.map_or(Ok(vec![]), |store| store.runs())?;
        let systems = systems(&heads).into_iter();
        let systems = systems.filter(|of| has_all(&format!("{} {} {}", of.id, of.name, of.system)));
        let systems: Vec<ListedSystem> = systems.collect();
        for word in &words {
            // a label may be of later than the run
            let recorded: BTreeSet<String> =
                store.map_or(Ok(BTreeSet::new()), |store| store.mentioning(word))?;
            heads.retain(|head| {
                let label = head.label.as_ref().map(|label| label.to_lowercase());
                label.is_some_and(|label| label.contains(word)) || recorded.contains(&head.id)
            });
        }
        let benchmarks = self.world.catalogue.benchmarks.iter();
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
            found: heads.len(),
            runs: newest(heads),
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
        let view = self.world.stored(store, &id)?;
        if asked.form == Form::Json {
            let view = self.world.among_runs(view);
            return Ok(said(asked, &view, || {
                (Document::default(), Frame::default())
            })?);
        }
        let base = rate::base(&self.world, std::iter::once(&view));
        let document = brief::whole(&self.world, &view, base)?;
        let others = store.runs()?.into_iter().rev();
        let others = others.filter(|run| run.id != id && run.machine_id == view.machine.id);
        let option = |run: RunHead| {
            let label = run
                .label
                .map_or_else(String::new, |label| format!(", {label}"));
            let minute = run.started.get(..16).unwrap_or(&run.started);
            (run.id, format!("{}{label}", minute.replacen('T', " ", 1)))
        };
        let options: Vec<_> = others.take(CHOICES).map(option).collect();
        let form = (!options.is_empty()).then(|| html::Form {
            to: "/compare",
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
            ..Frame::default()
        };
        Ok(said(asked, &view, || (document, frame))?)
    }

    fn system(&self, asked: &Asked, store: &Rc<Store>, id: &str) -> Answered {
        let mut heads = store.runs()?;
        heads.retain(|run| run.machine_id == id);
        let mut changes: Vec<FactChange> = vec![];
        let mut before: Option<Machine> = None;
        let examined = heads.len().min(EXAMINED);
        for head in &heads[heads.len() - examined..] {
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
        let view = SystemView {
            schema: SCHEMA_SYSTEM.to_owned(),
            machine,
            changes,
            examined,
            runs: newest(heads),
        };
        let page = || (gritstone_report::system(&view), Frame::default());
        Ok(said(asked, &view, page)?)
    }

    fn benchmark(
        &self,
        asked: &Asked,
        store: Option<&Rc<Store>>,
        name: &str,
        runs: usize,
    ) -> Answered {
        let unknown = || Refused::NotFound(format!("There is no benchmark {name}."));
        let id = Id::parse(name).map_err(|_| unknown())?;
        let mut all = self.world.catalogue.benchmarks.iter();
        let known = all.find(|of| of.id == id);
        let view = match store {
            Some(store) => over_runs(&self.world, store, &id, runs)?,
            None => None,
        };
        if known.is_none() && view.is_none() {
            return Err(unknown());
        }
        let facts = known.map_or_else(Vec::new, gritstone_catalogue::facts);
        let title = match (known, &view) {
            (Some(known), _) => &known.title,
            (None, Some(view)) => &view.title,
            (None, None) => "",
        };
        let page = || {
            let document = gritstone_report::benchmark(&id, title, &facts, view.as_ref());
            (document, Frame::default())
        };
        match &view {
            None if asked.form == Form::Json => {
                Err(Refused::NotFound(format!("No stored run has {name}.")))
            }
            view => Ok(said(asked, view, page)?),
        }
    }

    fn compare(
        &self,
        asked: &Asked,
        base: &RunView,
        run: &RunView,
        family: &str,
        verdict: &str,
    ) -> Answered {
        if base.id == run.id {
            let why = format!("{} cannot be compared with itself.", run.id);
            return Err(Refused::Wrong(why));
        }
        let mut compared = self.world.compare(base, run, inspect::MARGIN);
        let families: BTreeSet<&str> = compared.rows.iter().map(|row| row.id.family()).collect();
        let named = |name: &str| (name.to_owned(), name.to_owned());
        let choice = |name, label, all: &str, values: Vec<&str>, chosen: &str| Choice {
            name,
            label,
            options: [(String::new(), all.to_owned())]
                .into_iter()
                .chain(values.into_iter().map(named))
                .collect(),
            chosen: chosen.to_owned(),
        };
        let verdicts = VERDICTS.map(Verdict::as_str).to_vec();
        let families = families.into_iter().collect();
        let form = html::Form {
            to: "/compare",
            button: "Filter",
            kept: vec![("base", base.id.clone()), ("run", run.id.clone())],
            choices: vec![
                choice("family", "Family", "all", families, family),
                choice("verdict", "Verdict", "all", verdicts, verdict),
            ],
        };
        let wanted = match verdict {
            "" => None,
            word => Some(
                VERDICTS
                    .into_iter()
                    .find(|verdict| verdict.as_str() == word)
                    .ok_or_else(|| Refused::Wrong(format!("There is no verdict '{word}'.")))?,
            ),
        };
        compared.rows.retain(|row: &CompareRow| {
            (family.is_empty() || row.id.family() == family)
                && wanted.is_none_or(|wanted| row.verdict == Some(wanted))
        });
        let page = || {
            let document = gritstone_report::pair(&Pair {
                base,
                other: run,
                compared: &compared,
            });
            let form = Some(form);
            (
                document,
                Frame {
                    form,
                    ..Frame::default()
                },
            )
        };
        Ok(said(asked, &compared, page)?)
    }

    /// A run of the store, or a reference system: never a file.
    fn view(&self, store: Option<&Rc<Store>>, name: &str) -> Result<RunView, Refused> {
        if name.starts_with("ref:") {
            let found = self.world.view(name);
            return found.map_err(|why| Refused::NotFound(format!("{why:#}.")));
        }
        let store = store.ok_or_else(no_runs)?;
        let id = self.resolve(store, name)?;
        Ok(self.world.stored(store, &id)?)
    }

    /// The run that a name stands for; `last` is that of the machine of the server.
    fn resolve(&self, store: &Store, name: &str) -> Result<String, Refused> {
        let found = store.resolve(name, crate::world::here);
        match found {
            Ok(named) => Ok(named.id),
            Err(ResolveError::Store(error)) => Err(error.into()),
            Err(why) => Err(Refused::NotFound(format!("{why}."))),
        }
    }
}

const VERDICTS: [Verdict; 4] = [
    Verdict::Slower,
    Verdict::Faster,
    Verdict::Same,
    Verdict::Inconclusive,
];

fn no_runs() -> Refused {
    Refused::NotFound("No run is stored yet.".to_owned())
}
