//! Words and options of commands that name nothing, or change nothing.

use crate::common::{Home, output_texts};

#[test]
fn unknown_benchmarks_are_explained() {
    let home = Home::with(&["run"]);
    for command in ["show", "export", "report", "score", "compare run"] {
        let error = home.refuses(
            &format!("{command} run nosuch"),
            "no run and no benchmark is called 'nosuch'",
        );
        assert!(error.contains("`gritstone show run` lists the results"), "{error}");
    }
    let error = home.refuses("show run syscal", "no benchmark is called 'syscal'");
    assert!(error.contains("did you mean 'byte/syscall'?"), "{error}");
    home.refuses("show nosuch", "no run is called 'nosuch'");
}

#[test]
fn parameters_of_no_command_warn() {
    let home = Home::new();
    let bench = |line: &str| {
        let mut command = home.command(crate::common::binary());
        let words = line.split(' ');
        let (code, _, error) = output_texts(command.arg("bench").args(words).output().unwrap());
        assert_eq!(code, 0, "{error}");
        error.lines().filter(|line| line.contains("no command has")).map(str::to_owned).collect()
    };
    let unused: Vec<String> = bench("-r2 -P n 1 2 true");
    assert_eq!(unused.len(), 1, "{unused:?}");
    assert!(unused[0].contains("no command has {n}"), "{unused:?}");
    let both: Vec<String> = bench("-r2 -L a 1,2 -L b 1,2 true");
    assert!(both.len() == 1 && both[0].contains("{a} or {b}"), "{both:?}");
    for used in ["-r2 -P n 1 2 echo{n} -i", "-r2 -P n 1 2 -p echo{n};: true"] {
        let warnings: Vec<String> = bench(used);
        assert!(warnings.is_empty(), "{used}: {warnings:?}");
    }
}
