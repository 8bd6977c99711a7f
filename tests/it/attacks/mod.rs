//! Attacks on the binary, each of which must fail: by bundles, directories, names, limits and what is printed.

mod bundles;
mod clients;
mod clock;
mod directories;
mod faults;
mod full_disks;
mod generated;
pub mod kills;
mod limits;
mod owners;
mod pages;
mod parameters;
mod printing;
mod privileged;
mod setup;
pub mod sizes;
mod ssh_clients;
mod stores;
