//! Pressure stall information: /proc/pressure/cpu.

use super::{lines, number, words};

/// Microseconds since the start in which some task waited for a CPU.
pub(crate) fn some_total(pressure: &[u8]) -> Option<u64> {
    let line = lines(pressure).find(|line| line.starts_with(b"some "))?;
    words(line).find_map(|word| number(word.strip_prefix(b"total=")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"some avg10=1.02 avg60=3.56 avg300=1.60 total=12330388\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";

    #[test]
    fn the_total_of_some() {
        assert_eq!(some_total(TEXT), Some(12_330_388));
        assert_eq!(some_total(b"full avg10=0.00 total=7\n"), None);
        assert_eq!(some_total(b"some avg10=0.00 total=\n"), None);
        assert_eq!(some_total(b""), None);
    }
}
