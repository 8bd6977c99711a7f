//! The clocks that samples are timed by.

use super::{Finding, Severity, found, unseen, write};
use crate::Host;

pub(super) fn findings(host: &Host) -> Vec<Finding> {
    vec![source(host), resolution(host), tick(host)]
}

/// Clock sources that are read in tens of nanoseconds, without entering the kernel or nearly so; the processor's own first.
const FAST: [&str; 12] = [
    "tsc",
    "arch_sys_counter",
    "riscv_clocksource",
    "rdtime",
    "timebase",
    "tod",
    "stick",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "xen",
    "arch_mmio_counter",
    "Constant",
];

/// Right, but each reading enters the kernel and takes a microsecond or more; the better first.
const SLOW: [&str; 3] = ["hpet", "acpi_pm", "hyperv_clocksource_msr"];

/// They advance once a tick.
const COARSE: [&str; 4] = ["jiffies", "pit", "refined-jiffies", "xtime"];

fn source(host: &Host) -> Finding {
    const NAME: &str = "clock source";
    const FILE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let Some(source) = host.kernel.clock_source.as_deref() else {
        return unseen(NAME)
            .why("Its cost and resolution are measured in every launch all the same.");
    };
    let offered = |wanted: &[&'static str]| {
        let mut all = wanted.iter().copied();
        all.find(|&name| host.kernel.clock_sources.iter().any(|offer| offer == name))
    };
    let finding = if FAST.contains(&source) {
        return found(NAME, Severity::Ok, source)
            .why("Read in tens of nanoseconds: its cost hides in no sample.");
    } else if COARSE.contains(&source) {
        found(NAME, Severity::Wrong, source)
            .why("It advances once a tick, in milliseconds: no sample can be timed by it.")
    } else if SLOW.contains(&source) {
        found(NAME, Severity::Warning, source)
            .why("Each reading enters the kernel and takes a microsecond or more: latencies of single operations are mostly its own. Linux falls back to it when the processor's counter does not keep time.")
    } else {
        found(NAME, Severity::Remark, source)
            .why("Not one that is known here: look at the clock cost that every launch records.")
    };
    let slow = offered(&SLOW).filter(|_| COARSE.contains(&source));
    match offered(&FAST).or(slow) {
        Some(better) => finding.todo(write(host, better, FILE)),
        None => finding,
    }
}

fn resolution(host: &Host) -> Finding {
    const NAME: &str = "timer resolution";
    const WHY: &str = "A sample must be a thousand times as long as the clock's step.";
    let Some(step) = host.kernel.resolution else {
        return found(NAME, Severity::Remark, "not told").why(WHY);
    };
    let severity = match step {
        0..=1_000 => Severity::Ok,
        1_001..=100_000 => Severity::Warning,
        _ => Severity::Wrong,
    };
    let why = match severity {
        Severity::Ok => WHY.to_owned(),
        _ => format!("{WHY} Boot with highres=on and a better clock source."),
    };
    found(NAME, severity, format!("{step} ns")).why(why)
}

fn tick(host: &Host) -> Finding {
    const WHY: &str = "User and system time are counted in ticks on many kernels: they are figures only over a hundred ticks of work.";
    match host.kernel.hz() {
        Some(1) => found("tick", Severity::Ok, "1 tick a second").why(WHY),
        Some(hz) => found("tick", Severity::Ok, format!("{hz} ticks a second")).why(WHY),
        None => found("tick", Severity::Remark, "not told").why(WHY),
    }
}
