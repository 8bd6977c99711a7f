//! A few operations of every benchmark, with right check values: by the programs of this binary, and on other processors, where all
//! programs are compiled by Debian's cross compilers and emulated. A benchmark that cannot run has a reason.

use crate::common::succeeds;
use crate::common::workload::{self, kernels};
use gritstone_kernels::{SUPERVISOR, linking};
use gritstone_model::{KernelWork, Work};
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

/// The flags of `kernels/build.rs`, and no warning.
const FLAGS: [&str; 6] = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
/// Programs without a benchmark that runs here: the machine lacks libraries of the other processor, or they need a trace, which only a run
/// provides.
const REFUSED: [&str; 7] = [
    "cpu/linpack-tuned",
    "db/bulk",
    "db/fasttrack",
    "db/oltp",
    "net/tls",
    "rt/turnaround-disk",
    "vm/fft-fftw",
];
/// What a benchmark may say instead of doing its work, apart from a skip with its reason: the emulator's own words on a set of more than
/// 1,024 descriptors, and a machine whose memory is fragmented.
const EXCUSES: [&str; 2] = ["FD_SETSIZE", "memory is fragmented"];

/// Programs for one kind of processor.
struct Cross {
    name: &'static str,
    folder: tempfile::TempDir,
}

impl Cross {
    fn tool(&self, program: &str) -> Command {
        Command::new(format!("{}-linux-gnu-{program}", self.name))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name.replace('/', "_"))
    }

    /// All programs, with the runtime unless they are whole without it.
    fn compile(name: &'static str) -> Self {
        let cross = Self { name, folder: tempfile::tempdir().unwrap() };
        let parts: Vec<PathBuf> = gritstone_kernels::sources()
            .iter()
            .filter_map(|source| {
                let stem = source.path.strip_suffix(".c")?;
                let object = cross.path(&format!("{stem}.o"));
                (stem.starts_with("runtime/") && !linking::is_program(stem)).then(|| {
                    let mut compile = cross.tool("gcc");
                    compile.args(FLAGS).arg("-c").arg(kernels().join(source.path));
                    succeeds(compile.arg("-o").arg(&object));
                    object
                })
            })
            .collect();
        let programs = gritstone_kernels::all();
        thread::scope(|scope| {
            for half in programs.chunks(programs.len().div_ceil(2)) {
                let (cross, parts) = (&cross, &parts);
                scope.spawn(move || half.iter().for_each(|one| cross.link(one.name, parts)));
            }
        });
        cross
    }

    fn link(&self, program: &str, runtime: &[PathBuf]) {
        let text = gritstone_kernels::source(program).unwrap().text;
        let mut command = self.tool("gcc");
        command.args(FLAGS).arg("-o").arg(self.path(program));
        command.arg(kernels().join(format!("{program}.c")));
        if !linking::is_dynamic(program, text) {
            command.arg("-static");
        }
        if linking::is_bare(text) {
            command.args(linking::BARE);
            succeeds(&mut command);
            return;
        }
        if !linking::stands_alone(text) {
            command.args(runtime);
        }
        let fortran = kernels().join(format!("{program}.f90"));
        if fortran.exists() {
            let modules = self.path(&format!("{program}.modules"));
            fs::create_dir(&modules).unwrap();
            let object = modules.join("object.o");
            let mut compile = self.tool("gfortran");
            compile.args(["-O2", "-c", "-J"]).arg(&modules).arg(&fortran);
            succeeds(compile.arg("-o").arg(&object));
            command.arg(object);
        }
        command.args(["-lm", "-ldl"]);
        succeeds(&mut command);
    }

    /// N operations of a benchmark, with its preparation and cleanup.
    fn operate(&self, work: &KernelWork, n: u64) -> Output {
        let mut command = Command::new(format!("qemu-{}-static", self.name));
        let libraries = format!("/usr/{}-linux-gnu", self.name);
        command.args(["-L", &libraries]).arg(self.path(&work.program));
        // what an emulated process executes is left to the system, which knows its own programs alone
        operated(command, work, n, self.folder.path())
    }

    /// The supervisor's report, the program's output, and its error output.
    fn keep(&self, argv: &[&str]) -> [String; 3] {
        let (mut report, reports) = std::io::pipe().unwrap();
        let output = Command::new(format!("qemu-{}-static", self.name))
            .arg(self.path(SUPERVISOR))
            .arg(std::process::id().to_string())
            .args(["-", "-", "/usr"])
            .args(argv)
            .stdin(reports)
            .output()
            .unwrap();
        let mut report_text = String::new();
        report.read_to_string(&mut report_text).unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        [report_text, text(output.stdout), text(output.stderr)]
    }
}

/// Operates `work` by a command that ends in its program; the programs that it executes are those of this binary, in a folder.
fn operated(mut command: Command, work: &KernelWork, n: u64, folder: &Path) -> Output {
    command.args(["mode=count", &format!("n={n}")]);
    let params = work.params.iter();
    command.args(params.map(|(key, value)| format!("{key}={value}")));
    for job in &work.uses {
        command.arg(format!("{job}={}", shipped(job, folder).display()));
    }
    let room = tempfile::tempdir_in(folder).unwrap();
    output(command.current_dir(room.path()))
}

/// A program of this binary, written to a folder.
fn shipped(program: &str, folder: &Path) -> PathBuf {
    let path = folder.join(format!("{}.own", program.replace('/', "_")));
    if !path.exists() {
        workload::shipped(program, path.clone());
    }
    path
}

fn output(command: &mut Command) -> Output {
    let started = command.output();
    started.unwrap_or_else(|why| {
        panic!("{command:?} cannot be started: {why}; scripts/setup test installs it")
    })
}

/// Families of which one benchmark of each program is enough.
const LONG: [&str; 5] = ["app", "daq", "multiuser", "net", "netrt"];

/// All benchmarks do their work on an emulated processor.
fn every_benchmark_does_its_work(name: &'static str) {
    let cross = Cross::compile(name);
    let lines = cross.keep(&["/bin/sh", "-c", "pwd >&3; exit 3"]);
    assert_eq!(lines, ["exit=3 left=0\n", "/usr\n", ""]);
    let lines = cross.keep(&["/no/such"]);
    let complaint = "cannot execute /no/such: No such file or directory\n";
    assert_eq!(lines, ["exit=127 left=0\n", "", complaint]);
    // an operation of these takes seconds of real time, whatever its parameters
    let is_wanted = |family: &str, operated: bool| !(LONG.contains(&family) && operated);
    let refused = without_work(is_wanted, |work, n| cross.operate(work, n));
    assert_eq!(refused, REFUSED, "programs of which no benchmark does its work");
}

/// Two operations of each benchmark of kind kernel, or one where there can be no more at a time: of those wanted by their family, and whether
/// their program has operated before. Returns the programs of which none worked.
fn without_work(
    is_wanted: impl Fn(&str, bool) -> bool,
    operate: impl Fn(&KernelWork, u64) -> Output,
) -> Vec<String> {
    let mut done = BTreeSet::new();
    let (mut programs, mut worked) = (BTreeSet::new(), BTreeSet::new());
    let mut wrong = Vec::new();
    for benchmark in gritstone_catalogue::all().unwrap().benchmarks {
        let Work::Kernel(work) = &benchmark.work else {
            continue;
        };
        if !done.insert((work.program.clone(), work.params.clone())) {
            continue;
        }
        if !is_wanted(benchmark.id.family(), programs.contains(&work.program)) {
            continue;
        }
        let mut output = operate(work, 2);
        if String::from_utf8_lossy(&output.stderr).contains("that can be done at a time") {
            output = operate(work, 1);
        }
        programs.insert(work.program.clone());
        if output.status.success() {
            worked.insert(work.program.clone());
            continue;
        }
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let excused = EXCUSES.iter().any(|words| printed.contains(words));
        if !excused && !printed.contains(": skip: ") {
            wrong.push(format!("{}: {} {printed}", benchmark.id, output.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    programs.difference(&worked).cloned().collect()
}

/// But those of databases, which need a server, and of long families.
#[test]
fn shipped_programs_do_their_work() {
    let folder = tempfile::tempdir().unwrap();
    let is_wanted = |family: &str, _| family != "db" && !LONG.contains(&family);
    without_work(is_wanted, |work, n| {
        let command = Command::new(shipped(&work.program, folder.path()));
        operated(command, work, n, folder.path())
    });
}

#[test]
#[ignore = "measures: make test-full"]
fn on_aarch64() {
    every_benchmark_does_its_work("aarch64");
}

#[test]
#[ignore = "measures: make test-full"]
fn on_riscv64() {
    every_benchmark_does_its_work("riscv64");
}
