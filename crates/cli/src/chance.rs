//! Numbers that nobody can foresee, for names and seeds.
//!
//! Must not know: what they are for.

use crate::output::remark;
use nix::libc::{GRND_NONBLOCK, c_uint, c_void, getrandom};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

/// One such number, by way of the standard library, which asks the kernel for it. Others look for the call among dynamic symbols,
/// and where the binary is static fall back to /dev/urandom, which need not be there.
pub fn chance() -> u32 {
    RandomState::new().hash_one(0) as u32
}

/// Waits until the kernel has such numbers. One before 5.6 has none until enough has happened after its start, and then the
/// standard library opens /dev/urandom: where that is not there, it ends the process.
pub fn wait_for_the_kernel() {
    if Path::new("/dev/urandom").exists() || there_is_some(GRND_NONBLOCK) {
        return;
    }
    remark(
        "waiting until the kernel has random numbers: it has just started, and there is no /dev/urandom",
    );
    there_is_some(0);
}

/// Asks for a byte; without a flag it waits for it.
#[allow(unsafe_code)]
fn there_is_some(flags: c_uint) -> bool {
    let mut byte = 0_u8;
    // SAFETY: writes one byte, into a byte of ours
    let got = unsafe { getrandom((&raw mut byte).cast::<c_void>(), 1, flags) };
    got == 1
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
