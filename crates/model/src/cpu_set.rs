//! A set of CPUs of any size, and the kernel's way of writing it (`0-3,8`).

use std::collections::BTreeSet;
use std::fmt;

/// Numbers at or above this are refused, so that a hostile list cannot ask for all memory. Linux stops at 8,192.
const LIMIT: u32 = 65_536;

/// A set of CPU numbers, in order. Not a mask of fixed width: machines with more than 1,024 CPUs exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuSet(BTreeSet<u32>);

impl CpuSet {
    /// Reads a list such as `0-3,8,10-11`; the empty text is the empty set. `None` when it is not such a list.
    pub fn parse(text: &str) -> Option<Self> {
        let mut set = BTreeSet::new();
        for part in text.trim().split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.trim().parse().ok()?;
            let last: u32 = last.trim().parse().ok()?;
            if first > last || last >= LIMIT {
                return None;
            }
            set.extend(first..=last);
        }
        Some(Self(set))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `cpu` is one of them.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<T: IntoIterator<Item = u32>>(cpus: T) -> Self {
        Self(cpus.into_iter().collect())
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.iter().peekable();
        let mut separator = "";
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if(|&next| next == last + 1) {
                last = next;
            }
            if first == last {
                write!(f, "{separator}{first}")?;
            } else {
                write!(f, "{separator}{first}-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cpu_lists_round_trip() {
        for list in ["", "0", "0-3", "0-3,8", "1,3,5", "0-1023,1025-2047"] {
            assert_eq!(CpuSet::parse(list).unwrap().to_string(), list);
        }
        assert_eq!(CpuSet::parse("2,0-1,1\n").unwrap().to_string(), "0-2");
        assert_eq!(CpuSet::parse("0-2047").unwrap().len(), 2048);
    }

    #[test]
    fn invalid_lists_are_refused() {
        for bad in ["a", "3-1", "-1", "0-", "0-4294967295", "1;2", "99999999999"] {
            assert_eq!(CpuSet::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "[0-9,\\- ]{0,40}|.{0,40}") {
            if let Some(set) = CpuSet::parse(&text) {
                prop_assert_eq!(CpuSet::parse(&set.to_string()), Some(set));
            }
        }
    }
}
