//! Trees that break each rule once.

use super::*;
use serde_json::json;

fn tree(files: &[(&str, &str)]) -> Tree {
    let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    files.iter().map(owned).collect()
}

#[test]
fn imports_follow_the_map() {
    let page = "| where | what | what it must not know | imports |\n| --- | --- | --- | --- |\n\
        | `crates/exec` | starts | stores | `model`, `kernels` |\n| `crates/model` | types | files | |\n| `crates/magic` | all | | `exec` |\n";
    for (folder, imported, faults) in [
        ("exec", &["serde", "gritstone-model", "gritstone-kernels"][..], 0),
        ("model", &["gritstone-model"], 1),
        ("exec", &["gritstone-store", "gritstone"], 2),
        ("magic", &[], 1),
        ("none", &[], 1),
    ] {
        let imported: Vec<Value> =
            imported.iter().map(|name| json!({ "name": name, "kind": "dev" })).collect();
        let package = json!({ "manifest_path": format!("/r/crates/{folder}/Cargo.toml"), "dependencies": imported });
        let foreign = json!({ "source": "registry", "manifest_path": "/x", "dependencies": [] });
        let found = imports(&tree(&[(MAP, page)]), Path::new("/r"), &[package, foreign]);
        assert_eq!(found.len(), faults, "{found:?}");
        assert!(
            found.iter().all(|fault| fault.starts_with(&format!("crates/{folder}/Cargo.toml: ")))
        );
    }
}

#[test]
fn programs_and_entries_belong_together() {
    let mut catalogue = gritstone_catalogue::all().unwrap();
    catalogue.benchmarks.retain(|row| row.id.as_str() == "kernel/execs/0-null");
    for (files, faults) in [
        (
            "kernel/process.c kernel/null-job.c kernel/process.f90 kernel/x.inc runtime/main.c tests/planted/hangs.c",
            &[][..],
        ),
        ("kernel/process.c kernel/null-job.c kernel/idle.c", &["kernels/kernel/idle.c: no entry"]),
        ("kernel/null-job.c", &["'kernel/execs/0-null' needs program kernel/process"]),
        ("kernel/process.c kernel/null-job.c kernel/a.f90", &["kernels/kernel/a.f90: Fortran"]),
    ] {
        let files = files.split(' ').map(|file| (format!("kernels/{file}"), String::new()));
        let found = programs(&files.collect(), &catalogue);
        assert_eq!(found.len(), faults.len(), "{found:?}");
        assert!(
            found.iter().zip(faults).all(|(found, fault)| found.starts_with(fault)),
            "{found:?}"
        );
    }
}

#[test]
fn source_rules_are_checked() {
    let faults = |path: &str, text: &str| {
        let tree = tree(&[(path, text)]);
        [openings(&tree), words(&tree)].concat()
    };
    for path in [
        "crates/stats/src/lib.rs",
        "crates/a/src/b/c.rs",
        "crates/report/build.rs",
        "catalogue/src/lib.rs",
        "xtask/src/main.rs",
    ] {
        assert_eq!(faults(path, "//! What it is.\n"), [""; 0]);
        assert_eq!(faults(path, "// What it is.\n").len(), 1, "{path}");
    }
    for path in [
        "crates/stats/tests/x.rs",
        "crates/stats/src/tests.rs",
        "crates/stats/src/rank/tests/a.rs",
        "crates/stats/examples/x.rs",
        "tests/it/run.rs",
        "crates/stats/src/table.c",
    ] {
        assert_eq!(faults(path, ""), [""; 0], "{path}");
    }
    for word in LEFT {
        for path in
            ["crates/x/tests/a.rs", "kernels/byte/pipe.c", "catalogue/byte.toml", "Makefile"]
        {
            let found = faults(path, &format!("first\n/* {word}(\"x\") */\n"));
            assert!(found.len() == 1 && found[0].starts_with(&format!("{path}:2: ")), "{found:?}");
        }
        assert_eq!(faults("README.md", word), [""; 0]);
        assert_eq!(faults("a.py", &format!("un{word} my_{word}")), [""; 0]);
    }
    for word in PRINTED {
        let text = format!("//! X.\nfn f() {{ let x = {word}; }}\n");
        assert_eq!(faults("crates/x/src/a.rs", &text).len(), 1, "{word}");
        assert_eq!(faults("crates/x/src/a.rs", &text.replace("let x", "#[cfg(test)]")), [""; 0]);
        for path in ["crates/cli/src/ui/output.rs", "crates/x/src/y/tests.rs", "crates/x/build.rs"]
        {
            assert_eq!(faults(path, &text), [""; 0]);
        }
    }
}

#[test]
fn lengths_are_remarked() {
    let body = "        let x = if y { 1 } else { 2 };\n".repeat(59);
    let text = |body: &str| {
        format!(
            "impl X {{\n    pub(crate) const fn long<T>(\n        x: T,\n    ) {{\n{body}    }}\n\n    fn short() {{}}\n    fn told(x: u8);\n}}\n"
        )
    };
    let remarks = |text: &str| lengths(&tree(&[("crates/x/src/y.rs", text)]));
    let found = remarks(&text(&body));
    assert!(found.len() == 1 && found[0].starts_with("crates/x/src/y.rs:2: 63 lines"), "{found:?}");
    assert_eq!(remarks(&text(&body[..body.len() / 2])), [""; 0]);
    assert_eq!([400, 401].map(|n| remarks(&"\n".repeat(n)).len()), [0, 1]);
}

#[test]
fn quoted_files_are_current() {
    for (page, faults) in [
        ("In `a/b.c`:\n\n```c\ntwo\nthree\n```\n", &[][..]),
        ("In `a/b.c`:\n\n```c\ntwo\nfour\n```\n", &["HOW.md:3: "]),
        ("```c\nfour\n```\n\nThe file `x` and `a/b.c`:\n```\nfour\n```\n", &["HOW.md:6: "]),
        ("In `a/c.c`:\n```\nfour\n```\n", &[]),
        ("`a/b.c` is a file.\n```\nfour\n```\n", &[]),
        ("In `a/b.c`:\nno, elsewhere:\n```\nfour\n```\n", &[]),
    ] {
        let found = quotes(&tree(&[("HOW.md", page), ("a/b.c", "one\ntwo\nthree\n")]));
        assert_eq!(found.len(), faults.len(), "{page}");
        assert!(found.iter().zip(faults).all(|(found, fault)| found.starts_with(fault)));
    }
}

#[test]
fn unread_files_are_left_out() {
    let root = tempfile::tempdir().unwrap();
    for path in ["target/x.rs", ".git/x.rs", "a/b/x.rs", "a/Makefile", "a/picture.png"] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"text \xff").unwrap();
    }
    std::os::unix::fs::symlink("..", root.path().join("a/up")).unwrap();
    let found = read(root.path()).unwrap();
    assert_eq!(found, tree(&[("a/Makefile", "text \u{fffd}"), ("a/b/x.rs", "text \u{fffd}")]));
    assert!(read(&root.path().join("none")).is_err());
}

#[test]
fn teaching_documents_quote_files() {
    let whole = read(&crate::root()).unwrap();
    for (page, file) in [
        ("CONTRIBUTING.md", "kernels/kernel/sigmask.c"),
        ("CONTRIBUTING.md", "catalogue/kernel.toml"),
        ("docs/protocol.md", "examples/mine/mine/words.py"),
        ("docs/own.md", "examples/mine/mine.toml"),
        ("docs/own.md", "examples/mine/mine/checksum.c"),
    ] {
        let pair = tree(&[(page, &whole[page]), (file, "")]);
        assert!(!quotes(&pair).is_empty(), "{page} shows no {file}");
    }
}

#[test]
fn links_lead_somewhere() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("docs")).unwrap();
    let pages = [
        (
            "a.md",
            "# One: 2 *things*\n[self](#one-2-things) [b](docs/b.md#deep-down) [out](https://x/none)\n```\n[code](none)\n```\n",
        ),
        ("docs/b.md", "## Deep `down`\n[up](../a.md) [folder](../docs)\n"),
    ];
    for (path, text) in pages {
        std::fs::write(root.path().join(path), text).unwrap();
    }
    assert_eq!(links(&tree(&pages), root.path()), [] as [String; 0]);
    let broken = [("a.md", "[a](b.md)\n[b](#two) and [c](docs/b.md#deep)\n")];
    let found = links(&tree(&broken), root.path());
    let places: Vec<&str> = found.iter().map(|fault| &fault[..7]).collect();
    assert_eq!(places, ["a.md:1:", "a.md:2:", "a.md:2:"]);
}
