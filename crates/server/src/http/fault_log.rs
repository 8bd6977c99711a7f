//! The log of internal errors: a repeated one is written once a minute, with its number.

use crate::http::site::Log;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time before a repeated error is written again.
const INTERVAL: Duration = Duration::from_secs(60);
/// Most errors that are remembered.
const KNOWN: usize = 1000;

struct Written {
    time: Instant,
    /// Repetitions since the last line.
    more: u64,
}

pub(crate) struct FaultLog {
    log: Log,
    written: Mutex<HashMap<String, Written>>,
}

impl FaultLog {
    pub(crate) fn new(log: Log) -> Self {
        Self { log, written: Mutex::default() }
    }

    pub(crate) fn write(&self, fault: &str) {
        self.write_at(fault, Instant::now());
    }

    fn write_at(&self, fault: &str, now: Instant) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = |line: &Written| now.saturating_duration_since(line.time) < INTERVAL;
        let more = match written.get_mut(fault) {
            Some(line) if fresh(line) => {
                line.more += 1;
                return;
            }
            Some(line) => line.more,
            None => 0,
        };
        if written.len() >= KNOWN {
            written.retain(|_, line| fresh(line));
        }
        if written.len() < KNOWN {
            let line = Written { time: now, more: 0 };
            written.insert(fault.to_owned(), line);
        }
        drop(written);
        match more {
            0 => (self.log)(fault),
            more => (self.log)(&format!("{fault} ({more} more times since it was written last)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn repeated_faults_are_logged_once() {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&lines);
        let log = FaultLog::new(Arc::new(move |text| sink.lock().unwrap().push(text.to_owned())));
        let start = Instant::now();
        let write =
            |fault: &str, seconds| log.write_at(fault, start + Duration::from_secs(seconds));
        for second in 0..60 {
            write("no descriptors", second);
        }
        write("another", 30);
        write("no descriptors", 61);
        write("no descriptors", 62);
        let lines = lines.lock().unwrap();
        let again = "no descriptors (59 more times since it was written last)";
        assert_eq!(*lines, ["no descriptors", "another", again]);
    }
}
