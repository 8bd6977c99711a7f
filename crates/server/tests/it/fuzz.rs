//! Malformed requests: each is answered or cut off, and the server continues.

use crate::mutation;
use crate::server::Server;
use gritstone_server::http::Limits;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Duration;

const REQUESTS: [&[u8]; 11] = [
    b"GET /runs/a/events HTTP/1.0\r\nHost: localhost\r\nX-Forwarded-For: 10.0.0.1, ::1\r\n\r\n",
    b"GET /compare?base=a&run=b&run=c&run=&effect=5&verdict=same HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"POST /api/v1/changes/a-worse HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer x\r\nContent-Length: 31\r\n\r\n{\"state\":\"expected\",\"note\":\"x\"}",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nConnection: close\r\n\r\n",
    b"GET /runs/20261123-185538-cfe385a0.json?a=b HTTP/1.1\r\nHost: 127.0.0.1:8484\r\nAccept-Encoding: gzip;q=0.5\r\n\r\n",
    b"GET /compare?base=a%20b&run=c&family=byte&verdict=slower HTTP/1.1\r\nHost: [::1]\r\nIf-None-Match: \"a\", W/\"b\"\r\n\r\n",
    b"HEAD /benchmarks/byte/pipe@cross?runs=10 HTTP/1.0\r\nHost: localhost\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /search?q=x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer gritstone_0123\r\nContent-Length: 12\r\n\r\n{\"end\":null}",
    b"DELETE /api/v1/runs/a%2Fb HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic bWU6c2VjcmV0\r\n\r\n",
    b"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
];

#[test]
fn damaged_requests_never_panic() {
    let server = Server::start(Limits {
        // or a stream that is followed would take a minute
        connection: Duration::from_millis(500),
        ..Limits::default()
    });
    mutation::each(&REQUESTS, |bytes, _| {
        let mut stream = server.connect();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut output = vec![];
        let _ = stream.read_to_end(&mut output);
        // where anything is said, it is HTTP, and no fault
        let output = String::from_utf8_lossy(&output);
        assert!(output.is_empty() || output.starts_with("HTTP/1."), "{output}");
        assert!(!output.starts_with("HTTP/1.1 5"), "{output}");
    });
    server.answers();
    assert!(server.log.lock().unwrap().is_empty());
}
