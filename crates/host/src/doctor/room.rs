//! Whether there is room: memory, swap, processes, files.
//!
//! Must not know: discs and directories.

use super::{Finding, Severity, as_root};
use crate::{Host, UNLIMITED, text};

/// The shell rows start a few dozen processes at once; below this the rows fail instead of being slow.
const FEWEST_PROCESSES: u64 = 64;
/// Enough for every row with other users of the machine at work.
const ENOUGH_PROCESSES: u64 = 256;
const MIB: u64 = 1 << 20;

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

/// `Wrong` below `least`, a warning below `enough`.
fn graded(amount: u64, least: u64, enough: u64) -> Severity {
    match amount {
        amount if amount < least => Severity::Wrong,
        amount if amount < enough => Severity::Warning,
        _ => Severity::Ok,
    }
}

fn memory(host: &Host) -> Finding {
    const WHY: &str =
        "Without free memory the machine pages, and every figure becomes one of its disc.";
    let Some(available) = host.memory.available.or(host.memory.total) else {
        return Finding::new("memory", Severity::Remark, "cannot be read here", WHY);
    };
    let (room, note) = match host.cgroup.memory {
        Some(limit) if limit < available => (limit, ", the limit of the control group"),
        _ => (available, " free"),
    };
    let value = format!("{}{note}", text::bytes(room));
    Finding::new("memory", graded(room, 128 * MIB, 1024 * MIB), value, WHY)
}

fn address_space(host: &Host) -> Finding {
    const NAME: &str = "address space";
    const WHY: &str = "A process that asks for more than the limit of its address space fails.";
    let Some(limit) = host.limits.address_space else {
        return Finding::new(NAME, Severity::Remark, "not told", WHY);
    };
    let value = if limit == UNLIMITED {
        "not limited".to_owned()
    } else {
        text::bytes(limit)
    };
    let severity = graded(limit, 128 * MIB, 1024 * MIB);
    Finding::new(NAME, severity, value, WHY)
        .todo("ulimit -v unlimited")
        .only_if(severity > Severity::Ok)
}

fn swap(host: &Host) -> Finding {
    match host.memory.swap {
        None => Finding::new(
            "swap",
            Severity::Remark,
            "cannot be read here",
            "Whether the machine can swap is not told.",
        ),
        Some(0) => {
            let make = "sh -c 'fallocate -l 1G /swapfile && chmod 600 /swapfile && mkswap /swapfile && swapon /swapfile'";
            Finding::new(
                "swap",
                Severity::Remark,
                "none",
                "This machine cannot swap: when memory is full it kills a process instead of moving one out. byte-1984 holds such a system to be neither multiuser nor UNIX-like. Figures are right without it.",
            )
            .todo(as_root(host, make))
            .only_if(host.virtualisation.container.is_none())
        }
        Some(size) => Finding::new(
            "swap",
            Severity::Ok,
            text::bytes(size),
            "The machine can move processes out when memory is full.",
        ),
    }
}

fn processes(host: &Host) -> Finding {
    const NAME: &str = "processes per user";
    const WHY: &str =
        "Rows of many processes fail or hang at the limit; byte-1984 warns of low ones.";
    let Some(limit) = host.limits.processes else {
        return Finding::new(NAME, Severity::Remark, "not told", WHY);
    };
    let value = counted(limit);
    if host.system.privileged && limit != UNLIMITED {
        let value = format!("{value}, which does not bind root");
        return Finding::new(NAME, Severity::Ok, value, WHY);
    }
    let severity = graded(limit, FEWEST_PROCESSES, ENOUGH_PROCESSES);
    Finding::new(NAME, severity, value, WHY)
        .todo("ulimit -u 4096")
        .only_if(severity > Severity::Ok)
}

fn counted(limit: u64) -> String {
    if limit == UNLIMITED {
        "not limited".to_owned()
    } else {
        limit.to_string()
    }
}

fn process_group(host: &Host) -> Finding {
    const NAME: &str = "processes per control group";
    const WHY: &str = "Starting a process fails once the control group has as many as it may.";
    match (host.cgroup.processes, host.cgroup.processes_left) {
        (None, _) => Finding::new(NAME, Severity::Ok, "no limit seen", WHY),
        (Some(limit), left) => {
            let left = left.unwrap_or(limit);
            let severity = graded(left, FEWEST_PROCESSES, ENOUGH_PROCESSES);
            Finding::new(NAME, severity, format!("{limit}, {left} of them left"), WHY)
        }
    }
}

fn files(host: &Host) -> Finding {
    const NAME: &str = "open files";
    const WHY: &str = "Rows with many pipes and files fail at the limit.";
    let Some(limit) = host.limits.files else {
        return Finding::new(NAME, Severity::Remark, "not told", WHY);
    };
    let severity = graded(limit, 64, 256);
    Finding::new(NAME, severity, counted(limit), WHY)
        .todo("ulimit -n 1024")
        .only_if(severity > Severity::Ok)
}
