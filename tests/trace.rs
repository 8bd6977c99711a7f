//! What a kernel does around a sample, seen from outside: nothing foreign between the two resource readings, and as
//! many entries into the kernel as the row says.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The system calls of one launch under strace, in order; `None` where there is no strace.
fn calls(program: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    calls_in(folder.path(), program, arguments)
}

fn calls_in(folder: &Path, program: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let path = folder.join("kernel");
    let bytes = gritstone_kernels::find(program).unwrap().bytes().unwrap();
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    let log = folder.join("log");
    let script = format!(
        "exec strace -o {} {} target_ns=300000 samples=2 {} 3>/dev/null",
        log.display(),
        path.display(),
        arguments.join(" ")
    );
    let ran = Command::new("/bin/sh")
        .args(["-c", &script])
        .current_dir(folder)
        .output()
        .unwrap();
    if !ran.status.success() && String::from_utf8_lossy(&ran.stderr).contains("not found") {
        eprintln!("not run: there is no strace");
        return None;
    }
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let text = fs::read_to_string(&log).unwrap();
    Some(
        text.lines()
            .filter_map(|line| line.split_once('(').map(|(name, _)| name.to_owned()))
            .collect(),
    )
}

/// The calls between the two readings of each timed region.
fn regions(calls: &[String]) -> Vec<&[String]> {
    let readings: Vec<usize> = (0..calls.len())
        .filter(|&i| calls[i] == "getrusage")
        .collect();
    assert!(
        readings.len() >= 4 && readings.len().is_multiple_of(2),
        "{}",
        readings.len()
    );
    readings
        .chunks(2)
        .map(|pair| &calls[pair[0] + 1..pair[1]])
        .collect()
}

#[test]
fn a_sample_of_getpid_holds_getpids_and_nothing_else() {
    let Some(calls) = calls("byte/syscall", &["batch=500"]) else {
        return;
    };
    let regions = regions(&calls);
    for region in &regions {
        assert!(region.iter().all(|call| call == "getpid"), "{region:?}");
    }
    assert!(
        regions.iter().any(|region| region.len() == 500),
        "the batch enters the kernel 500 times"
    );
}

#[test]
fn a_sample_of_the_processor_holds_no_call_at_all() {
    for (program, argument) in [
        ("byte/sieve", "batch=10"),
        ("byte/loop", "batch=1000"),
        ("byte/fcall", "how=empty"),
        ("byte/fcall", "how=assign"),
    ] {
        let Some(calls) = calls(program, &[argument]) else {
            return;
        };
        for region in regions(&calls) {
            assert!(region.is_empty(), "{program}: {region:?}");
        }
    }
}

#[test]
fn iocall_makes_six_calls_a_turn() {
    let Some(calls) = calls("iocall/iocall", &["form=ncr", "batch=50"]) else {
        return;
    };
    let regions = regions(&calls);
    let batch = regions.last().unwrap();
    let count = |name: &str| batch.iter().filter(|call| call.as_str() == name).count();
    assert_eq!(
        (count("write"), count("lseek"), count("read")),
        (50, 50, 200)
    );
    assert_eq!(
        batch.len(),
        300 + 5,
        "create, close, open, unlink, close: {batch:?}"
    );
}

#[test]
fn the_writer_of_the_pipe_is_timed_and_the_reader_is_reaped_after() {
    let Some(calls) = calls("byte/pipe", &["batch=64"]) else {
        return;
    };
    let regions = regions(&calls);
    let batch = regions.last().unwrap();
    assert_eq!(
        batch.iter().filter(|call| call.as_str() == "write").count(),
        64
    );
    assert!(
        batch.iter().all(|call| !call.starts_with("wait")),
        "{batch:?}"
    );
    assert!(
        calls.iter().any(|call| call.starts_with("wait")),
        "it is reaped"
    );
}

#[test]
fn the_process_of_the_published_work_does_that_work_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let counted = |program: &str, mode: &str| {
        let calls = calls_in(folder.path(), program, &[mode, "n=1"])?;
        Some(["write", "read", "unlink"].map(|name| calls.iter().filter(|c| *c == name).count()))
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
        let Some(found) = counted(program, mode) else {
            return;
        };
        assert_eq!(found, counts, "{program} {mode}");
    }
}
