//! Compiling again: what a compiler makes, what it refuses, and what is not there.

use crate::ExecError;
use crate::rebuild::{Compiler, RebuildError, Tool, Workshop};
use gritstone_kernels::SUPERVISOR;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A workshop in a directory of its own, which goes with the first of the two.
fn workshop(compiler: &str, flags: &[&str]) -> (tempfile::TempDir, Workshop) {
    let directory = tempfile::tempdir().unwrap();
    let supervisor = directory.path().join("supervisor");
    let bytes = gritstone_kernels::find(SUPERVISOR)
        .unwrap()
        .bytes()
        .unwrap();
    fs::write(&supervisor, bytes).unwrap();
    fs::set_permissions(&supervisor, fs::Permissions::from_mode(0o700)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
    let find = |name: &str| Compiler {
        path: path
            .split(':')
            .map(|folder| PathBuf::from(folder).join(name))
            .find(|file| file.exists())
            .unwrap_or_else(|| name.into()),
        flags: flags.clone(),
    };
    let workshop = Workshop {
        directory: directory.path().to_path_buf(),
        supervisor,
        cpus: "-".to_owned(),
        environment: BTreeMap::from([("PATH".to_owned(), path.clone().into())]),
        stop: Arc::new(AtomicBool::new(false)),
        c: Tool::c(find(compiler), "a compiler".to_owned()),
        fortran: Some(Tool::fortran(find("gfortran"), "another".to_owned())),
    };
    (directory, workshop)
}

fn sources() -> Vec<(&'static str, &'static str)> {
    gritstone_kernels::sources()
        .iter()
        .map(|source| (source.path, source.text))
        .collect()
}

#[test]
fn a_kernel_is_compiled_again_and_does_its_work() {
    let (_directory, workshop) = workshop("cc", &["-O0"]);
    let mut sources = sources();
    sources.push(("planted/bad.c", "this is not C\n"));
    let mut builds = workshop
        .build(&sources, &["byte/sieve", "planted/bad", "planted/missing"])
        .unwrap();
    let sieve = builds.remove("byte/sieve").unwrap().unwrap();
    let done = Command::new(&sieve.path)
        .args(["mode=once", "n=3"])
        .status()
        .unwrap();
    assert!(done.success());
    assert_eq!(sieve.program.hash.len(), 64);
    assert_ne!(
        sieve.program.hash,
        gritstone_kernels::find("byte/sieve").unwrap().hash,
        "other flags, other program"
    );
    assert_eq!(sieve.program.compiler, "a compiler");
    assert!(sieve.program.flags.starts_with("-std=gnu11 -O0"));
    let why = builds.remove("planted/bad").unwrap().unwrap_err();
    assert!(why.contains("planted/bad.c:1"), "{why}");
    let why = builds.remove("planted/missing").unwrap().unwrap_err();
    assert!(why.contains("planted/missing.c"), "{why}");
}

#[test]
fn the_same_compiler_and_flags_make_the_program_that_is_in_the_binary() {
    // as the build of this binary chose it
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
    let shipped = gritstone_kernels::find("byte/loop")
        .unwrap()
        .bytes()
        .unwrap();
    assert_eq!(code(&fs::read(&rebuilt.path).unwrap()), code(&shipped));
}

#[test]
fn flags_that_the_compiler_does_not_know_are_told_once_and_for_all() {
    let (_directory, workshop) = workshop("cc", &["-fno-such-flag-at-all"]);
    match workshop.build(&sources(), &["byte/loop"]) {
        Err(RebuildError::Refused(why)) => assert!(why.contains("no-such-flag-at-all"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_compiler_that_is_not_there_is_named() {
    let (_directory, workshop) = workshop("/nonexistent/cc", &[]);
    match workshop.build(&sources(), &["byte/loop"]) {
        Err(RebuildError::Refused(why)) => assert!(why.contains("/nonexistent/cc"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_to_stop_ends_it() {
    let (_directory, workshop) = workshop("cc", &["-O2"]);
    workshop
        .stop
        .store(true, std::sync::atomic::Ordering::Relaxed);
    match workshop.build(&sources(), &["byte/loop"]) {
        Err(RebuildError::Exec(ExecError::Interrupted)) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_without_a_kernel_struct_is_refused_by_the_linker() {
    let (_directory, workshop) = workshop("cc", &["-O2"]);
    let mut sources = sources();
    sources.push((
        "planted/empty.c",
        "static int nothing __attribute__((unused));\n",
    ));
    let builds = workshop.build(&sources, &["planted/empty"]).unwrap();
    assert!(
        builds["planted/empty"]
            .as_ref()
            .unwrap_err()
            .contains("kernel")
    );
}

#[test]
fn a_helper_is_whole_and_a_dynamic_program_is_so_again() {
    let (_directory, workshop) = workshop("cc", &["-O1"]);
    let names = ["kernel/null-job", "kernel/process-dynamic"];
    let mut builds = workshop.build(&sources(), &names).unwrap();
    let [job, parent] = names.map(|name| builds.remove(name).unwrap().unwrap());
    assert!(Command::new(&job.path).status().unwrap().success());
    let mut named = std::ffi::OsString::from("kernel/null-job=");
    named.push(&job.path);
    let mut done = Command::new(&parent.path);
    done.args(["mode=once", "n=3", "how=vfork", "job=kernel/null-job"]);
    assert!(done.arg(named).status().unwrap().success());
    assert_eq!(parent.program.flags, "-std=gnu11 -O1");
}

#[test]
fn a_program_with_a_half_in_fortran() {
    let (_directory, mut workshop) = workshop("cc", &["-O1"]);
    let builds = workshop
        .build(&sources(), &["cpu/whetstone", "cpu/linpack-tuned"])
        .unwrap();
    let whetstone = builds["cpu/whetstone"].as_ref().unwrap();
    let done = Command::new(&whetstone.path)
        .args(["mode=once", "n=1", "precision=double"])
        .status()
        .unwrap();
    assert!(done.success());
    assert_eq!(whetstone.program.compiler, "a compiler; another");
    assert!(whetstone.program.flags.ends_with("; Fortran: -O1"));
    assert!(whetstone.size > 0);
    let tuned = builds["cpu/linpack-tuned"].as_ref().unwrap();
    assert!(
        !tuned.program.flags.contains("-static"),
        "it loads libraries: {:?}",
        tuned.program
    );

    workshop.fortran = None;
    let mut builds = workshop
        .build(&sources(), &["cpu/whetstone", "byte/loop"])
        .unwrap();
    let why = builds.remove("cpu/whetstone").unwrap().unwrap_err();
    assert!(why.contains("apt-get install gfortran"), "{why}");
    assert!(builds["byte/loop"].is_ok());
}
