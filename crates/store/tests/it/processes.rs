//! Several writers at once, and writers that are killed.

use crate::common;
use gritstone_store::{Store, StoreError};
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where the child finds the store.
const PLACE: &str = "GRITSTONE_STORE_TEST_PLACE";
/// Which run the child writes.
const NUMBER: &str = "GRITSTONE_STORE_TEST_NUMBER";

/// The child of the other tests: stores launches until it is killed, and says so of each.
#[test]
#[ignore = "started by the other tests"]
fn writer() {
    let path = PathBuf::from(env::var_os(PLACE).expect("started by the other tests"));
    let number: u32 = env::var(NUMBER).unwrap().parse().unwrap();
    let mut store = Store::open(&path).unwrap();
    let mut run = common::run(number, 0);
    run.info.label = Some(format!("writer {number}"));
    common::begin(&mut store, &run);
    let mut out = std::io::stdout();
    // a bound, for the day on which nobody kills it
    for launch in 0..5_000 {
        common::append(&mut store, &run.info.id, &common::launch(launch));
        writeln!(out, "stored {launch}")
            .and_then(|()| out.flush())
            .unwrap();
        // a launch takes a while, in which the store is free for others
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts the writer of run `number`.
fn start(path: &Path, number: u32) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::writer", "--ignored", "--nocapture"])
        .env(PLACE, path)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Kills the writer as soon as it has stored so many launches. How many it said it had stored when it was dead.
fn kill_after(mut child: Child, launches: usize) -> usize {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = 0;
    for line in lines {
        said += usize::from(line.unwrap().starts_with("stored "));
        if said == launches {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    said
}

/// Holds a run to what its writer said.
fn assert_kept(path: &Path, number: u32, said: usize) {
    let store = Store::open(path).unwrap();
    let run = store
        .load(&store.resolve(&format!("writer {number}")).unwrap())
        .unwrap();
    assert_eq!(run.info.elapsed_s, None);
    // one more may have been stored just before it could say so
    let stored = run.launches.len();
    assert!(
        stored == said || stored == said + 1,
        "{stored} are stored, {said} were said to be"
    );
    let expected: Vec<_> = (0..stored as u64).map(common::launch).collect();
    assert_eq!(run.launches, expected);
}

#[test]
fn a_writer_that_is_killed_keeps_every_launch() {
    let (_folder, path) = common::place();
    for (number, launches) in [(1, 1), (2, 7), (3, 40)] {
        let said = kill_after(start(&path, number), launches);
        assert!(said >= launches, "it ended early, after {said}");
        assert_kept(&path, number, said);
    }
    // and the run goes on
    let mut store = Store::open(&path).unwrap();
    let id = store.resolve("writer 3").unwrap();
    let launch = common::launch(1000);
    common::append(&mut store, &id, &launch);
    store.finish(&id, 99.0).unwrap();
    let run = store.load(&id).unwrap();
    assert_eq!(
        (run.launches.last(), run.info.elapsed_s),
        (Some(&launch), Some(99.0))
    );
}

#[test]
fn writers_share_a_store_that_none_of_them_has_made() {
    let (_folder, path) = common::place();
    let children: Vec<(u32, Child)> = (1..=3).map(|n| (n, start(&path, n))).collect();
    // all write until they have all written: the last is asked first
    let said: Vec<(u32, usize)> = children
        .into_iter()
        .rev()
        .map(|(number, child)| (number, kill_after(child, 15)))
        .collect();
    for (number, said) in said {
        assert_kept(&path, number, said);
    }
    assert_eq!(Store::open(&path).unwrap().runs().unwrap().len(), 3);
}

#[test]
fn a_run_can_be_looked_at_while_it_goes_on() {
    let (_folder, path) = common::place();
    let mut writer = Store::open(&path).unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    let run = common::run(1, 5);
    let id = &run.info.id;
    common::begin(&mut writer, &run);
    for (stored, launch) in (1..).zip(&run.launches) {
        common::append(&mut writer, id, launch);
        assert_eq!(reader.runs().unwrap()[0].launches.total(), stored);
        assert_eq!(
            reader.load(id).unwrap().launches,
            run.launches[..stored as usize]
        );
    }
    writer.finish(id, 12.25).unwrap();
    assert_eq!(reader.load(id).unwrap(), run);
}

#[test]
fn many_may_open_a_new_store_at_once() {
    for _ in 0..5 {
        let (_folder, path) = common::place();
        let threads: Vec<_> = (0..6)
            .map(|number| {
                let path = path.clone();
                std::thread::spawn(move || -> Result<(), StoreError> {
                    let mut store = Store::open(&path)?;
                    store.import(&common::run(number, 1))
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
        assert_eq!(Store::open(&path).unwrap().runs().unwrap().len(), 6);
    }
}
