//! Facts of a machine, read once: hardware, kernel, distribution, confinement of this process, and load.

mod cgroup;
mod cpu;
mod kernel;
mod libc;
mod load;
mod system;
mod topology;
mod virtualization;

pub use cgroup::{Cgroup, groups_for};
pub(crate) use cgroup::{Levels, levels, memory_limit, quota};
pub use cpu::{Cpu, Turbo};
pub(crate) use cpu::{online, turbo};
pub use kernel::Kernel;
pub use load::{Limits, Load, Memory, UNLIMITED};
pub use system::System;
pub use topology::Core;
pub use virtualization::Virtualization;

use crate::Root;

/// Facts that can be read without changing or measuring the machine. `None` within means unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    pub cpu: Cpu,
    pub memory: Memory,
    pub kernel: Kernel,
    pub system: System,
    pub virtualization: Virtualization,
    /// Above this process.
    pub cgroup: Cgroup,
    pub limits: Limits,
    /// At the moment of reading.
    pub load: Load,
}

impl Host {
    /// Unreadable facts are `None` or empty; nothing is guessed.
    pub fn read(root: &Root) -> Self {
        Self::with_cpu(Cpu::read(root), root)
    }

    /// With known processors.
    pub fn with_cpu(cpu: Cpu, root: &Root) -> Self {
        let kernel = Kernel::read(root);
        let virtualization = Virtualization::read(root, &cpu, &kernel);
        Self {
            cpu,
            memory: Memory::read(root),
            system: System::read(root),
            cgroup: Cgroup::read(root),
            limits: Limits::read(root),
            load: Load::read(root),
            kernel,
            virtualization,
        }
    }
}
