//! A control group of our own that holds launches to an amount of memory, in version 1 or 2 of control groups.
//!
//! One a run, made when a row of the run asks for it. It stands in the journal before it is made; without a journal none
//! is. Launches join it by a word to the keeper, before their program is executed.
//!
//! Must not know: how control groups are found, which rows there are.

use crate::journal::written_down;
use crate::places::{fresh_name, must_be_ours};
use crate::{Executor, Journal};
use gritstone_model::{Benchmark, KernelWork, Work};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The parameter of an entry that is carried out here: so many pages of memory its process may have.
const PAGES: &str = "memory_pages";
/// The keeper's word for the group that its program joins.
const JOIN: &str = "group=";
/// How long the killed may take to leave.
const GRACE: Duration = Duration::from_secs(5);

/// The group; it goes when this is dropped, with whoever is still in it.
#[derive(Debug)]
pub(crate) struct Group(PathBuf);

/// What the launches of a run can be held by: a group, or why there is none.
pub(crate) type Confinement = Result<Group, String>;

impl Group {
    /// Makes one below `parent`.
    fn make(parent: &Path, journal: &mut Journal) -> io::Result<Self> {
        let group = parent.join(fresh_name("group"));
        journal.confines(&group)?;
        fs::create_dir(&group)?;
        Ok(Self(group))
    }

    /// Allows it so many bytes; what does not fit goes to swap, or not, where that can be said.
    fn allow(&self, bytes: u64, swap: bool) -> io::Result<()> {
        let second = self.0.join("memory.max");
        if !second.exists() {
            let swappiness = if swap { "100" } else { "0" };
            match fs::write(self.0.join("memory.swappiness"), swappiness) {
                Err(why) if why.kind() != ErrorKind::NotFound => return Err(why),
                _ => {}
            }
            return fs::write(self.0.join("memory.limit_in_bytes"), bytes.to_string());
        }
        let most = if swap { "max" } else { "0" };
        match fs::write(self.0.join("memory.swap.max"), most) {
            Err(why) if why.kind() != ErrorKind::NotFound => return Err(why),
            _ => {}
        }
        fs::write(second, bytes.to_string())
    }

    /// Writes a number to one of its files.
    pub(crate) fn write(&self, file: &str, number: u64) -> io::Result<()> {
        fs::write(self.0.join(file), number.to_string())
    }

    /// The keeper's word.
    pub(crate) fn word(&self) -> String {
        format!("{JOIN}{}", self.0.display())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // what cannot be removed now stays in the journal, which tries again
        let _ = remove(&self.0);
    }
}

/// Kills whoever is in a group of ours, and removes it, if it is there.
pub(crate) fn remove(group: &Path) -> io::Result<()> {
    must_be_ours(group)?;
    let end = Instant::now() + GRACE;
    loop {
        match fs::remove_dir(group) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(()),
            Err(why) if why.kind() == ErrorKind::ResourceBusy && Instant::now() < end => {}
            done => return done,
        }
        let members = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        // 0 is a process of another namespace, and to us it would mean ourselves
        for pid in members.lines().filter_map(|pid| pid.parse().ok()) {
            if pid > 0 {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a row asks to be held to an amount of memory.
#[must_use]
pub fn is_confined(benchmark: &Benchmark) -> bool {
    matches!(&benchmark.work, Work::Kernel(work) if work.params.contains_key(PAGES))
}

impl Executor {
    /// From now on, rows that ask for it are held to their memory by a control group below the first of `parents` where one
    /// can be made and joined. Where there is none, their launches say so and why.
    pub fn confine(&mut self, parents: &[PathBuf], journal: Option<&mut Journal>) {
        self.confinement = written_down(journal, |journal| self.group(parents, journal));
    }

    fn group(&self, parents: &[PathBuf], journal: &mut Journal) -> Confinement {
        let mut tried = vec![];
        for parent in parents {
            let made = Group::make(parent, journal).map_err(|why| why.to_string());
            let joined = made.and_then(|group| {
                self.attempt(&group.word())?;
                Ok(group)
            });
            match joined {
                Ok(group) => return Ok(group),
                Err(why) => tried.push(format!("{}: {why}", parent.display())),
            }
        }
        match tried.first() {
            None => Err("no control group here hands down the control of memory".to_owned()),
            Some(nearest) => Err(format!("{nearest}; it takes root, or a group of one's own")),
        }
    }

    /// A group below the first of `parents` where one can be made and joined that has this file.
    pub(crate) fn group_with(
        &self,
        parents: &[PathBuf],
        journal: &mut Journal,
        file: &str,
    ) -> Option<Group> {
        parents.iter().find_map(|parent| {
            let group = Group::make(parent, journal).ok()?;
            let fits = group.0.join(file).exists() && self.attempt(&group.word()).is_ok();
            fits.then_some(group)
        })
    }

    /// The group that a kernel joins, and arguments that tell it of that; neither for a row that asks for none.
    ///
    /// # Errors
    /// When a number is none, or the group refuses it: such a launch has failed.
    pub(crate) fn held(
        &self,
        work: &KernelWork,
    ) -> Result<(Option<&Group>, Vec<OsString>), String> {
        let mut told: Vec<OsString> = self.unswapped(work).into_iter().collect();
        let Some(pages) = work.params.get(PAGES) else {
            return Ok((None, told));
        };
        let group = match &self.confinement {
            Ok(group) => group,
            Err(why) => {
                told.push(format!("unconfined={why}").into());
                return Ok((None, told));
            }
        };
        let size = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
        let bytes = pages
            .parse()
            .ok()
            .zip(size.and_then(|size| u64::try_from(size).ok()))
            .and_then(|(pages, size): (u64, u64)| pages.checked_mul(size))
            .ok_or_else(|| format!("{PAGES} = {pages} is no number of pages"))?;
        group
            .allow(bytes, self.may_swap(work))
            .map_err(|why| format!("cannot hold {} to {bytes} bytes: {why}", group.0.display()))?;
        told.push("confined=yes".into());
        Ok((Some(group), told))
    }
}
