//! Checks of a machine: other users, processors, kernel, clocks, room, and layers between this process and the
//! hardware.

use super::Severity::{Note, Ok as Fine, Problem, Warning};
use super::{Finding, MIB, as_root, found, graded, unseen, write};
use crate::{Host, UNLIMITED, choose_cpus, text};
use gritstone_model::pluralize;

type Check = (&'static str, fn(&Host) -> Finding);

/// Checks of the current load, and of the machine.
pub(super) const MACHINE: [Check; 21] = [
    ("load", load),
    ("runnable", runnable),
    ("steal", steal),
    ("CPU quota", quota),
    ("power", power),
    ("cores", cores),
    ("governor", governor),
    ("turbo", turbo),
    ("SMT", smt),
    ("mitigations", mitigations),
    ("ASLR", aslr),
    ("transparent huge pages", huge_pages),
    ("clock source", source),
    ("timer resolution", resolution),
    ("tick", tick),
    ("memory", memory),
    ("address space", address_space),
    ("swap", swap),
    ("processes per user", processes),
    ("processes per control group", process_group),
    ("open files", files),
];

/// Number of the first ones, whose result changes by the hour.
pub(super) const CHANGING: usize = 5;

/// Layers between this process and the hardware.
pub(super) const SURROUNDINGS: [Check; 3] =
    [("virtual machine", machine), ("container", container), ("identity", identity)];

fn unread(finding: Option<Finding>) -> Finding {
    finding.unwrap_or_else(|| found(Note, "cannot be read here"))
}

/// The load is that of the whole machine, even if this process may use only a part of it.
fn online(host: &Host) -> usize {
    host.cpu.online.len().max(1)
}

fn load(host: &Host) -> Finding {
    const WHY: &str = "Other processes take CPU time, cache and memory bandwidth from benchmarks.";
    let load = &host.load;
    let (Some(one), Some(five), Some(fifteen)) = (load.one, load.five, load.fifteen) else {
        return found(Note, "cannot be read here").why(WHY);
    };
    let cpus = online(host);
    let value = format!(
        "{one:.2}, {five:.2}, {fifteen:.2} over 1, 5 and 15 minutes on {}",
        text::count(cpus, "CPU")
    );
    if one >= cpus as f64 + 1.0 {
        found(Problem, value)
            .why("More processes are runnable than there are CPUs: benchmarks would wait for them. Stop them, or wait.")
    } else if one > (cpus as f64 / 16.0).max(0.5) {
        found(Warning, value).why(format!("{WHY} Stop it, or wait."))
    } else {
        found(Fine, value).why(WHY)
    }
}

fn runnable(host: &Host) -> Finding {
    let finding = host.load.runnable.map(|runnable| {
        // excludes this process
        let others = runnable.saturating_sub(1);
        let severity = match others < online(host) as u64 {
            true => Fine,
            false => Warning,
        };
        found(severity, format!("{others} other {}", pluralize(others as usize, "process")))
    });
    unread(finding)
        .why("Runnable processes compete for the CPUs; the load average lags by a minute.")
}

fn steal(host: &Host) -> Finding {
    let finding = host.load.steal.map(|share| {
        let severity = match share {
            share if share >= 0.01 => Warning,
            share if share >= 0.001 => Note,
            _ => Fine,
        };
        let value = format!("{:.2}% of the time since the start", share * 100.0);
        found(severity, value)
    });
    unread(finding).why("The hypervisor gave CPU time to other guests (steal time). Some hypervisors do not report it.")
}

fn quota(host: &Host) -> Finding {
    let allowed = host.cpu.allowed.len().max(1);
    match (host.cgroup.cpus, host.cgroup.version) {
        (Some(quota), _) if quota < 1.0 => found(Problem, format!("{quota:.2} of a CPU"))
            .why("The control group is throttled in every period once its quota is used: results would show the quota, not the system. Start outside the group, or raise its quota to at least one CPU."),
        (Some(quota), _) if quota < allowed as f64 => found(Warning, format!("{quota:.2} of {}", text::count(allowed, "CPU")))
            .why("The quota of the control group throttles benchmarks on several CPUs; benchmarks on one CPU are unaffected."),
        (Some(quota), _) => found(Fine, format!("{quota:.2} CPUs"))
            .why("The quota of the control group covers all usable CPUs."),
        (None, Some(_)) => found(Fine, "none")
            .why("A quota of the control group would throttle benchmarks."),
        (None, None) => found(Note, "cannot be read here")
            .why("A quota would throttle benchmarks; no CPU controller is visible."),
    }
}

fn power(host: &Host) -> Finding {
    match host.load.on_battery {
        Some(true) => found(Warning, "battery")
            .why("Firmware lowers the processor frequency on battery. Plug it in."),
        Some(false) => found(Fine, "plugged in").why("Not on battery."),
        None => found(Fine, "no battery").why("No battery."),
    }
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
        None => found(Problem, value)
            .why("No CPU is both online and allowed for this process."),
        Some((_, None)) => found(Warning, value)
            .why("With one CPU the harness shares the CPU of the workload, and benchmarks across CPUs are skipped."),
        Some((chosen, Some(watcher))) => found(Fine, format!(
                "{value}; benchmarks on CPU {}, harness on CPU {watcher}",
                chosen.measured
            ))
            .why("The harness runs on another CPU than the benchmarks."),
    }
}

fn governor(host: &Host) -> Finding {
    const FILES: &str = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
    let governors: Vec<&str> = host.cpu.governors.iter().map(String::as_str).collect();
    let value = governors.join(", ");
    match governors.as_slice() {
        [] => unseen()
            .why("The hypervisor or the firmware sets the frequency, which may vary; the cycle probe measures it with every sample."),
        ["performance"] => found(Fine, value)
            .why("The cores run at full frequency from the first sample on."),
        _ => found(Warning, value)
            .why("The cores slow down when idle and speed up under load: samples scatter, and short ones are slow.")
            .todo(write(host, "performance", FILES)),
    }
}

fn turbo(host: &Host) -> Finding {
    match host.cpu.turbo {
        None => unseen()
            .why("Turbo state is unknown; the cycle probe measures the frequency."),
        Some(turbo) if turbo.on => found(Note, "on")
            .why("The frequency depends on temperature and on the load of other cores, so results drift over minutes.")
            .todo(write(host, turbo.off, turbo.file)),
        Some(_) => found(Fine, "off")
            .why("The cores keep to their base frequency."),
    }
}

fn smt(host: &Host) -> Finding {
    match host.cpu.smt {
        Some(true) => found(Note, "on")
            .why("A busy SMT sibling takes up to half of the core; the kernel does not count it as steal time.")
            .todo(write(host, "off", "/sys/devices/system/cpu/smt/control"))
            .only_if(host.cpu.smt_control),
        Some(false) => found(Fine, "no sibling is visible")
            .why("No SMT siblings are visible."),
        None => unseen()
            .why("A busy SMT sibling would take up to half of the core."),
    }
}

fn mitigations(host: &Host) -> Finding {
    let states = host.kernel.mitigations.values();
    let count = |word: &str| states.clone().filter(|state| state.starts_with(word)).count();
    let (mitigated, vulnerable) = (count("Mitigation"), count("Vulnerable"));
    let value = format!("{mitigated} mitigations active, {vulnerable} vulnerable");
    match (host.kernel.mitigations.is_empty(), mitigated) {
        (true, _) => unseen()
            .why("Mitigations slow down system calls and context switches."),
        (false, 0) => found(Fine, value)
            .why("No mitigations are active."),
        (false, _) => found(Note, value)
            .why("Mitigations slow down system calls and context switches; compare systems with the same ones. Each is recorded."),
    }
}

fn aslr(host: &Host) -> Finding {
    match host.kernel.aslr {
        Some(0) => found(Note, "off")
            .why("Every launch has the same memory layout: its effect does not average out over launches.")
            .todo(as_root(host, "sysctl -w kernel.randomize_va_space=2")),
        Some(_) => found(Fine, "on")
            .why("Every launch has another memory layout, so launches average over it."),
        None => unseen()
            .why("The state of ASLR is unknown."),
    }
}

fn huge_pages(host: &Host) -> Finding {
    match host.kernel.huge_pages.as_deref() {
        Some("always") => found(Note, "always")
            .why("Large allocations get huge pages only when some are free: memory results may have two modes.")
            .todo(write(host, "madvise", "/sys/kernel/mm/transparent_hugepage/enabled")),
        Some(mode) => found(Fine, mode)
            .why("Only memory that asks for huge pages gets them."),
        None => unseen()
            .why("The state of transparent huge pages is unknown."),
    }
}

/// Clock sources read in tens of nanoseconds, mostly without entering the kernel; the processor's own first.
const FAST: &str = "tsc arch_sys_counter riscv_clocksource rdtime timebase tod stick kvm-clock \
    hyperv_clocksource_tsc_page xen arch_mmio_counter Constant";

/// Correct, but each reading enters the kernel and takes a microsecond or more; the better first.
const SLOW: &str = "hpet acpi_pm hyperv_clocksource_msr";

/// They advance once per tick.
const COARSE: &str = "jiffies pit refined-jiffies xtime";

fn source(host: &Host) -> Finding {
    const FILE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let Some(source) = host.kernel.clock_source.as_deref() else {
        return unseen().why("Its cost and resolution are measured in every launch.");
    };
    let among = |list: &str| list.split(' ').any(|name| name == source);
    let offered = |wanted: &'static str| {
        let mut all = wanted.split(' ');
        all.find(|&name| host.kernel.clock_sources.iter().any(|offer| offer == name))
    };
    let finding = if among(FAST) {
        return found(Fine, source).why("A reading takes tens of nanoseconds.");
    } else if among(COARSE) {
        found(Problem, source)
            .why("It advances once per tick, which is too coarse to time samples.")
    } else if among(SLOW) {
        found(Warning, source)
            .why("Each reading enters the kernel and takes a microsecond or more: latencies of single operations consist mostly of it. Linux falls back to it when the processor's counter does not keep time.")
    } else {
        found(Note, source)
            .why("Unknown clock source: check the clock cost that every launch records.")
    };
    let slow = offered(SLOW).filter(|_| among(COARSE));
    match offered(FAST).or(slow) {
        Some(better) => finding.todo(write(host, better, FILE)),
        None => finding,
    }
}

fn resolution(host: &Host) -> Finding {
    const WHY: &str = "A sample must be a thousand times as long as the clock's step.";
    let Some(step) = host.kernel.resolution else {
        return found(Note, "unknown").why(WHY);
    };
    let value = format!("{step} ns");
    let coarse = |severity| {
        found(severity, &*value)
            .why(format!("{WHY} Boot with highres=on and a better clock source."))
    };
    match step {
        0..=1_000 => found(Fine, value).why(WHY),
        1_001..=100_000 => coarse(Warning),
        _ => coarse(Problem),
    }
}

fn tick(host: &Host) -> Finding {
    let finding = match host.kernel.hz() {
        Some(1) => found(Fine, "1 tick a second"),
        Some(hz) => found(Fine, format!("{hz} ticks a second")),
        None => found(Note, "unknown"),
    };
    finding.why("Many kernels count user and system time in ticks: they are accurate only over a hundred ticks.")
}

/// The shell benchmarks start a few dozen processes at once: below the first limit they fail. The second suffices for
/// all benchmarks beside other active users.
const PROCESSES: [u64; 2] = [64, 256];

fn memory(host: &Host) -> Finding {
    let available = host.memory.available.or(host.memory.total);
    let finding = available.map(|available| {
        let (room, note) = match host.cgroup.memory {
            Some(limit) if limit < available => (limit, ", the limit of the control group"),
            _ => (available, " free"),
        };
        let value = format!("{}{note}", text::bytes(room));
        found(graded(room, 128 * MIB, 1024 * MIB), value)
    });
    unread(finding)
        .why("Without free memory the system pages, and every result depends on its disk.")
}

/// A limit of this process, the values below which something fails or may fail, and the command that raises it.
fn limit(
    limit: Option<u64>,
    [least, enough]: [u64; 2],
    show: fn(u64) -> String,
    raise: &str,
) -> Finding {
    match limit {
        None => found(Note, "unknown"),
        Some(UNLIMITED) => found(Fine, "not limited"),
        Some(limit) => found(graded(limit, least, enough), show(limit)).todo(raise),
    }
}

fn plain(number: u64) -> String {
    number.to_string()
}

fn address_space(host: &Host) -> Finding {
    let (most, room) = (host.limits.address_space, [128 * MIB, 1024 * MIB]);
    limit(most, room, text::bytes, "ulimit -v unlimited")
        .why("A process that asks for more than the limit of its address space fails.")
}

fn swap(host: &Host) -> Finding {
    match host.memory.swap {
        None => found(Note, "cannot be read here").why("Whether the system can swap is unknown."),
        Some(0) => {
            let make = "sh -c 'fallocate -l 1G /swapfile && chmod 600 /swapfile && mkswap /swapfile && swapon /swapfile'";
            found(Note, "none")
                .why("No swap: when memory is full the kernel kills a process. Results are unaffected.")
                .todo(as_root(host, make))
                .only_if(host.virtualization.container.is_none())
        }
        Some(size) => found(Fine, text::bytes(size)).why("The system can swap."),
    }
}

fn processes(host: &Host) -> Finding {
    let finding = match host.limits.processes {
        Some(most) if host.system.privileged && most != UNLIMITED => {
            found(Fine, format!("{most}, which does not bind root"))
        }
        most => limit(most, PROCESSES, plain, "ulimit -u 4096"),
    };
    finding.why("Benchmarks with many processes fail or hang at the limit.")
}

fn process_group(host: &Host) -> Finding {
    let finding = match (host.cgroup.processes, host.cgroup.processes_left) {
        (None, _) => found(Fine, "no limit seen"),
        (Some(limit), left) => {
            let left = left.unwrap_or(limit);
            let severity = graded(left, PROCESSES[0], PROCESSES[1]);
            found(severity, format!("{limit}, {left} of them left"))
        }
    };
    finding.why("Starting a process fails once the control group has as many as it may.")
}

fn files(host: &Host) -> Finding {
    limit(host.limits.files, [64, 256], plain, "ulimit -n 1024")
        .why("Benchmarks with many pipes and files fail at the limit.")
}

fn machine(host: &Host) -> Finding {
    match &host.virtualization.machine {
        Some(kind) => found(Note, kind)
            .why("The hypervisor can stop a CPU unseen, entries into the kernel and page faults may cost more, and neighbors share the hardware."),
        None => found(Fine, "no sign of one")
            .why("A hypervisor could stop a CPU unseen."),
    }
}

fn container(host: &Host) -> Finding {
    match &host.virtualization.container {
        Some(kind) => found(Note, kind)
            .why("Limits, file systems and system call filters are the container's; processes outside it are not visible."),
        None => found(Fine, "no sign of one")
            .why("Not a container."),
    }
}

fn identity(host: &Host) -> Finding {
    if host.is_distinct() {
        return found(Fine, host.id()).why("Runs of this system are recognized by its machine-id.");
    }
    found(
        Note,
        format!("{}, shared by all systems of this model", host.id()),
    )
    .why(
        "No machine-id: runs of this system and of others of the same model are not distinguished.",
    )
    .todo(as_root(host, "systemd-machine-id-setup"))
    .only_if(host.virtualization.container.is_none())
}
