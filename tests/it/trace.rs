//! A workload around a sample, seen from outside: no foreign system call between the two resource readings, and the claimed number of
//! calls.

use crate::common;
use crate::common::workload::shipped;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The system calls of one launch under strace, in order.
fn calls(program: &str, arguments: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    calls_in(folder.path(), program, arguments)
}

fn calls_in(folder: &Path, program: &str, arguments: &[&str]) -> Vec<String> {
    let path = shipped(program, folder.join("kernel"));
    let log = folder.join("log");
    let script = format!(
        "exec {} -o {} {} target_ns=300000 samples=2 {} 3>/dev/null",
        common::program(&["strace"]).display(),
        log.display(),
        path.display(),
        arguments.join(" ")
    );
    common::succeeds(Command::new("/bin/sh").args(["-c", &script]).current_dir(folder));
    calls_of(&fs::read_to_string(&log).unwrap())
}

/// The calls in a log of strace. A call interrupted by a signal is restarted by the kernel and logged twice; the program made it once.
fn calls_of(log: &str) -> Vec<String> {
    let mut calls: Vec<String> = vec![];
    let mut interrupted = false;
    for line in log.lines() {
        let Some((name, _)) = line.split_once('(') else {
            continue;
        };
        let again = name == "restart_syscall" || calls.last().is_some_and(|last| last == name);
        if !(interrupted && again) {
            calls.push(name.to_owned());
        }
        interrupted = line.contains("= ? ERESTART");
    }
    calls
}

#[test]
fn restarted_calls_count_once() {
    let log = "vfork() = 7\n\
        wait4(-1, 0x7ffc, 0, NULL) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)\n\
        --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=7} ---\n\
        wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 7\n\
        wait4(-1, 0x7ffc, 0, NULL) = -1 ECHILD (No child processes)\n\
        rt_sigsuspend([], 8) = ? ERESTARTNOHAND (To be restarted if no handler)\n\
        --- SIGUSR1 {si_signo=SIGUSR1, si_code=SI_USER, si_pid=7} ---\n\
        rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted system call)\n\
        +++ exited with 0 +++\n";
    let expected = ["vfork", "wait4", "wait4", "rt_sigsuspend", "rt_sigreturn"];
    assert_eq!(calls_of(log), expected);
}

fn count(calls: &[String], name: &str) -> usize {
    calls.iter().filter(|call| *call == name).count()
}

/// The calls between the two readings of each timed region.
fn regions(calls: &[String]) -> Vec<&[String]> {
    let between: Vec<_> = calls.split(|call| call == "getrusage").collect();
    let readings = between.len() - 1;
    assert!(readings >= 4 && readings.is_multiple_of(2), "{readings}");
    between.into_iter().skip(1).step_by(2).collect()
}

#[test]
fn getpid_samples_hold_only_getpid() {
    let calls = calls("byte/syscall", &["batch=500"]);
    let regions = regions(&calls);
    for region in &regions {
        assert!(region.iter().all(|call| call == "getpid"), "{region:?}");
    }
    // the batch enters the kernel 500 times
    assert!(regions.iter().any(|region| region.len() == 500));
}

#[test]
fn cpu_samples_hold_no_calls() {
    for (program, argument) in [
        ("byte/sieve", "batch=10"),
        ("byte/loop", "batch=1000"),
        ("byte/fcall", "how=empty"),
        ("byte/fcall", "how=assign"),
    ] {
        let calls = calls(program, &[argument]);
        for region in regions(&calls) {
            assert!(region.is_empty(), "{program}: {region:?}");
        }
    }
}

#[test]
fn iocall_makes_six_calls() {
    let calls = calls("iocall/iocall", &["form=ncr", "batch=50"]);
    let regions = regions(&calls);
    let batch = regions.last().unwrap();
    let counts = ["write", "lseek", "read"].map(|name| count(batch, name));
    assert_eq!(counts, [50, 50, 200]);
    // and create, close, open, unlink, close
    assert_eq!(batch.len(), 300 + 5, "{batch:?}");
}

#[test]
fn pipe_readers_are_reaped_untimed() {
    let calls = calls("byte/pipe", &["batch=64"]);
    let regions = regions(&calls);
    let batch = regions.last().unwrap();
    assert_eq!(count(batch, "write"), 64);
    let waits = |calls: &[String]| calls.iter().any(|call| call.starts_with("wait"));
    // it is reaped, but not within
    assert!(waits(&calls) && !waits(batch), "{batch:?}");
}

/// Calls between two adjacent readings of the resource usage, in regions that wait.
fn regions_with_waits(calls: &[String]) -> Vec<&[String]> {
    let between = calls.split(|call| call == "getrusage").skip(1);
    between.filter(|calls| calls.iter().any(|call| call == "wait4")).collect()
}

#[test]
fn process_creation_is_two_calls() {
    for (how, names) in [
        ("how=fork", &["fork", "clone"][..]),
        ("how=vfork", &["vfork", "clone"]),
        ("how=clone3-vfork", &["clone3"]),
    ] {
        let calls = calls("kernel/process", &[how, "batch=10", "grow=102400"]);
        // where the system lets no clone3 through, nothing is timed
        if calls.iter().all(|call| call != "wait4") {
            assert_eq!(how, "how=clone3-vfork");
            continue;
        }
        let regions = regions_with_waits(&calls);
        for region in &regions {
            assert!(region.len() >= 2, "{how}: {region:?}");
            for pair in region.chunks(2) {
                assert!(names.contains(&&*pair[0]), "{how}: {region:?}");
                assert_eq!(pair[1], "wait4", "{how}: {region:?}");
            }
        }
        assert_eq!(regions.last().unwrap().len(), 20, "{how}");
    }
}

#[test]
fn message_samples_hold_their_calls() {
    let signal = ["kill", "rt_sigsuspend", "rt_sigreturn"];
    let both = ["write", "read"];
    for (program, arguments, names, extra) in [
        ("kernel/signal", &["to=self"][..], &signal[..], 0),
        ("kernel/signal", &["to=other"], &signal, 0),
        ("kernel/pipe", &["how=self", "size=4"], &both, 0),
        ("kernel/pipe", &["how=back", "size=512"], &both, 0),
        // and one reading of what the child says at the end
        ("kernel/pipe", &["how=discard", "size=512"], &both[..1], 1),
    ] {
        let arguments = [arguments, &["batch=20"]].concat();
        let calls = calls(program, &arguments);
        // those that only learn what a reading costs hold nothing
        for region in regions(&calls).into_iter().filter(|r| !r.is_empty()) {
            let (work, rest) = region.split_at(region.len() - extra);
            assert!(!work.is_empty(), "{arguments:?}: {region:?}");
            for turn in work.chunks(names.len()) {
                assert_eq!(turn, names, "{arguments:?}");
            }
            assert_eq!(count(rest, "read"), extra, "{arguments:?}: {region:?}");
        }
        let last = *regions(&calls).last().unwrap();
        assert_eq!(last.len(), 20 * names.len() + extra, "{arguments:?}");
    }
}

#[test]
fn reference_process_does_reference_work() {
    let folder = tempfile::tempdir().unwrap();
    let counted = |program: &str, mode: &str| {
        let calls = calls_in(folder.path(), program, &[mode, "n=1"]);
        ["write", "read", "unlink"].map(|name| count(&calls, name))
    };
    for (program, mode, counts) in [
        ("byte/disk-write", "mode=prepare", [0, 0, 0]),
        ("byte/disk-write", "mode=once", [256, 0, 0]),
        // 256 blocks and the end of the file
        ("byte/disk-write", "mode=finish", [0, 257, 1]),
        ("byte/disk-read", "mode=prepare", [256, 0, 0]),
        ("byte/disk-read", "mode=once", [0, 256, 1]),
        ("byte/disk-read", "mode=finish", [0, 0, 0]),
        // those that need no file do all of it at once
        ("byte/pipe", "mode=prepare", [0, 0, 0]),
        ("byte/pipe", "mode=once", [1, 0, 0]),
    ] {
        let found = counted(program, mode);
        assert_eq!(found, counts, "{program} {mode}");
    }
}
