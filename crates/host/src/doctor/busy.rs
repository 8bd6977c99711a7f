//! What else uses the machine now.
//!
//! Must not know: what was used during a launch.

use super::{Finding, Severity};
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
        return Finding::new("load", Severity::Remark, "cannot be read here", WHY);
    };
    let cpus = online(host);
    let value = format!(
        "{one:.2}, {five:.2}, {fifteen:.2} over 1, 5 and 15 minutes on {}",
        text::count(cpus, "CPU")
    );
    if one >= cpus as f64 + 1.0 {
        let why = "More processes want a CPU than there are: what is measured would wait for them. Stop them, or wait.";
        return Finding::new("load", Severity::Wrong, value, why).todo("top -b -n 1 | head -20");
    }
    if one > (cpus as f64 / 16.0).max(0.5) {
        return Finding::new(
            "load",
            Severity::Warning,
            value,
            format!("{WHY} Stop it, or wait."),
        )
        .todo("top -b -n 1 | head -20");
    }
    Finding::new("load", Severity::Ok, value, WHY)
}

fn runnable(host: &Host) -> Finding {
    const WHY: &str = "Processes that can run now compete for the CPUs; the load average lags behind by a minute.";
    let Some(runnable) = host.load.runnable else {
        return Finding::new("runnable", Severity::Remark, "cannot be read here", WHY);
    };
    // this process is one of them
    let others = runnable.saturating_sub(1);
    let value = format!("{others} besides this one");
    let severity = if others >= online(host) as u64 {
        Severity::Warning
    } else {
        Severity::Ok
    };
    Finding::new("runnable", severity, value, WHY)
}

fn steal(host: &Host) -> Finding {
    const WHY: &str = "Time that the hypervisor gives to other machines is lost to what is measured. Some hypervisors do not show it; gaps in the samples do.";
    let Some(share) = host.load.steal else {
        return Finding::new("steal", Severity::Remark, "cannot be read here", WHY);
    };
    let severity = match share {
        share if share >= 0.01 => Severity::Warning,
        share if share >= 0.001 => Severity::Remark,
        _ => Severity::Ok,
    };
    let value = format!("{:.2} % of the time since the start", share * 100.0);
    Finding::new("steal", severity, value, WHY)
}

fn quota(host: &Host) -> Finding {
    const NAME: &str = "CPU quota";
    let allowed = host.cpu.allowed.len().max(1);
    match (host.cgroup.cpus, host.cgroup.version) {
        (Some(quota), _) if quota < 1.0 => Finding::new(
            NAME,
            Severity::Wrong,
            format!("{quota:.2} of a CPU"),
            "The control group is stopped in every period once its quota is used up: figures would tell of the quota, not of the machine. Start outside of the group, or raise its quota to a CPU at least.",
        ),
        (Some(quota), _) if quota < allowed as f64 => Finding::new(
            NAME,
            Severity::Warning,
            format!("{quota:.2} of {}", text::count(allowed, "CPU")),
            "Rows that use several CPUs will be stopped by the quota of the control group; rows on one CPU will not.",
        ),
        (Some(quota), _) => Finding::new(
            NAME,
            Severity::Ok,
            format!("{quota:.2} CPUs"),
            "The quota of the control group is no less than the CPUs that may be used.",
        ),
        (None, Some(_)) => Finding::new(
            NAME,
            Severity::Ok,
            "none",
            "A quota of the control group would stop what is measured.",
        ),
        (None, None) => Finding::new(
            NAME,
            Severity::Remark,
            "cannot be read here",
            "A quota of the control group would stop what is measured, and no CPU controller can be seen.",
        ),
    }
}
