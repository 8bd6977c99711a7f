//! Versions of programs.

use crate::process::{nothing, spawn};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::io::{PipeReader, Read, pipe};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Bytes up to the end of the first line.
const MAX_LINE: usize = 4096;

const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// The first nonempty line that the program prints with this argument; empty if there is none in time. Kills its
/// process group: a compiler may be a script that waits for a server.
pub fn query(program: &Path, argument: &str, environment: &BTreeMap<String, String>) -> String {
    let Ok((reader, writer)) = pipe() else {
        return String::new();
    };
    let (Ok(input), Ok(errors)) = (nothing(), writer.try_clone()) else {
        return String::new();
    };
    let mut command = Command::new(program);
    command
        .arg(argument)
        .env_clear()
        .envs(environment)
        .stdin(input)
        .stdout(writer)
        .stderr(errors)
        .process_group(0);
    let Ok(mut child) = spawn(&mut command) else {
        return String::new();
    };
    // closes our ends of the pipe
    drop(command);
    let line = first_line(reader);
    // it may have ended; it is not reaped, so the group id is its own
    let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
    let _ = child.wait();
    line
}

fn first_line(mut from: PipeReader) -> String {
    let deadline = Instant::now() + VERSION_TIMEOUT;
    let mut output = vec![];
    let mut bytes = [0; 1024];
    while !output.trim_ascii_start().contains(&b'\n') && output.len() < MAX_LINE {
        let left = deadline.saturating_duration_since(Instant::now());
        let milliseconds = u16::try_from(left.as_millis()).unwrap_or(u16::MAX);
        let ready = poll(
            &mut [PollFd::new(from.as_fd(), PollFlags::POLLIN)],
            PollTimeout::from(milliseconds),
        );
        match ready {
            Ok(count) if count > 0 => match from.read(&mut bytes) {
                Ok(count) if count > 0 => output.extend_from_slice(&bytes[..count]),
                _ => break,
            },
            // interrupted by a signal
            Err(nix::errno::Errno::EINTR) if !left.is_zero() => {}
            _ => break,
        }
    }
    let text = String::from_utf8_lossy(&output);
    let line = text.trim_start().lines().next().unwrap_or_default();
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn output(script: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("cc");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        crate::tests::mode(&program, 0o700);
        let begin = Instant::now();
        let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let line = query(&program, "--version", &environment);
        assert!(begin.elapsed() < Duration::from_secs(20), "{script}");
        line
    }

    #[test]
    fn version_is_first_line() {
        assert_eq!(output("echo cc 12.2; echo free software"), "cc 12.2");
        assert_eq!(output("printf 'no end of line'"), "no end of line");
        assert_eq!(output("echo cc 12.2; exec sleep 60"), "cc 12.2");
        assert_eq!(output("echo; echo 'This is perl' >&2"), "This is perl");
        assert_eq!(output("echo $1"), "--version");
        assert_eq!(output("exit 1"), "");
    }

    #[test]
    fn hanging_programs_have_no_version() {
        std::thread::scope(|scope| {
            for script in ["sleep 60", "sleep 60 & exit 0"] {
                scope.spawn(move || assert_eq!(output(script), "", "{script}"));
            }
        });
        let missing = Path::new("/nonexistent/cc");
        assert_eq!(query(missing, "--version", &BTreeMap::new()), "");
    }
}
