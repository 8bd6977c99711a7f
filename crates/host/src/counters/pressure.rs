//! Pressure stall information: /proc/pressure/cpu.

use super::{lines, number, words};

/// Microseconds since the start in which some task waited for a CPU.
pub(crate) fn some_total(pressure: &[u8]) -> Option<u64> {
    let line = lines(pressure).find(|line| line.starts_with(b"some "))?;
    words(line).find_map(|word| number(word.strip_prefix(b"total=")?))
}
