//! Every rule of the files, broken once: the message names file, line and what is wrong.
//!
//! Must not know: what is shipped.

mod cells;

use gritstone_references::{Error, References};

const DOCUMENT: &str = r#"name = "doc-1980"
title = "A document"
author = "Somebody"
date = "1980-02-29"
year = 1980
about = "What it is."
"#;

const MACHINES: &str = r#"[[machine]]
id = "box-1"
name = "Box 1"
system = "Version 7"
configuration = "64 KB"
"#;

const TABLE: &str = r#"place = "table 1"

[footnotes]
"+" = "With a plus."

[[row]]
machine = "box-1"
marks = ["+"]
"byte/pipe" = { real_s = 3.0, user_s = 0.5, system_s = 2.0, doubt.user_s = "Blurred." }
"aim/fork" = { value = 44.0, unit = "forks/s" }
"byte/loop" = { missing = "Torn off." }
"#;

fn parse(document: &str, machines: &str, table: &str) -> Result<References, Error> {
    References::parse(&[
        ("doc-1980/document.toml", document),
        ("doc-1980/machines.toml", machines),
        ("doc-1980/table-1.toml", table),
    ])
}

/// Replaces one text by another in one of the three files, and expects an error at that file and line.
#[track_caller]
fn broken(file: &str, from: &str, to: &str, line: usize, what: &str) {
    let texts = [
        ("document", DOCUMENT),
        ("machines", MACHINES),
        ("table-1", TABLE),
    ];
    let [document, machines, table] = texts.map(|(name, text)| {
        if name == file {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        } else {
            text.to_owned()
        }
    });
    let error = parse(&document, &machines, &table).expect_err(what);
    assert_eq!(error.file, format!("doc-1980/{file}.toml"), "{error}");
    assert_eq!(error.line, line, "{error}");
    assert!(error.what.contains(what), "{error}");
    assert_eq!(
        error.to_string(),
        format!("references/doc-1980/{file}.toml:{line}: {}", error.what)
    );
}

#[test]
fn the_sample_is_sound() {
    let references = parse(DOCUMENT, MACHINES, TABLE).expect("sound");
    assert_eq!(references.cells.len(), 3);
}

#[test]
fn a_folder_must_be_whole() {
    for absent in ["document.toml", "machines.toml"] {
        let files = [
            ("doc-1980/document.toml", DOCUMENT),
            ("doc-1980/machines.toml", MACHINES),
            ("doc-1980/table-1.toml", TABLE),
        ];
        let rest: Vec<_> = files
            .into_iter()
            .filter(|(path, _)| !path.ends_with(absent))
            .collect();
        let error = References::parse(&rest).expect_err(absent);
        assert!(error.what.contains(absent), "{error}");
        assert!(error.file.starts_with("doc-1980/"), "{error}");
    }
    let error = References::parse(&[("table-1.toml", TABLE)]).expect_err("no folder");
    assert!(error.what.contains("folder"), "{error}");
}

#[test]
fn documents() {
    broken(
        "document",
        "author = ",
        "writer = ",
        3,
        "unknown field `writer`",
    );
    broken(
        "document",
        "title = \"A document\"\n",
        "",
        1,
        "missing field `title`",
    );
    broken(
        "document",
        "doc-1980",
        "doc-1981",
        1,
        "its folder 'doc-1980'",
    );
    broken(
        "document",
        "year = 1980",
        "year = \"1980\"",
        5,
        "invalid type",
    );
    broken("document", "year = 1980", "year = ", 5, "");
    for date in [
        "1981-02",
        "1980-13",
        "1980-00",
        "1980-02-32",
        "1980-2",
        "1980-02-03-04",
        "Feb 1980",
    ] {
        broken("document", "1980-02-29", date, 4, "the date must be 1980");
    }
}

#[test]
fn machines() {
    broken("machines", "name = ", "nane = ", 3, "unknown field `nane`");
    broken(
        "machines",
        "system = \"Version 7\"\n",
        "",
        1,
        "missing field `system`",
    );
    broken(
        "machines",
        "\"Version 7\"",
        "\" \"",
        2,
        "must say something",
    );
    for id in ["", "Box-1", "box 1", "box/1", "-box", "böx"] {
        broken("machines", "box-1", id, 2, "an id is made of");
    }
    let two = format!("{MACHINES}\n{MACHINES}");
    let error = parse(DOCUMENT, &two, TABLE).expect_err("twice");
    assert_eq!(
        (error.line, error.what.as_str()),
        (8, "a second machine is called 'box-1'")
    );
    let idle = format!("{MACHINES}\n{}", MACHINES.replace("box-1", "box-2"));
    let error = parse(DOCUMENT, &idle, TABLE).expect_err("idle");
    assert_eq!(
        (error.line, error.what.as_str()),
        (8, "'box-2' has no cell in any table")
    );
}

#[test]
fn a_machine_belongs_to_its_document() {
    let other = DOCUMENT.replace("doc-1980", "eod-1980");
    let files = |table| {
        [
            ("doc-1980/document.toml", DOCUMENT),
            ("doc-1980/machines.toml", MACHINES),
            ("doc-1980/table-1.toml", TABLE),
            ("eod-1980/document.toml", other.as_str()),
            ("eod-1980/machines.toml", table),
            ("eod-1980/table-1.toml", TABLE),
        ]
    };
    let error = References::parse(&files(MACHINES)).expect_err("the same id twice");
    assert_eq!(
        (error.file.as_str(), error.line),
        ("eod-1980/machines.toml", 2)
    );
    let renamed = MACHINES.replace("box-1", "box-2");
    let error = References::parse(&files(&renamed)).expect_err("a machine of the other document");
    assert_eq!(
        (error.file.as_str(), error.line),
        ("eod-1980/table-1.toml", 7)
    );
    assert!(error.what.contains("no machine 'box-1'"), "{error}");
}

#[test]
fn tables() {
    broken(
        "table-1",
        "place = ",
        "plaice = ",
        1,
        "unknown field `plaice`",
    );
    broken(
        "table-1",
        "place = \"table 1\"\n",
        "",
        1,
        "missing field `place`",
    );
    broken("table-1", "\"table 1\"", "\"\"", 1, "place must say");
    broken("table-1", "[[row]]", "[[rows]]", 6, "unknown field `rows`");
    let error = parse(DOCUMENT, MACHINES, "place = \"table 1\"\n").expect_err("empty");
    assert!(error.what.contains("[[row]] or a [[command]]"), "{error}");
}

#[test]
fn rows() {
    broken(
        "table-1",
        "machine = \"box-1\"\n",
        "",
        6,
        "missing field `machine`",
    );
    broken(
        "table-1",
        "box-1",
        "box-2",
        7,
        "machines.toml has no machine 'box-2'",
    );
    let bare = "place = \"table 1\"\n[[row]]\nmachine = \"box-1\"\n";
    let error = parse(DOCUMENT, MACHINES, bare).expect_err("bare");
    assert_eq!(
        (error.line, error.what.as_str()),
        (3, "the row has no cell")
    );
}

#[test]
fn a_figure_stands_once() {
    let again =
        "place = \"table 2\"\n[[row]]\nmachine = \"box-1\"\n\"byte/pipe\" = { real_s = 3.0 }\n";
    let error = References::parse(&[
        ("doc-1980/document.toml", DOCUMENT),
        ("doc-1980/machines.toml", MACHINES),
        ("doc-1980/table-1.toml", TABLE),
        ("doc-1980/table-2.toml", again),
    ])
    .expect_err("twice");
    assert_eq!(
        (error.file.as_str(), error.line),
        ("doc-1980/table-2.toml", 4)
    );
    assert_eq!(
        error.what,
        "'box-1' has a figure for byte/pipe already, in table 1"
    );
}

#[test]
fn commands() {
    let with = |extra: &str| {
        let table = format!(
            "{TABLE}\n[[command]]\nbenchmark = \"byte/pipe\"\ncommand = \"time pipe\"\n{extra}"
        );
        parse(DOCUMENT, MACHINES, &table)
    };
    let references = with("doubt = \"A blot.\"\n").expect("sound");
    assert_eq!(references.commands[0].command, "time pipe");
    assert_eq!(crate::text(&references.commands[0].notes[0]), "A blot.");
    let again = "[[command]]\nbenchmark = \"byte/pipe\"\ncommand = \"pipe\"\n";
    let error = with(again).expect_err("twice");
    assert_eq!(
        (error.line, error.what.as_str()),
        (17, "a second command for byte/pipe")
    );
    let error = with("[[command]]\nbenchmark = \"a b\"\ncommand = \"x\"\n").expect_err("id");
    assert!(error.what.contains("is not an identifier"), "{error}");
    let error =
        with("[[command]]\nbenchmark = \"byte/loop\"\ncommand = \"\"\n").expect_err("empty");
    assert_eq!(error.what, "the command is empty");
    let error = with("shell = \"sh\"\n").expect_err("key");
    assert!(error.what.contains("unknown field `shell`"), "{error}");
}
