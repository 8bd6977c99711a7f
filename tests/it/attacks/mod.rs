//! Attacks on the binary, each of which must fail: by bundles, directories, names, limits and what is printed.

mod bundles;
mod clients;
mod clock;
mod damage;
mod directories;
mod faults;
mod full_disks;
pub mod kills;
mod limits;
mod owners;
mod pages;
mod parameters;
mod printing;
mod privileged;
mod setup;
mod sizes;
mod stores;
