//! Rebuilding: builds, refusals, missing sources.

use super::supervisor_in;
use crate::ExecError;
use crate::rebuild::{Builds, Compiler, RebuildError, Rebuilt, Tool, Workshop};
use gritstone_model::Program;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A workshop in its own directory.
fn workshop(compiler: &str, flags: &[&str]) -> (tempfile::TempDir, Workshop) {
    let directory = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap();
    let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
    let find = |name: &str| {
        let mut files = path.split(':').map(|folder| Path::new(folder).join(name));
        let found = files.find(|file| file.exists());
        Compiler { path: found.unwrap_or_else(|| name.into()), flags: flags.clone() }
    };
    let workshop = Workshop {
        directory: directory.path().to_path_buf(),
        supervisor: supervisor_in(directory.path()),
        cpus: "-".to_owned(),
        environment: BTreeMap::from([("PATH".to_owned(), path.clone().into())]),
        stop: Arc::new(AtomicBool::new(false)),
        c: Tool::c(find(compiler), "a compiler".to_owned()),
        fortran: Some(Tool::fortran(find("gfortran"), "another".to_owned())),
    };
    (directory, workshop)
}

fn sources() -> Vec<(&'static str, &'static str)> {
    let all = gritstone_kernels::sources().iter();
    all.map(|source| (source.path, source.text)).collect()
}

fn build(flags: &[&str], programs: &[&str]) -> (tempfile::TempDir, Builds) {
    let (directory, workshop) = workshop("cc", flags);
    (directory, workshop.build(&sources(), programs).unwrap())
}

fn works(program: &Rebuilt, arguments: &[&str]) {
    let done = Command::new(&program.path).args(arguments).status();
    assert!(done.unwrap().success(), "{program:?}");
}

fn why_refused(workshop: &Workshop) -> String {
    match workshop.build(&sources(), &["byte/loop"]) {
        Err(RebuildError::Refused(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rebuilt_workloads_work() {
    let (_directory, workshop) = workshop("cc", &["-O0"]);
    let mut sources = sources();
    sources.push(("planted/bad.c", "this is not C\n"));
    // without a kernel struct
    let empty = "static int nothing __attribute__((unused));\n";
    sources.push(("planted/empty.c", empty));
    let names = ["byte/sieve", "planted/bad", "planted/missing", "planted/empty"];
    let mut builds = workshop.build(&sources, &names).unwrap();
    let sieve = builds.remove("byte/sieve").unwrap().unwrap();
    works(&sieve, &["mode=once", "n=3"]);
    let Program { hash, compiler, flags } = sieve.program;
    // other flags, other program
    let shipped = gritstone_kernels::find("byte/sieve").unwrap().hash;
    assert!(hash.len() == 64 && hash != shipped);
    assert_eq!(compiler, "a compiler");
    assert!(flags.starts_with("-std=gnu11 -O0"), "{flags}");
    for (name, output) in [
        ("planted/bad", "planted/bad.c:1"),
        ("planted/missing", "planted/missing.c"),
        ("planted/empty", "kernel"),
    ] {
        let why = builds.remove(name).unwrap().unwrap_err();
        assert!(why.contains(output), "{why}");
    }
}

#[test]
fn rebuilds_equal_embedded_programs() {
    // the compiler that this binary's build chose
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let (_directory, workshop) = workshop(&compiler, &["-O2"]);
    let builds = workshop.build(&sources(), &["byte/loop"]).unwrap();
    let rebuilt = builds["byte/loop"].as_ref().unwrap();
    assert_eq!(rebuilt.program.flags, gritstone_kernels::FLAGS);
    let code = |bytes: &[u8]| {
        use object::{Object, ObjectSection};
        let file = object::File::parse(bytes).unwrap();
        file.section_by_name(".text").unwrap().data().unwrap().len()
    };
    let shipped = gritstone_kernels::find("byte/loop").unwrap();
    let shipped = shipped.bytes().unwrap();
    assert_eq!(code(&fs::read(&rebuilt.path).unwrap()), code(&shipped));
}

#[test]
fn unusable_compilers_are_refused() {
    for (compiler, flags, output) in [
        ("cc", &["-fno-such-flag-at-all"][..], "no-such-flag-at-all"),
        ("/nonexistent/cc", &[], "/nonexistent/cc"),
    ] {
        let (_directory, workshop) = workshop(compiler, flags);
        let why = why_refused(&workshop);
        assert!(why.contains(output), "{why}");
    }
}

#[test]
fn stop_requests_end_the_build() {
    let (_directory, workshop) = workshop("cc", &["-O2"]);
    workshop.stop.store(true, Ordering::Relaxed);
    let ended = workshop.build(&sources(), &["byte/loop"]).unwrap_err();
    assert!(matches!(ended, RebuildError::Exec(ExecError::Interrupted)));
}

#[test]
fn helpers_and_dynamic_programs_rebuild() {
    let names = ["kernel/null-job", "kernel/process-dynamic"];
    let (_directory, mut builds) = build(&["-O1"], &names);
    let [job, parent] = names.map(|name| builds.remove(name).unwrap().unwrap());
    works(&job, &[]);
    let named = format!("kernel/null-job={}", job.path.display());
    let how = ["mode=once", "n=3", "how=vfork", "job=kernel/null-job"];
    works(&parent, &[&how[..], &[&named]].concat());
    assert_eq!(parent.program.flags, "-std=gnu11 -O1");
}

#[test]
fn fortran_parts_are_compiled() {
    let (_directory, mut workshop) = workshop("cc", &["-O1"]);
    let mut build = |programs: [&str; 2]| {
        let builds = workshop.build(&sources(), &programs).unwrap();
        workshop.fortran = None;
        programs.map(|name| builds[name].clone())
    };
    let [whetstone, tuned] = build(["cpu/whetstone", "cpu/linpack-tuned"]).map(Result::unwrap);
    works(&whetstone, &["mode=once", "n=1", "precision=double"]);
    assert_eq!(whetstone.program.compiler, "a compiler; another");
    assert!(whetstone.program.flags.ends_with("; Fortran: -O1"));
    assert!(whetstone.size > 0);
    // it loads libraries
    assert!(!tuned.program.flags.contains("-static"), "{tuned:?}");

    let [whetstone, in_c] = build(["cpu/whetstone", "byte/loop"]);
    let why = whetstone.unwrap_err();
    assert!(why.contains("apt-get install gfortran"), "{why}");
    in_c.unwrap();
}
