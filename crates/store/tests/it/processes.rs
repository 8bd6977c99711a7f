//! Several writers at once, and writers that are killed.

use crate::common;
use gritstone_store::{Store, StoreError};
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where the child finds the store.
pub const PLACE: &str = "GRITSTONE_STORE_TEST_PLACE";
/// Which run the child writes.
const NUMBER: &str = "GRITSTONE_STORE_TEST_NUMBER";

/// The child of the other test: stores launches and reports each, until it is killed.
#[test]
#[ignore = "started by the other test"]
fn writer() {
    let path = PathBuf::from(env::var_os(PLACE).expect("started by the other test"));
    let number: u32 = env::var(NUMBER).unwrap().parse().unwrap();
    let mut store = Store::open(&path).unwrap();
    let run = common::run(number, 0);
    common::begin(&mut store, &run);
    let mut out = std::io::stdout();
    // a bound, in case it is never killed
    for launch in 0..5_000 {
        common::append(&mut store, &run.info.id, &common::launch(launch));
        writeln!(out, "stored {launch}").and_then(|()| out.flush()).unwrap();
        // a launch takes a while, in which the store is free for others
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a test as a child.
pub fn start(test: &str, path: &Path, number: u32) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(PLACE, path)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Kills a child that has stored something this number of times; returns the number that it had reported.
pub fn kill_after(mut child: Child, times: usize) -> usize {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut reported = 0;
    for line in lines {
        // on one CPU the name of the test stands before the first
        reported += usize::from(line.unwrap().contains("stored "));
        if reported == times {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    reported
}

#[test]
fn killed_writers_keep_every_launch() {
    let (_folder, path) = common::place();
    let children = [(1, 30), (2, 7), (3, 1)]
        .map(|(number, most)| (number, most, start("processes::writer", &path, number)));
    for (number, most, child) in children {
        let reported = kill_after(child, most);
        assert!(reported >= most, "it ended early, after {reported}");
        let run = Store::open(&path).unwrap().load(&common::info(number).id);
        let run = run.unwrap();
        // one more may have been stored just before it could say so
        let stored = run.launches.len();
        assert!([reported, reported + 1].contains(&stored), "{stored}, reported {reported}");
        assert_eq!(run, common::cut_off(number, stored as u64));
    }
    // and a run goes on
    let mut store = Store::open(&path).unwrap();
    let id = common::info(3).id;
    common::append(&mut store, &id, &common::launch(1000));
    store.finish(&id, 99.0).unwrap();
    let run = store.load(&id).unwrap();
    assert_eq!(run.launches.last(), Some(&common::launch(1000)));
}

#[test]
fn running_runs_are_readable() {
    let run = common::run(1, 5);
    let (_folder, path, mut writer) = common::with(&[]);
    let reader = Store::open_read_only(&path).unwrap();
    let id = &run.info.id;
    common::begin(&mut writer, &run);
    for (stored, launch) in (1..).zip(&run.launches) {
        common::append(&mut writer, id, launch);
        assert_eq!(reader.progress(id).unwrap().launches, stored);
        assert_eq!(reader.load(id).unwrap(), common::cut_off(1, stored));
    }
    writer.finish(id, 12.25).unwrap();
    assert_eq!(reader.load(id).unwrap(), run);
}

#[test]
fn new_stores_open_concurrently() {
    for _ in 0..5 {
        let (_folder, path) = common::place();
        let import = |number| -> Result<(), StoreError> {
            let mut store = Store::open(&path)?;
            store.import(&common::run(number, 1))
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..6).map(|n| scope.spawn(move || import(n))).collect();
            for thread in threads {
                thread.join().unwrap().unwrap();
            }
        });
        assert_eq!(Store::open(&path).unwrap().runs().unwrap().len(), 6);
    }
}
