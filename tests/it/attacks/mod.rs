//! Attacks on the binary, each of which must fail: by bundles, directories, names, limits and what is printed.

mod printing;
mod setup;
