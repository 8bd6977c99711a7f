//! Warnings: a repeated one is written once a minute, with its number.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time before a repeated warning is written again.
const INTERVAL: Duration = Duration::from_secs(60);
/// Bound of memory.
const MAX_REMEMBERED: usize = 1000;

struct Written {
    time: Instant,
    /// Repetitions since the last line.
    more: u64,
}

#[derive(Default)]
pub struct Warnings(Mutex<HashMap<String, Written>>);

impl Warnings {
    /// The line of a warning; `None` soon after an equal one.
    pub fn line(&self, text: String, now: Instant) -> Option<String> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = |line: &Written| now.saturating_duration_since(line.time) < INTERVAL;
        let more = match written.get_mut(&text) {
            Some(line) if fresh(line) => {
                line.more += 1;
                return None;
            }
            Some(line) => line.more,
            None => 0,
        };
        if written.len() >= MAX_REMEMBERED {
            written.retain(|_, line| fresh(line));
        }
        if written.len() < MAX_REMEMBERED {
            written.insert(text.clone(), Written { time: now, more: 0 });
        }
        Some(match more {
            0 => text,
            more => format!("{text} ({more} more times since it was written last)"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_warnings_are_written_once() {
        let warnings = Warnings::default();
        let start = Instant::now();
        let mut lines = vec![];
        let mut warn = |text: &str, seconds| {
            let now = start + Duration::from_secs(seconds);
            lines.extend(warnings.line(text.to_owned(), now));
        };
        for second in 0..60 {
            warn("no descriptors", second);
        }
        warn("another", 30);
        warn("no descriptors", 61);
        warn("no descriptors", 62);
        let again = "no descriptors (59 more times since it was written last)";
        assert_eq!(lines, ["no descriptors", "another", again]);
    }
}
