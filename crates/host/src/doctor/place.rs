//! Where files would be measured, and what lies between this process and the hardware.

use super::{Finding, MIB, Severity, as_root, found, graded};
use crate::filesystem::FileSystem;
use crate::{Host, text};
use std::io;
use std::path::Path;

/// The directory of file rows cannot be used.
pub(super) fn no_directory(dir: &Path, error: &io::Error) -> Finding {
    // quoted for the shell
    let quoted = dir.display().to_string().replace('\'', r"'\''");
    found("directory", Severity::Wrong, "cannot be used")
        .why(error.to_string())
        .todo(format!("mkdir -p '{quoted}'"))
        .only_if(error.kind() == io::ErrorKind::NotFound)
}

pub(super) fn directory(place: &FileSystem) -> Vec<Finding> {
    vec![file_system(place), free(place)]
}

fn file_system(place: &FileSystem) -> Finding {
    const NAME: &str = "file system";
    let turns = match place.rotational {
        Some(true) => ", says that it turns",
        Some(false) => ", does not turn",
        None => "",
    };
    let value = place.describe() + turns;
    if place.read_only {
        found(NAME, Severity::Wrong, value)
            .why("Nothing can be written here, so that rows with files cannot run. Choose another directory with --dir.")
    } else if place.in_memory() {
        found(NAME, Severity::Warning, value)
            .why("Files here are memory: rows with files will tell nothing of a disk. Choose another directory with --dir.")
    } else if place.remote() {
        found(NAME, Severity::Warning, value)
            .why("Files here are on another machine: rows with files will tell of it and of the way there. Choose another directory with --dir.")
    } else if place.noexec {
        found(NAME, Severity::Warning, value)
            .why("Programs cannot be executed here, which some rows do. Choose another directory with --dir.")
    } else if place.fs_type == "overlay" {
        found(NAME, Severity::Remark, value)
            .why("An overlay copies a file up when it is first changed, and what lies below decides its speed.")
    } else {
        found(NAME, Severity::Ok, value)
            .why("Rows with files tell of this file system and this device.")
    }
}

fn free(place: &FileSystem) -> Finding {
    const WHY: &str = "A full disk ends rows with files, and a nearly full one makes them slow.";
    match place.free {
        None => found("free disk", Severity::Remark, "not told").why(WHY),
        Some(free) => {
            let severity = graded(free, 64 * MIB, 1024 * MIB);
            found("free disk", severity, text::bytes(free)).why(WHY)
        }
    }
}

pub(super) fn surroundings(host: &Host) -> Vec<Finding> {
    vec![machine(host), container(host), identity(host)]
}

fn machine(host: &Host) -> Finding {
    match &host.virtualisation.machine {
        Some(kind) => found("virtual machine", Severity::Remark, kind)
            .why("The hypervisor can stop a CPU unseen, entries into the kernel and page faults may cost more, and neighbors share the hardware."),
        None => found("virtual machine", Severity::Ok, "no sign of one")
            .why("A hypervisor could stop a CPU unseen."),
    }
}

fn container(host: &Host) -> Finding {
    match &host.virtualisation.container {
        Some(kind) => found("container", Severity::Remark, kind)
            .why("Limits, file systems and filters of system calls are the container's; what runs beside it is out of sight."),
        None => found("container", Severity::Ok, "no sign of one")
            .why("Limits and file systems are the machine's own."),
    }
}

fn identity(host: &Host) -> Finding {
    if host.is_distinct() {
        return found("identity", Severity::Ok, host.id())
            .why("Runs on this machine are known as its own.");
    }
    found("identity", Severity::Remark, format!("{}, shared by all machines like it", host.id()))
        .why("There is no machine-id here, so that runs of this machine cannot be told from those of another of the same model.")
        .todo(as_root(host, "systemd-machine-id-setup"))
        .only_if(host.virtualisation.container.is_none())
}
