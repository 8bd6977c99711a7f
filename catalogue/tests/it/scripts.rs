//! The scripts and programs that are written in the catalog, run under several shells and the C compiler.

use gritstone_catalogue::all;
use gritstone_model::{CommandWork, Need, Work};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

fn command(id: &str) -> CommandWork {
    let benchmarks = all().unwrap().benchmarks;
    let found = benchmarks.into_iter().find(|b| b.id.as_str() == id);
    match found.map(|benchmark| benchmark.work) {
        Some(Work::Command(work) | Work::Scenario(work)) => work,
        other => panic!("{id}: {other:?}"),
    }
}

/// The words that stand for `/bin/sh`. A shell that is missing fails the tests; scripts/setup test installs them.
const SHELLS: [&[&str]; 5] =
    [&["/bin/sh"], &["dash"], &["bash"], &["bash", "--posix"], &["busybox", "sh"]];

/// The program that stands for a need on this machine.
fn program(need: &Need) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let names = need.any.iter().chain([&need.name]);
    let mut files = names.flat_map(|name| env::split_paths(&path).map(move |dir| dir.join(name)));
    let found = files.find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("no {}: scripts/setup test installs it", need.name))
}

/// A command line made ready for `dir`; `shell` stands for `/bin/sh`, the programs of this machine for `{name}`.
fn ready(argv: &[String], shell: &[&str], needs: &[Need], dir: &Path) -> Command {
    let mut words: Vec<String> = vec![];
    for word in argv {
        match word.as_str() {
            "/bin/sh" => words.extend(shell.iter().map(|word| (*word).to_owned())),
            other => words.push(needs.iter().fold(other.to_owned(), |word, need| {
                let path = program(need);
                word.replace(&format!("{{{}}}", need.name), path.to_str().unwrap())
            })),
        }
    }
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(dir).stdin(Stdio::null());
    command.env("LC_ALL", "C").env("HOME", dir);
    command
}

/// Output of a command line of `work`, after its preparation, in a directory with its files.
fn run(work: &CommandWork, argv: &[String], shell: &[&str], needs: &[Need], dir: &Path) -> String {
    for (name, text) in &work.files {
        fs::write(dir.join(name), text).unwrap();
    }
    let done = |mut command: Command| {
        let output = command.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{command:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    if !work.prepare.is_empty() {
        done(ready(&work.prepare, shell, needs, dir));
    }
    let mut command = ready(argv, shell, needs, dir);
    if argv == work.argv {
        if let Some(name) = &work.input {
            command.stdin(fs::File::open(dir.join(name)).unwrap());
        }
        if let Some(name) = &work.output {
            command.stdout(fs::File::create(dir.join(name)).unwrap());
        }
    }
    done(command)
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Files in the directory beside those of the command.
fn left(work: &CommandWork, dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !work.files.contains_key(name)).collect();
    names.sort_unstable();
    names
}

#[test]
fn commands_do_their_work() {
    for benchmark in all().unwrap().benchmarks {
        let (Work::Command(work) | Work::Scenario(work)) = benchmark.work else {
            continue;
        };
        // those whose input is made by a program of ours are measured in tests/it/today.rs
        if !work.uses.is_empty() {
            continue;
        }
        let needs = &benchmark.needs;
        for shell in SHELLS {
            let place = format!("{} under {shell:?}", benchmark.id);
            let [nothing, dir] = [(); 2].map(|()| tempfile::tempdir().unwrap());
            run(&work, &["true".to_owned()], shell, needs, nothing.path());
            let before = left(&work, nothing.path());
            let mut after: Vec<String> = before.clone();
            after.retain(|name| !work.removes.contains(name));
            after.extend(work.leaves.iter().cloned());
            after.sort_unstable();

            let printed = run(&work, &work.argv, shell, needs, dir.path());
            let expected = work.stdout.as_deref().unwrap_or("");
            assert_eq!(words(&printed), words(expected), "{place}");
            assert_eq!(left(&work, dir.path()), after, "{place}");
            for name in &work.leaves {
                fs::remove_file(dir.path().join(name)).unwrap();
            }

            let Some(verify) = &work.verify else { continue };
            let printed = run(&work, &verify.argv, shell, needs, dir.path());
            assert_eq!(words(&printed), words(&verify.stdout), "{place}");
            assert_eq!(left(&work, dir.path()), before, "{place}");
        }
    }
}

/// What the script must make of the sentence, computed without any of its utilities.
#[test]
fn script_proof_matches_its_utilities() {
    let mut words: Vec<&str> =
        words("Now is the time for all good men to come to the aid of their country");
    words.sort_unstable();
    let found: Vec<&str> = words.iter().copied().filter(|word| word.contains("the")).collect();
    let characters: usize = found.iter().map(|word| word.len() + 1).sum();
    let text: String = words.iter().map(|word| format!("{word}\n")).collect();
    let sum: u32 = text.bytes().map(u32::from).sum();
    let addresses = (0..text.len()).step_by(16).chain([text.len()]);
    let addresses: Vec<String> = addresses.map(|address| format!("{address:07o}")).collect();
    let (n, all, lines) = (found.len(), words.join(" "), found.join(" "));
    let counts = format!("{n} {n} {characters}");
    let expected = format!("{all} {lines} {counts} dump is sorted {sum} {}", addresses.join(" "));
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
fn other_work_fails_the_proofs() {
    for (id, file, there, instead) in [
        ("shell", "tst.sh", "grep the", "grep then"),
        ("shell", "tst.sh", "| tee \"grep.$$\" |", "| tee /dev/null |"),
        ("shell", "tst.sh", "sort -n -k 2", "sort -n -k 1"),
        ("shell", "tst.sh", "od \"sort.$$\"", "od -N 16 \"sort.$$\""),
        ("shell", "tst.sh", "country\n", ""),
        ("shell", "tst.sh", "| wc", "| wc -l"),
        ("multi/3", "multi.sh", "/bin/sh tst.sh &", "test \"$copy\" = 2 || /bin/sh tst.sh &"),
    ] {
        let mut work = command(&format!("byte/{id}"));
        let verify = work.verify.clone().unwrap();
        let script = work.files.get_mut(file).unwrap();
        assert_eq!(script.matches(there).count(), 1, "{there}");
        *script = script.replace(there, instead);
        let dir = tempfile::tempdir().unwrap();
        let mut command = ready(&verify.argv, &["/bin/sh"], &[], dir.path());
        for (name, text) in &work.files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let printed = String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned();
        assert_ne!(words(&printed), words(&verify.stdout), "{instead}");
    }
}

#[test]
fn programs_compile_in_any_c() {
    for (id, source) in
        [("byte/cc", "sieve.c"), ("byte/object-size", "shortest.c"), ("unix/cc", "bench.c")]
    {
        let (work, dir) = (command(id), tempfile::tempdir().unwrap());
        let argv = format!("cc -std=c89 -pedantic -Wall -Werror -o out {source}");
        let argv: Vec<String> = argv.split(' ').map(str::to_owned).collect();
        run(&work, &argv, &["/bin/sh"], &[], dir.path());
    }
}

/// What cksum(1) says of `bytes`.
fn sum(bytes: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("bytes"), bytes).unwrap();
    let output = Command::new("cksum")
        .stdin(fs::File::open(dir.path().join("bytes")).unwrap())
        .output()
        .unwrap();
    words(&String::from_utf8(output.stdout).unwrap()).join(" ")
}

/// The lines of the document's listing and the same sorted, computed without awk, C or sort: what the entries say.
#[test]
fn unix_sums_match_their_lines() {
    let keys = b"qwertyuiopasdfghjklzxcvbnm";
    let letter = |x: i32| keys[usize::try_from(if x > 0 { x } else { 5 - x }).unwrap() % 26];
    let mut lines = Vec::new();
    for (i, j, k) in (0..27_000).map(|n| (n / 900, n / 30 % 30, n % 30)) {
        lines.push([k, j + k, j - k, i + k, i - k, i + j + k, i + j - k].map(letter));
    }
    let text = |lines: &[[u8; 7]]| -> Vec<u8> {
        lines.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect()
    };
    let plain = sum(&text(&lines));
    lines.sort_unstable();
    let sorted = sum(&text(&lines));
    for id in ["cc", "a.out", "cat-null", "cat-file", "cat-cat", "cat-5"] {
        let verify = command(&format!("unix/{id}")).verify.unwrap();
        assert_eq!(verify.stdout, plain, "{id}");
    }
    assert_eq!(command("unix/sort").verify.unwrap().stdout, sorted);
    let count = |index: usize| words(&plain)[index].to_owned();
    let counted = format!("27000 27000 {} foo", count(1));
    assert_eq!(command("unix/wc").stdout, Some(counted));
}

/// The script is printed in the remark of its benchmark, so that a reader of the result has it.
#[test]
fn ex_session_matches_its_entry() {
    let mut benchmarks = all().unwrap().benchmarks;
    benchmarks.retain(|b| b.id.as_str() == "unix/ex");
    let script = command("unix/ex").files["edit.ex"].trim().replace('\n', "; ");
    assert!(benchmarks[0].remark.as_ref().unwrap().contains(&script));
}
