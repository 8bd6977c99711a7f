//! Full disks: of the measured directory, of programs, of the store, of the journals. Benchmarks without room are skipped with a reason,
//! stored data stay readable, and no file is left behind.

use crate::common::{Home, binary, output_texts, result};
use serde_json::Value;
use std::process::{Command, Output};

/// The full directory of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Small {
    /// `--dir`.
    Dir,
    /// The runtime directory alone, where programs go first.
    Programs,
    /// Every directory that programs could go to.
    AllPrograms,
    Store,
    /// Where journals are kept.
    State,
}

/// In a mount namespace, whose small file systems disappear with it: the run, then the remaining files, then the store.
const WORLD: &str = r#"
exec 9<"$BINARY"
mkdir -p big/home small
others=
case $SMALL in
AllPrograms)
	others="/tmp /var/tmp /dev/shm"
	# this home may be below one of them
	mount --bind "$PWD" /mnt
	for other in $others; do mount -t tmpfs -o size="$SIZE" small "$other"; done
	mkdir -p "$PWD"
	mount --bind /mnt "$PWD"
	cd "$PWD"
	;;
esac
mount -t tmpfs -o size="$SIZE" small small
case $SMALL in
State) mkdir small/state; export XDG_STATE_HOME=$PWD/small/state ;;
esac
# where a command is given is the last place for programs
(cd small && /proc/self/fd/9 run "$@")
echo "exit $?"
find "$PWD" $others -maxdepth 2 -name "gritstone.*.*" | sed 's/^/left /'
find small/state -type f 2>/dev/null | sed 's/^/left /'
/proc/self/fd/9 show --format json
"#;

fn in_a_small_world(home: &Home, small: Small, size: &str, rows: &str) -> Output {
    let namespaces = match nix::unistd::geteuid().is_root() {
        true => &["--mount"][..],
        false => &["--mount", "--map-root-user"],
    };
    let folder = |choice: &[Small]| match choice.contains(&small) {
        true => home.path().join("small"),
        false => home.path().join("big"),
    };
    let arguments = ["--quick", "--dir"];
    Command::new("unshare")
        .args(namespaces)
        .args(["bash", "-c", WORLD, "bash"])
        .args(rows.split(' '))
        .args(arguments)
        .arg(folder(&[Small::Dir]))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("BINARY", binary())
        .env("SMALL", format!("{small:?}"))
        .env("SIZE", size)
        .env("HOME", home.path().join("big/home"))
        .env("XDG_RUNTIME_DIR", folder(&[Small::Programs, Small::AllPrograms]))
        .env("TMPDIR", folder(&[Small::AllPrograms]))
        .env("GRITSTONE_STORE", folder(&[Small::Store]).join("store.db"))
        .current_dir(home.path())
        .output()
        .unwrap()
}

fn full(small: Small, size: &str) {
    let what = format!("{small:?} of {size}");
    let home = Home::new();
    // with what times them six programs, of half a megabyte or more
    let rows = "byte/loop byte/disk-write byte/sieve byte/pipe byte/syscall";
    let (_, out, error) = output_texts(in_a_small_world(&home, small, size, rows));
    let left = out.lines().filter(|line| line.starts_with("left "));
    assert_eq!(left.collect::<Vec<_>>(), [""; 0], "{what}: {error}");
    let exit = out.lines().find(|line| line.starts_with("exit "));
    let shown = out.find("\n{").map(|start| serde_json::from_str(&out[start..]));
    let shown: Option<Value> = shown.transpose().unwrap();
    match exit {
        Some("exit 0") => {
            let run = shown.unwrap();
            let figures = run["results"].as_array().unwrap().iter();
            let without: Vec<&Value> = figures.filter(|row| row["estimate"].is_null()).collect();
            assert!(without.len() < 5, "{what}: {error}");
            let words = ["room", "No space left"];
            let is_named = without.is_empty() || words.iter().any(|word| error.contains(word));
            assert!(is_named, "{what}: {error}");
            if small == Small::Dir {
                assert!(result(&run, "byte/loop")["estimate"].is_number(), "{what}");
            }
            if small == Small::AllPrograms {
                let parts = ["no directory has room for it", "TMPDIR"];
                assert!(parts.iter().all(|why| error.contains(why)), "{what}: {error}");
            }
            if small == Small::Programs {
                assert!(without.is_empty(), "{what}: {error}");
            }
        }
        // too little for anything
        Some("exit 3") => {
            let mut words = ["room", "no space is left", "df, quota"].iter();
            assert!(words.any(|word| error.contains(word)), "{what}: {error}");
        }
        other => panic!("{what}: {other:?}: {error}"),
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn full_directories_skip_benchmarks() {
    full(Small::Dir, "64k");
    full(Small::Programs, "1m");
    full(Small::AllPrograms, "900k");
}

#[test]
#[ignore = "measures: make test-full"]
fn full_stores_lose_nothing() {
    full(Small::Store, "100k");
    full(Small::State, "4k");
}

#[test]
#[ignore = "long: make test-full"]
fn twelve_full_disks() {
    for size in ["16k", "64k", "256k", "1m"] {
        full(Small::Dir, size);
        full(Small::Store, size);
    }
    for size in ["300k", "1m"] {
        full(Small::Programs, size);
        full(Small::AllPrograms, size);
    }
    for size in ["4k", "8k"] {
        full(Small::State, size);
    }
}
