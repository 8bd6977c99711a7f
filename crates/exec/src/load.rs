//! Background load: embedded programs that work until ended, one per level, each under a supervisor.
//!
//! The load of a benchmark is started before its launch and kept for the next one; a lower level ends the programs
//! above it. A tag in the environment is recorded in the journal before the start, so that processes are found even
//! without their supervisor.

use crate::owned_files::{Identity, check_our_name, fresh_name, remove_within};
use crate::process::Supervised;
use crate::resource::{GRACE_PERIOD, Held, Recorder, Resource, Unavailable, Undo};
use crate::{ExecError, owner, pidfd};
use gritstone_model::{Event, Param};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Environment variable of all processes of a load.
pub(crate) const TAG_VARIABLE: &str = "GRITSTONE_LOAD";
/// Load program that executes what it compiles, so that its directory must permit execution.
pub(crate) const COMPILING_LOAD: &str = "load/users";
/// Written by a program once it works: pieces of work done, a blank, and their name.
const PROGRESS: &str = "progress";
/// Written by a program that replaces what the level calls for: an explanation.
const STAND_IN: &str = "stand_in";
/// Generous, since a program may compile for many users before it is ready.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Programs of the current level, ended on drop.
#[derive(Debug)]
pub(crate) struct Load {
    /// From level 1. Dropped before the tag, which kills the rest.
    parts: Vec<Part>,
    /// The tag, or why no load may be started.
    pub(crate) tag: Result<Held<LoadTag>, Unavailable>,
    /// Programs that could not be started, and why: tried once.
    refused: BTreeMap<String, String>,
}

#[derive(Debug)]
struct Part {
    program: String,
    directory: PathBuf,
    supervised: Option<Supervised>,
}

pub(crate) struct Progress {
    when: Instant,
    done: Vec<u64>,
}

/// Value of the environment variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LoadTag(pub(crate) String);

impl Resource for LoadTag {
    fn make(&self) -> io::Result<Option<Identity>> {
        Ok(None)
    }

    /// Kills every process with this tag, including daemons.
    fn undo(&self, _: Option<Identity>) -> io::Result<Undo> {
        check_our_name(Path::new(&self.0))?;
        if !owner::sees_processes() {
            let why = "/proc does not show the processes of this pid namespace: mount it there (unshare --mount-proc)";
            return Err(io::Error::other(why));
        }
        let tag = format!("{TAG_VARIABLE}={}\0", self.0).into_bytes();
        let end = Instant::now() + GRACE_PERIOD;
        loop {
            let tagged: Vec<i32> = fs::read_dir("/proc")?
                .flatten()
                .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
                .filter(|pid| has_tag(*pid, &tag))
                .collect();
            if tagged.is_empty() {
                return Ok(Undo::Gone);
            }
            if Instant::now() >= end {
                return Err(io::Error::other("some of its processes could not be killed"));
            }
            for pid in tagged {
                pidfd::kill_if(pid, || has_tag(pid, &tag));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn remedy(&self) -> (String, &'static str) {
        (format!("cannot end the load {}", self.0), "")
    }
}

impl LoadTag {
    pub(crate) fn acquire(journal: &impl Recorder<Self>) -> Result<Held<Self>, Unavailable> {
        journal.acquire(|| Ok(Self(fresh_name("load")?)))
    }
}

impl Load {
    pub(crate) fn new(tag: Result<Held<LoadTag>, Unavailable>) -> Self {
        Self { parts: vec![], tag, refused: BTreeMap::new() }
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress {
            when: Instant::now(),
            done: self.parts.iter().map(|part| part.done().0).collect(),
        }
    }

    /// Work of each program since `before`, per hour, and its stand-in.
    pub(crate) fn since(&self, before: &Progress) -> Vec<Event> {
        let hours = before.when.elapsed().as_secs_f64() / 3600.0;
        let mut events = vec![];
        for (part, earlier) in self.parts.iter().zip(&before.done) {
            let (done, unit) = part.done();
            let rate = done.saturating_sub(*earlier) as f64 / hours;
            let rate = Param::new(&*part.program, format!("{rate:.0} {unit}"));
            events.push(Event::Param(rate));
            if let Ok(text) = fs::read_to_string(part.directory.join(STAND_IN)) {
                events.push(Event::Param(Param::StandIn(text.trim().to_owned())));
            }
        }
        events
    }

    /// Removes the first program that ended and all above it; returns its error output.
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
    /// Units of work done and their name; empty until the first one.
    fn done(&self) -> (u64, String) {
        let text = fs::read_to_string(self.directory.join(PROGRESS)).unwrap_or_default();
        let (done, unit) = text.split_once(' ').unwrap_or_default();
        (done.parse().unwrap_or(0), unit.trim().to_owned())
    }

    fn is_at_work(&self) -> bool {
        fs::metadata(self.directory.join(PROGRESS)).is_ok_and(|file| file.len() > 0)
    }

    fn has_ended(&mut self) -> bool {
        match &mut self.supervised {
            Some(supervised) => supervised.has_ended().unwrap_or(true),
            None => true,
        }
    }

    /// Ends the program; returns its error output.
    fn end(mut self) -> String {
        let ended = self.supervised.take().map(Supervised::end);
        match ended {
            Some(Ok(ended)) if !ended.stderr.is_empty() => ended.stderr,
            Some(Err(why)) => why.to_string(),
            _ => "it ended without a message".to_owned(),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.supervised.take().map(Supervised::end);
        let _ = remove_within(&self.directory);
    }
}

impl Load {
    /// Adjusts the load to these programs. `start` gets the name of a program and the tag, and returns the directory.
    pub(crate) fn adjust(
        &mut self,
        wanted: &[&str],
        stop: &AtomicBool,
        start: impl Fn(&str, &str) -> Result<(PathBuf, Supervised), ExecError>,
    ) -> Result<(), ExecError> {
        let same = |(part, wanted): &(&Part, &&str)| part.program == **wanted;
        let common = self.parts.iter().zip(wanted).take_while(same).count();
        self.shrink(common);
        for program in &wanted[common..] {
            if let Some(why) = self.refused.get(*program) {
                return Err(ExecError::NoLoad(why.clone()));
            }
            let tag = self.tag.as_ref();
            let tag = tag.map_err(|why| ExecError::NoLoad(why.to_string()));
            let part = tag.and_then(|tag| {
                let (directory, supervised) = start(program, &tag.0)?;
                let part = Part {
                    program: (*program).to_owned(),
                    directory,
                    supervised: Some(supervised),
                };
                part.wait_until_working(stop)
            });
            if let Err(ExecError::NoLoad(why)) = &part {
                self.refused.insert((*program).to_owned(), why.clone());
            }
            self.parts.push(part?);
        }
        Ok(())
    }
}

impl Part {
    fn wait_until_working(mut self, stop: &AtomicBool) -> Result<Self, ExecError> {
        let end = Instant::now() + START_TIMEOUT;
        while !self.is_at_work() {
            if stop.load(Ordering::Relaxed) {
                return Err(ExecError::Interrupted);
            }
            if self.has_ended() {
                return Err(ExecError::NoLoad(self.end()));
            }
            if Instant::now() >= end {
                let seconds = START_TIMEOUT.as_secs();
                let why = format!("{} was not ready after {seconds} s", self.program);
                return Err(ExecError::NoLoad(why));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(self)
    }
}

/// False for other users' processes, whose environment cannot be read.
fn has_tag(pid: i32, tag: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.windows(tag.len()).any(|part| part == tag)
}
