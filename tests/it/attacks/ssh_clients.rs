//! ssh clients, their children and local nodes end with the process that started them.

use crate::common::{Home, end, eventually, make_script, processes, start};
use nix::sys::signal::Signal;
use std::fs;

/// Says which processes it is, and nothing else for minutes.
const SILENT: &str = "echo $$ >>pids\nsleep 300 &\necho $! >>pids\nwait";
/// The same as one process: after kill -9 the client alone gets a signal.
const ALONE: &str = "echo $$ >>pids\nexec sleep 300";
/// The same, deaf to a polite end.
const DEAF: &str = "trap '' TERM HUP INT\necho $$ >>pids\nsleep 300 &\necho $! >>pids\nwait";

const PEER: &str = "run net/tcp/rr --quick --peer far --ssh";
const FLEET: &str = "fleet run byte/loop --quick --on ssh --nodes n1 --ssh";

fn ends(line: &str, script: &str, signal: Signal) {
    let home = Home::new();
    let client = make_script(home.path().join("client"), script);
    let mut child = start(&home, &format!("{line} {}", client.display()), &[]);
    let known = script.matches("pids").count();
    eventually("a client", || {
        let pids = fs::read_to_string(home.path().join("pids")).unwrap_or_default();
        pids.lines().count() == known
    });
    end(&child, signal);
    child.wait().unwrap();
    eventually(&format!("{line} leaves nothing after {signal}"), || processes(&home) == 0);
}

#[test]
fn ssh_clients_end_with_us() {
    for line in [PEER, FLEET] {
        for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
            ends(line, SILENT, signal);
        }
        ends(line, ALONE, Signal::SIGKILL);
    }
    ends(PEER, DEAF, Signal::SIGTERM);
}

#[test]
fn local_nodes_end_with_us() {
    let home = Home::new();
    let line = "fleet run --on local --nodes 1 byte/loop --budget 600s --precision 0.01%";
    let mut child = start(&home, line, &[]);
    eventually("a node measures", || processes(&home) > 2);
    end(&child, Signal::SIGKILL);
    child.wait().unwrap();
    eventually("no node is left", || processes(&home) == 0);
}

#[test]
#[ignore = "long: make test-full"]
fn deaf_ssh_clients_are_killed() {
    // nodes have half a minute to end
    ends(FLEET, DEAF, Signal::SIGTERM);
}
