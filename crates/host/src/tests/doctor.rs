//! Findings on recorded machines, and their severity.

use super::tree::Tree;
use gritstone_host::doctor::programs;
use gritstone_host::{Finding, Host, Severity, examine};
use gritstone_model::{Benchmark, Id, Need, Unit, Work};
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

/// Findings as a table, without lines that depend on the host of the test.
fn table(name: &str) -> String {
    let findings = examined(&Tree::recorded(name).host());
    let mut table = String::new();
    for finding in &findings {
        if finding.name == "file system" || finding.name == "free disk" {
            continue;
        }
        let severity = format!("{:?}", finding.severity);
        table += &format!("{severity:<8}{}: {}\n", finding.name, finding.value);
        if let Some(todo) = &finding.todo {
            table += &format!("        $ {todo}\n");
        }
    }
    table
}

#[test]
fn quiet_virtual_machine_is_fit() {
    insta::assert_snapshot!(table("virtual-machine"));
}

#[test]
fn worst_netbook_is_unfit() {
    insta::assert_snapshot!(table("one-cpu"));
}

#[test]
fn hidden_facts_are_not_guessed() {
    insta::assert_snapshot!(table("container-without-sys"));
}

/// A machine, a file of it, its changed content, the finding that changes, and its severity.
const CHANGES: &str = r"
cgroup-v1-half-cpu | /none | | CPU quota | Problem
cgroup-v2-half-cpu | /none | | CPU quota | Problem
cgroup-v2-half-cpu | /sys/fs/cgroup/cpu.max | 99999 100000 | CPU quota | Problem
cgroup-v2-half-cpu | /sys/fs/cgroup/cpu.max | 100000 100000 | CPU quota | Warning
cgroup-v2-half-cpu | /sys/fs/cgroup/cpu.max | 200000 100000 | CPU quota | Ok
cgroup-v2-half-cpu | /sys/fs/cgroup/cpu.max | max 100000 | CPU quota | Ok
virtual-machine | /proc/loadavg | 0.60 0.1 0.1 1/9 9 | load | Warning
virtual-machine | /proc/loadavg | 2.99 0.1 0.1 1/9 9 | load | Warning
virtual-machine | /proc/loadavg | 3.00 0.1 0.1 1/9 9 | load | Problem
virtual-machine | /proc/loadavg | nan inf -1 | load | Note
virtual-machine | /proc/stat | cpu 1 1 1 1\nprocs_running 3 | runnable | Warning
virtual-machine | /proc/stat | cpu 1 1 1 1\nprocs_running 2 | runnable | Ok
virtual-machine | /proc/stat | cpu 1 1 1 986 0 0 0 11 | steal | Warning
virtual-machine | /proc/stat | cpu 1 1 1 996 0 0 0 1 | steal | Note
virtual-machine | /sys/devices/system/clocksource/clocksource0/current_clocksource | jiffies | clock source | Problem
virtual-machine | /sys/devices/system/clocksource/clocksource0/current_clocksource | hpet | clock source | Warning
virtual-machine | /sys/devices/system/clocksource/clocksource0/current_clocksource | sundial | clock source | Note
virtual-machine | /sys/devices/system/cpu/cpufreq/policy0/scaling_governor | powersave | governor | Warning
virtual-machine | /sys/devices/system/cpu/cpufreq/policy0/scaling_governor | performance | governor | Ok
virtual-machine | /sys/devices/system/cpu/intel_pstate/no_turbo | 0 | turbo | Note
virtual-machine | /sys/devices/system/cpu/intel_pstate/no_turbo | 1 | turbo | Ok
virtual-machine | /sys/devices/system/cpu/smt/active | 1 | SMT | Note
virtual-machine | /sys/kernel/mm/transparent_hugepage/enabled | [always] never | transparent huge pages | Note
virtual-machine | /proc/sys/kernel/randomize_va_space | 0 | ASLR | Note
virtual-machine | /proc/meminfo | MemAvailable: 900000 kB | memory | Warning
virtual-machine | /proc/meminfo | MemAvailable: 90000 kB | memory | Problem
virtual-machine | /proc/meminfo | SwapTotal: 900 kB | swap | Ok
virtual-machine | /sys/fs/cgroup/memory/memory.limit_in_bytes | 67108864 | memory | Problem
virtual-machine | /sys/fs/cgroup/pids/pids.max | 50 | processes per control group | Problem
virtual-machine | /sys/fs/cgroup/pids/pids.max | 200 | processes per control group | Warning
virtual-machine | /proc/self/limits | Max open files  30 30 files | open files | Problem
virtual-machine | /proc/self/limits | Max open files  100 100 files | open files | Warning
virtual-machine | /proc/self/limits | Max address space 1000000 1 bytes | address space | Problem
virtual-machine | /etc/machine-id | | identity | Note
";

#[test]
fn files_change_their_findings() {
    for case in CHANGES.lines().skip(1) {
        let [machine, path, content, name, severity] = [0, 1, 2, 3, 4].map(|index| {
            let part = case.split('|').nth(index).expect(case);
            part.trim().replace("\\n", "\n")
        });
        let tree = Tree::recorded(&machine);
        tree.file(&path, &format!("{content}\n"));
        let findings = examined(&tree.host());
        let found = named(&findings, &name);
        assert_eq!(format!("{:?}", found.severity), severity, "{case}");
    }
    let mut tree = Tree::recorded("virtual-machine");
    for (step, severity) in [
        (Some(1), Severity::Ok),
        (Some(1_001), Severity::Warning),
        (Some(4_000_000), Severity::Problem),
        (None, Severity::Note),
    ] {
        tree.syscall_results.resolution = step;
        let findings = examined(&tree.host());
        assert_eq!(named(&findings, "timer resolution").severity, severity);
    }
}

#[test]
fn commands_depend_on_the_user() {
    let mut host = Tree::recorded("one-cpu").host();
    let todo = |host: &Host, name: &str| named(&examined(host), name).todo.clone().unwrap();
    let files = "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
    let governor = format!("echo performance | sudo tee {files}");
    assert_eq!(todo(&host, "governor"), governor);
    host.system.privileged = true;
    let turbo = "echo 0 | tee /sys/devices/system/cpu/cpufreq/boost";
    assert_eq!(todo(&host, "turbo"), turbo);
    let findings = examined(&host);
    let processes = named(&findings, "processes per user").severity;
    assert_eq!(processes, Severity::Ok, "root is exempt");
}

#[test]
fn unusable_directories_are_problems() {
    let host = Tree::recorded("virtual-machine").host();
    for (dir, name, todo) in [
        ("/no/such/dir's", "directory", Some(r"mkdir -p '/no/such/dir'\''s'")),
        // nothing can be stored in /proc, which reports no room
        ("/proc", "free disk", None),
    ] {
        let findings = examine(&host, &[], Path::new(dir), OsStr::new(""));
        let found = named(&findings, name);
        assert_eq!(found.severity, Severity::Problem, "{dir}");
        assert_eq!(found.todo.as_deref(), todo);
    }
}

fn benchmark(id: &str, needs: &[(&str, &[&str], &str)]) -> Benchmark {
    let work = Work::Derived { terms: vec![], share_of: None };
    let need = |&(name, any, package): &(&str, &[&str], &str)| Need {
        name: name.to_owned(),
        any: any.iter().map(|&name| name.to_owned()).collect(),
        package: package.to_owned(),
        version: None,
    };
    Benchmark {
        needs: needs.iter().map(need).collect(),
        ..Benchmark::new(Id::parse(id).unwrap(), Unit::parse("s").unwrap(), work)
    }
}

#[test]
fn missing_programs_have_a_command() {
    let directory = tempfile::tempdir().unwrap();
    let bc = directory.path().join("bc");
    fs::write(&bc, "").unwrap();
    fs::set_permissions(&bc, fs::Permissions::from_mode(0o755)).unwrap();
    let editor: (&str, &[&str], &str) = ("vi", &["nvi", "vim"], "nvi");
    let benchmarks = [
        benchmark("app/calc", &[("bc", &[], "bc")]),
        benchmark("app/edit/1", &[editor, ("bc", &[], "bc")]),
        benchmark("app/edit/2", &[editor]),
        benchmark("app/odd", &[("odd", &[], "odd; rm -rf /")]),
    ];
    let mut host = Tree::recorded("virtual-machine").host();
    let examined =
        |host: &Host, path: &OsStr| examine(host, &benchmarks, &std::env::temp_dir(), path);
    let findings = examined(&host, directory.path().as_os_str());
    let vi = named(&findings, "program vi");
    assert_eq!(vi.value, "missing: none of nvi, vim");
    assert_eq!(vi.why, "Needed by app/edit/1 and app/edit/2.");
    assert_eq!(vi.todo.as_deref(), Some("apt-get install -y nvi"));
    assert_eq!(vi.severity, Severity::Warning);
    let odd = named(&findings, "program odd");
    assert_eq!(odd.todo, None, "that is no package");
    assert!(findings.iter().all(|finding| finding.name != "program bc"));

    host.system.privileged = false;
    let nothing = OsStr::new("");
    let missing = programs::needed(&benchmarks);
    let all: Vec<_> = missing.iter().cloned().chain([programs::counter()]).collect();
    let command = programs::install(&host, &all).unwrap().join(" ");
    assert!(command.ends_with(" valgrind"), "{command}");
    let command = programs::install(&host, &missing).unwrap().join(" ");
    assert_eq!(command, "sudo apt-get install -y bc nvi");
    // its package would create a database cluster
    let database = [benchmark("db/query", &[("postgres", &[], "postgresql")])];
    let command = programs::install(&host, &programs::needed(&database)).unwrap();
    assert_eq!(command[..2], ["sh", "-c"]);
    let (before, install) = command[2].rsplit_once(" && ").unwrap();
    assert_eq!(install, "sudo apt-get install -y postgresql");
    assert!(before.contains(
        "echo create_main_cluster = false | sudo tee /etc/postgresql-common/createcluster.d/"
    ));
    assert_eq!(programs::shown(&command), command[2]);
    host.system.debian = false;
    assert_eq!(programs::install(&host, &missing), None);
    let description = "Needed by app/calc and app/edit/1; Debian has it in the package bc.";
    assert_eq!(named(&examined(&host, nothing), "program bc").why, description);
    assert_eq!(programs::install(&host, &[]), None);
}

#[test]
fn programs_go_by_any_name() {
    let directory = tempfile::tempdir().unwrap();
    let vim = directory.path().join("vim");
    fs::write(&vim, "").unwrap();
    fs::set_permissions(&vim, fs::Permissions::from_mode(0o755)).unwrap();
    let editor: (&str, &[&str], &str) = ("vi", &["/nonexistent/nvi", "vim"], "nvi");
    let ids = ["app/edit/1", "app/edit/2", "app/edit/3", "app/edit/4"];
    let benchmarks = ids.map(|id| benchmark(id, &[editor]));
    let [needed] = programs::needed(&benchmarks).try_into().unwrap();
    let called = ["vi", "nvi", "vim", "ed"].map(|name| needed.is_called(name));
    assert_eq!(called, [true, true, true, false]);
    let host = Tree::recorded("virtual-machine").host();
    let found = needed.finding(&host, directory.path().as_os_str());
    assert_eq!((found.severity, found.todo), (Severity::Ok, None));
    assert_eq!(found.value, vim.display().to_string());
    let users = "Needed by app/edit/1, app/edit/2, app/edit/3 and 1 more.";
    assert_eq!(found.why, users);
    let counter = programs::counter().finding(&host, OsStr::new(""));
    assert!(counter.why.contains("pr --count instructions"), "{counter:?}");
}
