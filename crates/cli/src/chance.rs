//! Numbers that nobody can foresee, for names and seeds.
//!
//! Must not know: what they are for.

use std::hash::{BuildHasher, RandomState};

/// One such number, by way of the standard library, which asks the kernel for it. Others look for the call among dynamic symbols,
/// and where the binary is static fall back to /dev/urandom, which need not be there.
pub fn chance() -> u32 {
    RandomState::new().hash_one(0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_comes_again_soon() {
        let numbers: std::collections::BTreeSet<u32> = (0..100).map(|_| chance()).collect();
        assert!(numbers.len() > 95, "{numbers:?}");
    }
}
