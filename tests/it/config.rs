//! Configuration files, completions and manual pages as a person meets them.

use crate::common::{Home, binary, mode, output_texts};
use std::fs;

#[test]
fn project_files_set_measurements_only() {
    let home = Home::new();
    let global = home.path().join(".config/gritstone/config.toml");
    let here = home.path().join("gritstone.toml");
    fs::create_dir_all(global.parent().unwrap()).unwrap();
    let mine = "store = 'own.db'\n\n[run]\nbudget = '7m'\nlabel = 'mine'\n";
    fs::write(&global, mine).unwrap();
    fs::write(&here, "[run]\nbudget = '3m'\nselect = ['byte/sieve']\n").unwrap();
    let out = home.ok("config --show");
    for line in [
        "store = \"own.db\"  # ",
        "config.toml:4, overridden below\n",
        "run.budget = \"3m\"  # ./gritstone.toml:2\n",
        "run.select = \"byte/sieve\"",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let out = home.ok("run --dry-run");
    assert!(out.contains("byte/sieve") && !out.contains("byte/pipe"), "{out}");
    for (text, printed) in [
        ("store = 'x.db'\n", ":1: 'store' can only be set in your own configuration"),
        ("[run]\n\nbugdet = '1m'\n", ":3: unknown key 'bugdet'"),
        ("[run]\nbudget = 'soon'\n", ":2: invalid value 'soon' for '--budget"),
    ] {
        fs::write(&here, text).unwrap();
        home.refuses("list byte/sieve", &format!("./gritstone.toml{printed}"));
    }
    let utf16 = "\u{feff}[run]\r\nbudget = '4m'\r\n".encode_utf16();
    fs::write(&here, utf16.flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    assert!(home.ok("config --show").contains("run.budget = \"4m\""));
    // one that others can write is not read; the user's own is not either, and that is an error
    mode(&here, 0o666);
    let error = home.fails(0, "list byte/sieve", "is not read: ");
    assert!(error.contains("written by other users"), "{error}");
    mode(&global, 0o666);
    home.refuses("list byte/sieve", "config.toml cannot be read");
}

#[test]
fn bash_completes_names() {
    let home = Home::with(&["run"]);
    let (code, script, _) = home.run("completions bash");
    assert_eq!(code, 0);
    fs::write(home.path().join("completions"), script).unwrap();
    let folder = binary().parent().unwrap().display();
    for (line, wanted) in [
        ("gritstone run byte/si", "byte/sieve"),
        ("gritstone compare last ref:vax", "ref:vax-11-780-4.1bsd"),
        ("gritstone comp", "compare"),
        ("gritstone show 2", "2026"),
    ] {
        let (words, word) = line.rsplit_once(' ').unwrap();
        let index = words.split(' ').count();
        let ask = format!(
            "PATH={folder}:$PATH; . ./completions; COMP_WORDS=({line}) COMP_CWORD={index} COMP_TYPE=9; _clap_complete_gritstone gritstone '{word}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let asked = home.command("bash").args(["--norc", "-c", &ask]).output();
        let (_, offered, error) = output_texts(asked.unwrap());
        let is_wanted = |word: &str| word.starts_with(wanted);
        assert!(offered.lines().any(is_wanted), "{line}: {offered}{error}");
    }
}

#[test]
fn manual_pages_are_written() {
    let home = Home::new();
    let out = home.ok("man bench");
    let page = out.starts_with(".ie") && out.contains(".TH gritstone-bench 1");
    assert!(page, "{out}");
    let synopsis = ".SH SYNOPSIS\n\\fBgritstone bench\\fR [OPTIONS] ";
    assert!(out.contains(synopsis), "{out}");
    let help = out.find("Print help").unwrap();
    assert!(out.find(".SH ARGUMENTS\n").unwrap() < help, "{out}");
    home.ok("man --output pages");
    for page in ["gritstone-run.1", "gritstone.1"] {
        assert!(home.path().join("pages").join(page).exists(), "{page}");
    }
    home.refuses("man none", "no command 'none'");
}
