//! Machines recorded as one text file each: `== /path` opens a file, its content follows.
#![allow(dead_code, reason = "each test program uses a part of it")]

use gritstone_host::{Host, Root, SyscallResults};
use gritstone_model::{Benchmark, Id, KernelWork, Unit, Work};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A machine unpacked in a temporary directory.
pub struct Tree {
    directory: TempDir,
    pub syscall_results: SyscallResults,
}

impl Tree {
    /// An empty machine.
    pub fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            syscall_results: SyscallResults {
                resolution: Some(1),
                tick: Some(4_000_000),
                ..SyscallResults::default()
            },
        }
    }

    /// The machine in `trees/<name>.txt`.
    pub fn recorded(name: &str) -> Self {
        Self::unpacked(&Self::text(name))
    }

    /// The text of a recording.
    pub fn text(name: &str) -> String {
        // relative to the crate's parent: other crates include this module
        let trees = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/src/tests/trees");
        fs::read_to_string(trees.join(format!("{name}.txt"))).unwrap()
    }

    pub fn unpacked(text: &str) -> Self {
        let tree = Self::new();
        for section in text.strip_prefix("== ").unwrap().split("\n== ") {
            let (path, content) = section.split_once('\n').unwrap_or((section, ""));
            let content = match content {
                "" => String::new(),
                content => format!("{}\n", content.trim_end_matches('\n')),
            };
            tree.file(path, &content);
        }
        tree
    }

    /// Writes a file; an open one is written in place.
    pub fn file(&self, path: &str, content: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn link(&self, path: &str, target: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap();
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path.trim_start_matches('/'))
    }

    pub fn root(&self) -> Root {
        Root::recorded(self.directory.path(), self.syscall_results.clone())
    }

    pub fn host(&self) -> Host {
        Host::read(&self.root())
    }
}

/// `cpus` hardware threads, two per core, half of the cores on each of two sockets; those not `online` are offline.
pub fn large(cpus: u32, online: &str) -> Tree {
    let tree = Tree::new();
    let mut cpuinfo = String::new();
    let mut stat = String::from("cpu  0 0 0 1 0 0 0 0 0 0\n");
    for cpu in gritstone_model::CpuSet::parse(online).unwrap().iter() {
        let half = cpus / 2;
        let (first, second) = (cpu % half, cpu % half + half);
        let topology = format!("/sys/devices/system/cpu/cpu{cpu}/topology");
        let siblings = format!("{first},{second}\n");
        tree.file(&format!("{topology}/core_cpus_list"), &siblings);
        let socket = u32::from(first >= half / 2);
        let file = format!("{topology}/physical_package_id");
        tree.file(&file, &format!("{socket}\n"));
        cpuinfo += &format!("processor\t: {cpu}\nmodel name\t: Big One\nflags\t\t: fpu\n\n");
        stat += &format!("cpu{cpu} {cpu} 0 0 1000 0 0 0 1 0 0\n");
    }
    let all = format!("0-{}", cpus - 1);
    for (path, content) in [
        ("/proc/cpuinfo", cpuinfo),
        ("/proc/stat", stat),
        ("/sys/devices/system/cpu/online", online.to_owned()),
        ("/sys/devices/system/cpu/present", all.clone()),
        ("/sys/devices/system/cpu/possible", all.clone()),
        ("/proc/self/status", format!("Cpus_allowed_list:\t{all}\n")),
    ] {
        tree.file(path, &content);
    }
    tree
}

/// A benchmark that needs nothing.
pub fn plain() -> Benchmark {
    using(&[])
}

/// A benchmark whose workload uses these programs.
pub fn using(programs: &[&str]) -> Benchmark {
    let work = Work::Kernel(KernelWork {
        program: "a/b".to_owned(),
        params: Default::default(),
        uses: programs.iter().map(|&name| name.to_owned()).collect(),
    });
    let (id, unit) = (Id::parse("a/b").unwrap(), Unit::parse("us").unwrap());
    Benchmark::new(id, unit, work)
}
