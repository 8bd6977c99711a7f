//! What is found on recorded machines, and how grave it is.

use crate::common::Tree;
use gritstone_host::doctor::{self, programs};
use gritstone_host::{Finding, Host, Severity, examine};
use gritstone_model::{Benchmark, Id, KernelWork, Need, Unit, Work};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn examined(host: &Host) -> Vec<Finding> {
    examine(host, &[], &std::env::temp_dir(), OsStr::new(""))
}

fn named<'a>(findings: &'a [Finding], name: &str) -> &'a Finding {
    let mut same = findings.iter().filter(|finding| finding.name == name);
    let found = same.next().unwrap_or_else(|| panic!("no finding '{name}'"));
    assert!(same.next().is_none(), "'{name}' twice");
    found
}

/// The table without the lines that depend on where the test runs.
fn table(findings: &[Finding]) -> String {
    findings
        .iter()
        .filter(|finding| finding.name != "file system" && finding.name != "free disk")
        .map(|finding| {
            let todo = finding
                .todo
                .as_deref()
                .map_or(String::new(), |todo| format!("\n        $ {todo}"));
            format!(
                "{:<8}{}: {}{todo}\n",
                format!("{:?}", finding.severity),
                finding.name,
                finding.value
            )
        })
        .collect()
}

#[test]
fn a_quiet_virtual_machine_is_fit() {
    let findings = examined(&Tree::recorded("virtual-machine").host());
    insta::assert_snapshot!(table(&findings));
    assert!(doctor::is_fit(&findings));
}

#[test]
fn a_netbook_in_the_worst_state_is_not() {
    let findings = examined(&Tree::recorded("one-cpu").host());
    insta::assert_snapshot!(table(&findings));
    assert!(!doctor::is_fit(&findings));
}

#[test]
fn half_a_cpu_is_wrong_by_either_version() {
    for name in ["cgroup-v1-half-cpu", "cgroup-v2-half-cpu"] {
        let findings = examined(&Tree::recorded(name).host());
        let quota = named(&findings, "CPU quota");
        assert_eq!(
            (quota.severity, quota.value.as_str()),
            (Severity::Wrong, "0.50 of a CPU")
        );
        assert!(!doctor::is_fit(&findings));
    }
    let tree = Tree::recorded("cgroup-v2-half-cpu");
    for (quota, severity) in [
        ("99999 100000", Severity::Wrong),
        ("100000 100000", Severity::Warning),
        ("200000 100000", Severity::Ok),
        ("max 100000", Severity::Ok),
    ] {
        tree.file("/sys/fs/cgroup/cpu.max", quota);
        assert_eq!(
            named(&examined(&tree.host()), "CPU quota").severity,
            severity,
            "{quota}"
        );
    }
}

#[test]
fn what_a_container_hides_is_said_and_not_guessed() {
    let findings = examined(&Tree::recorded("container-without-sys").host());
    insta::assert_snapshot!(table(&findings));
}

/// A file of the virtual machine, what it says instead, the finding that it moves, and how grave that is.
const MOVES: &str = r"
/proc/loadavg | 0.60 0.1 0.1 1/9 9 | load | Warning
/proc/loadavg | 2.99 0.1 0.1 1/9 9 | load | Warning
/proc/loadavg | 3.00 0.1 0.1 1/9 9 | load | Wrong
/proc/loadavg | nan inf -1 | load | Remark
/proc/stat | cpu 1 1 1 1\nprocs_running 3 | runnable | Warning
/proc/stat | cpu 1 1 1 1\nprocs_running 2 | runnable | Ok
/proc/stat | cpu 1 1 1 986 0 0 0 11 | steal | Warning
/proc/stat | cpu 1 1 1 996 0 0 0 1 | steal | Remark
/sys/devices/system/clocksource/clocksource0/current_clocksource | jiffies | clock source | Wrong
/sys/devices/system/clocksource/clocksource0/current_clocksource | hpet | clock source | Warning
/sys/devices/system/clocksource/clocksource0/current_clocksource | sundial | clock source | Remark
/sys/devices/system/cpu/cpufreq/policy0/scaling_governor | powersave | governor | Warning
/sys/devices/system/cpu/cpufreq/policy0/scaling_governor | performance | governor | Ok
/sys/devices/system/cpu/intel_pstate/no_turbo | 0 | turbo | Remark
/sys/devices/system/cpu/intel_pstate/no_turbo | 1 | turbo | Ok
/sys/devices/system/cpu/smt/active | 1 | SMT | Remark
/sys/kernel/mm/transparent_hugepage/enabled | [always] never | transparent huge pages | Remark
/proc/sys/kernel/randomize_va_space | 0 | ASLR | Remark
/proc/meminfo | MemAvailable: 900000 kB | memory | Warning
/proc/meminfo | MemAvailable: 90000 kB | memory | Wrong
/proc/meminfo | SwapTotal: 900 kB | swap | Ok
/sys/fs/cgroup/memory/memory.limit_in_bytes | 67108864 | memory | Wrong
/sys/fs/cgroup/pids/pids.max | 50 | processes per control group | Wrong
/sys/fs/cgroup/pids/pids.max | 200 | processes per control group | Warning
/proc/self/limits | Max open files  30 30 files | open files | Wrong
/proc/self/limits | Max open files  100 100 files | open files | Warning
/proc/self/limits | Max address space 1000000 1 bytes | address space | Wrong
/etc/machine-id | | identity | Remark
";

#[test]
fn each_file_moves_its_finding() {
    for case in MOVES.lines().skip(1) {
        let [path, content, name, severity] = [0, 1, 2, 3].map(|at| {
            let part = case.split('|').nth(at).expect(case);
            part.trim().replace("\\n", "\n")
        });
        let tree = Tree::recorded("virtual-machine");
        tree.file(&path, &format!("{content}\n"));
        let findings = examined(&tree.host());
        let found = named(&findings, &name);
        assert_eq!(format!("{:?}", found.severity), severity, "{case}");
    }
}

#[test]
fn commands_are_for_who_asks() {
    let mut host = Tree::recorded("one-cpu").host();
    let todo = |host: &Host, name: &str| named(&examined(host), name).todo.clone().unwrap();
    assert_eq!(
        todo(&host, "governor"),
        "echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor"
    );
    host.system.privileged = true;
    assert_eq!(
        todo(&host, "turbo"),
        "echo 0 | tee /sys/devices/system/cpu/cpufreq/boost"
    );
    assert_eq!(
        named(&examined(&host), "processes per user").severity,
        Severity::Ok,
        "root is exempt"
    );
}

#[test]
fn coarse_clocks_are_wrong() {
    let mut tree = Tree::recorded("virtual-machine");
    for (step, severity) in [
        (Some(1), Severity::Ok),
        (Some(1_001), Severity::Warning),
        (Some(4_000_000), Severity::Wrong),
        (None, Severity::Remark),
    ] {
        tree.answers.resolution = step;
        assert_eq!(
            named(&examined(&tree.host()), "timer resolution").severity,
            severity
        );
    }
}

#[test]
fn directories() {
    let host = Tree::recorded("virtual-machine").host();
    let severity = |dir: &Path, name: &str| {
        let findings = examine(&host, &[], dir, OsStr::new(""));
        named(&findings, name).severity
    };
    assert_eq!(
        severity(Path::new("/no/such/dir's"), "directory"),
        Severity::Wrong
    );
    // nothing can be stored in /proc, and it says that it has no room
    assert_eq!(severity(Path::new("/proc"), "free disk"), Severity::Wrong);
    let findings = examine(&host, &[], Path::new("/no/such/dir's"), OsStr::new(""));
    let todo = named(&findings, "directory").todo.clone();
    assert_eq!(todo.as_deref(), Some(r"mkdir -p '/no/such/dir'\''s'"));
}

fn benchmark(id: &str, needs: &[(&str, &[&str], &str)]) -> Benchmark {
    Benchmark {
        needs: needs
            .iter()
            .map(|&(name, any, package)| Need {
                name: name.to_owned(),
                any: any.iter().map(|&name| name.to_owned()).collect(),
                package: package.to_owned(),
            })
            .collect(),
        ..Benchmark::new(
            Id::parse(id).unwrap(),
            Unit::parse("s").unwrap(),
            Work::Kernel(KernelWork {
                program: String::new(),
                params: Default::default(),
                uses: vec![],
            }),
        )
    }
}

#[test]
fn missing_programs_name_their_rows_and_their_command() {
    let directory = tempfile::tempdir().unwrap();
    let bc = directory.path().join("bc");
    fs::write(&bc, "").unwrap();
    fs::set_permissions(&bc, fs::Permissions::from_mode(0o755)).unwrap();
    let editor: (&str, &[&str], &str) = ("vi", &["nvi", "vim"], "nvi");
    let rows = [
        benchmark("app/calc", &[("bc", &[], "bc")]),
        benchmark("app/edit/1", &[editor, ("bc", &[], "bc")]),
        benchmark("app/edit/2", &[editor]),
        benchmark("app/odd", &[("odd", &[], "odd; rm -rf /")]),
    ];
    let mut host = Tree::recorded("virtual-machine").host();
    let path = directory.path().as_os_str();
    let findings = examine(&host, &rows, &std::env::temp_dir(), path);
    let vi = named(&findings, "program vi");
    assert_eq!(vi.value, "missing: none of nvi, vim");
    assert_eq!(vi.why, "Needed by app/edit/1 and app/edit/2.");
    assert_eq!(vi.todo.as_deref(), Some("apt-get install -y nvi"));
    assert_eq!(vi.severity, Severity::Warning);
    assert_eq!(
        named(&findings, "program odd").todo,
        None,
        "that is no package"
    );
    assert!(findings.iter().all(|finding| finding.name != "program bc"));

    host.system.privileged = false;
    let nothing = OsStr::new("");
    let missing = programs::missing(&rows, nothing);
    assert_eq!(
        programs::install(&host, &missing).unwrap().join(" "),
        "sudo apt-get install -y bc nvi"
    );
    host.system.debian = false;
    assert_eq!(programs::install(&host, &missing), None);
    let findings = examine(&host, &rows, &std::env::temp_dir(), nothing);
    assert_eq!(
        named(&findings, "program bc").why,
        "Needed by app/calc and app/edit/1; Debian has it in the package bc."
    );
    assert_eq!(programs::install(&host, &[]), None);
}
