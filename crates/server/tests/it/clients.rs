//! Clients that are slow, many, or gone.

use crate::server::{MADE, Server};
use gritstone_server::http::{Limits, Rate};
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
        assert!(said.contains("Text(\"a\")"), "{said}");
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

/// A request by way of a proxy that says for whom.
fn of(server: &Server, address: &str, token: &str) -> String {
    let head = format!(
        "GET /runs/a HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.9.9.9, {address}\r\n\
         Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    server.say(head.as_bytes())
}

#[test]
fn who_asks_too_often_waits_and_nobody_else_does() {
    let server = Server::start(Limits {
        rate: Some(Rate {
            per_second: 0.001,
            burst: 3.0,
        }),
        ..short()
    });
    for token in ["a", "b", "c"] {
        assert!(of(&server, "10.0.0.1", token).starts_with("HTTP/1.1 200 "));
    }
    let refused = of(&server, "10.0.0.1", "d");
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    let after = refused
        .lines()
        .find_map(|line| line.strip_prefix("retry-after: "));
    let after: u64 = after.unwrap().parse().unwrap();
    assert!((900..=1000).contains(&after), "{after}");
    assert!(refused.contains("content-security-policy"), "{refused}");
    // what a client says of itself does not help, another address does
    for (address, token, answered) in [
        ("10.0.0.1", "e", false),
        ("10.0.0.2", "f", true),
        ("10.0.0.3", "f", true),
        ("10.0.0.4", "f", true),
        // a token has its limit wherever it comes from
        ("10.0.0.5", "f", false),
        ("10.0.0.6", "g", true),
    ] {
        let said = of(&server, address, token);
        assert_eq!(
            said.starts_with("HTTP/1.1 200 "),
            answered,
            "{address} {token}: {said}"
        );
    }
}

#[test]
fn so_many_follow_at_once_and_all_are_ended_with_the_server() {
    let mut server = Server::start(Limits {
        followers: 2,
        follow: Duration::from_millis(50),
        ..Limits::default()
    });
    let follow = |server: &Server| {
        let mut stream = server.connect();
        let ask = b"GET /runs/a/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
        stream.write_all(ask).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        (stream, String::from_utf8_lossy(&head).into_owned())
    };
    let (one, said) = follow(&server);
    assert_eq!(said, "HTTP/1.1 200");
    let (mut two, said) = follow(&server);
    assert_eq!(said, "HTTP/1.1 200");
    assert_eq!(follow(&server).1, "HTTP/1.1 503");
    // others are answered meanwhile, and who goes makes room
    server.answers();
    drop(one);
    let mut room = false;
    for _ in 0..200 {
        room = follow(&server).1 == "HTTP/1.1 200";
        if room {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(room);
    server.end();
    let mut said = String::new();
    two.read_to_string(&mut said).unwrap();
    // the answer is the same each time: one event
    assert_eq!(said.matches("event: progress").count(), 1, "{said}");
}
