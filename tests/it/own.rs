//! Custom benchmarks, as used by a person.

mod fortran;
mod hostile;

use crate::common::{
    self, Arguments, Home, SHORT, end, end_at_once, eventually, flagged, list, mode, output_texts,
    result, start, stored_launches, traces, with_id,
};
use nix::sys::signal::Signal;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;

/// An entry of kind command that does nothing.
const TRUE: &str = r#"
[[benchmark]]
id = "evil/true"
kind = "command"
title = "Nothing"
version = 1
operation = "Nothing."
why = "It is short."
sources = [{ document = "evil", place = "here" }]
unit = "ms"
argv = ["/bin/true"]
"#;
const FAMILY: &str =
    "[family]\nname = \"evil\"\ntitle = \"Evil\"\nwhy = \"To see what happens.\"\n";

/// The example, in a folder of the home that may be changed.
fn copied(home: &Home) -> String {
    let to = home.path().join("mine");
    fs::create_dir_all(to.join("mine")).unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mine");
    for file in "mine.toml mine/checksum.c mine/checksum.h mine/words.py".split(' ') {
        fs::copy(example.join(file), to.join(file)).unwrap();
    }
    to.to_str().unwrap().to_owned()
}

/// A catalog of the family `evil`, with files beside its entries.
fn evil(home: &Home, entries: &str, files: &[(&str, &str)]) -> String {
    let folder = home.path().join("evil");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("evil")).unwrap();
    fs::write(folder.join("evil.toml"), format!("{FAMILY}{entries}")).unwrap();
    for (path, text) in files {
        fs::write(folder.join(path), text).unwrap();
        mode(&folder.join(path), 0o755);
    }
    folder.to_str().unwrap().to_owned()
}

#[test]
#[ignore = "measures: make test-full"]
fn example_catalog_is_reported() {
    let home = Home::new();
    let folder = copied(&home);
    let listed = home.json(&["list", "--catalog", &folder]);
    let listed = list(&listed["benchmarks"]);
    assert_eq!(listed.len(), 5);
    let catalog = listed[0]["catalogue"].as_str().unwrap();
    assert!(catalog.starts_with("mine ("), "{catalog}");
    let run = home.json(&format!("run --catalog {folder} --trust --label mine --quick"));
    for row in list(&run["results"]) {
        assert!(row["estimate"].is_number(), "{row}");
        assert!(flagged(row, "custom"), "{row}");
        assert!(!flagged(row, "invalid"), "{row}");
    }
    assert_eq!(list(&run["results"]).len(), 5);
    let start_up = |id: &str| result(&run, id)["estimate"].as_f64().unwrap();
    assert!(start_up("mine/python") > start_up("mine/sh"), "{run}");
    let flags = &result(&run, "mine/checksum")["program"]["flags"];
    assert_eq!(flags, "-std=gnu11 -O2 -static");
    assert!(traces(&home).is_empty());

    // from here on the folder is gone
    fs::remove_dir_all(folder).unwrap();
    let shown = home.ok("show mine -vv").words().join(" ");
    let printed = "Custom benchmark, of the catalog mine (";
    assert!(shown.contains(printed), "{shown}");
    let compared = home.ok(&format!("compare mine {} -v", home.later_copy("mine")));
    let custom = |line: &str| line.starts_with("mine/") && line.ends_with('c');
    assert!(compared.lines().any(custom), "{compared}");
    // what a difference is made of stands in the run
    let over = "mine/python-over-sh";
    let history = home.json(&["history", over]);
    let points = list(&history["series"][0]["points"]);
    assert_eq!(points.len(), 1, "{history}");
    assert_eq!(points[0]["estimate"], result(&run, over)["estimate"]);
    home.ok("report mine --output b.html --output b.pdf");
    let page = fs::read_to_string(home.path().join("b.html")).unwrap();
    for printed in [
        "Custom benchmark, of the catalog mine (",
        "Other benchmarks",
        "Our archive does it for every block that it reads.",
        ">c</abbr>",
    ] {
        assert!(page.contains(printed), "{printed}");
    }
    let pdf = fs::read(home.path().join("b.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF"));
    for format in gritstone_exchange::EXPORT_FORMATS {
        let (_, text, _) = home.run(&["export", "mine", "--format", format.name]);
        let marks = ["not of Gritstone", "\"catalogue\":", "custom", "Custom"];
        let marked = marks.iter().any(|mark| text.contains(mark));
        assert!(marked, "{}: {text}", format.name);
    }
    let (_, history, _) = home.run("history mine/checksum");
    let custom = |line: &str| line.contains("MB/s") && line.ends_with('c');
    assert!(history.lines().any(custom), "{history}");
}

#[test]
fn changed_catalogs_need_new_trust() {
    let home = Home::new();
    let folder = evil(&home, TRUE, &[]);
    let measure = format!("run --catalog {folder} {SHORT}");
    let error = home.refuses(&measure, "is not Gritstone's");
    for printed in ["evil/true  runs /bin/true", "evil.toml (", "--trust", "no terminal"] {
        assert!(error.contains(printed), "{printed}: {error}");
    }
    home.ok(&format!("{measure} --trust"));
    // it is remembered
    home.ok(&measure);
    let other = r#"needs = ["tool"]
check = ["/bin/true", "checked"]
[needs]
tool = { any = ["/x/evil", "true"], package = "x", version = "--evil" }
"#;
    evil(&home, &format!("{TRUE}{other}"), &[]);
    let error = home.refuses(&measure, "has changed");
    for printed in [
        "evil/true  checks it by /bin/true checked",
        "evil/true  needs {tool}, which is /x/evil or true, and runs it with --evil for its version",
    ] {
        assert!(error.contains(printed), "{printed}: {error}");
    }
    evil(&home, TRUE, &[]);
    fs::write(Path::new(&folder).join("evil/notes"), "x").unwrap();
    home.refuses(&measure, "has changed");
    // a file that tools leave is none of the catalog
    fs::remove_file(Path::new(&folder).join("evil/notes")).unwrap();
    fs::write(Path::new(&folder).join("evil/.notes"), "x").unwrap();
    home.ok(&measure);
    // what is only looked at is not asked for
    let other = format!("{FAMILY}{}", TRUE.replace("short", "long"));
    fs::write(Path::new(&folder).join("evil.toml"), other).unwrap();
    home.ok(&["list", "--catalog", &folder]);
}

#[test]
fn on_a_terminal_it_asks() {
    for (answer, expected) in [("y\n", 0), ("n\n", 2)] {
        let home = Home::new();
        let folder = evil(&home, TRUE, &[]);
        let pty = nix::pty::openpty(None, None).unwrap();
        let mut command = home.command(common::binary());
        command
            .args(["run", "--catalog", &folder])
            .args(SHORT.words())
            .stdin(Stdio::from(pty.slave.try_clone().unwrap()))
            .stdout(Stdio::null())
            .stderr(Stdio::from(pty.slave));
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut terminal = fs::File::from(pty.master);
        let mut printed = String::new();
        let mut bytes = [0; 4096];
        while !printed.contains("[y/N]") {
            let count = terminal.read(&mut bytes).unwrap();
            printed += &String::from_utf8_lossy(&bytes[..count]);
        }
        assert!(printed.contains("evil/true  runs /bin/true"), "{printed}");
        terminal.write_all(answer.as_bytes()).unwrap();
        // read on, or it would wait for us; the end of a terminal is an error
        while terminal.read(&mut bytes).is_ok_and(|count| count > 0) {}
        assert_eq!(child.wait().unwrap().code(), Some(expected));
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn runs_resume_without_the_folder() {
    let home = Home::new();
    let folder = copied(&home);
    let benchmarks = "mine/checksum mine/words";
    // longer than any machine needs for what is waited for
    let how = "--trust --budget 1h --precision 0.01%";
    let mut child = start(&home, &format!("run {benchmarks} --catalog {folder} {how}"), &[]);
    // killed in the middle, as if the power had gone
    eventually("launches are kept", || stored_launches(&home) > 3);
    end_at_once(&mut child);
    let before = stored_launches(&home);
    fs::remove_dir_all(folder).unwrap();
    let mut resumed = start(&home, "run --resume", &[]);
    eventually("launches are added", || {
        stored_launches(&home) > before || resumed.try_wait().unwrap().is_some()
    });
    end(&resumed, Signal::SIGINT);
    let (code, _, error) = output_texts(resumed.wait_with_output().unwrap());
    assert_eq!(code, 130, "{error}");
    assert!(stored_launches(&home) > before, "{error}");
}

#[test]
#[ignore = "measures: make test-full"]
fn init_skeletons_run() {
    let home = Home::new();
    let next = home.ok("init mine/sum");
    let line = "gritstone run mine/sum --catalog mine";
    assert!(next.contains(line), "{next}");
    home.ok("init mine/other --catalog mine");
    let run = home.json(&format!("run mine/* --catalog mine --trust {SHORT}"));
    for id in ["mine/sum", "mine/other"] {
        let row = result(&run, id);
        assert!(row["estimate"].is_number(), "{row}");
        assert!(!flagged(row, "invalid"), "{row}");
    }
    for (name, printed) in [
        ("mine/sum", "already"),
        ("byte/mine", "a family of Gritstone"),
        ("mine", "FAMILY/NAME"),
        ("mine/a/b", "FAMILY/NAME"),
        ("Mine/x", "a-z"),
        ("../x", "a-z"),
    ] {
        home.refuses(&["init", name], printed);
    }
    assert!(!home.path().join("byte").join("byte.toml").exists());
    let audited = home.ok("audit mine/sum --catalog mine");
    let printed = "◊ Not benchmarks of Gritstone";
    assert!(audited.contains(printed), "{audited}");
}

#[test]
#[ignore = "measures: make test-full"]
fn trials_accept_custom_benchmarks() {
    let home = Home::new();
    let folder = copied(&home);
    let view = |line: &str| {
        let (_, out, error) = home.run(&format!("{line} --format json"));
        serde_json::from_str::<serde_json::Value>(&out).expect(&error)
    };
    let view_of_two = view(&format!("ab gcc:-O0 gcc:-O2 --catalog {folder} --trust --budget 30s"));
    with_id(&view_of_two["rows"], "mine/checksum");
    assert_eq!(view_of_two["sides"][0]["compiled"]["programs"], 1);
    let view = view(&format!("ab --self mine/words --catalog {folder} --budget 3s"));
    assert!(flagged(&view["rows"][0]["figures"][0], "custom"), "{view}");
}

#[test]
fn refused_skeletons_leave_nothing() {
    let home = Home::new();
    for words in [
        &["init", "mine/a\u{1}"][..],
        &["init", "mine/x", "--command", "\u{1}"],
        &["init", "byte/mine"],
        &["init", "mine/x", "--catalog", "a/b/c", "--command", "\u{1}"],
    ] {
        let (code, _, error) = home.run(words);
        assert_eq!(code, 2, "{words:?}: {error}");
        let left: Vec<_> = crate::common::entries(home.path());
        assert!(left.is_empty(), "{words:?}: {left:?}");
    }
    // a valid catalog stays as it was
    home.ok("init mine/good --command true");
    let entries = home.path().join("mine/mine.toml");
    let before = fs::read_to_string(&entries).unwrap();
    home.refuses(&["init", "mine/x", "--command", "\u{1}"], "U+0001");
    assert_eq!(fs::read_to_string(&entries).unwrap(), before);
}

#[test]
fn user_commands_become_benchmarks() {
    let home = Home::new();
    let command = "echo \"it's $((6 * 7)) %{x}\" # NAME of a {FAMILY}, no {TITLE} {{x}}";
    let out = home.ok(&["init", "mine/answer", "--command", command]);
    assert!(!out.contains(".c "), "{out}");
    home.ok("init mine/second --command true");
    assert!(!home.path().join("mine/mine").exists());
    let run = home.json("run --catalog mine --trust --budget 3s --precision 50%");
    let row = result(&run, "mine/answer");
    assert_eq!(row["title"], command);
    assert!(row["estimate"].is_number(), "{row}");
}
