//! Resources that clients of a server cannot take from others.

use crate::common::server::Server;
use crate::common::{Home, at_hour, recorded};
use crate::push::{post, token};
use gritstone_exchange::write_bundle;
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn hostile_clients_leave_others_answered() {
    let home = Home::with(&["copies"]);
    let [slow, proper] = ["slow", "proper"].map(|name| token(&home, name, "write"));
    let server = Server::start(&home);
    // connections that say nothing or begin, and bodies that do not come
    let begin = |text: &str| {
        let mut stream = server.connect();
        let _ = stream.write_all(text.as_bytes());
        stream
    };
    let idle: Vec<TcpStream> =
        (0..200).map(|length| begin(&"GET / HTTP/1.1\r\nHost: "[..length % 20])).collect();
    let head = format!(
        "POST /api/v1/runs HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {slow}\r\nContent-Length: 1000000\r\n\r\n{{",
        server.address
    );
    let mut bodies: Vec<TcpStream> = (0..8).map(|_| begin(&head)).collect();
    for hour in 1..4 {
        assert_eq!(server.page("/health"), "ok\n");
        assert!(server.page("/").contains("Overview"));
        let body = write_bundle(&at_hour(&recorded("copies"), hour, "proper"));
        let sent = post(&server, "/api/v1/runs", Some(&proper), body.as_bytes());
        assert_eq!(sent.status, 201, "{}", sent.text());
    }
    // the server gives the slow ones up, which a reader sees
    let mut output = [0; 12];
    bodies[0].read_exact(&mut output).unwrap();
    assert_eq!(&output, b"HTTP/1.1 408");
    drop(idle);
}

#[test]
fn new_runs_replace_cached_pages() {
    let home = Home::with(&["copies"]);
    let server = Server::start(&home);
    let path = "/api/v1/runs";
    let (one, two) = (server.get(path), server.get(path));
    assert_eq!(one.header("etag"), two.header("etag"));
    assert_eq!(one.text(), two.text());
    for hour in 1..4 {
        let label = format!("hour-{hour}");
        home.import(&[at_hour(&recorded("copies"), hour, &label)]);
        let next = server.get(path);
        assert_ne!(next.header("etag"), one.header("etag"));
        assert!(next.text().contains(&label));
        let renamed = format!("renamed-{hour}");
        home.ok(&["runs", "label", &label, &renamed]);
        assert!(server.get(path).text().contains(&renamed));
    }
}
