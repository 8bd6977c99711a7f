//! Clients that are slow, many, or gone.

use crate::server::{MADE, Server};
use gritstone_server::http::{Budget, Limits};
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
fn undecodable_paths_are_refused() {
    let server = Server::start(Limits::default());
    let output = server.get("/runs/%ff");
    assert!(output.starts_with("HTTP/1.1 400 "), "{output}");
    assert!(output.contains("Cannot be answered: The path is not UTF-8."), "{output}");
}

#[test]
fn slow_requests_time_out() {
    let server = Server::start(short());
    let mut silent = server.connect();
    let mut slow = server.send(b"GET / HTTP/1.1\r\nHost: local");
    let mut again = server.send(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
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
fn slow_readers_time_out() {
    let server = Server::start(Limits { connection: Duration::from_millis(500), ..short() });
    let ask = b"GET /runs/large HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let deaf: Vec<TcpStream> = (0..4).map(|_| server.send(ask)).collect();
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
fn surplus_connections_wait() {
    let server = Server::start(Limits { connections: 4, ..short() });
    let idle: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect();
    server.answers();
    drop(idle);
    let ask = b"GET /runs/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let all: Vec<TcpStream> = (0..32).map(|_| server.send(ask)).collect();
    for stream in all {
        let output = Server::read(stream);
        assert!(output.contains("(\"run\", \"a\")"), "{output}");
    }
}

#[test]
fn panics_are_contained() {
    let server = Server::start(Limits { threads: 1, ..short() });
    let before = MADE.load(Ordering::SeqCst);
    let output = server.get("/runs/panic");
    assert!(output.starts_with("HTTP/1.1 500 "), "{output}");
    assert!(!output.contains("as the test asks"), "{output}");
    server.answers();
    assert!(MADE.load(Ordering::SeqCst) > before);
    let log = server.log.lock().unwrap().join("\n");
    assert!(log.contains("panic"), "{log}");
}

#[test]
fn shutdown_finishes_responses() {
    let mut server = Server::start(Limits::default());
    let stream = server.send(b"GET /runs/slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::thread::sleep(Duration::from_millis(100));
    server.end();
    let output = Server::read(stream);
    assert!(output.starts_with("HTTP/1.1 200 ") && output.contains("slow"), "{output}");
}

/// A request through a proxy that names the client.
fn proxied(server: &Server, path: &str, address: &str, token: &str) -> String {
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.9.9.9, {address}\r\n\
         Authorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    server.say(head.as_bytes())
}

#[test]
fn expensive_clients_wait() {
    let server =
        Server::start(Limits { budget: Some(Budget { per_second: 0.001, burst: 0.3 }), ..short() });
    let slow = |address: &str, token: &str| proxied(&server, "/runs/slow", address, token);
    assert!(slow("10.0.0.1", "a").starts_with("HTTP/1.1 200 "));
    let refused = slow("10.0.0.1", "c");
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    let after = refused.lines().find_map(|line| line.strip_prefix("retry-after: "));
    let after: u64 = after.unwrap().parse().unwrap();
    assert!(after > 1, "{after}");
    assert!(refused.contains("content-security-policy"), "{refused}");
    // what a client says of itself does not help, another address does
    for (address, token, answered) in [
        ("10.0.0.1", "d", false),
        ("10.0.0.2", "e", true),
        // a token has its budget wherever it comes from
        ("10.0.0.4", "e", false),
        ("10.0.0.4", "f", true),
    ] {
        let output = slow(address, token);
        let found = output.starts_with("HTTP/1.1 200 ");
        assert_eq!(found, answered, "{address} {token}: {output}");
    }
    // many requests that need no work are answered
    for _ in 0..5 {
        assert!(proxied(&server, "/runs/a", "10.0.0.9", "g").starts_with("HTTP/1.1 200 "));
    }
}

#[test]
fn departed_clients_are_charged() {
    let server = Server::start(Limits {
        budget: Some(Budget { per_second: 0.001, burst: 0.3 }),
        ..Limits::default()
    });
    let ask = b"GET /runs/slow HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n";
    let stream = server.send(ask);
    std::thread::sleep(Duration::from_millis(150));
    drop(stream);
    let is_charged = || proxied(&server, "/runs/a", "10.0.0.1", "a").starts_with("HTTP/1.1 429 ");
    // looking costs little work
    assert!((0..40).any(|_| {
        std::thread::sleep(Duration::from_millis(25));
        is_charged()
    }));
}

#[test]
fn hostile_connections_leave_places() {
    let server = Server::start(Limits {
        connections: 100,
        connections_each: 20,
        head: Duration::from_secs(60),
        ..Limits::default()
    });
    let hostile: Vec<TcpStream> = (0..200)
        .map(|index| {
            let mut stream = server.connect_from("127.0.0.2");
            // some say nothing, some begin
            let _ = stream.write_all(&b"GET /health HTTP/1.1\r\n"[..index % 23]);
            stream
        })
        .collect();
    for _ in 0..20 {
        server.answers();
    }
    // those of the address that are left are its newest
    let alive = hostile.iter().filter(|stream| {
        stream.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        // nothing to read, and no end
        (&mut &**stream)
            .read(&mut [0])
            .is_err_and(|why| why.kind() == std::io::ErrorKind::WouldBlock)
    });
    assert!(alive.count() <= 20);
}

#[test]
fn slow_bodies_leave_places() {
    let server = Server::start(Limits {
        uploads: 3,
        uploads_each: 2,
        body_grace: Duration::from_secs(2),
        ..Limits::default()
    });
    let send = |token: &str, length: usize| {
        format!(
            "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        )
    };
    let begun = send("slow", 1_000_000) + "x";
    let mut slow: Vec<TcpStream> = (0..8).map(|_| server.send(begun.as_bytes())).collect();
    for _ in 0..3 {
        let output = server.say((send("other", 3) + "run").as_bytes());
        assert!(output.starts_with("HTTP/1.1 200 ") && output.contains("3 bytes"), "{output}");
    }
    let output = Server::read(slow.remove(0));
    assert!(output.starts_with("HTTP/1.1 408 ") && output.contains("too slowly"), "{output}");
}

#[test]
fn work_leaves_one_thread() {
    let server = Server::start(Limits { threads_each: 1, ..Limits::default() });
    let ask = |address: &str, run: &str| {
        let head = format!(
            "GET /runs/{run} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {address}\r\nConnection: close\r\n\r\n"
        );
        server.send(head.as_bytes())
    };
    // more work than others wait for
    let busy: Vec<TcpStream> = (0..40).map(|_| ask("10.0.0.1", "slow")).collect();
    let output = Server::read(ask("10.0.0.2", "a"));
    assert!(output.starts_with("HTTP/1.1 200 "), "{output}");
    let unanswered = busy.iter().filter(|stream| {
        stream.set_nonblocking(true).unwrap();
        (&mut &**stream).read(&mut [0]).is_err()
    });
    assert!(unanswered.count() > 30);
}

#[test]
fn event_streams_are_limited() {
    let mut server = Server::start(Limits {
        followers: 2,
        followers_each: 2,
        follow: Duration::from_millis(50),
        ..Limits::default()
    });
    let follow = |server: &Server| {
        let mut stream = server.send(b"GET /runs/a/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        (stream, String::from_utf8_lossy(&head).into_owned())
    };
    let (one, output) = follow(&server);
    assert_eq!(output, "HTTP/1.1 200");
    let (two, output) = follow(&server);
    assert_eq!(output, "HTTP/1.1 200");
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
    let output = Server::read(two);
    // the answer is the same each time: one event
    assert_eq!(output.matches("event: progress").count(), 1, "{output}");
}
