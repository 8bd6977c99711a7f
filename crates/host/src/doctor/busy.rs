//! What else uses the machine now.

use super::{Finding, Severity, found};
use crate::{Host, text};

pub(super) fn findings(host: &Host) -> Vec<Finding> {
    vec![load(host), runnable(host), steal(host), quota(host)]
}

/// The load is that of the whole machine, also where this process may use only a part of it.
fn online(host: &Host) -> usize {
    host.cpu.online.len().max(1)
}

fn load(host: &Host) -> Finding {
    const WHY: &str =
        "Whatever else runs takes CPU time, cache and memory bandwidth from what is measured.";
    let load = &host.load;
    let (Some(one), Some(five), Some(fifteen)) = (load.one, load.five, load.fifteen) else {
        return found("load", Severity::Remark, "cannot be read here").why(WHY);
    };
    let cpus = online(host);
    let value = format!(
        "{one:.2}, {five:.2}, {fifteen:.2} over 1, 5 and 15 minutes on {}",
        text::count(cpus, "CPU")
    );
    const LOOK: &str = "top -b -n 1 | head -20";
    if one >= cpus as f64 + 1.0 {
        found("load", Severity::Wrong, value)
            .why("More processes want a CPU than there are: what is measured would wait for them. Stop them, or wait.")
            .todo(LOOK)
    } else if one > (cpus as f64 / 16.0).max(0.5) {
        found("load", Severity::Warning, value)
            .why(format!("{WHY} Stop it, or wait."))
            .todo(LOOK)
    } else {
        found("load", Severity::Ok, value).why(WHY)
    }
}

fn runnable(host: &Host) -> Finding {
    const WHY: &str = "Processes that can run now compete for the CPUs; the load average lags behind by a minute.";
    let Some(runnable) = host.load.runnable else {
        return found("runnable", Severity::Remark, "cannot be read here").why(WHY);
    };
    // this process is one of them
    let others = runnable.saturating_sub(1);
    let value = format!("{others} besides this one");
    let severity = match others < online(host) as u64 {
        true => Severity::Ok,
        false => Severity::Warning,
    };
    found("runnable", severity, value).why(WHY)
}

fn steal(host: &Host) -> Finding {
    const WHY: &str = "Time that the hypervisor gives to other machines is lost to what is measured. Some hypervisors do not show it; gaps in the samples do.";
    let Some(share) = host.load.steal else {
        return found("steal", Severity::Remark, "cannot be read here").why(WHY);
    };
    let severity = match share {
        share if share >= 0.01 => Severity::Warning,
        share if share >= 0.001 => Severity::Remark,
        _ => Severity::Ok,
    };
    let value = format!("{:.2} % of the time since the start", share * 100.0);
    found("steal", severity, value).why(WHY)
}

fn quota(host: &Host) -> Finding {
    const NAME: &str = "CPU quota";
    let allowed = host.cpu.allowed.len().max(1);
    match (host.cgroup.cpus, host.cgroup.version) {
        (Some(quota), _) if quota < 1.0 => found(NAME, Severity::Wrong, format!("{quota:.2} of a CPU"))
            .why("The control group is stopped in every period once its quota is used up: figures would tell of the quota, not of the machine. Start outside of the group, or raise its quota to a CPU at least."),
        (Some(quota), _) if quota < allowed as f64 => found(NAME, Severity::Warning, format!("{quota:.2} of {}", text::count(allowed, "CPU")))
            .why("Rows that use several CPUs will be stopped by the quota of the control group; rows on one CPU will not."),
        (Some(quota), _) => found(NAME, Severity::Ok, format!("{quota:.2} CPUs"))
            .why("The quota of the control group is no less than the CPUs that may be used."),
        (None, Some(_)) => found(NAME, Severity::Ok, "none")
            .why("A quota of the control group would stop what is measured."),
        (None, None) => found(NAME, Severity::Remark, "cannot be read here")
            .why("A quota of the control group would stop what is measured, and no CPU controller can be seen."),
    }
}
