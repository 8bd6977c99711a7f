//! Limits of all files with runs: bundles, uploads, pulls, results of nodes, output of other programs.

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Bytes of a file once unpacked: a run of everything at the default budget is some MiB.
pub const UNPACKED: u64 = 64 << 20;
/// Unpacked bytes per packed byte; bundles have 10 to 20.
pub const RATIO: u64 = 200;
/// Unpacked bytes that need no ratio.
pub const ANY_RATIO: u64 = 4 << 20;
/// Bytes of any other file, which is parsed at once: of another program, or a view of `--format json`.
pub const OTHER: u64 = 8 << 20;
/// Bytes of the head of a bundle: 5,000 imported benchmarks have 5 MiB; a string counts at most [`COUNTED`], because files of custom catalogs are strings.
pub const HEAD: usize = 6 << 20;
/// Most bytes that a string of a head counts.
pub const COUNTED: usize = 256;
/// Bytes of the complete head: a custom catalog has up to 8 MiB, twice that in hexadecimal.
pub const HEAD_LINE: u64 = 23 << 20;
/// Bytes of a launch; one copy of a workload writes at most this many.
pub const LAUNCH_LINE: u64 = 16 << 20;
/// Launches of a run.
pub const LAUNCHES: usize = 100_000;
/// Benchmarks of a run.
pub const BENCHMARKS: usize = 5_000;
/// Events of a launch: for each copy, the limit of a workload.
pub const EVENTS: usize = 20_000;
/// Simultaneous copies of a launch.
pub const COPIES: u32 = 8_192;
/// Wall times of a batch, buckets of a histogram.
pub const VALUES: usize = 20_000;
/// Bytes of any text except files of a custom catalog: as long as an argument of a command may be.
pub const TEXT: usize = 128 << 10;
/// Characters of labels and names of machines, which appear in tables.
pub const NAME: usize = 200;

/// A list of at most `MAX` elements; parsing fails before the next one is allocated.
pub(crate) struct Bounded<T, const MAX: usize>(pub Vec<T>);

impl<T, const MAX: usize> Default for Bounded<T, MAX> {
    fn default() -> Self {
        Self(vec![])
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for Bounded<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(List(PhantomData))
    }
}

struct List<T, const MAX: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for List<T, MAX> {
    type Value = Bounded<T, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = vec![];
        while let Some(next) = list.next_element()? {
            if all.len() == MAX {
                return Err(A::Error::custom(format!("a list of more than {MAX}")));
            }
            all.push(next);
        }
        all.shrink_to_fit();
        Ok(Bounded(all))
    }
}

/// Rejects a name that is too long for a table.
pub(crate) fn check_name(what: &str, name: &str) -> Result<(), String> {
    match name.chars().count() <= NAME {
        true => Ok(()),
        false => Err(format!("{what} has more than {NAME} letters")),
    }
}

/// Length of the longest string of a JSON text, and of the text with each string counted as at most [`COUNTED`], bytes.
pub(crate) fn strings(json: &[u8]) -> (usize, usize) {
    let (mut longest, mut excess) = (0, 0);
    let mut rest = json;
    while let Some(start) = rest.iter().position(|&byte| byte == b'"') {
        rest = &rest[start + 1..];
        let mut length = 0;
        while length < rest.len() && rest[length] != b'"' {
            length += if rest[length] == b'\\' { 2 } else { 1 };
        }
        let length = length.min(rest.len());
        longest = longest.max(length);
        excess += length.saturating_sub(COUNTED);
        rest = rest.get(length + 1..).unwrap_or_default();
    }
    (longest, json.len() - excess)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_measured_without_parsing() {
        assert_eq!(strings(br#"{"a":"bcd"}"#), (3, 11));
        assert_eq!(strings(br#"["\"\\",1]"#), (4, 10));
        let long = format!(r#"["{}"]"#, "x".repeat(1000));
        assert_eq!(strings(long.as_bytes()), (1000, COUNTED + 4));
        assert_eq!(strings(br#"["cut"#), (3, 5));
        assert_eq!(strings(b"[1,2]"), (0, 5));
    }

    #[test]
    fn lists_end_at_their_limit() {
        let read = |text: &str| serde_json::from_str::<Bounded<u8, 2>>(text);
        assert_eq!(read("[1,2]").unwrap_or_default().0, [1, 2]);
        let error = read("[1,2,3]").err().unwrap().to_string();
        assert!(error.contains("more than 2"), "{error}");
    }
}
