//! Facts of this machine, conditions of a launch, and fitness for measurements. Nothing here changes a setting.

// tests/tree.rs is included by tests of other crates, and names this one
#[cfg(test)]
extern crate self as gritstone_host;

mod conditions;
mod counters;
pub mod doctor;
mod energy;
mod facts;
pub mod filesystem;
pub mod link;
mod machine;
mod mounts;
mod placement;
mod processes;
pub mod programs;
mod source;
mod sysroot;
#[cfg(test)]
mod tests;
mod text;
pub mod tunables;

pub use conditions::{CounterSnapshot, Watch};
pub use doctor::{Finding, Severity, examine};
pub use facts::{
    Cgroup, Core, Cpu, Host, Kernel, Limits, Load, Memory, System, Turbo, UNLIMITED,
    Virtualization, groups_for,
};
pub use filesystem::FileSystem;
pub use placement::{Chosen, choose_cpus};
pub use sysroot::{Root, SyscallResults};
