//! A server in this process, on a free port.

use gritstone_server::http::{
    Config, Gives, Kind, Limits, Make, Media, Method, PageRequest, PageResponse, Parameter, Policy,
    Rejection, Route, Site, SiteState, Status, Upload, serve,
};
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Answers with the request. A run `panic` panics, a run `slow` takes a while, a run `large` is long.
struct Echo;

/// Number of sites made.
pub static MADE: AtomicUsize = AtomicUsize::new(0);
/// Each look finds another revision.
static LOOKS: AtomicUsize = AtomicUsize::new(0);

const RUN: Parameter = Parameter { name: "run", kind: Kind::Path, about: "A run" };
const EFFECT: Parameter = Parameter {
    name: "effect",
    kind: Kind::Number { min: 0, max: 1000, otherwise: 0 },
    about: "Percent",
};
/// A route for everyone, with whatever token.
const fn open(route: Route<Echo>) -> Route<Echo> {
    Route { scopes: &[], ..route }
}

const ROUTES: &[&Route<Echo>] = &[
    &open(Route::get("/health", "", Gives::Media(Media::Text), echo)),
    &open(Route::page("/overview", "", "test/1", echo)),
    &Route { parameters: &[EFFECT], ..open(Route::page("/compare", "", "test/1", echo)) },
    &Route { parameters: &[RUN], ..open(Route::page("/runs/{run}", "", "test/1", echo)) },
    &Route {
        parameters: &[RUN],
        ..open(Route::get("/runs/{run}/events", "", Gives::Events, echo))
    },
    &Route {
        method: Method::Post,
        upload: Some(Upload { max: 64 << 20, media: &[], about: "" }),
        ..open(Route::get("/api/v1/runs", "", Gives::Json("test/1"), echo))
    },
];

impl Site for Echo {
    fn state(&self, _: &[&str]) -> Result<SiteState, Rejection> {
        let revision = LOOKS.fetch_add(1, Ordering::SeqCst);
        Ok(SiteState { revision: revision.to_string(), ..SiteState::default() })
    }
}

fn echo(_: &Echo, request: &PageRequest) -> Result<PageResponse, Rejection> {
    let text = match request.params.text("run") {
        "panic" => panic!("as the test asks"),
        "slow" => {
            std::thread::sleep(Duration::from_millis(300));
            "slow".to_owned()
        }
        "large" => "x".repeat(16 << 20),
        _ => format!("{:?}, {} bytes", request.params, request.body.len()),
    };
    Ok(answer(text))
}

fn answer(text: String) -> PageResponse {
    PageResponse { status: Status::Found, media: Media::Text, text }
}

pub struct Server {
    pub address: SocketAddr,
    stop: UnixStream,
    thread: Option<JoinHandle<()>>,
    pub log: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn start(limits: Limits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (read, stop) = UnixStream::pair().unwrap();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = Arc::clone(&log);
        let thread = std::thread::spawn(move || {
            let make: Make<Echo> = Arc::new(|| {
                MADE.fetch_add(1, Ordering::SeqCst);
                Echo
            });
            let policy = Policy::new(true, "", &[]).behind_proxy(true);
            let log = Arc::new(move |text: &str| lines.lock().unwrap().push(text.to_owned()));
            let config = Config {
                routes: ROUTES,
                public_read: true,
                draw: |_, title, why| answer(format!("{title}: {why}")),
                limits,
                policy,
                tls: None,
                make,
                log,
            };
            serve(listener, read, config).unwrap();
        });
        Self { address, stop, thread: Some(thread), log }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).unwrap();
        stream.set_write_timeout(patience).unwrap();
        stream
    }

    /// A connection that has sent these bytes.
    pub fn send(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        stream
    }

    /// A connection from another address of this machine.
    pub fn connect_from(&self, address: &str) -> TcpStream {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let from: SocketAddr = format!("{address}:0").parse().unwrap();
        socket.bind(&from.into()).unwrap();
        socket.connect(&self.address.into()).unwrap();
        socket.into()
    }

    /// The response to these bytes, until the connection is closed.
    pub fn say(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        let mut all = vec![];
        let _ = stream.read_to_end(&mut all);
        String::from_utf8_lossy(&all).into_owned()
    }

    pub fn get(&self, path: &str) -> String {
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        self.say(head.as_bytes())
    }

    /// The text of a connection up to its end.
    pub fn read(mut stream: TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    pub fn answers(&self) {
        let output = self.get("/health");
        assert!(output.starts_with("HTTP/1.1 200 "), "{output}");
    }

    /// Ends it, and waits for the end.
    pub fn end(&mut self) {
        let _ = self.stop.write_all(b"x");
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
