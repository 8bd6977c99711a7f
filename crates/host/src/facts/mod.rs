//! The facts of a machine, read once: hardware, kernel, distribution, what confines this process, and the load
//! at that moment.

mod cgroup;
mod cpu;
mod kernel;
mod libc;
mod load;
mod system;
mod topology;
mod virtualisation;

pub use cgroup::{Cgroup, groups_for};
pub(crate) use cgroup::{Levels, levels, memory_limit, quota};
pub(crate) use cpu::turbo;
pub use cpu::{Cpu, Turbo};
pub use kernel::Kernel;
pub use load::{Limits, Load, Memory, UNLIMITED};
pub use system::System;
pub use topology::Core;
pub use virtualisation::Virtualisation;

use crate::Root;

/// Everything that can be known of a machine without changing or measuring it. `None` within means: cannot be told here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Host {
    /// Processors.
    pub cpu: Cpu,
    /// Memory and swap.
    pub memory: Memory,
    /// Kernel, its settings and its clocks.
    pub kernel: Kernel,
    /// Distribution, libc, names.
    pub system: System,
    /// Virtual machine and container.
    pub virtualisation: Virtualisation,
    /// Limits of the cgroups above this process.
    pub cgroup: Cgroup,
    /// Limits of this process.
    pub limits: Limits,
    /// How busy it was at the moment of reading.
    pub load: Load,
}

impl Host {
    /// Reads a machine. What cannot be read is `None` or empty; nothing is guessed.
    #[must_use]
    pub fn read(root: &Root) -> Self {
        Self::with(Cpu::read(root), root)
    }

    /// The same where its processors are known already.
    #[must_use]
    pub fn with(cpu: Cpu, root: &Root) -> Self {
        let kernel = Kernel::read(root);
        let virtualisation = Virtualisation::read(root, &cpu, &kernel);
        Self {
            cpu,
            memory: Memory::read(root),
            system: System::read(root),
            cgroup: Cgroup::read(root),
            limits: Limits::read(root),
            load: Load::read(root),
            kernel,
            virtualisation,
        }
    }
}
