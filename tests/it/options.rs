//! Words and options of commands that name nothing, or change nothing.

use crate::common::Home;

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
