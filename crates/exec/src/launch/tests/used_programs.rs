//! Helper programs of a workload: their paths, and failures to execute them.

use super::*;
use gritstone_kernels::linking;
use object::{Object, ObjectSection, SectionKind};
use std::process::Command;

const JOB: &str = "kernel/null-job";
const WAYS: [&str; 4] = ["fork", "vfork", "clone3-vfork", "posix-spawn"];

/// A benchmark that executes `job` by one of the system calls for that.
fn executes(how: &str, job: &str) -> Benchmark {
    let params = [("how", how), ("job", job), ("target_ns", "200000")];
    let mut benchmark = kernel("kernel/process", &params, 20);
    if let Work::Kernel(work) = &mut benchmark.work {
        work.uses = vec![job.to_owned()];
    }
    benchmark
}

impl Bench {
    /// Links a program whose loader is missing.
    fn without_loader(&mut self, name: &str) {
        let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
        let source = kernels.join(name).with_extension("c");
        let mut command = Command::new(&self.executor.setup.programs["cc"]);
        let path = self.folder.path().join("unloadable");
        command.arg("-o").arg(&path).arg(&source);
        if !linking::stands_alone(&fs::read_to_string(&source).unwrap()) {
            command.args(crate::tests::runtime());
        }
        let loader = "-Wl,--dynamic-linker=/nonexistent/ld.so";
        let linked = command.arg(loader).status();
        assert!(linked.unwrap().success());
        self.replace(name, path);
    }
}

fn why_skipped(bench: &mut Bench, benchmark: &Benchmark) -> String {
    match bench.launch(benchmark).outcome {
        Outcome::Skipped(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn helpers_lie_at_passed_paths() {
    let mut bench = Bench::new();
    for how in WAYS {
        let launched = bench.launch(&executes(how, JOB));
        let Outcome::Skipped(why) = &launched.outcome else {
            assert_eq!(launched.outcome, Outcome::Measured, "{how}");
            continue;
        };
        assert!(how == "clone3-vfork" && why.contains("Linux 5.3"), "{why}");
    }
    // it is part of the result
    let alone = bench.hash(&kernel("kernel/process", &[], 1));
    let null = bench.hash(&executes("fork", JOB));
    let big = bench.hash(&executes("fork", "kernel/big-job"));
    assert!(alone != null && null != big && alone != big);
}

#[test]
fn failed_exec_has_no_time() {
    let mut bench = Bench::new();
    for how in WAYS {
        // the first execution is the untimed attempt; clone3 has its own
        bench.plant(JOB, "test -e \"$0.again\" && rm \"$0\"; : >\"$0.again\"");
        let outcome = bench.launch(&executes(how, JOB)).outcome;
        let Outcome::Failed(why) = &outcome else {
            assert!(matches!(outcome, Outcome::Skipped(_)) && how == "clone3-vfork");
            continue;
        };
        let expected = match how {
            "posix-spawn" => "posix-spawn: No such file or directory (errno 2)",
            _ => "execve: a child ended with status 0x7f00: it could not execute its job",
        };
        assert_eq!(why, expected, "{how}");
    }
    bench.plant(JOB, "exit 3");
    let why = bench.fails(&executes("vfork", JOB));
    assert_eq!(why, "execve: a child ended with status 0x300");
    let mut forgotten = executes("vfork", JOB);
    if let Work::Kernel(work) = &mut forgotten.work {
        work.uses.clear();
    }
    let why = bench.fails(&forgotten);
    assert!(why.contains("kernel/null-job=PATH is missing"), "{why}");
}

#[test]
fn missing_loaders_are_explained() {
    let mut bench = Bench::new();
    let job = "kernel/null-job-libc";
    bench.without_loader(job);
    let why = why_skipped(&mut bench, &executes("vfork", job));
    assert!(why.contains(&format!("loader that {job} requires")), "{why}");
    bench.without_loader("kernel/process");
    let why = why_skipped(&mut bench, &kernel("kernel/process", &[("how", "fork")], 1));
    let missing = "/nonexistent/ld.so is missing here";
    assert!(why.contains(missing), "{why}");
}

#[test]
fn jobs_differ_only_in_data() {
    let size = |name: &str, kind: SectionKind| {
        let bytes = gritstone_kernels::find(name).unwrap().bytes().unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let sections = file.sections().filter(|section| section.kind() == kind);
        sections.map(|section| section.size()).sum::<u64>()
    };
    let sizes =
        |kind| ["kernel/null-job", "kernel/big-job", "kernel/process"].map(|name| size(name, kind));
    let [null, big, _] = sizes(SectionKind::Data);
    assert!(null >= 1024);
    assert_eq!((big - null).next_multiple_of(1024), 255 * 1024);
    let [null, big, parent] = sizes(SectionKind::Text);
    assert!(null == big && null < parent, "{null} {big} {parent}");
    if linking::is_bare("#include \"crt0.h\"") {
        assert!(null < 256, "no C library: {null} bytes of text");
    }
}

#[test]
fn only_dynamic_programs_need_loaders() {
    let statically = gritstone_kernels::FLAGS.contains("-static");
    for program in gritstone_kernels::all() {
        let bytes = program.bytes().unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let is_dynamic = file.section_by_name(".interp").is_some();
        let source = gritstone_kernels::source(program.name).unwrap().text;
        let dynamic = linking::is_dynamic(program.name, source);
        let wanted = dynamic || !(statically || linking::is_bare(source));
        assert_eq!(is_dynamic, wanted, "{}", program.name);
        assert_eq!(program.flags.contains("-static"), !is_dynamic, "{}", program.name);
    }
}
