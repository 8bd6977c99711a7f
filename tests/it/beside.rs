//! Runs beside another process that measures: this test, which holds the name of the measuring slot.

use crate::common::{
    Arguments as _, Home, SHORT, binary, ended, eventually, output_texts, start, stored_launches,
    succeeds,
};
use gritstone_exchange::read_bundle;
use gritstone_model::{Event, Param};
use std::io::{BufRead as _, BufReader};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::id;

/// Holds the name, after tests that measure.
pub fn hold_slot() -> UnixListener {
    let name = SocketAddr::from_abstract_name("gritstone-measures").unwrap();
    let mut listener = None;
    eventually("no other test measures", || {
        listener = UnixListener::bind_addr(&name).ok();
        listener.is_some()
    });
    listener.unwrap()
}

/// Launches of a bundle beside this process, and all.
fn launches_beside(bundle: &str) -> (usize, usize) {
    let run = read_bundle(bundle.as_bytes()).unwrap();
    let other = Event::Param(Param::OtherRun(id()));
    let launches = run.launches.iter();
    let beside = launches.filter(|launch| launch.events.contains(&other));
    (beside.count(), run.launches.len())
}

pub fn warning() -> String {
    format!("another run is measuring on this machine (process {})", id())
}

#[test]
fn runs_at_once_are_reported() {
    let home = Home::new();
    let slot = hold_slot();
    for line in [format!("run byte/loop {SHORT}"), "bench -r 3 true".to_owned()] {
        let (code, _, error) = ended(&mut home.gritstone(&line));
        assert!(code == 0 && error.matches(&warning()).count() == 1, "{error}");
    }
    drop(slot);
    let (beside, all) = launches_beside(&home.ok("export"));
    assert!(beside == all && all > 0, "{beside} of {all}");
}

const COMMITS: &str = "git init -q && git config user.name x && git config user.email x@example.com
for value in 20 21; do echo \"alpha $value ns\" >values && git add values && git commit -q -m $value || exit; done";

#[test]
fn other_runs_are_recorded() {
    let home = Home::new();
    succeeds(home.command("sh").args(["-c", COMMITS]));
    let slot = hold_slot();
    let mut command = home.command(binary());
    command.args("pr --base HEAD~1 --head HEAD --carry values --dir".words());
    command.arg(home.path()).args("--harness lines -- cat values".words());
    let (code, _, error) = output_texts(command.output().unwrap());
    drop(slot);
    assert!(code == 0 && error.contains(&warning()), "{error}");
    let (_, trial) = error.split_once("ab --of ").unwrap();
    let head = format!("{}-b", trial.split('`').next().unwrap());
    let (beside, all) = launches_beside(&home.ok(&["export", &head]));
    assert!(beside == all && all > 0, "{beside} of {all}");
}

#[test]
fn wait_outlasts_other_runs() {
    let home = Home::new();
    let slot = hold_slot();
    let mut child = start(&home, &format!("run byte/loop --wait {SHORT}"), &[]);
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    assert!(line.contains(&format!("process {} is measuring", id())), "{line}");
    assert_eq!(stored_launches(&home), 0);
    drop(slot);
    assert!(child.wait().unwrap().success());
    assert!(stored_launches(&home) > 0);
}
