//! Where files would be measured, and what lies between this process and the hardware.
//!
//! Must not know: processors, load.

use super::{Finding, Severity, as_root};
use crate::filesystem::FileSystem;
use crate::{Host, text};
use std::io;
use std::path::Path;

const MIB: u64 = 1 << 20;

/// The directory of file rows cannot be used.
pub(super) fn no_directory(dir: &Path, error: &io::Error) -> Finding {
    // quoted for the shell
    let quoted = dir.display().to_string().replace('\'', r"'\''");
    Finding::new(
        "directory",
        Severity::Wrong,
        "cannot be used",
        error.to_string(),
    )
    .todo(format!("mkdir -p '{quoted}'"))
    .only_if(error.kind() == io::ErrorKind::NotFound)
}

pub(super) fn directory(place: &FileSystem) -> Vec<Finding> {
    vec![file_system(place), free(place)]
}

fn file_system(place: &FileSystem) -> Finding {
    let mut value = place.describe();
    if let Some(turns) = place.rotational {
        value += if turns {
            ", says that it turns"
        } else {
            ", does not turn"
        };
    }
    let (severity, why) = if place.read_only {
        (
            Severity::Wrong,
            "Nothing can be written here, so that rows with files cannot run. Choose another directory with --dir.",
        )
    } else if place.in_memory() {
        (
            Severity::Warning,
            "Files here are memory: rows with files will tell nothing of a disc. Choose another directory with --dir.",
        )
    } else if place.remote() {
        (
            Severity::Warning,
            "Files here are on another machine: rows with files will tell of it and of the way there. Choose another directory with --dir.",
        )
    } else if place.noexec {
        (
            Severity::Warning,
            "Programs cannot be executed here, which some rows do. Choose another directory with --dir.",
        )
    } else if place.fs_type == "overlay" {
        (
            Severity::Remark,
            "An overlay copies a file up when it is first changed, and what lies below decides its speed.",
        )
    } else {
        (
            Severity::Ok,
            "Rows with files tell of this file system and this device.",
        )
    };
    Finding::new("file system", severity, value, why)
}

fn free(place: &FileSystem) -> Finding {
    const WHY: &str = "A full disc ends rows with files, and a nearly full one makes them slow.";
    match place.free {
        None => Finding::new("free disc", Severity::Remark, "not told", WHY),
        Some(free) => {
            let severity = match free {
                free if free < 64 * MIB => Severity::Wrong,
                free if free < 1024 * MIB => Severity::Warning,
                _ => Severity::Ok,
            };
            Finding::new("free disc", severity, text::bytes(free), WHY)
        }
    }
}

pub(super) fn surroundings(host: &Host) -> Vec<Finding> {
    vec![machine(host), container(host), identity(host)]
}

fn machine(host: &Host) -> Finding {
    match &host.virtualisation.machine {
        Some(kind) => Finding::new(
            "virtual machine",
            Severity::Remark,
            kind,
            "The hypervisor can stop a CPU unseen, entries into the kernel and page faults may cost more, and neighbours share the hardware.",
        ),
        None => Finding::new(
            "virtual machine",
            Severity::Ok,
            "no sign of one",
            "A hypervisor could stop a CPU unseen.",
        ),
    }
}

fn container(host: &Host) -> Finding {
    match &host.virtualisation.container {
        Some(kind) => Finding::new(
            "container",
            Severity::Remark,
            kind,
            "Limits, file systems and filters of system calls are the container's; what runs beside it is out of sight.",
        ),
        None => Finding::new(
            "container",
            Severity::Ok,
            "no sign of one",
            "Limits and file systems are the machine's own.",
        ),
    }
}

fn identity(host: &Host) -> Finding {
    if host.is_distinct() {
        return Finding::new(
            "identity",
            Severity::Ok,
            host.id(),
            "Runs on this machine are known as its own.",
        );
    }
    Finding::new(
        "identity",
        Severity::Remark,
        format!("{}, shared by all machines like it", host.id()),
        "There is no machine-id here, so that runs of this machine cannot be told from those of another of the same model.",
    )
    .todo(as_root(host, "systemd-machine-id-setup"))
    .only_if(host.virtualisation.container.is_none())
}
