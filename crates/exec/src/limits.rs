//! Shortages: the limit behind an error, and the remedy.

use nix::libc::{EMFILE, ENFILE};
use std::io::{Error, ErrorKind};

/// A resource that ran out; displayed as the remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Shortage {
    /// No space or no inodes left on a file system.
    #[error("free some space there")]
    Space,
    #[error("the quota is used up (`quota`): make room")]
    Quota,
    #[error("raise the limit on the size of files (`ulimit -f`)")]
    FileSize,
    /// Process limit of the user or of the control group.
    #[error(
        "raise the limit on processes (`ulimit -u`, or pids.max of the control group), or end some"
    )]
    Processes,
    /// Memory or address space.
    #[error(
        "raise the limit on memory (`ulimit -v`, or memory.max of the control group), or free some"
    )]
    Memory,
    /// Open file limit of this process.
    #[error("raise the limit on open files (`ulimit -n`)")]
    Descriptors,
    /// Open file limit of the system.
    #[error("raise fs.file-max (`sysctl fs.file-max`)")]
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

/// Suffix of an error message of a launch; empty unless it is a shortage.
pub(crate) fn advice(error: &Error) -> String {
    let Some(shortage) = Shortage::from_error(error) else {
        return String::new();
    };
    let elsewhere = match shortage {
        Shortage::Space | Shortage::Quota => {
            ", or name another directory: TMPDIR for programs, --dir for files"
        }
        _ => "",
    };
    format!("; {shortage}{elsewhere}")
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
