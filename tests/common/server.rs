//! A server of a home, and raw HTTP, so that a test can send invalid requests.

use super::{Arguments, Home, Killed, eventually, start};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// `gritstone serve` on a free port of this machine.
pub struct Server {
    pub process: Killed,
    pub address: String,
}

/// What came back.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Server {
    pub fn start(home: &Home) -> Self {
        Self::with(home, &[])
    }

    pub fn with(home: &Home, more: &[&str]) -> Self {
        Self::with_arguments(home, &[&["serve", "--listen", "127.0.0.1:0"], more].concat())
    }

    /// A server with these arguments.
    pub fn with_arguments<A: Arguments + ?Sized>(home: &Home, arguments: &A) -> Self {
        let mut process = Killed(start(home, arguments, &[]));
        let mut line = String::new();
        let out = process.0.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|line| line.strip_suffix('/'));
        let address = address.unwrap_or_else(|| {
            let mut why = String::new();
            let error = process.0.stderr.as_mut().unwrap();
            error.read_to_string(&mut why).unwrap();
            panic!("{line}{why}")
        });
        Self { address: address.to_owned(), process }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).unwrap();
        stream
    }

    /// The response to these bytes, on a separate connection.
    pub fn raw(&self, bytes: &[u8]) -> Response {
        let mut stream = self.connect();
        // a server that has read enough may close before the end
        let _ = stream.write_all(bytes);
        let mut all = vec![];
        let _ = stream.read_to_end(&mut all);
        Response::parse(&all)
    }

    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        self.raw((head + "\r\n").as_bytes())
    }

    pub fn get(&self, path: &str) -> Response {
        self.ask("GET", path, &[])
    }

    /// The response once the server is not busy, which it is until changes are computed.
    pub fn get_ready(&self, path: &str) -> Response {
        let mut ready = None;
        eventually(path, || {
            ready = Some(self.get(path)).filter(|response| response.status != 503);
            ready.is_some()
        });
        ready.unwrap()
    }

    /// A page that is there.
    pub fn page(&self, path: &str) -> String {
        let response = self.get_ready(path);
        let text = response.text();
        assert_eq!(response.status, 200, "{path}: {text}");
        text
    }

    /// Paths of all pages without required parameters.
    pub fn pages(&self) -> Vec<String> {
        let api = self.json("/api/v1/openapi");
        let is_page = |get: &Value| {
            let mut parameters = get["parameters"].as_array().into_iter().flatten();
            let page = &get["responses"]["200"]["content"]["text/html"];
            page.is_object() && parameters.all(|parameter| parameter["required"] == false)
        };
        let paths = api["paths"].as_object().unwrap().iter();
        let pages = paths.filter(|(_, methods)| is_page(&methods["get"]));
        pages.map(|(path, _)| path.clone()).collect()
    }

    pub fn json(&self, path: &str) -> Value {
        let response = self.get_ready(path);
        assert_eq!(response.header("content-type"), Some("application/json"));
        serde_json::from_slice(&response.body).unwrap_or_else(|_| panic!("{response:?}"))
    }
}

impl Response {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head: {:?}", String::from_utf8_lossy(bytes)));
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        Self {
            status: status.parse().unwrap(),
            headers: lines.map(header).collect(),
            body: bytes[end + 4..].to_vec(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as it was before it was sent.
    pub fn text(&self) -> String {
        match self.header("content-encoding") {
            Some("gzip") => {
                let mut text = String::new();
                GzDecoder::new(&*self.body).read_to_string(&mut text).unwrap();
                text
            }
            other => {
                assert_eq!(other, None);
                String::from_utf8(self.body.clone()).unwrap()
            }
        }
    }
}
