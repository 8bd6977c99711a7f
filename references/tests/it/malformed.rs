//! Every rule of the files, broken once: the error names file, line and what is wrong.

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
"rt/semaphore" = { unit = "us", min = 1.0, median = 2.0, max = 3.0 }

[[command]]
benchmark = "byte/pipe"
command = "time pipe"
"#;

/// File, what stands there, what stands there instead, the line of the error, a part of what it says.
const BROKEN: &str = r#"
document | author = | writer = | 3 | unknown field `writer`
document | title = "A document" | | 1 | missing field `title`
document | doc-1980 | doc-1981 | 1 | its folder 'doc-1980'
document | 1980-02-29 | 1981-02 | 1 | the date must be 1980
document | 1980-02-29 | 1980-13 | 1 | the date must be 1980
document | 1980-02-29 | 1980-02-03-04 | 1 | the date must be 1980
machines | name = | nane = | 3 | unknown field `nane`
machines | "Version 7" | " " | 2 | must say something
machines | box-1 | box+1 | 2 | an id is made of
machines | box-1 | -box | 2 | an id is made of
machines | "64 KB" | "64 KB"§year = 1981 | 2 | after the year of its document
table-1 | place = | plaice = | 1 | unknown field `plaice`
table-1 | machine = "box-1" | | 6 | missing field `machine`
table-1 | box-1 | box-2 | 7 | machines.toml has no machine 'box-2'
table-1 | marks = ["+"] | marks = ["+", "-"] | 8 | the mark '-' is not explained
table-1 | real_s = 3.0 | real_s = 3.0, marks = ["-"] | 9 | the mark '-' is not explained
table-1 | marks = ["+"] | | 4 | no row and no cell has the mark '+'
table-1 | With a plus. | | 4 | the footnote says nothing
table-1 | real_s | rael_s | 9 | unknown field `rael_s`
table-1 | byte/pipe | Byte Pipe | 9 | is not an identifier
table-1 | byte/loop | byte/pipe | 11 | duplicate key
table-1 | 3.0 | -3.0 | 9 | is not a time in seconds
table-1 | 3.0 | nan | 9 | is not a time in seconds
table-1 | missing = "Torn off." | | 11 | no figure: say why
table-1 | missing = | real_s = 1.0, missing = | 11 | said to be missing, and has a figure
table-1 | , unit = "forks/s" | | 10 | value needs unit
table-1 | forks/s | forks | 10 | 'forks' is not a unit
table-1 | 44.0 | 0.0 | 10 | 0 is not a figure
table-1 | forks/s | bytes | 10 | say which way is good
table-1 | real_s = 3.0 | real_s = 3.0, better = "lower" | 9 | unit and better need value
table-1 | Blurred. | | 9 | must have a reason
table-1 | doubt.user_s | doubt.users | 9 | `doubt` is a reason
table-1 | doubt.user_s | doubt.value | 9 | the cell has no value
table-1 | doubt.user_s = "Blurred." | doubt = 3 | 9 | a reason for each of real_s
table-1 | , max = 3.0 | | 12 | has min, median, max and unit
table-1 | max = 3.0 | max = 3.0, value = 2.0 | 12 | neither value nor better
table-1 | "us" | "KB/s" | 12 | not of 'KB/s'
table-1 | min = 1.0 | min = 0.0 | 12 | 0 is not a figure
table-1 | max = 3.0 | max = 3.0, doubt.mean = "x" | 12 | mean is doubted, and the cell has no mean
table-1 | [footnotes] | titles = { "byte/shell" = "sh" }§[footnotes] | 3 | no row has a cell for byte/shell
table-1 | [footnotes] | titles = { "byte/pipe" = " " }§[footnotes] | 3 | the title says nothing
table-1 | [footnotes] | kinds = { "-" = "doubtful" }§[footnotes] | 3 | the mark '-' is not explained
table-1 | [footnotes] | kinds = { "+" = "starred" }§[footnotes] | 3 | unknown variant `starred`
table-1 | benchmark = "byte/pipe" | benchmark = "a b" | 15 | is not an identifier
table-1 | "time pipe" | "" | 15 | the command is empty
table-1 | [[command]] | [[command]]§benchmark = "byte/pipe"§command = "pipe"§[[command]] | 18 | a second command for byte/pipe
"#;

/// The files of a document.
fn folder<'a>(name: &str, files: &[(&str, &'a str)]) -> Vec<(String, &'a str)> {
    let path = |file: &str| format!("{name}/{file}.toml");
    files.iter().map(|(file, text)| (path(file), *text)).collect()
}

fn parse(files: &[(String, &str)]) -> Result<References, Error> {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
    References::parse(&files)
}

const SOUND: [(&str, &str); 3] =
    [("document", DOCUMENT), ("machines", MACHINES), ("table-1", TABLE)];

#[test]
fn rule_violations_name_their_place() {
    let whole = parse(&folder("doc-1980", &SOUND)).expect("sound");
    assert_eq!((whole.cells.len(), whole.commands.len()), (4, 1));
    for case in BROKEN.lines().skip(1) {
        let parts: Vec<&str> = case.split('|').map(str::trim).collect();
        let [file, from, to, line, what] = parts.try_into().expect(case);
        let (_, text) = SOUND.iter().find(|(name, _)| *name == file).expect(case);
        assert!(text.contains(from), "{case}");
        let broken = text.replacen(from, &to.replace('§', "\n"), 1);
        let files = SOUND.map(|(name, text)| (name, if name == file { &*broken } else { text }));
        let error = parse(&folder("doc-1980", &files)).expect_err(case);
        assert_eq!(error.file, format!("doc-1980/{file}.toml"), "{case}");
        assert_eq!(error.line.to_string(), line, "{case}: {error}");
        assert!(error.what.contains(what), "{case}: {error}");
    }
}

#[test]
fn duplicate_values_are_refused() {
    let bare = "place = \"table 1\"\n[[row]]\nmachine = \"box-1\"\n";
    let again = format!("{bare}\"byte/pipe\" = {{ real_s = 3.0 }}\n");
    let renamed = MACHINES.replace("box-1", "box-2");
    let [twice, stray] = [MACHINES, &renamed].map(|second| format!("{MACHINES}\n{second}"));
    let other = DOCUMENT.replace("doc-1980", "eod-1980");
    let (document, table) = (("document", other.as_str()), ("table-1", TABLE));
    let [d, m, t] = SOUND;
    for (folder_of, files, line, what) in [
        ("doc-1980", vec![m, t], 1, "no document.toml"),
        ("doc-1980", vec![d, t], 1, "no machines.toml"),
        (
            "doc-1980",
            vec![d, m, ("table-1", "place = \"table 1\"\n")],
            1,
            "[[row]] or a [[command]]",
        ),
        ("doc-1980", vec![d, m, ("table-1", bare)], 3, "no cell"),
        ("doc-1980", vec![d, ("machines", &twice), t], 8, "a second machine"),
        ("doc-1980", vec![d, ("machines", &stray), t], 8, "no cell in any table"),
        ("doc-1980", vec![d, m, t, ("table-2", &again)], 4, "already, in table 1"),
        ("eod-1980", vec![document, m, table], 2, "a second machine"),
        ("eod-1980", vec![document, ("machines", &renamed), table], 7, "no machine 'box-1'"),
    ] {
        let mut all = folder(folder_of, &files);
        if folder_of == "eod-1980" {
            all.extend(folder("doc-1980", &SOUND));
        }
        let error = parse(&all).expect_err(what);
        assert!(error.line == line && error.what.contains(what), "{error}");
    }
    let error = References::parse(&[("table-1.toml", TABLE)]).expect_err("no folder");
    assert!(error.what.contains("folder"), "{error}");
}
