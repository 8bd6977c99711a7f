//! What a row that works on files has really measured: the cache, the file system, or what lies below.

use super::Executor;
use crate::cgroup::is_confined;
use crate::setup::Storage;
use gritstone_model::{Benchmark, Event};

impl Executor {
    /// What a row that works on files has measured, unless it knows better itself.
    pub(super) fn tell_what_was_measured(&self, benchmark: &Benchmark, events: &mut Vec<Event>) {
        let says = |events: &[Event], wanted: &str| {
            let is = |event: &Event| matches!(event, Event::Param { key, .. } if key == wanted);
            events.iter().any(is)
        };
        let mut tell = |key: &str, value: String| {
            let key = key.to_owned();
            events.push(Event::Param { key, value });
        };
        let volume = self.volume_for(benchmark);
        if let Some(Err(why)) = volume {
            let what = "The file system is that of the directory, since no new one was made for it";
            tell("remark", format!("{what}: {why}."));
        }
        if says(events, "measured") {
            return;
        }
        let Storage { cached, name } = &self.setup.storage;
        let own = match volume {
            Some(Ok(_)) => format!("new ext4 on a loop device over {name}"),
            _ => name.clone(),
        };
        let value = match cached {
            true if says(events, "uncached") => format!("past the page cache of {own}"),
            // what is held to less memory than it needs goes to the device
            true if !is_confined(benchmark) => format!("page cache of {own}"),
            _ => own,
        };
        events.push(Event::Param {
            key: "measured".to_owned(),
            value,
        });
    }
}
