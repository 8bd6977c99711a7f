//! Privileged actions of a run, and permission for them. Those of the workloads themselves are in the catalog.

use crate::cgroup::{is_confined, is_throttled};
use crate::scratch_fs::needs_scratch_fs;
use crate::swap::needs_swap;
use crate::tracefs::is_traced;
pub use gritstone_model::Action;
use gritstone_model::Benchmark;
use serde::Serialize;

/// An action in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Description {
    /// A noun phrase.
    pub what: &'static str,
    /// How it is done, and what for.
    pub why: &'static str,
    /// How and when it is undone.
    pub undone: &'static str,
}

/// What it is, why it is done, and how it is undone.
pub const fn describe(action: Action) -> Description {
    let (what, why, undone) = match action {
        Action::FileSystem => (
            "a file system on a loop device",
            "losetup, mkfs.ext4 and mount (nosuid, nodev) over a file of 192 MB below --dir: writing is measured on a new file system",
            "unmounted, detached and removed at the end of the run, or by its watchdog",
        ),
        Action::Swap => (
            "a swap file",
            "mkswap and swapon of 256 MB (1 GB with pages of 64 KB) below --dir, after the machine's own swap: anonymous memory can only be paged to swap, and that of other processes may go there too",
            "swapped off, overwritten and removed at the end of the run, or by its watchdog",
        ),
        Action::Trace => (
            "an instance of tracefs",
            "events of the kernel that latencies are timed by",
            "removed at the end of the run, or by its watchdog",
        ),
        Action::MemoryGroup => (
            "a control group that limits memory",
            "paging is measured in less memory than the work needs",
            "removed at the end of the run, or by its watchdog, with the processes in it",
        ),
        Action::CpuGroup => (
            "a control group that limits CPU time",
            "responses are measured with half a CPU for the user and the background jobs",
            "removed at the end of the run, or by its watchdog, with the processes in it",
        ),
        Action::ProcessGroup => (
            "a control group that limits the number of processes",
            "programs of custom benchmarks are ended with all their descendants",
            "removed at the end of the run, or by its watchdog, with the processes in it",
        ),
        Action::RealTime => (
            "real-time priority",
            "SCHED_FIFO, mlockall and /dev/cpu_dma_latency in workloads of real-time latency; SCHED_FIFO for the scanner of daq/yewcom and the user of multiuser/response",
            "ends with the process",
        ),
        Action::NetworkNamespaces => (
            "network namespaces, two of them joined by veth",
            "what goes between two hosts, as load level 4, netrt/* and net/* ask, or over a private loopback interface",
            "go with their processes",
        ),
        Action::MountNamespace => (
            "a mount namespace",
            "sshfs mounts the files of the other host, and sshd has its /run/sshd, invisible to other processes",
            "goes with the processes",
        ),
        Action::IpcNamespace => (
            "an IPC namespace",
            "System V queues and semaphores, which would outlive a process that is killed",
            "goes with the process",
        ),
        Action::Server => (
            "a server of a database in namespaces of mounts and shared memory",
            "PostgreSQL or MariaDB as the account of its package, in a mount namespace in which the launch's directory is the data directory of the package and /dev/shm is empty",
            "killed with the launch, and the namespaces with it",
        ),
        Action::DirectoryFlag => (
            "a flag of the launch's directory",
            "FS_IOC_SETFLAGS, so that new directories are spread over the file system",
            "goes with the directory",
        ),
        Action::Settings => (
            "system settings (--tune)",
            "governor, turbo, interrupts, SCHED_FIFO for workloads that never wait: less variation within a run",
            "restored at the end of the run, by its watchdog, or at the next start",
        ),
    };
    Description { what, why, undone }
}

/// Whether a launch of a benchmark needs this action.
pub fn is_needed(action: Action, benchmark: &Benchmark) -> bool {
    let by_us = match action {
        Action::FileSystem => needs_scratch_fs(benchmark),
        Action::Swap => needs_swap(benchmark),
        Action::Trace => is_traced(benchmark),
        Action::MemoryGroup => is_confined(benchmark),
        Action::CpuGroup => is_throttled(benchmark),
        _ => false,
    };
    by_us || benchmark.privileges().any(|by_work| by_work == action)
}

/// What the user permits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permits {
    /// No privileged action (`--no-privileged`).
    pub nothing: bool,
    /// Permission for a swap file (`--allow swap`).
    pub swap: bool,
}

impl Permits {
    /// Why the permissions exclude a benchmark, with the option that would include it.
    pub fn refusal(self, benchmark: &Benchmark) -> Option<String> {
        let needs = |action: Action| is_needed(action, benchmark);
        if self.nothing {
            let action = Action::ALL.into_iter().find(|action| needs(*action))?;
            let what = describe(action).what;
            return Some(format!(
                "It is not measured without privileges (--no-privileged): it needs {what}."
            ));
        }
        let refused = needs(Action::Swap) && !self.swap;
        refused.then(|| {
            "It needs a swap file, to which the memory of other processes may go too: --allow swap permits it."
                .to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gritstone_model::{Privilege, Work};
    use gritstone_testkit::{id, unit, workload_with};
    use std::collections::{BTreeMap, BTreeSet};

    /// C identifiers by which a workload performs a listed action.
    const WORDS: [(&str, Action); 8] = [
        ("sched_setscheduler(", Action::RealTime),
        ("mlockall(", Action::RealTime),
        ("/dev/cpu_dma_latency", Action::RealTime),
        ("unshare(CLONE_NEWIPC", Action::IpcNamespace),
        ("unshare(CLONE_NEWNET", Action::NetworkNamespaces),
        ("unshare(CLONE_NEWNS", Action::MountNamespace),
        ("setuid(", Action::Server),
        ("FS_IOC_SETFLAGS", Action::DirectoryFlag),
    ];
    /// Identifiers that no workload may use, mounting only within a namespace.
    const NEVER: [&str; 6] =
        ["setns(", MOUNTS[0], MOUNTS[1], "swapon(", "init_module", "sched_setattr("];

    const MOUNTS: [&str; 2] = ["mount(", "umount"];

    /// A source with all its includes, some parts perhaps twice.
    fn whole(path: &str, sources: &BTreeMap<&str, &str>, depth: u32) -> String {
        let text = sources.get(path).copied().unwrap_or_default();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut all = text.to_owned();
        let included =
            text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
        for name in included.filter(|_| depth < 8) {
            let near = format!("{folder}/{name}");
            let path = match name.strip_prefix("../") {
                Some(other) => other.to_owned(),
                None => near,
            };
            all += &whole(&path, sources, depth + 1);
        }
        all
    }

    #[test]
    fn catalog_lists_privileges_of_workloads() {
        let sources: BTreeMap<&str, &str> =
            gritstone_kernels::sources().iter().map(|source| (source.path, source.text)).collect();
        let catalogue = gritstone_catalogue::all().unwrap();
        let all = catalogue.benchmarks.iter();
        let listed: BTreeSet<(&str, Action)> = all
            .flat_map(|benchmark| &benchmark.privileges)
            .map(|privilege| (privilege.program.as_str(), privilege.action))
            .collect();
        let mut found = BTreeSet::new();
        for path in sources.keys().filter(|path| path.ends_with(".c")) {
            let program = path.strip_suffix(".c").unwrap();
            if program.starts_with("runtime/") {
                continue;
            }
            let text = whole(path, &sources, 0);
            let does = WORDS.iter().filter(|(word, _)| text.contains(word));
            found.extend(does.map(|(_, action)| (program, *action)));
            for word in NEVER {
                let actions = [Action::MountNamespace, Action::Server];
                let is_allowed = MOUNTS.contains(&word)
                    && actions.iter().any(|action| found.contains(&(program, *action)));
                assert!(is_allowed || !text.contains(word), "{path}: {word}");
            }
        }
        // a server has its namespaces
        let servers = found.clone();
        found.retain(|(program, action)| {
            *action != Action::MountNamespace || !servers.contains(&(program, Action::Server))
        });
        assert_eq!(found, listed);
    }

    fn benchmark(program: &str, params: &[(&str, &str)]) -> Benchmark {
        Benchmark::new(id("a/b"), unit("ns/op"), Work::Kernel(workload_with(program, params)))
    }

    #[test]
    fn unpermitted_benchmarks_are_skipped() {
        let nothing = Permits { nothing: true, swap: false };
        let swap = Permits { nothing: false, swap: true };
        let usual = Permits::default();
        let refused = |permits: Permits, benchmark: &Benchmark| {
            permits.refusal(benchmark).unwrap_or_default()
        };
        let plain = benchmark("byte/loop", &[]);
        let by = |way| {
            let mut benchmark = benchmark("ipc/latency", &[("by", way)]);
            benchmark.privileges.push(Privilege {
                action: Action::IpcNamespace,
                program: "ipc/latency".to_owned(),
                when: [("by".to_owned(), vec!["system-v-queue".to_owned()])].into(),
            });
            benchmark
        };
        let (queue, pipe) = (by("system-v-queue"), by("pipe"));
        let paging = benchmark("vm/paging", &[("swap", "yes"), ("memory_pages", "8")]);
        for free in [&plain, &pipe] {
            assert_eq!(refused(nothing, free), "");
        }
        assert!(refused(nothing, &queue).contains("IPC namespace"));
        assert_eq!(refused(usual, &queue), "");
        assert!(refused(nothing, &paging).contains("--no-privileged"));
        assert!(refused(usual, &paging).contains("--allow swap"));
        assert_eq!(refused(swap, &paging), "");
    }
}
