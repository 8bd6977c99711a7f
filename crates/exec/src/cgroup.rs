//! Control groups (version 1 or 2) that limit memory or CPU time of launches.
//!
//! One per run and limit, made if a benchmark of the run needs it. It is recorded in the journal before it is made;
//! without a journal there is none. A word to the supervisor makes a launch join it before its program is executed.

use crate::journal::Journal;
use crate::owned_files::{self, Dir, Identity, check_our_name, fresh_name};
use crate::resource::{Held, Resource, Thing, Unavailable, Undo, make_directory, retry};
use crate::setup::Setup;
use crate::{Executor, pidfd};
use gritstone_model::{Benchmark, KernelWork, Work};
use nix::unistd::{SysconfVar, sysconf};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Parameter of catalog entries: memory limit of the launch, pages.
const PAGES: &str = "memory_pages";
/// Parameter of catalog entries: CPU time limit, percent of one CPU.
const SHARE: &str = "cpu_percent";
/// Period of CPU time limits, us: the default of Linux.
const PERIOD: u64 = 100_000;
/// Supervisor's word for the group to join.
const JOIN: &str = "group=";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Group(pub(crate) PathBuf);

pub(crate) type Confinement = Result<Held<Group>, Unavailable>;

impl Resource for Group {
    fn make(&self) -> io::Result<Option<Identity>> {
        make_directory(&self.0)
    }

    /// Kills all members, and removes the group.
    fn undo(&self, identity: Option<Identity>) -> io::Result<Undo> {
        check_our_name(&self.0)?;
        retry(ErrorKind::ResourceBusy, || {
            let Some(group) = owned_files::open_made(&self.0, identity)? else {
                return Ok(Undo::Gone);
            };
            match fs::remove_dir(&self.0) {
                Err(why) if why.kind() == ErrorKind::NotFound => Ok(Undo::Gone),
                Err(why) => {
                    kill_all(&group);
                    Err(why)
                }
                Ok(()) => Ok(Undo::Gone),
            }
        })
    }

    fn remedy(&self) -> (String, &'static str) {
        (format!("cannot remove {}", self.0.display()), "")
    }
}

/// At once where `cgroup.kill` exists (Linux 5.14), else one by one, with fork disabled meanwhile where `pids.max`
/// exists.
fn kill_all(group: &Dir) {
    let here = group.by_descriptor();
    if fs::write(here.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    let _ = fs::write(here.join("pids.max"), "0");
    let members = || -> Vec<i32> {
        let text = fs::read_to_string(here.join("cgroup.procs")).unwrap_or_default();
        let all = text.lines().filter_map(|pid| pid.parse().ok());
        // 0 is a process of another namespace; kill(2) would take it for our group
        all.filter(|pid| *pid > 0).collect()
    };
    for pid in members() {
        pidfd::kill_if(pid, || members().contains(&pid));
    }
}

impl Group {
    fn acquire(parent: &Path, journal: &Journal) -> Result<Held<Self>, Unavailable> {
        journal.acquire(Thing::Group, || Ok(Self(parent.join(fresh_name("group")?))))
    }

    /// Makes a group below the first of `parents` where one can be made and joined.
    pub(crate) fn below(parents: &[PathBuf], setup: &Setup, journal: &Journal) -> Confinement {
        let mut nearest = None;
        for parent in parents {
            let group = Self::acquire(parent, journal).and_then(|group| {
                setup.attempt(&group.word()).map_err(io::Error::other)?;
                Ok(group)
            });
            match group {
                Ok(group) => return Ok(group),
                Err(why) => {
                    nearest.get_or_insert_with(|| Unavailable::Group {
                        parent: parent.clone(),
                        why: why.to_string(),
                    });
                }
            }
        }
        Err(nearest.unwrap_or(Unavailable::NoGroup))
    }

    /// Makes a group below the first of `parents` where one can be made and joined and has `file`, and writes
    /// `number` to it.
    pub(crate) fn with_limit(
        parents: &[PathBuf],
        setup: &Setup,
        journal: &Journal,
        (file, number): (&str, u64),
    ) -> Option<Held<Self>> {
        parents.iter().find_map(|parent| {
            let group = Self::acquire(parent, journal).ok()?;
            let fits = group.0.join(file).exists() && setup.attempt(&group.word()).is_ok();
            let bounded = fits && fs::write(group.0.join(file), number.to_string()).is_ok();
            bounded.then_some(group)
        })
    }

    /// Limits memory. Pages beyond the limit go to swap if `swap`, where that can be configured.
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

    /// Processes killed by the kernel for lack of memory.
    pub(crate) fn kills(&self) -> u64 {
        let texts = ["memory.events", "memory.oom_control"].map(|name| self.0.join(name));
        let texts = texts
            .iter()
            .filter_map(|path| fs::read_to_string(path).ok());
        texts.map(|text| kills_in(&text)).max().unwrap_or(0)
    }

    fn throttle(&self, percent: u64) -> io::Result<()> {
        let quota = percent * PERIOD / 100;
        let second = self.0.join("cpu.max");
        if second.exists() {
            return fs::write(second, format!("{quota} {PERIOD}"));
        }
        fs::write(self.0.join("cpu.cfs_period_us"), PERIOD.to_string())?;
        fs::write(self.0.join("cpu.cfs_quota_us"), quota.to_string())
    }

    pub(crate) fn word(&self) -> String {
        format!("{JOIN}{}", self.0.display())
    }
}

fn kills_in(text: &str) -> u64 {
    let mut counts = text
        .lines()
        .filter_map(|line| line.strip_prefix("oom_kill "));
    let count = counts.next().and_then(|count| count.trim().parse().ok());
    count.unwrap_or(0)
}

#[must_use]
pub fn is_confined(benchmark: &Benchmark) -> bool {
    matches!(&benchmark.work, Work::Kernel(work) if work.params.contains_key(PAGES))
}

#[must_use]
pub fn is_throttled(benchmark: &Benchmark) -> bool {
    matches!(&benchmark.work, Work::Kernel(work) if work.params.contains_key(SHARE))
}

impl Executor {
    /// The group that a workload joins, if any, and arguments that report why there is none. An error is the failure
    /// of the launch.
    pub(crate) fn join_group(
        &self,
        work: &KernelWork,
    ) -> Result<(Option<&Group>, Vec<OsString>), String> {
        let mut told: Vec<OsString> = self.unswapped(work).into_iter().collect();
        if let Some(percent) = work.params.get(SHARE) {
            return self.throttled(percent, told);
        }
        let Some(pages) = work.params.get(PAGES) else {
            return Ok((None, told));
        };
        let group = match self.acquired.confinement.as_deref() {
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
            .ok_or_else(|| format!("{PAGES} = {pages} is not a number of pages"))?;
        group
            .allow(bytes, self.may_swap(work))
            .map_err(|why| format!("cannot hold {} to {bytes} bytes: {why}", group.0.display()))?;
        told.push("confined=yes".into());
        Ok((Some(group), told))
    }

    fn throttled(
        &self,
        percent: &str,
        mut told: Vec<OsString>,
    ) -> Result<(Option<&Group>, Vec<OsString>), String> {
        let group = match self.acquired.throttle.as_deref() {
            Ok(group) => group,
            Err(why) => {
                told.push(format!("unthrottled={why}").into());
                return Ok((None, told));
            }
        };
        let number = percent
            .parse()
            .ok()
            .filter(|number| (1..=1_000_000).contains(number));
        let number = number.ok_or_else(|| {
            format!("{SHARE} = {percent} is not a percentage of a CPU from 1 to 1000000")
        })?;
        group
            .throttle(number)
            .map_err(|why| format!("cannot hold {} to {number}%: {why}", group.0.display()))?;
        Ok((Some(group), told))
    }
}

#[cfg(test)]
mod tests {
    use super::kills_in;

    #[test]
    fn oom_kills_are_parsed() {
        let first = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        let second = "low 0\nhigh 0\nmax 9\noom 5\noom_kill 4\noom_group_kill 0\n";
        assert_eq!([first, second, ""].map(kills_in), [3, 4, 0]);
    }
}
