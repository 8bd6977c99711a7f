//! What this machine is, what went on while it was measured, and whether it is fit to be measured now. Nothing here changes a setting of
//! the machine.

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
mod text;
pub mod tunables;

pub use conditions::{Before, Watch};
pub use doctor::{Finding, Severity, examine};
pub use facts::{
    Cgroup, Core, Cpu, Host, Kernel, Limits, Load, Memory, System, Turbo, UNLIMITED,
    Virtualisation, groups_for,
};
pub use filesystem::FileSystem;
pub use placement::{Chosen, choose_cpus};
pub use sysroot::{Answers, Root};
