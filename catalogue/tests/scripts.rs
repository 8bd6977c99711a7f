//! The scripts and programs that are written in the catalogue, run under the shells and compilers that are here.
//!
//! `/bin/sh` and a C compiler must be there; other shells are tried where they are.

use gritstone_catalogue::all;
use gritstone_model::{CommandWork, Work};
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

fn command(id: &str) -> CommandWork {
    let benchmarks = all().unwrap().benchmarks;
    let found = benchmarks.into_iter().find(|b| b.id.as_str() == id);
    match found.map(|row| row.work) {
        Some(Work::Command(work) | Work::Scenario(work)) => work,
        other => panic!("{id}: {other:?}"),
    }
}

/// The shells of this machine, as the words that stand for `/bin/sh`.
fn shells() -> Vec<Vec<&'static str>> {
    let here = |name: &str| {
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).any(|dir| dir.join(name).is_file())
    };
    let all = [
        vec!["/bin/sh"],
        vec!["dash"],
        vec!["bash"],
        vec!["bash", "--posix"],
        vec!["busybox", "sh"],
    ];
    all.into_iter()
        .filter(|shell| shell[0].starts_with('/') || here(shell[0]))
        .collect()
}

/// Runs a command line of `work` in a directory with its files; `shell` stands for `/bin/sh`, `cc` for `{cc}`.
fn run(work: &CommandWork, argv: &[String], shell: &[&str], dir: &Path) -> Output {
    for (name, text) in &work.files {
        fs::write(dir.join(name), text).unwrap();
    }
    let words: Vec<&str> = argv
        .iter()
        .flat_map(|word| match word.as_str() {
            "/bin/sh" => shell.to_vec(),
            "{cc}" => vec!["cc"],
            other => vec![other],
        })
        .collect();
    Command::new(words[0])
        .args(&words[1..])
        .current_dir(dir)
        .env("LC_ALL", "C")
        .output()
        .unwrap_or_else(|why| panic!("{words:?}: {why}"))
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// What lies in the directory besides the files of the command.
fn left(work: &CommandWork, dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| !work.files.contains_key(name))
        .collect()
}

#[test]
fn every_command_does_what_its_entry_says() {
    for benchmark in all().unwrap().benchmarks {
        let (Work::Command(work) | Work::Scenario(work)) = benchmark.work else {
            continue;
        };
        for shell in shells() {
            let at = format!("{} under {shell:?}", benchmark.id);
            let dir = tempfile::tempdir().unwrap();
            let output = run(&work, &work.argv, &shell, dir.path());
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{at}: {output:?}");
            assert_eq!(
                words(&said),
                words(work.stdout.as_deref().unwrap_or("")),
                "{at}"
            );
            assert_eq!(output.stderr, b"", "{at}");
            assert_eq!(left(&work, dir.path()), work.leaves, "{at}");
            for name in &work.leaves {
                fs::remove_file(dir.path().join(name)).unwrap();
            }

            let Some(verify) = &work.verify else { continue };
            let output = run(&work, &verify.argv, &shell, dir.path());
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{at}: {output:?}");
            assert_eq!(words(&said), words(&verify.stdout), "{at}");
            assert_eq!(left(&work, dir.path()), Vec::<String>::new(), "{at}");
        }
    }
}

/// What the script must make of the sentence, computed without any of its utilities.
#[test]
fn the_proof_of_the_script_is_what_its_utilities_must_give() {
    let mut words: Vec<&str> =
        words("Now is the time for all good men to come to the aid of their country");
    words.sort_unstable();
    let found: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| word.contains("the"))
        .collect();
    let characters: usize = found.iter().map(|word| word.len() + 1).sum();
    let text: String = words.iter().map(|word| format!("{word}\n")).collect();
    let sum: u32 = text.bytes().map(u32::from).sum();
    let addresses = (0..text.len()).step_by(16).chain([text.len()]);
    let addresses: Vec<String> = addresses.map(|at| format!("{at:07o}")).collect();
    let (n, all, lines) = (found.len(), words.join(" "), found.join(" "));
    let counts = format!("{n} {n} {characters}");
    let expected = format!(
        "{all} {lines} {counts} dump is sorted {sum} {}",
        addresses.join(" ")
    );
    assert_eq!(command("byte/shell").verify.unwrap().stdout, expected);
    for n in 1..=6 {
        let names: Vec<String> = (1..=n).map(|name: usize| name.to_string()).collect();
        let expected = format!("{} {}", names.join(" "), vec![counts.as_str(); n].join(" "));
        let work = command(&format!("byte/multi/{n}"));
        assert_eq!(work.verify.unwrap().stdout, expected);
        assert_eq!(work.argv[2..], names);
        assert_eq!(work.stdout, Some(names.join(" ")));
    }
}

/// A proof that any script passes would prove nothing.
#[test]
fn the_proofs_fail_when_the_script_does_other_work() {
    for (there, instead) in [
        ("grep the", "grep then"),
        ("| tee \"grep.$$\" |", "| tee /dev/null |"),
        ("sort -n -k 2", "sort -n -k 1"),
        ("od \"sort.$$\"", "od -N 16 \"sort.$$\""),
        ("country\n", ""),
        ("| wc", "| wc -l"),
    ] {
        let mut work = command("byte/shell");
        let verify = work.verify.clone().unwrap();
        let script = work.files.get_mut("tst.sh").unwrap();
        assert_eq!(script.matches(there).count(), 1, "{there}");
        *script = script.replace(there, instead);
        let dir = tempfile::tempdir().unwrap();
        let output = run(&work, &verify.argv, &["/bin/sh"], dir.path());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_ne!(words(&said), words(&verify.stdout), "{instead}");
    }
    let mut work = command("byte/multi/3");
    let verify = work.verify.clone().unwrap();
    let script = work.files.get_mut("multi.sh").unwrap();
    *script = script.replace(
        "    /bin/sh tst.sh &\n",
        "    test \"$copy\" = 2 || /bin/sh tst.sh &\n",
    );
    let dir = tempfile::tempdir().unwrap();
    let output = run(&work, &verify.argv, &["/bin/sh"], dir.path());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_ne!(words(&said), words(&verify.stdout));
}

#[test]
fn the_programs_are_c_of_any_age() {
    for (id, source) in [("byte/cc", "sieve.c"), ("byte/object-size", "shortest.c")] {
        let work = command(id);
        let dir = tempfile::tempdir().unwrap();
        let argv = [
            "{cc}",
            "-std=c89",
            "-pedantic",
            "-Wall",
            "-Werror",
            "-o",
            "out",
            source,
        ];
        let output = run(&work, &argv.map(str::to_owned), &["/bin/sh"], dir.path());
        assert!(output.status.success(), "{id}: {output:?}");
    }
}
