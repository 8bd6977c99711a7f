//! Control groups, versions 1 and 2: the directories that govern this process, and their limits.

use crate::Root;
use crate::mounts::{self, Mount};
use std::path::{Path, PathBuf};

/// Most levels read.
const MAX_LEVELS: usize = 32;

/// Limits of version 1 at or above this mean "none" (the kernel prints the largest page-aligned number).
const NO_LIMIT: u64 = 1 << 60;

/// Limits of the control groups above this process. `None`: no visible limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cgroup {
    /// Version of the hierarchy that governs CPU time, 1 or 2.
    pub version: Option<u8>,
    /// CPU quota, in CPUs.
    pub cpus: Option<f64>,
    /// Bytes.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// Further processes that may start now.
    pub processes_left: Option<u64>,
}

impl Cgroup {
    pub(super) fn read(root: &Root) -> Self {
        let cpu = levels(root, "cpu");
        let pids = levels(root, "pids").unwrap_or_default();
        let memory = levels(root, "memory").unwrap_or_default();
        Self {
            version: cpu.as_ref().map(|levels| levels.version),
            cpus: cpu
                .unwrap_or_default()
                .limits(|version, level| quota(root, version, level))
                .min_by(f64::total_cmp),
            memory: memory.limits(|version, level| memory_limit(root, version, level)).min(),
            processes: pids.limits(|_, level| root.number(&format!("{level}/pids.max"))).min(),
            processes_left: pids.limits(|_, level| processes_left(root, level)).min(),
        }
    }
}

/// The directories that govern this process for one controller: its own, then each visible one above.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Levels {
    /// Version of the hierarchy, 1 or 2.
    pub version: u8,
    /// Absolute paths.
    pub directories: Vec<String>,
}

impl Levels {
    /// `limit` of each level that has one.
    pub(crate) fn limits<T>(
        &self,
        limit: impl Fn(u8, &str) -> Option<T>,
    ) -> impl Iterator<Item = T> {
        self.directories.iter().filter_map(move |directory| limit(self.version, directory))
    }
}

/// `None` if the controller is not mounted.
pub(crate) fn levels(root: &Root, controller: &str) -> Option<Levels> {
    let mounts = mounts::parse(&root.text("/proc/self/mountinfo")?);
    let groups = root.text("/proc/self/cgroup")?;
    let is_v1 = |mount: &&Mount| {
        let mut options = mount.super_options.iter();
        mount.fs_type == "cgroup" && options.any(|option| option == controller)
    };
    let is_v2 = |mount: &&Mount| {
        let file = format!("{}/cgroup.controllers", mount.point.display());
        mount.fs_type == "cgroup2" && lists(root, &file, controller)
    };
    let (version, mount) = match mounts.iter().find(is_v1) {
        Some(mount) => (1, mount),
        None => (2, mounts.iter().find(is_v2)?),
    };
    let group = own_group(&groups, if version == 1 { controller } else { "" })?;
    Some(Levels { version, directories: directories(root, mount, group) })
}

/// Directories in which a new control group may be able to limit `what` (memory, pids), nearest first; of version 2
/// only those that delegate the controller. Only trying shows whether a group can be made there.
pub fn groups_for(root: &Root, what: &str) -> Vec<PathBuf> {
    let levels = levels(root, what).unwrap_or_default();
    let delegates = |level: &str| lists(root, &format!("{level}/cgroup.subtree_control"), what);
    let mut directories = levels.directories;
    directories.retain(|level| levels.version == 1 || delegates(level));
    directories.into_iter().map(PathBuf::from).collect()
}

fn lists(root: &Root, file: &str, word: &str) -> bool {
    let line = root.line(file);
    line.is_some_and(|line| line.split(' ').any(|one| one == word))
}

/// The group of this process in the hierarchy of `controller`; that of version 2 for an empty name.
fn own_group<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let (_number, line) = line.split_once(':')?;
        let (controllers, path) = line.split_once(':')?;
        let mut controllers = controllers.split(',');
        controllers.any(|name| name == controller).then_some(path)
    })
}

/// From the group's own directory up to the mount point. In a container the mount may show only a part of the
/// hierarchy, and the group's path may be the host's: then the mount point is the group's directory.
fn directories(root: &Root, mount: &Mount, group: &str) -> Vec<String> {
    let below = Path::new(group)
        .strip_prefix(&mount.root)
        .ok()
        .filter(|path| {
            path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
        })
        .unwrap_or(Path::new(""));
    below
        .ancestors()
        .take(MAX_LEVELS)
        .map(|part| mount.point.join(part).display().to_string())
        .map(|directory| directory.trim_end_matches('/').to_owned())
        .filter(|directory| root.exists(directory))
        .collect()
}

/// CPU quota of a level, in CPUs.
pub(crate) fn quota(root: &Root, version: u8, level: &str) -> Option<f64> {
    let (quota, period): (f64, f64) = if version == 1 {
        (
            root.number(&format!("{level}/cpu.cfs_quota_us"))?,
            root.number(&format!("{level}/cpu.cfs_period_us"))?,
        )
    } else {
        let line = root.line(&format!("{level}/cpu.max"))?;
        let (quota, period) = line.split_once(' ')?;
        (quota.parse().ok()?, period.parse().ok()?)
    };
    // no quota is -1 in version 1 and "max" in version 2
    (quota.is_finite() && quota > 0.0 && period.is_finite() && period > 0.0).then(|| quota / period)
}

/// Bytes.
pub(crate) fn memory_limit(root: &Root, version: u8, level: &str) -> Option<u64> {
    let file = if version == 1 { "memory.limit_in_bytes" } else { "memory.max" };
    root.number(&format!("{level}/{file}")).filter(|&limit| limit < NO_LIMIT)
}

fn processes_left(root: &Root, level: &str) -> Option<u64> {
    let max: u64 = root.number(&format!("{level}/pids.max"))?;
    let now: u64 = root.number(&format!("{level}/pids.current"))?;
    Some(max.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysroot::recorded_files;

    #[test]
    fn own_groups() {
        let groups = "9:name=systemd:/\n4:memory:/a\n1:cpu,cpuacct:/a/b\n0::/user.slice/x:y\n";
        for (controller, group) in [
            ("cpu", Some("/a/b")),
            ("memory", Some("/a")),
            ("", Some("/user.slice/x:y")),
            ("pids", None),
        ] {
            assert_eq!(own_group(groups, controller), group, "{controller}");
        }
    }

    #[test]
    fn groups_must_delegate_memory() {
        let expected = ["/sys/fs/cgroup/user", "/sys/fs/cgroup"].map(PathBuf::from);
        for (group, mounted, expected) in [
            ("0::/user/session\n", "cgroup2 cgroup2 rw", &expected[..]),
            // version 1 has no such list
            ("4:memory:/user\n", "cgroup cgroup rw,memory", &expected),
            ("", "", &[]),
        ] {
            let mount = format!("1 0 0:1 / /sys/fs/cgroup rw - {mounted}\n");
            let (_kept, root) = recorded_files(&[
                ("/proc/self/cgroup", group),
                ("/proc/self/mountinfo", &mount),
                ("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
                ("/sys/fs/cgroup/cgroup.subtree_control", "cpu memory"),
                ("/sys/fs/cgroup/user/cgroup.subtree_control", "memory"),
                ("/sys/fs/cgroup/user/session/cgroup.subtree_control", ""),
            ]);
            assert_eq!(groups_for(&root, "memory"), expected, "{mounted}");
        }
    }

    #[test]
    fn directories_stay_within_the_mount() {
        let (_kept, root) = recorded_files(&[("/sys/fs/cgroup/cpu/a/b/x", "")]);
        let all = ["/a/b", "/a", ""].map(|below| format!("/sys/fs/cgroup/cpu{below}"));
        for (mounted, group, seen) in [
            ("/", "/a/b", &all[..]),
            ("/docker/1", "/docker/1/a/b", &all),
            // a container that sees the host's path, and one whose group lies outside its namespace
            ("/", "/docker/1", &all[2..]),
            ("/", "/../../elsewhere", &all[2..]),
            ("/docker/1", "/docker/10", &all[2..]),
        ] {
            let line = format!("1 0 0:1 {mounted} /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu");
            let found = directories(&root, &mounts::parse(&line)[0], group);
            assert_eq!(found, seen, "{group} in {mounted}");
        }
    }
}
