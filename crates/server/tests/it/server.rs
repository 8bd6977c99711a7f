//! A server in this process, on a free port.

use gritstone_server::http::{
    Answer, Answers, Asked, Config, Limits, Make, Media, Policy, Question, Status, serve,
};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Answers with what was asked. A run `panic` is a fault, a run `slow` takes a while, a run `large` is long.
struct Echo;

/// Times that something that answers was made.
pub static MADE: AtomicUsize = AtomicUsize::new(0);

impl Answers for Echo {
    fn answer(&mut self, asked: &Asked) -> Answer {
        let text = match &asked.question {
            Question::Run(id) if id == "panic" => panic!("as the test asks"),
            Question::Run(id) if id == "slow" => {
                std::thread::sleep(Duration::from_millis(300));
                "slow".to_owned()
            }
            Question::Run(id) if id == "large" => "x".repeat(16 << 20),
            question => format!("{question:?}"),
        };
        Answer {
            status: Status::Found,
            media: Media::Text,
            text,
        }
    }
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
        let kept = Arc::clone(&log);
        let thread = std::thread::spawn(move || {
            let make: Make = Arc::new(|| {
                MADE.fetch_add(1, Ordering::SeqCst);
                Box::new(Echo)
            });
            let policy = Policy::new(true, "", &[]).behind_proxy(true);
            let log = Arc::new(move |text: &str| kept.lock().unwrap().push(text.to_owned()));
            let config = Config {
                limits,
                policy,
                tls: None,
                make,
                log,
            };
            serve(listener, read, config).unwrap();
        });
        Self {
            address,
            stop,
            thread: Some(thread),
            log,
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        let patience = Some(Duration::from_secs(60));
        stream.set_read_timeout(patience).unwrap();
        stream.set_write_timeout(patience).unwrap();
        stream
    }

    /// All that comes back for these bytes, until the connection is closed.
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

    pub fn answers(&self) {
        let said = self.get("/health");
        assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
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
