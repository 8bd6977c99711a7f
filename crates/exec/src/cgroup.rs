//! Control groups (version 1 or 2) that limit memory or CPU time of launches.
//!
//! One per run and limit, made if a benchmark of the run needs it. It is recorded in the journal before it is made;
//! without a journal there is none. A word to the supervisor makes a launch join it before its program is executed.

use crate::owned_files::{self, Dir, Identity, check_our_name, fresh_name};
use crate::pidfd;
use crate::resource::{Held, Recorder, Resource, Unavailable, Undo, make_directory, retry};
use gritstone_model::{Benchmark, KernelWork, Work};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Parameter of catalog entries: CPU time limit, percent of one CPU.
pub(crate) const CPU_PERCENT: &str = "cpu_percent";
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
            let Some(group) = owned_files::open_existing(&self.0, identity)? else {
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

/// Atomically where `cgroup.kill` exists (Linux 5.14), else one by one, with fork disabled meanwhile where `pids.max` exists.
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
    fn acquire(parent: &Path, journal: &impl Recorder<Self>) -> Result<Held<Self>, Unavailable> {
        journal.acquire(|| Ok(Self(parent.join(fresh_name("group")?))))
    }

    /// Makes a group below the first of `parents` where one can be made and joined.
    pub(crate) fn below(
        parents: &[PathBuf],
        join: impl Fn(&Self) -> io::Result<()>,
        journal: &impl Recorder<Self>,
    ) -> Confinement {
        let mut nearest = None;
        for parent in parents {
            let group = Self::acquire(parent, journal).and_then(|group| {
                join(&group)?;
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

    pub(crate) fn limit_processes(&self, count: u64) -> io::Result<()> {
        // the controller makes this file; without it, opening fails
        let mut file = fs::File::options().write(true).open(self.0.join("pids.max"))?;
        file.write_all(count.to_string().as_bytes())
    }

    /// Limits memory. Pages beyond the limit go to swap if `swap`, where that can be configured.
    pub(crate) fn allow(&self, bytes: u64, swap: bool) -> io::Result<()> {
        let write_optional = |name: &str, value: &str| match fs::write(self.0.join(name), value) {
            Err(why) if why.kind() != ErrorKind::NotFound => Err(why),
            _ => Ok(()),
        };
        let second = self.0.join("memory.max");
        if !second.exists() {
            write_optional("memory.swappiness", if swap { "100" } else { "0" })?;
            return fs::write(self.0.join("memory.limit_in_bytes"), bytes.to_string());
        }
        write_optional("memory.swap.max", if swap { "max" } else { "0" })?;
        fs::write(second, bytes.to_string())
    }

    /// Processes killed by the kernel for lack of memory.
    pub(crate) fn kills(&self) -> u64 {
        let texts = ["memory.events", "memory.oom_control"].map(|name| self.0.join(name));
        let texts = texts.iter().filter_map(|path| fs::read_to_string(path).ok());
        texts.map(|text| kills_in(&text)).max().unwrap_or(0)
    }

    pub(crate) fn throttle(&self, percent: u64) -> io::Result<()> {
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
    let mut counts = text.lines().filter_map(|line| line.strip_prefix("oom_kill "));
    let count = counts.next().and_then(|count| count.trim().parse().ok());
    count.unwrap_or(0)
}

pub(crate) fn is_confined(benchmark: &Benchmark) -> bool {
    matches!(&benchmark.work, Work::Kernel(work) if work.limits_memory())
}

/// Bytes of a launch's memory limit, if it has one; an error names an invalid parameter.
pub(crate) fn memory_limit(work: &KernelWork, page: u64) -> Result<Option<u64>, String> {
    let limit = |key: &str, unit: u64| {
        let text = work.params.get(key)?;
        let number = text.parse().ok();
        let bytes = number.and_then(|number: u64| number.checked_mul(unit));
        Some(bytes.ok_or_else(|| format!("{key} = {text} is not a whole number, or too large")))
    };
    limit(KernelWork::MEMORY_PAGES, page).or_else(|| limit(KernelWork::MEMORY_BYTES, 1)).transpose()
}

pub fn is_throttled(benchmark: &Benchmark) -> bool {
    matches!(&benchmark.work, Work::Kernel(work) if work.params.contains_key(CPU_PERCENT))
}

#[cfg(test)]
mod tests {
    use super::{kills_in, memory_limit};
    use gritstone_testkit::workload_with;

    #[test]
    fn oom_kills_are_parsed() {
        let first = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        let second = "low 0\nhigh 0\nmax 9\noom 5\noom_kill 4\noom_group_kill 0\n";
        assert_eq!([first, second, ""].map(kills_in), [3, 4, 0]);
    }

    #[test]
    fn memory_limits_are_in_bytes() {
        let limit = |key, value| memory_limit(&workload_with("a/b", &[(key, value)]), 65536);
        assert_eq!(limit("memory_pages", "8"), Ok(Some(8 << 16)));
        assert_eq!(limit("memory_bytes", "2457600"), Ok(Some(2_457_600)));
        assert_eq!(limit("bytes", "1"), Ok(None));
        assert!(limit("memory_bytes", "many").is_err());
    }
}
