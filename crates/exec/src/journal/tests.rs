//! Settings of a fake machine: changed, restored by various processes, and left alone if another process changed them.

use crate::any_resource::AnyResource;
use crate::journal::measuring;
use crate::journal_file::{Entry, Owner};
use crate::owned_files::{StateDir, fresh_name};
use crate::recover::undo_dead_run;
use crate::resource::Directory;
use crate::settings::Setting;
use crate::tests::mode;
use crate::undo_command::Command;
use crate::{Journal, Registry, SettingError, owner, recover};
use nix::fcntl::{Flock, FlockArg};
use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

mod commands;
mod created;
mod trace;

const GOVERNOR: &str = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";

thread_local! {
    static REPORTED: RefCell<Vec<String>> = const { RefCell::new(vec![]) };
}

fn report(line: &str) {
    REPORTED.with_borrow_mut(|reported| reported.push(line.to_owned()));
}

/// A machine with two settings, and a state directory.
struct Machine(TempDir);

impl Machine {
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        for (path, value) in [(GOVERNOR, "powersave\n"), (TURBO, "0\n")] {
            let file = machine.root().join(&path[1..]);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, value).unwrap();
        }
        machine
    }

    /// Messages of the next start. A concurrent test that is between fork and exec holds the journal of the last
    /// start, so this retries for a while.
    fn recovered(&self) -> String {
        let start = Instant::now();
        loop {
            let messages = recover(&self.state()).join("\n");
            if !messages.is_empty() || start.elapsed() > Duration::from_secs(5) {
                return messages;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    fn state(&self) -> StateDir {
        StateDir { base: self.0.path().to_owned(), below: "state".into() }
    }

    fn journal(&self) -> Journal {
        // does as much as these tests need: reports ready, and ends with us
        let watchdog = ["/bin/sh", "-c", "echo ready >&0; cat > /dev/null"];
        self.watched_by(&watchdog).unwrap()
    }

    fn watched_by(&self, watchdog: &[&str]) -> std::io::Result<Journal> {
        Journal::begin(Registry {
            state: self.state(),
            root: self.root(),
            watchdog: watchdog.iter().map(Into::into).collect(),
            report,
        })
    }

    fn value(&self, path: &str) -> String {
        let text = fs::read_to_string(self.root().join(&path[1..])).unwrap();
        text.trim().to_owned()
    }

    fn values(&self) -> [String; 2] {
        [GOVERNOR, TURBO].map(|path| self.value(path))
    }

    fn set_externally(&self, path: &str, value: &str) {
        fs::write(self.root().join(&path[1..]), value).unwrap();
    }

    fn journals(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.state().path()).into_iter();
        let entries = entries.flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// Content of the only journal.
    fn written(&self) -> String {
        fs::read_to_string(&self.journals()[0]).unwrap()
    }

    /// Leaves the journal of a killed run.
    fn left_behind(&self, entries: &[Entry], tail: &str) -> PathBuf {
        self.state().make().unwrap();
        let path = self.state().path().join("0.1.2.0.journal");
        let lines = entries.iter().map(|e| serde_json::to_string(e).unwrap() + "\n");
        fs::write(&path, lines.collect::<String>() + tail).unwrap();
        mode(&path, 0o600);
        path
    }

    fn sets(&self, path: &str, old: &str, new: &str) -> Entry {
        Entry::Makes(AnyResource::Setting(Setting {
            path: self.root().join(&path[1..]),
            old: old.into(),
            new: new.into(),
        }))
    }

    fn owner(&self) -> Owner {
        Owner {
            host: owner::host(),
            boot: owner::boot(),
            namespace: owner::namespace(),
            process: 4711,
            start: 1,
        }
    }
}

#[test]
fn settings_are_recorded_and_restored() {
    let machine = Machine::new();
    let journal = machine.journal();
    let settings = journal.lock_settings().unwrap();
    settings.set(GOVERNOR, "performance").unwrap();
    settings.set(TURBO, "1").unwrap();
    settings.set(TURBO, "1").unwrap();
    assert_eq!(machine.value(GOVERNOR), "performance");
    // an unchanged value is not recorded
    assert_eq!(machine.written().lines().count(), 4);
    drop(journal);
    assert_eq!(machine.values(), ["powersave", "0"]);
    assert!(machine.journals().is_empty());
    assert!(REPORTED.take().is_empty());
}

#[test]
fn foreign_changes_are_reported() {
    let machine = Machine::new();
    let journal = machine.journal();
    let settings = journal.lock_settings().unwrap();
    settings.set(GOVERNOR, "performance").unwrap();
    settings.set(TURBO, "1").unwrap();
    machine.set_externally(GOVERNOR, "ondemand");
    drop(journal);
    assert_eq!(machine.values(), ["ondemand", "0"]);
    let reported = REPORTED.take();
    assert_eq!(reported.len(), 1, "{reported:?}");
    assert!(reported[0].contains("it has been changed to 'ondemand'"));
    assert!(machine.journals().is_empty());
}

#[test]
fn refused_settings_stay_with_reason() {
    let machine = Machine::new();
    let journal = machine.journal();
    let settings = journal.lock_settings().unwrap();
    let why = settings.set("/sys/nothing/here", "1").unwrap_err();
    assert!(why.to_string().starts_with("No such file"), "{why}");
    let file = machine.root().join(&TURBO[1..]);
    mode(&file, 0o444);
    // root is refused by the kernel only
    if !nix::unistd::geteuid().is_root() {
        let why = settings.set(TURBO, "1").unwrap_err();
        assert!(matches!(why, SettingError::NeedsRoot(_)), "{why}");
    }
    // accepts every value, and keeps none
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/null", &file).unwrap();
    let why = settings.set(TURBO, "1").unwrap_err().to_string();
    assert!(why.contains("the kernel stored '' for '1'"), "{why}");
    drop(journal);
    assert!(REPORTED.take().is_empty() && machine.journals().is_empty());
}

#[test]
fn journal_needs_a_watchdog() {
    let machine = Machine::new();
    for watchdog in ["/nonexistent/watchdog", "/bin/true"] {
        let why = machine.watched_by(&[watchdog]).unwrap_err().to_string();
        assert!(why.starts_with("no watchdog: "), "{why}");
        assert!(machine.journals().is_empty());
    }
}

/// Somebody who can rename files in the state directory replaces the run's journal.
#[test]
fn watchdog_uses_open_journal() {
    let machine = Machine::new();
    machine.set_externally(TURBO, "1");
    let entries = [Entry::Owner(machine.owner()), machine.sets(TURBO, "0", "1")];
    let path = machine.left_behind(&entries, "");
    let journal = fs::File::open(&path).unwrap();
    fs::rename(&path, machine.0.path().join("moved")).unwrap();
    let planted = Entry::Makes(AnyResource::Command(Command {
        command: "echo > executed".to_owned(),
        directory: machine.0.path().to_owned(),
    }));
    machine.left_behind(&[Entry::Owner(machine.owner()), planted], "");
    let name = path.file_name().unwrap();
    let messages = undo_dead_run(&machine.state(), name, &journal).unwrap();
    assert!(messages.concat().contains("1 setting"), "{messages:?}");
    assert_eq!(machine.value(TURBO), "0");
    assert!(path.exists() && !machine.0.path().join("executed").exists());
    // nor does it follow a journal that others can write
    let planted = fs::File::open(&path).unwrap();
    mode(&path, 0o622);
    undo_dead_run(&machine.state(), name, &planted).unwrap_err();
    assert!(!machine.0.path().join("executed").exists());
}

/// The watchdog of a dead run holds the lock until everything is undone.
#[test]
fn dead_runs_are_not_measuring() {
    let machine = Machine::new();
    let owner = |process| {
        let start = owner::start_of(process).unwrap_or(1);
        Entry::Owner(Owner { process, start, ..machine.owner() })
    };
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    let (dead, us) = (ended.id(), std::process::id());
    // not reaped yet: its pid is not reused
    while owner::start_of(dead).is_some() {
        std::thread::sleep(Duration::from_millis(1));
    }
    for (process, expected) in [(us, 1), (dead, 0)] {
        let entries = [owner(process), Entry::Measures("a run".to_owned())];
        let path = machine.left_behind(&entries, "");
        let held = Flock::lock(fs::File::open(&path).unwrap(), FlockArg::LockExclusive).unwrap();
        assert_eq!(measuring(&machine.state(), None).len(), expected);
        drop(held);
    }
    ended.wait().unwrap();
}

#[test]
fn one_run_changes_settings() {
    let machine = Machine::new();
    let (first, second) = (machine.journal(), machine.journal());
    first.lock_settings().unwrap().set(TURBO, "1").unwrap();
    let why = second.lock_settings().unwrap_err();
    let SettingError::Busy(process) = why else {
        panic!("{why}");
    };
    assert_eq!(process, std::process::id());
    // a start meanwhile leaves both alone
    assert!(recover(&machine.state()).is_empty());
    assert_eq!(machine.value(TURBO), "1");
    drop(first);
    // the refused one does not refuse others
    machine.journal().lock_settings().unwrap();
    drop(second);
    assert!(machine.journals().is_empty());
}

#[test]
fn next_start_restores_settings() {
    let machine = Machine::new();
    let name = || machine.0.path().join(fresh_name("dead").unwrap());
    let directory = name();
    fs::create_dir_all(directory.join("sealed/below")).unwrap();
    mode(&directory.join("sealed"), 0o000);
    machine.set_externally(GOVERNOR, "performance");
    let entries = [
        Entry::Owner(machine.owner()),
        Entry::Makes(AnyResource::Directory(Directory(directory.clone()))),
        Entry::Makes(AnyResource::Directory(Directory(name()))),
        Entry::Tunes,
        machine.sets(GOVERNOR, "powersave", "performance"),
        // recorded, and killed before it was done
        machine.sets(TURBO, "0", "1"),
    ];
    machine.left_behind(&entries, "{\"sets\":{\"path\":\"/sys");
    let messages = recover(&machine.state());
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(
        messages[0].contains("process 4711 was killed") && messages[0].ends_with(": 1 setting")
    );
    assert_eq!(machine.values(), ["powersave", "0"]);
    assert!(!directory.exists());
    assert!(machine.journals().is_empty());
    assert!(recover(&machine.state()).is_empty());
}

#[test]
fn undo_order_is_reversed() {
    let machine = Machine::new();
    machine.set_externally(GOVERNOR, "performance");
    let entries = [
        Entry::Owner(machine.owner()),
        machine.sets(GOVERNOR, "powersave", "schedutil"),
        machine.sets(GOVERNOR, "schedutil", "performance"),
    ];
    machine.left_behind(&entries, "");
    let _ = recover(&machine.state());
    assert_eq!(machine.value(GOVERNOR), "powersave");
}

#[test]
fn restart_resets_settings() {
    let machine = Machine::new();
    machine.set_externally(GOVERNOR, "performance");
    let mut owner = machine.owner();
    owner.boot = "another".into();
    let change = machine.sets(GOVERNOR, "powersave", "performance");
    machine.left_behind(&[Entry::Owner(owner.clone()), change.clone()], "");
    assert!(recover(&machine.state()).is_empty());
    assert_eq!(machine.value(GOVERNOR), "performance");
    assert!(machine.journals().is_empty());
    // a machine that shares the home undoes its own
    owner.host = "elsewhere".into();
    let path = machine.left_behind(&[Entry::Owner(owner), change], "");
    assert!(recover(&machine.state()).is_empty());
    assert!(path.exists());
}

#[test]
fn failed_undo_stays_in_journal() {
    let machine = Machine::new();
    let gone = "/sys/devices/system/cpu/cpufreq/policy9/scaling_governor";
    machine.set_externally(TURBO, "1");
    let entries = [
        Entry::Owner(machine.owner()),
        machine.sets(TURBO, "0", "1"),
        machine.sets(gone, "powersave", "performance"),
    ];
    let path = machine.left_behind(&entries, "");
    let messages = machine.recovered();
    assert!(messages.contains(gone) && messages.contains("by hand"), "{messages}");
    let remedy = format!("remove {}", path.display());
    assert!(messages.contains(&remedy), "{messages}");
    assert_eq!(machine.value(TURBO), "0");
    // tried again, and said no more
    assert!(recover(&machine.state()).is_empty() && path.exists());
    let file = machine.root().join(&gone[1..]);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, "performance\n").unwrap();
    let messages = machine.recovered();
    assert!(messages.contains("restored: 1"), "{messages}");
    assert_eq!(machine.value(gone), "powersave");
    assert!(!path.exists());
}

#[test]
fn foreign_journals_are_reported() {
    let machine = Machine::new();
    machine.set_externally(TURBO, "1");
    let entries = [Entry::Owner(machine.owner()), machine.sets(TURBO, "0", "1")];
    let path = machine.left_behind(&entries, "rubbish\n");
    mode(&path, 0o666);
    let refused = machine.recovered();
    assert!(refused.contains("can be written by other users"));
    assert_eq!(machine.value(TURBO), "1", "anybody could have written it");
    mode(&path, 0o600);
    let messages = machine.recovered();
    assert!(messages.contains("damaged") && path.exists(), "{messages}");
    assert_eq!(machine.value(TURBO), "0");
    assert!(recover(&machine.state()).is_empty() && path.exists());
    // an empty journal belongs to a run that had done nothing yet
    fs::write(&path, "").unwrap();
    let start = Instant::now();
    while path.exists() && start.elapsed() < Duration::from_secs(5) {
        assert!(recover(&machine.state()).is_empty());
    }
    assert!(!path.exists());
}
