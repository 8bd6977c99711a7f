//! Files of counters, kept open.

use crate::Root;
use crate::counters::{keyed, number};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Rereads a file into the same buffer.
#[derive(Debug)]
pub(crate) struct Source {
    file: File,
    buffer: Vec<u8>,
}

impl Source {
    /// `None` if it cannot be read, or is empty: some files open and then refuse.
    pub(crate) fn open(root: &Root, path: &str) -> Option<Self> {
        let length = root.bytes(path)?.len();
        // counters gain digits, and CPUs may come online
        let buffer = vec![0; 2 * length + 256];
        let file = File::open(root.join(path)).ok()?;
        (length > 0).then_some(Self { file, buffer })
    }

    /// Limits further reads to twice the length that `needed` returns for the current content.
    pub(crate) fn keep(&mut self, needed: impl Fn(&[u8]) -> usize) {
        if let Some(length) = self.read().map(needed) {
            self.buffer.truncate(2 * length + 256);
        }
    }

    fn read(&mut self) -> Option<&[u8]> {
        let mut filled = 0;
        while filled < self.buffer.len() {
            let count = self.file.read_at(&mut self.buffer[filled..], filled as u64).ok()?;
            if count == 0 {
                break;
            }
            filled += count;
        }
        Some(&self.buffer[..filled])
    }
}

pub(crate) fn read<T>(
    source: &mut Option<Source>,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Option<T> {
    parse(source.as_mut()?.read()?)
}

/// A number in a file of keys (or the only number, for an empty key), and its unit.
#[derive(Debug)]
pub(crate) struct Counter {
    source: Source,
    key: &'static [u8],
    unit: u64,
}

impl Counter {
    pub(crate) fn open(root: &Root, path: &str, key: &'static [u8], unit: u64) -> Option<Self> {
        let mut counter = Self { source: Source::open(root, path)?, key, unit };
        counter.value().is_some().then_some(counter)
    }

    pub(crate) fn value(&mut self) -> Option<u64> {
        let text = self.source.read()?;
        let number =
            if self.key.is_empty() { number(text.trim_ascii()) } else { keyed(text, self.key) };
        number?.checked_mul(self.unit)
    }
}
