//! A control group with a tenth of a CPU, version 1 or 2, in periods that are shorter than a sample: what is in it is ten times slower.

use super::eventually;
use std::fs;
use std::path::{Path, PathBuf};

/// It goes with the last process in it.
pub struct Quota(PathBuf);

impl Quota {
    pub fn tenth(label: &str) -> Self {
        let name = format!("gritstone-{label}-{}", std::process::id());
        let versions: [(&str, &[(&str, &str)]); 2] = [
            (
                "/sys/fs/cgroup/cpu",
                &[("cpu.cfs_period_us", "10000"), ("cpu.cfs_quota_us", "1000")],
            ),
            ("/sys/fs/cgroup", &[("cpu.max", "1000 10000")]),
        ];
        for (parent, settings) in versions {
            let group = Path::new(parent).join(&name);
            if fs::create_dir(&group).is_err() {
                continue;
            }
            let quota = Self(group);
            let set = |(file, text): &(&str, &str)| fs::write(quota.0.join(file), text).is_ok();
            if settings.iter().all(set) {
                return quota;
            }
        }
        panic!("a control group with a CPU quota: it takes a cpu controller");
    }

    /// The file that takes a process into it.
    pub fn procs(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        eventually("nothing runs slowly any more", || {
            fs::remove_dir(&self.0).is_ok()
        });
    }
}
