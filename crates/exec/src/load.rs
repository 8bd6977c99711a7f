//! The load beside launches: programs of ours that work until they are ended, one for each level, each under a keeper.
//!
//! What a row asks for is started before its launch and lives on for the next one; a lower level ends what is above it. All of
//! it stands in the journal before it is started, as a mark in its environment, so that even what has lost its keeper is found.

use crate::journal::Journal;
use crate::ours::{Identity, fresh_name, must_have_our_name, remove_within};
use crate::process::{Kept, Task};
use crate::resource::{Back, GRACE, Held, Resource, Thing, Unavailable};
use crate::{ExecError, Executor, pidfd};
use gritstone_kernels::KEEPER;
use gritstone_model::{Benchmark, Event};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The variable in the environment of all that a load starts.
const MARK: &str = "GRITSTONE_LOAD";
/// The part that executes what it has compiled, and so must stand where that is allowed; the others work on files.
const COMPILES: &str = "load/users";
/// What a part writes as soon as it is at work: pieces of work done, a blank, and what they are.
const PROGRESS: &str = "progress";
/// What a part writes that is not what the level asks for: a sentence that says so.
const STAND_IN: &str = "stand_in";
/// How long a part may take to be at work: so many users compile first.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked at until then.
const LOOK: Duration = Duration::from_millis(20);

/// The load of a run; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Load {
    /// What is at work, from level 1. It ends before all with the mark does: fields are dropped in this order.
    parts: Vec<Part>,
    /// Its mark, or why none may be started.
    pub(crate) mark: Result<Held<Mark>, Unavailable>,
    /// Programs that could not be started, and why: once is enough.
    refused: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Part {
    program: String,
    directory: PathBuf,
    kept: Option<Kept>,
}

/// How far each part was at some time.
pub(crate) struct Far {
    when: Instant,
    done: Vec<u64>,
}

/// What all processes of a load have in their environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark(pub(crate) String);

impl From<Mark> for Thing {
    fn from(it: Mark) -> Self {
        Self::Load(it)
    }
}

impl Resource for Mark {
    fn make(&self) -> io::Result<Option<Identity>> {
        Ok(None)
    }

    /// Kills every process with this mark, whoever keeps it.
    fn undo(&self, _: Option<Identity>) -> io::Result<Back> {
        must_have_our_name(Path::new(&self.0))?;
        let mark = format!("{MARK}={}\0", self.0).into_bytes();
        let end = Instant::now() + GRACE;
        loop {
            let marked: Vec<i32> = fs::read_dir("/proc")?
                .flatten()
                .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
                .filter(|pid| has(*pid, &mark))
                .collect();
            if marked.is_empty() {
                return Ok(Back::Gone);
            }
            if Instant::now() >= end {
                return Err(io::Error::other("some of its processes cannot be killed"));
            }
            for pid in marked {
                pidfd::kill_if(pid, || has(pid, &mark));
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Mark {
    /// One that nobody else has.
    pub(crate) fn acquire(journal: &mut Journal) -> Result<Held<Self>, Unavailable> {
        journal.acquire(|| Ok(Self(fresh_name("load")?)))
    }
}

impl Load {
    /// One that may be started, or why not.
    pub(crate) fn with(mark: Result<Held<Mark>, Unavailable>) -> Self {
        Self {
            parts: vec![],
            mark,
            refused: BTreeMap::new(),
        }
    }

    /// How far its parts are.
    pub(crate) fn far(&self) -> Far {
        Far {
            when: Instant::now(),
            done: self.parts.iter().map(|part| part.done().0).collect(),
        }
    }

    /// What its parts have done since: for each, pieces of work an hour and what they are, and what stood in for what.
    pub(crate) fn since(&self, before: &Far) -> Vec<Event> {
        let hours = before.when.elapsed().as_secs_f64() / 3600.0;
        let mut events = vec![];
        for (part, earlier) in self.parts.iter().zip(&before.done) {
            let (done, of) = part.done();
            let rate = done.saturating_sub(*earlier) as f64 / hours;
            events.push(Event::Param {
                key: part.program.clone(),
                value: format!("{rate:.0} {of}"),
            });
            if let Ok(text) = fs::read_to_string(part.directory.join(STAND_IN)) {
                events.push(Event::Param {
                    key: STAND_IN.to_owned(),
                    value: text.trim().to_owned(),
                });
            }
        }
        events
    }

    /// Why it is not what it should be any more, if that is so; the dead parts are ended then.
    pub(crate) fn broken(&mut self) -> Option<String> {
        let dead = self.parts.iter_mut().position(Part::has_ended)?;
        let part = self.parts.drain(dead..).next()?;
        Some(part.end())
    }

    fn shrink(&mut self, level: usize) {
        while self.parts.len() > level {
            self.parts.pop();
        }
    }
}

impl Part {
    /// Pieces of work, and what they are; nothing before it is at work.
    fn done(&self) -> (u64, String) {
        let text = fs::read_to_string(self.directory.join(PROGRESS)).unwrap_or_default();
        let (done, of) = text.split_once(' ').unwrap_or_default();
        (done.parse().unwrap_or(0), of.trim().to_owned())
    }

    fn is_at_work(&self) -> bool {
        fs::metadata(self.directory.join(PROGRESS)).is_ok_and(|file| file.len() > 0)
    }

    fn has_ended(&mut self) -> bool {
        self.kept.as_mut().is_none_or(Kept::has_ended)
    }

    /// Ends it; what it has said of its end.
    fn end(mut self) -> String {
        let ended = self.kept.take().map(Kept::end);
        match ended {
            Some(Ok(ended)) if !ended.stderr.is_empty() => ended.stderr,
            Some(Err(why)) => why.to_string(),
            _ => "it ended and did not say why".to_owned(),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.kept.take().map(Kept::end);
        let _ = remove_within(&self.directory);
    }
}

impl Executor {
    /// Brings the load to what a row asks for; in the inner result, why it cannot be had.
    pub(crate) fn load_for(
        &mut self,
        benchmark: &Benchmark,
    ) -> Result<Result<(), String>, ExecError> {
        let wanted = benchmark.load();
        let same = |(part, wanted): &(&Part, &&str)| part.program == **wanted;
        let kept = self.load.parts.iter().zip(&wanted).take_while(same).count();
        self.load.shrink(kept);
        for program in &wanted[kept..] {
            if let Some(why) = self.load.refused.get(*program) {
                return Ok(Err(why.clone()));
            }
            if let Err(why) = self.start_part(program)? {
                let why = format!("The load cannot be made: {why}");
                self.load.refused.insert((*program).to_owned(), why.clone());
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    /// Starts a part, and waits until it is at work.
    fn start_part(&mut self, name: &str) -> Result<Result<(), String>, ExecError> {
        let mark = match &self.load.mark {
            Ok(mark) => mark.0.clone(),
            Err(why) => return Ok(Err(why.to_string())),
        };
        let directory = self.setup.places.fresh(name != COMPILES)?;
        let (keeper, program) = (self.path_of(KEEPER)?, self.path_of(name)?);
        let mut environment = self.environment(&directory);
        environment.insert(MARK.to_owned(), mark.into());
        let programs = self.setup.programs.iter();
        let arguments = programs.map(|(need, path)| {
            let mut argument = OsString::from(format!("{need}="));
            argument.push(path);
            argument
        });
        let kept = Kept::start(&Task {
            keeper: &keeper,
            cpus: &self.setup.cpus,
            steady: "-",
            program: &program,
            arguments: arguments.collect(),
            directory: &directory,
            environment: &environment,
            deadline: PATIENCE,
            stop: &self.setup.stop,
        })?;
        let mut part = Part {
            program: name.to_owned(),
            directory,
            kept: Some(kept),
        };
        let end = Instant::now() + PATIENCE;
        while !part.is_at_work() {
            if self.setup.stop.load(Ordering::Relaxed) {
                return Err(ExecError::Interrupted);
            }
            if part.has_ended() {
                return Ok(Err(part.end()));
            }
            if Instant::now() >= end {
                return Ok(Err(format!(
                    "{name} was not at work after {} s",
                    PATIENCE.as_secs()
                )));
            }
            std::thread::sleep(LOOK);
        }
        self.load.parts.push(part);
        Ok(Ok(()))
    }
}

/// Whether a process has the mark; another user's cannot be read, and is none of ours.
fn has(pid: i32, mark: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.windows(mark.len()).any(|part| part == mark)
}
