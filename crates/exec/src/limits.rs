//! Shortages: the limit behind an error, and the remedy.

use nix::libc::{EMFILE, ENFILE};
use std::fmt;
use std::io::{Error, ErrorKind};

/// A resource that ran out; displayed as the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// No space or no inodes left on a file system.
    Space,
    Quota,
    FileSize,
    /// Process limit of the user or of the control group.
    Processes,
    /// Memory or address space.
    Memory,
    /// Open file limit of this process.
    Descriptors,
    /// Open file limit of the system.
    SystemDescriptors,
}

impl Shortage {
    pub fn from_error(error: &Error) -> Option<Self> {
        match (error.kind(), error.raw_os_error()) {
            (ErrorKind::StorageFull, _) => Some(Self::Space),
            (ErrorKind::QuotaExceeded, _) => Some(Self::Quota),
            (ErrorKind::FileTooLarge, _) => Some(Self::FileSize),
            // EAGAIN of fork and pthread_create
            (ErrorKind::WouldBlock, _) => Some(Self::Processes),
            (ErrorKind::OutOfMemory, _) => Some(Self::Memory),
            (_, Some(EMFILE)) => Some(Self::Descriptors),
            (_, Some(ENFILE)) => Some(Self::SystemDescriptors),
            _ => None,
        }
    }

    /// True if the shortage may be over at the next launch.
    pub(crate) fn is_transient(self) -> bool {
        matches!(self, Self::Processes | Self::Memory | Self::SystemDescriptors)
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Space => {
                "free some space there, or name another directory: TMPDIR for programs, --dir for files"
            }
            Self::Quota => {
                "the quota is used up (`quota`): make room, or name another directory: TMPDIR for programs, --dir for files"
            }
            Self::FileSize => "raise the limit on the size of files (`ulimit -f`)",
            Self::Processes => {
                "raise the limit on processes (`ulimit -u`, or pids.max of the control group), or end some"
            }
            Self::Memory => {
                "raise the limit on memory (`ulimit -v`, or memory.max of the control group), or free some"
            }
            Self::Descriptors => "raise the limit on open files (`ulimit -n`)",
            Self::SystemDescriptors => "raise fs.file-max (`sysctl fs.file-max`)",
        })
    }
}

/// Suffix of an error message; empty unless it is a shortage.
pub(crate) fn advice(error: &Error) -> String {
    Shortage::from_error(error).map_or_else(String::new, |shortage| format!("; {shortage}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::libc;

    #[test]
    fn errors_name_their_limit() {
        let advice = |errno| advice(&Error::from_raw_os_error(errno));
        for (errno, names) in [
            (libc::ENOSPC, "TMPDIR"),
            (libc::EDQUOT, "quota"),
            (libc::EFBIG, "ulimit -f"),
            (libc::EAGAIN, "ulimit -u"),
            (libc::ENOMEM, "ulimit -v"),
            (libc::EMFILE, "ulimit -n"),
            (libc::ENFILE, "fs.file-max"),
        ] {
            assert!(advice(errno).contains(names), "{errno}");
        }
        assert_eq!(advice(libc::EACCES), "");
    }
}
