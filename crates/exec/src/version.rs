//! Versions of programs.

use crate::process::spawn;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::io::{PipeReader, Read, pipe};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Bytes up to the end of the first line.
const LONGEST: usize = 4096;

const PATIENCE: Duration = Duration::from_secs(5);

/// The first nonempty line that the program prints with this argument; empty if there is none in time. Kills its
/// process group: a compiler may be a script that waits for a server.
pub fn of(program: &Path, argument: &str, environment: &BTreeMap<String, String>) -> String {
    let Ok((reader, writer)) = pipe() else {
        return String::new();
    };
    let Ok(errors) = writer.try_clone() else {
        return String::new();
    };
    let mut command = Command::new(program);
    command
        .arg(argument)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(errors)
        .process_group(0);
    let Ok(mut child) = spawn(&mut command) else {
        return String::new();
    };
    // with our ends of the pipe
    drop(command);
    let line = first_line(reader);
    // it may have ended; it is not reaped, so the group id is its own
    let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
    let _ = child.wait();
    line
}

fn first_line(mut from: PipeReader) -> String {
    let deadline = Instant::now() + PATIENCE;
    let mut said = vec![];
    let mut bytes = [0; 1024];
    while !said.trim_ascii_start().contains(&b'\n') && said.len() < LONGEST {
        let left = deadline.saturating_duration_since(Instant::now());
        let milliseconds = u16::try_from(left.as_millis()).unwrap_or(u16::MAX);
        let ready = poll(
            &mut [PollFd::new(from.as_fd(), PollFlags::POLLIN)],
            PollTimeout::from(milliseconds),
        );
        match ready {
            Ok(count) if count > 0 => match from.read(&mut bytes) {
                Ok(count) if count > 0 => said.extend_from_slice(&bytes[..count]),
                _ => break,
            },
            // interrupted by a signal
            Err(nix::errno::Errno::EINTR) if !left.is_zero() => {}
            _ => break,
        }
    }
    let text = String::from_utf8_lossy(&said);
    let line = text.trim_start().lines().next().unwrap_or_default();
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn said(script: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("cc");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        crate::tests::mode(&program, 0o700);
        let begin = Instant::now();
        let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let line = of(&program, "--version", &environment);
        assert!(begin.elapsed() < Duration::from_secs(20), "{script}");
        line
    }

    #[test]
    fn the_first_line_and_no_waiting_for_more() {
        assert_eq!(said("echo cc 12.2; echo free software"), "cc 12.2");
        assert_eq!(said("printf 'no end of line'"), "no end of line");
        assert_eq!(said("echo cc 12.2; exec sleep 60"), "cc 12.2");
        assert_eq!(said("echo; echo 'This is perl' >&2"), "This is perl");
        assert_eq!(said("echo $1"), "--version");
        assert_eq!(said("exit 1"), "");
    }

    #[test]
    fn one_that_hangs_says_nothing() {
        assert_eq!(said("sleep 60"), "");
        assert_eq!(said("sleep 60 & exit 0"), "");
        let missing = Path::new("/nonexistent/cc");
        assert_eq!(of(missing, "--version", &BTreeMap::new()), "");
    }
}
