//! Current applications: programs that do not do their work give no result, and others report their versions.

use crate::common::{self, Home, ended, list, make_script, messages, result, traces};
use serde_json::Value;
use std::path::Path;

/// Six launches of these benchmarks, with programs of `planted` before those of the machine.
fn run(home: &Home, planted: Option<&Path>, ids: &[&str]) -> Value {
    let mut words = vec!["run", "--format", "json", "--quick"];
    words.extend(ids);
    let mut command = home.gritstone(&words);
    if let Some(planted) = planted {
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", planted.display()));
    }
    let (_, out, error) = ended(&mut command);
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{error}"))
}

/// Benchmarks, the replaced program of each, and the shell script that replaces it; `REAL` is the program.
const PLANTED: [(&str, &str, &str, &str); 7] = [
    // what it stores is sound, and as large as it was
    (
        "app/today/gzip-compress",
        "gzip",
        "[ \"$1\" = -kc ] || exec REAL \"$@\"\n\
         exec python3 -c 'import gzip, sys; sys.stdout.buffer.write(gzip.compress(open(sys.argv[1], \"rb\").read(), 0))' \"$2\"",
        "is not compressed",
    ),
    (
        "app/today/zstd-compress",
        "zstd",
        "[ \"$3\" = -o ] || exec REAL \"$@\"\nexec cp \"$2\" \"$4\"",
        "is not compressed",
    ),
    ("app/today/gcc", "gcc", "exit 0", "did not leave the file program"),
    // one function is left out of the program
    (
        "app/today/clang",
        "clang",
        "[ \"$3\" != part_7.c ] || sed -i 's/x = f3(x);//' part_7.c\nexec REAL \"$@\"",
        "differ",
    ),
    (
        "app/today/sort",
        "sort",
        "[ \"$1\" = log ] || exec REAL \"$@\"\nexec cat \"$1\"",
        "is not sorted",
    ),
    (
        "app/today/git-gc",
        "git",
        "REAL \"$@\" || exit\n\
         case \"$*\" in *' gc '*) exec REAL -C history.git update-ref refs/heads/main main~1 ;; esac",
        "answer-commits differ",
    ),
    ("app/today/grep", "grep", "REAL \"$@\" | sed '$d'", "differ"),
];

#[test]
#[ignore = "measures: make test-full"]
fn idle_programs_give_no_result() {
    let ids = PLANTED.map(|(id, ..)| id);
    let home = Home::new();
    let sound = run(&home, None, &ids);
    for id in ids {
        let result = result(&sound, id);
        assert!(result["estimate"].is_number(), "{id}: {result}");
    }
    let folder = home.path().join("planted");
    std::fs::create_dir(&folder).unwrap();
    for (_, program, script, _) in PLANTED {
        let real = common::program(&[program]);
        let script = script.replace("REAL", real.to_str().unwrap());
        make_script(folder.join(program), &script);
    }
    let planted = run(&home, Some(&folder), &ids);
    for (id, _, _, why) in PLANTED {
        let result = result(&planted, id);
        assert!(result["estimate"].is_null(), "{id}: {result}");
        assert!(messages(result).contains(why), "{id}: {}", messages(result));
    }
    assert!(traces(&home).is_empty());
}

#[test]
#[ignore = "measures: make test-full"]
fn versions_and_inputs_are_stored() {
    let home = Home::new();
    let one = run(&home, None, &["app/today/python3@start"]);
    let program = &result(&one, "app/today/python3@start")["program"];
    let version = program["compiler"].as_str().unwrap();
    assert!(version.starts_with("Python 3."), "{program}");
    let (_, shown, _) = home.run("show last app/today/python3@start");
    for line in ["numbers of size 100, seed 1, hash ", "peak memory", version] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    // the same program by another name
    let folder = home.path().join("other");
    std::fs::create_dir(&folder).unwrap();
    let real = common::program(&["perl"]);
    let version = "[ \"$1\" = --version ] && echo 'perl 7' && exit";
    let script = format!("{version}\nexec {} \"$@\"", real.display());
    make_script(folder.join("perl"), &script);
    let ids = ["app/today/perl@start"];
    let before = run(&home, None, &ids);
    let after = run(&home, Some(&folder), &ids);
    let id = |run: &Value| run["id"].as_str().unwrap().to_owned();
    let compared = home.json(&format!("compare {} {}", id(&before), id(&after)));
    let differ = common::list(&compared["differ_in"]);
    let program = differ.iter().find(|fact| fact["what"] == "program");
    assert_eq!(program.unwrap()["other"], "perl 7", "{compared}");
}

/// With an empty PATH.
fn with_nothing(home: &Home, line: &str) -> (i32, String, String) {
    let empty = home.path().join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    ended(home.gritstone(line).env("PATH", &empty))
}

#[test]
fn missing_programs_name_their_package() {
    let home = Home::new();
    let (_, out, error) = with_nothing(&home, "run app/today/ripgrep app/today/jq --dry-run");
    let words: Vec<&str> = out.split_whitespace().collect();
    let out_of = words.join(" ");
    for package in ["ripgrep", "jq"] {
        assert!(out_of.contains(package) && out_of.contains("apt-get install"), "{out}{error}");
    }
}

#[test]
fn doctor_installs_for_a_suite() {
    let home = Home::new();
    let (code, _, error) = with_nothing(&home, "doctor --install applications");
    assert_ne!(code, 0, "{error}");
    let command = error.lines().find(|line| line.starts_with("+ "));
    let command = command.unwrap_or_else(|| panic!("{error}"));
    let has = |package: &str| command.split(' ').any(|word| word == package);
    for package in ["ffmpeg", "ghostscript", "lld", "nodejs", "poppler-utils", "zstd"] {
        assert!(has(package), "{package}: {command}");
    }
    // what only other benchmarks need
    assert!(!has("nvi"), "{command}");
    home.refuses("doctor --install aplications", "no benchmark is called");
}

#[test]
fn doctor_describes_named_programs() {
    let home = Home::new();
    let found = home.json("doctor sort");
    let finding = &list(&found["findings"])[0];
    assert_eq!((&finding["name"], &finding["severity"]), (&"program sort".into(), &"ok".into()));
    assert!(finding["value"].as_str().unwrap().ends_with("/sort"), "{found}");
    assert!(finding["why"].as_str().unwrap().contains("byte/"), "{found}");
    let (code, out, error) = with_nothing(&home, "doctor ffmpeg valgrind");
    assert_eq!((code, error.as_str()), (0, ""));
    for text in ["ffmpeg", "missing", "app/", "pr --count instructions", "apt-get install"] {
        assert!(out.contains(text), "{text}: {out}");
    }
    assert!(!out.contains("steal"), "{out}");
    // all programs of a suite
    let suite = home.json("doctor applications");
    assert!(list(&suite["findings"]).len() > 5, "{suite}");
    home.refuses("doctor ffmpge", "not a program that benchmarks need");
}
