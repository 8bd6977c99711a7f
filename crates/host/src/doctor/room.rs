//! Whether there is room: memory, swap, processes, files.

use super::{Finding, MIB, Severity, as_root, found, graded};
use crate::{Host, UNLIMITED, text};

/// The shell rows start a few dozen processes at once: below the first they fail instead of being slow. The second is enough for every
/// row with other users of the machine at work.
const PROCESSES: [u64; 2] = [64, 256];

pub(super) fn findings(host: &Host) -> Vec<Finding> {
    vec![
        memory(host),
        address_space(host),
        swap(host),
        processes(host),
        process_group(host),
        files(host),
    ]
}

fn memory(host: &Host) -> Finding {
    const WHY: &str =
        "Without free memory the machine pages, and every figure becomes one of its disk.";
    let Some(available) = host.memory.available.or(host.memory.total) else {
        return found("memory", Severity::Remark, "cannot be read here").why(WHY);
    };
    let (room, note) = match host.cgroup.memory {
        Some(limit) if limit < available => (limit, ", the limit of the control group"),
        _ => (available, " free"),
    };
    let value = format!("{}{note}", text::bytes(room));
    found("memory", graded(room, 128 * MIB, 1024 * MIB), value).why(WHY)
}

/// A limit of this process, and the command that raises it.
fn limit(
    name: &str,
    limit: Option<u64>,
    [least, enough]: [u64; 2],
    show: impl Fn(u64) -> String,
    raise: &str,
) -> Finding {
    let value = match limit {
        None => return found(name, Severity::Remark, "not told"),
        Some(UNLIMITED) => "not limited".to_owned(),
        Some(limit) => show(limit),
    };
    let severity = limit.map_or(Severity::Ok, |limit| graded(limit, least, enough));
    found(name, severity, value).todo(raise)
}

fn address_space(host: &Host) -> Finding {
    let (most, room) = (host.limits.address_space, [128 * MIB, 1024 * MIB]);
    limit(
        "address space",
        most,
        room,
        text::bytes,
        "ulimit -v unlimited",
    )
    .why("A process that asks for more than the limit of its address space fails.")
}

fn swap(host: &Host) -> Finding {
    match host.memory.swap {
        None => found("swap", Severity::Remark, "cannot be read here")
            .why("Whether the machine can swap is not told."),
        Some(0) => {
            let make = "sh -c 'fallocate -l 1G /swapfile && chmod 600 /swapfile && mkswap /swapfile && swapon /swapfile'";
            found("swap", Severity::Remark, "none")
                .why("This machine cannot swap: when memory is full it kills a process instead of moving one out. byte-1984 holds such a system to be neither multiuser nor UNIX-like. Figures are right without it.")
                .todo(as_root(host, make))
                .only_if(host.virtualisation.container.is_none())
        }
        Some(size) => found("swap", Severity::Ok, text::bytes(size))
            .why("The machine can move processes out when memory is full."),
    }
}

fn processes(host: &Host) -> Finding {
    const NAME: &str = "processes per user";
    let finding = match host.limits.processes {
        Some(most) if host.system.privileged && most != UNLIMITED => {
            let value = format!("{most}, which does not bind root");
            found(NAME, Severity::Ok, value)
        }
        most => limit(
            NAME,
            most,
            PROCESSES,
            |most| most.to_string(),
            "ulimit -u 4096",
        ),
    };
    finding.why("Rows of many processes fail or hang at the limit; byte-1984 warns of low ones.")
}

fn process_group(host: &Host) -> Finding {
    const NAME: &str = "processes per control group";
    const WHY: &str = "Starting a process fails once the control group has as many as it may.";
    match (host.cgroup.processes, host.cgroup.processes_left) {
        (None, _) => found(NAME, Severity::Ok, "no limit seen").why(WHY),
        (Some(limit), left) => {
            let left = left.unwrap_or(limit);
            let severity = graded(left, PROCESSES[0], PROCESSES[1]);
            found(NAME, severity, format!("{limit}, {left} of them left")).why(WHY)
        }
    }
}

fn files(host: &Host) -> Finding {
    let most = host.limits.files;
    limit(
        "open files",
        most,
        [64, 256],
        |most| most.to_string(),
        "ulimit -n 1024",
    )
    .why("Rows with many pipes and files fail at the limit.")
}
