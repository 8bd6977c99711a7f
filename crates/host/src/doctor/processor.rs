//! How the processors' speed is set, and what the kernel does that moves figures.

use super::{Finding, Severity, as_root, found, unseen, write};
use crate::{Host, choose_cpus, text};

pub(super) fn findings(host: &Host) -> Vec<Finding> {
    vec![
        cores(host),
        governor(host),
        turbo(host),
        smt(host),
        mitigations(host),
        aslr(host),
        huge_pages(host),
    ]
}

fn cores(host: &Host) -> Finding {
    let (_, cores, threads) = host.cpu.counts();
    let mut value = text::count(cores, "core");
    if threads > cores {
        value += &format!(", {}", text::count(threads, "thread"));
    }
    if host.cpu.allowed.len() < threads {
        value += &format!(", {} may be used", text::cpus(&host.cpu.allowed));
    }
    let chosen = choose_cpus(&host.cpu);
    match chosen.map(|chosen| (chosen, chosen.watcher)) {
        None => found("cores", Severity::Wrong, value)
            .why("No CPU is both switched on and allowed to this process."),
        Some((_, None)) => found("cores", Severity::Warning, value)
            .why("With one CPU what watches takes time from what is measured, and rows across CPUs cannot run."),
        Some((chosen, Some(watcher))) => found("cores", Severity::Ok, format!(
                "{value}; measured on CPU {}, watched from CPU {watcher}",
                chosen.measured
            ))
            .why("What watches runs on another CPU than what is measured."),
    }
}

fn governor(host: &Host) -> Finding {
    const NAME: &str = "governor";
    const FILES: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
    let governors: Vec<&str> = host.cpu.governors.iter().map(String::as_str).collect();
    let value = governors.join(", ");
    match governors.as_slice() {
        [] => unseen(NAME)
            .why("The frequency is set elsewhere (by the hypervisor or the firmware) and may move; the cycle probe measures it beside every sample."),
        ["performance"] => found(NAME, Severity::Ok, value)
            .why("The cores run as fast as they may from the first sample on."),
        _ => found(NAME, Severity::Warning, value)
            .why("The cores slow down when idle and speed up under load: samples scatter, and short ones are slow.")
            .todo(write(host, "performance", FILES)),
    }
}

fn turbo(host: &Host) -> Finding {
    const NAME: &str = "turbo";
    match host.cpu.turbo {
        None => unseen(NAME)
            .why("Whether the cores may exceed their base frequency is not told; the cycle probe measures what they do."),
        Some(turbo) if turbo.on => found(NAME, Severity::Remark, "on")
            .why("The frequency depends on heat and on what the other cores do, so that figures drift over minutes.")
            .todo(write(host, turbo.off, turbo.file)),
        Some(_) => found(NAME, Severity::Ok, "off")
            .why("The cores keep to their base frequency."),
    }
}

fn smt(host: &Host) -> Finding {
    match host.cpu.smt {
        Some(true) => found("SMT", Severity::Remark, "on")
            .why("A busy sibling thread takes up to half of the core, and no counter of the kernel shows it as stolen.")
            .todo(write(host, "off", "/sys/devices/system/cpu/smt/control"))
            .only_if(host.cpu.smt_control),
        Some(false) => found("SMT", Severity::Ok, "off, or not shown")
            .why("No sibling thread that this machine knows of shares the core."),
        None => unseen("SMT")
            .why("A busy sibling thread would take up to half of the core."),
    }
}

fn mitigations(host: &Host) -> Finding {
    const NAME: &str = "mitigations";
    let states = host.kernel.mitigations.values();
    let count = |word: &str| {
        states
            .clone()
            .filter(|state| state.starts_with(word))
            .count()
    };
    let (mitigated, vulnerable) = (count("Mitigation"), count("Vulnerable"));
    let value = format!("{mitigated} at work, {vulnerable} vulnerabilities left open");
    match (host.kernel.mitigations.is_empty(), mitigated) {
        (true, _) => unseen(NAME)
            .why("Mitigations make system calls and switches slower, by how much depends on the processor."),
        (false, 0) => found(NAME, Severity::Ok, value)
            .why("Nothing makes system calls slower than they need be."),
        (false, _) => found(NAME, Severity::Remark, value)
            .why("They make system calls and switches slower; compare only with machines that do the same, or say so. Each is recorded."),
    }
}

fn aslr(host: &Host) -> Finding {
    const NAME: &str = "ASLR";
    match host.kernel.aslr {
        Some(0) => found(NAME, Severity::Remark, "off")
            .why("Every launch has the same layout of memory: a lucky or unlucky one stays, and no number of launches averages it out.")
            .todo(as_root(host, "sysctl -w kernel.randomize_va_space=2")),
        Some(_) => found(NAME, Severity::Ok, "on")
            .why("Every launch has another layout of memory, and several launches average over them."),
        None => unseen(NAME)
            .why("Whether launches differ in their layout of memory is not told."),
    }
}

fn huge_pages(host: &Host) -> Finding {
    const NAME: &str = "transparent huge pages";
    match host.kernel.huge_pages.as_deref() {
        Some("always") => found(NAME, Severity::Remark, "always")
            .why("Large memory gets huge pages when some are free, and small ones when not: figures of memory have two modes.")
            .todo(write(host, "madvise", "/sys/kernel/mm/transparent_hugepage/enabled")),
        Some(mode) => found(NAME, Severity::Ok, mode)
            .why("Only memory that asks for huge pages gets them."),
        None => unseen(NAME)
            .why("Whether large memory gets huge pages is not told."),
    }
}
