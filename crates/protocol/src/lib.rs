//! Protocol of workloads: from bytes of descriptor 3 to [`Event`]s.
//!
//! A line is a word and `key=value` pairs, the keys in a fixed order; `value=` and `why=` take the rest of the line.
//! The first line is `hello`, the last `bye`, `skip` or `fail`. Parsing is pure and bounded: hostile input yields an
//! error with its line, never a panic and never more memory than [`MAX_BYTES`].

mod line;

use gritstone_model::Event;
use std::borrow::Cow;
use thiserror::Error;

/// Supported version of the protocol.
const VERSION: u32 = 1;
/// Bytes: a batch of 4,096 walls needs about 60,000.
pub(crate) const MAX_LINE: usize = 131_072;
/// Lines per launch.
pub(crate) const MAX_EVENTS: usize = 20_000;
/// Bytes per launch: 64 samples, a batch and a full histogram are less than 1 MiB.
const MAX_BYTES: usize = 16 << 20;

/// Violation of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} of the workload's output: {what}")]
pub struct ProtocolError {
    /// Counted from 1.
    pub line: usize,
    pub what: String,
}

/// Incremental parser of one launch.
#[derive(Debug, Default)]
pub struct Parser {
    rest: Vec<u8>,
    bytes: usize,
    lines: usize,
    ended: bool,
}

impl Parser {
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the events of all lines completed by `bytes`. After an error, the events before it have been appended.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), ProtocolError> {
        for piece in bytes.split_inclusive(|&b| b == b'\n') {
            if self.rest.len() + piece.len() > MAX_LINE {
                self.lines += 1;
                return Err(self.wrong(format!("longer than {MAX_LINE} bytes")));
            }
            self.bytes += piece.len();
            if self.bytes > MAX_BYTES {
                self.lines += 1;
                return Err(self.wrong(format!("more than {MAX_BYTES} bytes with it")));
            }
            let Some(end) = piece.strip_suffix(b"\n") else {
                self.rest.extend_from_slice(piece);
                continue;
            };
            self.lines += 1;
            let event = if self.rest.is_empty() {
                self.one(end)
            } else {
                let mut line = std::mem::take(&mut self.rest);
                line.extend_from_slice(end);
                self.one(&line)
            };
            events.push(event?);
        }
        Ok(())
    }

    /// Call at the end of the bytes. Fails if the last line is truncated, or not a final one.
    pub fn finish(&self) -> Result<(), ProtocolError> {
        if !self.rest.is_empty() {
            return Err(ProtocolError { line: self.lines + 1, what: "it is truncated".to_owned() });
        }
        if !self.ended {
            return Err(ProtocolError {
                line: self.lines + 1,
                what: "the workload ended before its bye".to_owned(),
            });
        }
        Ok(())
    }

    fn one(&mut self, line: &[u8]) -> Result<Event, ProtocolError> {
        if self.lines > MAX_EVENTS {
            return Err(self.wrong(format!("more than {MAX_EVENTS} lines")));
        }
        if self.ended {
            return Err(self.wrong("something after the last line".to_owned()));
        }
        // Output of a user command is passed on, and may have any encoding or end within a character; all else is
        // ASCII, for which from_utf8 is fast.
        let text =
            std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        let event = line::parse(&text).map_err(|what| self.wrong(what))?;
        match (&event, self.lines) {
            (Event::Hello { protocol, .. }, 1) if *protocol == VERSION => {}
            (Event::Hello { protocol, .. }, 1) => {
                return Err(self.wrong(format!(
                    "protocol {protocol}, but this Gritstone speaks {VERSION}: rebuild the workload"
                )));
            }
            (Event::Hello { .. }, _) => return Err(self.wrong("a second hello".to_owned())),
            (_, 1) => return Err(self.wrong("the first line is not hello".to_owned())),
            _ => {}
        }
        self.ended = matches!(event, Event::Bye | Event::Skip { .. } | Event::Fail { .. });
        Ok(event)
    }

    fn wrong(&self, what: String) -> ProtocolError {
        ProtocolError { line: self.lines, what }
    }
}

#[cfg(test)]
mod tests;
