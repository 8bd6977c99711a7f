//! Our output for commands that inherit it: copies of its descriptors, since a socket or a file of another user cannot be opened again.

use crate::ExecError;
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The supervisor moves descriptors to the numbers below.
const ABOVE_SUPERVISOR: i32 = 10;

/// Copies of standard output and standard error. Every process that is started meanwhile gets them.
pub(super) fn output() -> Result<[OwnedFd; 2], ExecError> {
    let copy = |file: BorrowedFd<'_>| -> io::Result<OwnedFd> {
        let copy = fcntl_dupfd_cloexec(file, ABOVE_SUPERVISOR)?;
        fcntl_setfd(&copy, FdFlags::empty())?;
        Ok(copy)
    };
    let copies = || Ok([copy(io::stdout().as_fd())?, copy(io::stderr().as_fd())?]);
    copies().map_err(ExecError::system("cannot pass on the output"))
}
