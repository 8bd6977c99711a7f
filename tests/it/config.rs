//! Configuration files, completions and manual pages as a person meets them.

use crate::common::Home;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_file_of_the_directory_sets_what_is_measured_and_nothing_else() {
    let home = Home::new();
    let (own, here) = (
        home.path().join(".config/gritstone/config.toml"),
        home.path().join("gritstone.toml"),
    );
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(
        &own,
        "store = 'own.db'\n\n[run]\nbudget = '7m'\nlabel = 'mine'\n",
    )
    .unwrap();
    fs::write(&here, "[run]\nbudget = '3m'\nselect = ['byte/sieve']\n").unwrap();
    let (code, out, err) = home.run(&["config", "--show"]);
    assert_eq!(code, 0, "{err}");
    for line in [
        "store = \"own.db\"  # ",
        "config.toml:4, overridden below\n",
        "run.budget = \"3m\"  # ./gritstone.toml:2\n",
        "run.select = \"byte/sieve\"",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let (code, out, err) = home.run(&["run", "--dry-run"]);
    assert!(
        code == 0 && out.contains("byte/sieve") && !out.contains("byte/pipe"),
        "{out}{err}"
    );
    for (text, said) in [
        (
            "store = 'x.db'\n",
            "./gritstone.toml:1: 'store' can only be set in your own configuration",
        ),
        (
            "[run]\n\nbugdet = '1m'\n",
            "./gritstone.toml:3: unknown key 'bugdet'",
        ),
        (
            "[run]\nbudget = 'soon'\n",
            "./gritstone.toml:2: invalid value 'soon' for '--budget",
        ),
    ] {
        fs::write(&here, text).unwrap();
        let (code, _, err) = home.run(&["list", "byte/sieve"]);
        assert!(code == 2 && err.contains(said), "{text}: {err}");
    }
    // one that others can write is not read; the user's own is not either, and that is an error
    fs::set_permissions(&here, Permissions::from_mode(0o666)).unwrap();
    let (code, _, err) = home.run(&["list", "byte/sieve"]);
    assert!(
        code == 0 && err.contains("is not read: ") && err.contains("written by other users"),
        "{err}"
    );
    fs::set_permissions(&own, Permissions::from_mode(0o666)).unwrap();
    let (code, _, err) = home.run(&["list", "byte/sieve"]);
    assert!(
        code == 2 && err.contains("config.toml cannot be read"),
        "{err}"
    );
}

#[test]
fn bash_completes_benchmarks_runs_and_systems() {
    let home = Home::with(&["run"]);
    let (code, script, _) = home.run(&["completions", "bash"]);
    assert_eq!(code, 0);
    fs::write(home.path().join("completions"), script).unwrap();
    let binary = crate::common::binary();
    let folder = std::path::Path::new(&binary)
        .parent()
        .unwrap()
        .display()
        .to_string();
    for (line, wanted) in [
        ("gritstone run byte/si", "byte/sieve"),
        ("gritstone compare last ref:vax", "vax-11-780-4.1bsd"),
        ("gritstone comp", "compare"),
        ("gritstone show 2", "2026"),
    ] {
        let ask = format!(
            "PATH={folder}:$PATH; . ./completions; COMP_LINE='{line}' COMP_POINT={}; _gritstone; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            line.len()
        );
        let output = home
            .command("bash")
            .args(["--norc", "-c", &ask])
            .output()
            .unwrap();
        let offered = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            offered.lines().any(|word| word.starts_with(wanted)),
            "{line}: {offered}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn manual_pages_are_printed_and_written() {
    let home = Home::new();
    let (code, out, _) = home.run(&["man", "bench"]);
    assert!(
        code == 0 && out.starts_with(".ie") && out.contains(".TH gritstone-bench 1"),
        "{out}"
    );
    let (code, _, err) = home.run(&["man", "--output", "pages"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        home.path().join("pages/gritstone-run.1").exists()
            && home.path().join("pages/gritstone.1").exists()
    );
    let (code, _, err) = home.run(&["man", "none"]);
    assert!(code == 2 && err.contains("no command 'none'"), "{err}");
}
