//! Workloads started alone, possibly with a planted fault.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The sources of all workloads.
pub fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels")
}

/// Writes a program of this binary to a file.
pub fn shipped(program: &str, path: PathBuf) -> PathBuf {
    let program = gritstone_kernels::find(program).unwrap();
    super::make_program(&path, &program.bytes().unwrap());
    path
}

/// Compiles a workload in which texts are replaced, in it or in what it includes.
pub fn built(name: &str, folder: &Path, faults: &[(&str, &str, &str)]) -> PathBuf {
    let copy = copied(folder);
    for (file, right, wrong) in faults {
        let path = copy.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(right), "{file}: {right}");
        fs::write(&path, text.replacen(right, wrong, 1)).unwrap();
    }
    compiled(&copy, &copy.join(format!("{name}.c")), folder)
}

/// Compiles a workload of the tests, which includes what those of a family do.
pub fn built_from(source: &str, family: &str, folder: &Path) -> PathBuf {
    let copy = copied(folder);
    let path = copy.join(family).join("of-a-test.c");
    fs::write(&path, source).unwrap();
    compiled(&copy, &path, folder)
}

fn copied(folder: &Path) -> PathBuf {
    let copy = folder.join("kernels");
    for family in ["app", "daq", "db", "fs", "multiuser", "net", "runtime"] {
        fs::create_dir_all(copy.join(family)).unwrap();
        for file in super::entries(&kernels().join(family)) {
            let path = copy.join(family).join(file.file_name().unwrap());
            fs::copy(&file, path).unwrap();
        }
    }
    copy
}

fn compiled(copy: &Path, source: &Path, folder: &Path) -> PathBuf {
    let program = folder.join("program");
    const PROGRAMS: [&str; 4] = ["command.c", "count.c", "supervisor.c", "user.c"];
    let is_part = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.ends_with(".c") && !PROGRAMS.contains(&name)
    };
    let runtime = super::entries(&copy.join("runtime"));
    let runtime = runtime.into_iter().filter(is_part);
    let mut compile = Command::new("cc");
    compile.args(["-std=gnu11", "-O1", "-o"]).arg(&program).arg(source);
    super::succeeds(compile.args(runtime).args(["-lm", "-ldl"]));
    program
}

/// Whether all check values of a launch are right; none without a check.
pub fn checks(printed: &str) -> Option<bool> {
    let lines = printed.lines().filter_map(|line| line.strip_prefix("check "));
    let values = lines.filter_map(|line| line.split_once(" got=")?.1.split_once(" expected="));
    values.map(|(got, expected)| got == expected).reduce(|all, right| all && right)
}

/// Whether a launch succeeded with right check values.
pub fn is_right(printed: &str) -> bool {
    checks(printed) == Some(true) && printed.ends_with("bye\n")
}

/// Output of a workload on descriptor 3 within a minute, in a private directory.
pub fn workload_output(workload: &Path, folder: &Path, arguments: &str) -> String {
    let room = folder.join("room");
    let _ = fs::remove_dir_all(&room);
    fs::create_dir(&room).unwrap();
    let line = format!("exec timeout 60 {} {arguments} 3>&1 2>&1", workload.display());
    let output = Command::new("sh").args(["-c", &line]).current_dir(&room).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}
