//! Control groups, versions 1 and 2: which directories govern this process, and what they allow it.

use crate::Root;
use crate::mounts::{self, Mount};
use std::path::{Path, PathBuf};

/// Deeper nesting than this is not looked at.
const DEEPEST: usize = 32;

/// Limits of version 1 at or above this mean "none" (the kernel prints the largest page-aligned number).
const NO_LIMIT: u64 = 1 << 60;

/// What the control groups above this process allow. `None`: no limit, or none that can be seen from here.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cgroup {
    /// 1 or 2: the version of the hierarchy that governs CPU time.
    pub version: Option<u8>,
    /// How many CPUs' worth of time it may use.
    pub cpus: Option<f64>,
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u64>,
    /// How many more it may start now.
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
            memory: memory
                .limits(|version, level| memory_limit(root, version, level))
                .min(),
            processes: pids
                .limits(|_, level| root.number(&format!("{level}/pids.max")))
                .min(),
            processes_left: pids.limits(|_, level| processes_left(root, level)).min(),
        }
    }
}

/// The directories that govern this process for one controller, its own first, then each above it as far as can be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Levels {
    /// Version of the hierarchy.
    pub version: u8,
    /// Absolute paths.
    pub directories: Vec<String>,
}

impl Levels {
    /// What `limit` finds on each level, where there is one.
    pub(crate) fn limits<T>(
        &self,
        limit: impl Fn(u8, &str) -> Option<T>,
    ) -> impl Iterator<Item = T> {
        self.directories
            .iter()
            .filter_map(move |directory| limit(self.version, directory))
    }
}

/// The levels of `controller`; `None` where it is not mounted.
pub(crate) fn levels(root: &Root, controller: &str) -> Option<Levels> {
    let mounts = mounts::parse(&root.text("/proc/self/mountinfo")?);
    let groups = root.text("/proc/self/cgroup")?;
    let first = |mount: &&Mount| {
        let mut options = mount.super_options.iter();
        mount.fs_type == "cgroup" && options.any(|option| option == controller)
    };
    let second = |mount: &&Mount| {
        let file = format!("{}/cgroup.controllers", mount.point.display());
        mount.fs_type == "cgroup2" && lists(root, &file, controller)
    };
    let (version, mount) = match mounts.iter().find(first) {
        Some(mount) => (1, mount),
        None => (2, mounts.iter().find(second)?),
    };
    let own = own_group(&groups, if version == 1 { controller } else { "" })?;
    Some(Levels {
        version,
        directories: directories(root, mount, own),
    })
}

/// Directories of control groups below which a new one can limit `what` (memory, pids), the nearest to this process first: of version 2
/// only those that hand its controller down. Whether a group may be made there is found by trying.
#[must_use]
pub fn groups_for(root: &Root, what: &str) -> Vec<PathBuf> {
    let levels = levels(root, what).unwrap_or_default();
    let hands_down = |level: &str| lists(root, &format!("{level}/cgroup.subtree_control"), what);
    let mut directories = levels.directories;
    directories.retain(|level| levels.version == 1 || hands_down(level));
    directories.into_iter().map(PathBuf::from).collect()
}

/// Whether a file has a word.
fn lists(root: &Root, file: &str, word: &str) -> bool {
    let line = root.line(file);
    line.is_some_and(|line| line.split(' ').any(|one| one == word))
}

/// This process's group in the hierarchy of `controller`; the empty name is that of version 2.
fn own_group<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let (_number, line) = line.split_once(':')?;
        let (controllers, path) = line.split_once(':')?;
        let mut controllers = controllers.split(',');
        controllers.any(|name| name == controller).then_some(path)
    })
}

/// From the group's own directory up to the mount point. In a container the mount may show only a part of the hierarchy,
/// and the group's path may be that of the machine outside: then the mount point itself is the group's directory.
fn directories(root: &Root, mount: &Mount, own: &str) -> Vec<String> {
    let below = Path::new(own)
        .strip_prefix(&mount.root)
        .ok()
        .filter(|path| {
            path.components()
                .all(|part| matches!(part, std::path::Component::Normal(_)))
        })
        .unwrap_or(Path::new(""));
    below
        .ancestors()
        .take(DEEPEST)
        .map(|part| mount.point.join(part).display().to_string())
        .map(|directory| directory.trim_end_matches('/').to_owned())
        .filter(|directory| root.exists(directory))
        .collect()
}

/// CPU time over period: how many CPUs' worth.
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
    // no quota is -1 in version 1 and the word "max" in version 2
    (quota.is_finite() && quota > 0.0 && period.is_finite() && period > 0.0).then(|| quota / period)
}

/// Bytes of memory.
pub(crate) fn memory_limit(root: &Root, version: u8, level: &str) -> Option<u64> {
    let file = if version == 1 {
        "memory.limit_in_bytes"
    } else {
        "memory.max"
    };
    root.number(&format!("{level}/{file}"))
        .filter(|&limit| limit < NO_LIMIT)
}

fn processes_left(root: &Root, level: &str) -> Option<u64> {
    let most: u64 = root.number(&format!("{level}/pids.max"))?;
    let now: u64 = root.number(&format!("{level}/pids.current"))?;
    Some(most.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysroot::made_up;

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
    fn memory_is_limited_below_groups_that_hand_it_down() {
        let expected = ["/sys/fs/cgroup/user", "/sys/fs/cgroup"].map(PathBuf::from);
        for (group, mounted, expected) in [
            ("0::/user/session\n", "cgroup2 cgroup2 rw", &expected[..]),
            // version 1 has no such list
            ("4:memory:/user\n", "cgroup cgroup rw,memory", &expected),
            ("", "", &[]),
        ] {
            let mount = format!("1 0 0:1 / /sys/fs/cgroup rw - {mounted}\n");
            let (_kept, root) = made_up(&[
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
        let (_kept, root) = made_up(&[("/sys/fs/cgroup/cpu/a/b/x", "")]);
        let all = ["/a/b", "/a", ""].map(|below| format!("/sys/fs/cgroup/cpu{below}"));
        for (mounted, own, seen) in [
            ("/", "/a/b", &all[..]),
            ("/docker/1", "/docker/1/a/b", &all),
            // a container that sees the outside's path, and one whose group lies outside its namespace
            ("/", "/docker/1", &all[2..]),
            ("/", "/../../elsewhere", &all[2..]),
            ("/docker/1", "/docker/10", &all[2..]),
        ] {
            let line = format!("1 0 0:1 {mounted} /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu");
            let found = directories(&root, &mounts::parse(&line)[0], own);
            assert_eq!(found, seen, "{own} in {mounted}");
        }
    }
}
