//! What the system says of one process: the fields of /proc/PID/stat (`proc_pid_stat(5)`), and how long a tick in them is.

use crate::Root;

/// `PF_KTHREAD` of the flags. (That their parent is process 2 does not hold in a namespace of processes.)
pub(crate) const KERNEL_THREAD: u64 = 0x0020_0000;

/// Length of a tick of CPU time in files for users, ns: `USER_HZ` is 100 wherever the system does not say.
pub(crate) fn tick(root: &Root) -> u64 {
    1_000_000_000 / root.answers().user_hz.filter(|&hz| hz > 0).unwrap_or(100)
}

/// The fields behind the name, which may hold blanks and brackets itself.
pub(crate) struct Stat<'a>(Vec<&'a str>);

impl<'a> Stat<'a> {
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let (_, behind) = text.rsplit_once(')')?;
        Some(Self(behind.split_ascii_whitespace().collect()))
    }

    /// The manual counts from 1, and the name is its second.
    fn number(&self, field: usize) -> Option<u64> {
        self.0.get(field - 3)?.parse().ok()
    }

    pub(crate) fn parent(&self) -> Option<u32> {
        self.number(4)?.try_into().ok()
    }

    pub(crate) fn is_of_the_kernel(&self) -> bool {
        self.number(9)
            .is_some_and(|flags| flags & KERNEL_THREAD != 0)
    }

    /// Ticks of CPU time of its own.
    pub(crate) fn ticks(&self) -> Option<u64> {
        Some(self.number(14)? + self.number(15)?)
    }

    /// Ticks of the children that it has waited for.
    pub(crate) fn ticks_of_children(&self) -> Option<u64> {
        Some(self.number(16)? + self.number(17)?)
    }

    /// The CPU that it was on last.
    pub(crate) fn cpu(&self) -> Option<u32> {
        self.number(39)?.try_into().ok()
    }
}
