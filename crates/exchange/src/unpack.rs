//! Reads compressed or plain text within the limits of size.

use crate::limits::{ANY_RATIO, RATIO, UNPACKED};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
/// Largest window of a frame, log2 of bytes.
const LARGEST_WINDOW: u32 = 23;

/// # Errors
/// When it cannot be read. Reading the result fails if it is damaged or larger than [`UNPACKED`] or [`RATIO`] allow.
pub fn unpack<'a>(mut from: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let packed = Rc::new(Cell::new(0));
    let limited = |text: Box<dyn Read + 'a>, packed| Limited { text, packed, taken: 0 };
    if from.fill_buf()?.starts_with(SQLITE_MAGIC) {
        let what = "it is a store: `gritstone --store FILE runs` lists its runs";
        return Err(io::Error::other(what));
    }
    if !from.fill_buf()?.starts_with(&ZSTD_MAGIC) {
        return Ok(Box::new(BufReader::new(limited(Box::new(from), None))));
    }
    let counted = Counted(from, Rc::clone(&packed));
    let mut decoder = zstd::Decoder::new(counted)?;
    decoder.window_log_max(LARGEST_WINDOW)?;
    Ok(Box::new(BufReader::new(limited(Box::new(decoder), Some(packed)))))
}

/// Counts the packed bytes.
struct Counted<R>(R, Rc<Cell<u64>>);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(into)?;
        self.1.set(self.1.get() + read as u64);
        Ok(read)
    }
}

struct Limited<'a> {
    text: Box<dyn Read + 'a>,
    /// Bytes read of a compressed file.
    packed: Option<Rc<Cell<u64>>>,
    taken: u64,
}

impl Read for Limited<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(into)?;
        self.taken += read as u64;
        if self.taken > UNPACKED {
            let what = format!("it is larger than {} MiB unpacked", UNPACKED >> 20);
            return Err(io::Error::other(what));
        }
        let unlikely =
            |packed: &Rc<Cell<u64>>| self.taken > ANY_RATIO.max(packed.get().saturating_mul(RATIO));
        if self.packed.as_ref().is_some_and(unlikely) {
            let what = format!("it unpacks to more than {RATIO} times its size");
            return Err(io::Error::other(what));
        }
        Ok(read)
    }
}
