//! The directory for files.

use super::{Finding, MIB, Severity, found, graded};
use crate::filesystem::{self, FileSystem};
use crate::text;
use std::io::ErrorKind;
use std::path::Path;

pub(super) fn findings(dir: &Path) -> Vec<Finding> {
    match filesystem::containing(dir) {
        Ok(place) => {
            vec![file_system(&place).named("file system"), free(&place).named("free disk")]
        }
        Err(error) => {
            // quoted for the shell
            let quoted = dir.display().to_string().replace('\'', r"'\''");
            let finding = found(Severity::Problem, "cannot be used")
                .named("directory")
                .why(error.to_string())
                .todo(format!("mkdir -p '{quoted}'"))
                .only_if(error.kind() == ErrorKind::NotFound);
            vec![finding]
        }
    }
}

fn file_system(place: &FileSystem) -> Finding {
    let turns = match place.rotational {
        Some(true) => ", reports as rotational (HDD)",
        Some(false) => ", non-rotational",
        None => "",
    };
    let value = place.describe() + turns;
    if place.read_only {
        found(Severity::Problem, value)
            .why("The directory is not writable: file benchmarks are skipped. Choose another one with --dir.")
    } else if place.in_memory() {
        found(Severity::Warning, value)
            .why("The directory is in memory (tmpfs): file results show RAM, not a disk. Choose another one with --dir.")
    } else if place.remote() {
        found(Severity::Warning, value)
            .why("The directory is on a network file system: file results show the server and the network. Choose another one with --dir.")
    } else if place.noexec {
        found(Severity::Warning, value)
            .why("The file system is mounted noexec, and some benchmarks run programs there. Choose another directory with --dir.")
    } else if place.fs_type == "overlay" {
        found(Severity::Note, value)
            .why("An overlay copies a file up at its first change; the lower file system decides its speed.")
    } else {
        found(Severity::Ok, value).why("File benchmarks measure this file system and device.")
    }
}

fn free(place: &FileSystem) -> Finding {
    let finding = match place.free {
        None => found(Severity::Note, "unknown"),
        Some(free) => found(graded(free, 64 * MIB, 1024 * MIB), text::bytes(free)),
    };
    finding.why("File benchmarks fail on a full disk and are slow on a nearly full one.")
}
