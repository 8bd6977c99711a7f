//! Clients that are slow, many, or gone.

use crate::server::{MADE, Server};
use gritstone_serve::Limits;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn short() -> Limits {
    Limits {
        head: Duration::from_millis(300),
        connection: Duration::from_secs(2),
        ..Limits::default()
    }
}

/// Waits for the end of a connection.
fn ended(stream: &mut TcpStream) {
    let mut all = vec![];
    // closed or cut: a read that times out would be neither
    if let Err(why) = stream.read_to_end(&mut all) {
        assert_eq!(why.kind(), std::io::ErrorKind::ConnectionReset, "{why}");
    }
}

#[test]
fn who_says_nothing_or_little_by_little_is_cut_off() {
    let server = Server::start(short());
    let mut silent = server.connect();
    let mut slow = server.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: local").unwrap();
    let mut again = server.connect();
    again
        .write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    for stream in [&mut silent, &mut slow, &mut again] {
        ended(stream);
    }
    // a letter at a time, so that the connection is never idle
    let mut drip = server.connect();
    for byte in b"GET /".iter().chain(std::iter::repeat_n(&b'x', 200)) {
        if drip.write_all(&[*byte]).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    ended(&mut drip);
    server.answers();
}

#[test]
fn who_does_not_read_is_cut_off_and_keeps_nobody_waiting() {
    let server = Server::start(Limits {
        connection: Duration::from_millis(500),
        ..short()
    });
    let ask = b"GET /runs/large HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut deaf: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    for stream in &mut deaf {
        stream.write_all(ask).unwrap();
    }
    server.answers();
    // time for the server to give up: what it has written by then is less than all
    std::thread::sleep(Duration::from_secs(2));
    for mut stream in deaf {
        let mut all = vec![];
        let _ = stream.read_to_end(&mut all);
        assert!(all.len() < 16 << 20, "{} bytes", all.len());
    }
}

#[test]
fn more_connections_than_there_is_room_for_wait_and_are_answered() {
    let server = Server::start(Limits {
        connections: 4,
        ..short()
    });
    let idle: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect();
    server.answers();
    drop(idle);
    let all: Vec<_> = (0..32)
        .map(|_| {
            let mut stream = server.connect();
            let ask = b"GET /runs/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            stream.write_all(ask).unwrap();
            stream
        })
        .collect();
    for mut stream in all {
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        assert!(said.contains("Run(\"a\")"), "{said}");
    }
}

#[test]
fn a_fault_is_told_and_the_next_question_is_answered() {
    let server = Server::start(Limits {
        threads: 1,
        ..short()
    });
    let made = MADE.load(Ordering::SeqCst);
    let said = server.get("/runs/panic");
    assert!(said.starts_with("HTTP/1.1 500 "), "{said}");
    assert!(!said.contains("as the test asks"), "{said}");
    server.answers();
    assert!(MADE.load(Ordering::SeqCst) > made);
    let log = server.log.lock().unwrap().join("\n");
    assert!(log.contains("panic"), "{log}");
}

#[test]
fn what_is_being_answered_is_answered_before_the_end() {
    let mut server = Server::start(Limits::default());
    let mut stream = server.connect();
    stream
        .write_all(b"GET /runs/slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    std::thread::sleep(Duration::from_millis(100));
    server.end();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(
        said.starts_with("HTTP/1.1 200 ") && said.contains("slow"),
        "{said}"
    );
}
