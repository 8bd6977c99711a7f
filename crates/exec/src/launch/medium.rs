//! The medium of benchmarks on files: page cache, file system, or the device below.

use super::Executor;
use crate::cgroup::is_confined;
use crate::setup::Storage;
use gritstone_model::{Benchmark, Event, Param};

impl Executor {
    /// Adds the medium, unless the workload reported it.
    pub(super) fn add_medium(&self, benchmark: &Benchmark, events: &mut Vec<Event>) {
        let volume = self.volume_for(benchmark);
        if let Some(Err(why)) = volume {
            events.push(Event::Param(Param::Remark(format!(
                "The file system is that of the directory, since no new one was made for it: {why}."
            ))));
        }
        let params = || {
            events.iter().filter_map(|event| match event {
                Event::Param(param) => Some(param),
                _ => None,
            })
        };
        if params().any(|param| matches!(param, Param::Medium(_))) {
            return;
        }
        let Storage { cached, name } = &self.setup.storage;
        let storage = match volume {
            Some(Ok(_)) => format!("new ext4 on a loop device over {name}"),
            _ => name.clone(),
        };
        let medium = match cached {
            true if params().any(|param| matches!(param, Param::Uncached(_))) => {
                format!("past the page cache of {storage}")
            }
            // a benchmark confined to less memory than it needs uses the device
            true if !is_confined(benchmark) => format!("page cache of {storage}"),
            _ => storage,
        };
        events.push(Event::Param(Param::Medium(medium)));
    }
}
