//! Worker threads: each has a site of its own, made and used only there. Jobs wait in a queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// Makes the site of a thread.
pub type Make<P> = Arc<dyn Fn() -> P + Send + Sync>;

/// A job; returns false after a panic, which leaves the site inconsistent.
type Job<P> = Box<dyn FnOnce(&P) -> bool + Send>;

/// Handle of the threads.
pub(crate) struct Workers<P>(Sender<Job<P>>);

impl<P: 'static> Workers<P> {
    /// Starts threads, which end when the last handle is dropped.
    pub(crate) fn start(threads: usize, make: &Make<P>) -> std::io::Result<Self> {
        let (send, receive) = channel();
        let receive = Arc::new(Mutex::new(receive));
        for _ in 0..threads {
            let (receive, make) = (Arc::clone(&receive), Arc::clone(make));
            let name = "answers".to_owned();
            let work = move || work(&receive, &make);
            thread::Builder::new().name(name).spawn(work)?;
        }
        Ok(Self(send))
    }

    /// The result of a job; `None` after a panic.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&P) -> T + Send + 'static,
    ) -> Option<T> {
        let (to, answer) = oneshot::channel();
        let job: Job<P> = Box::new(move |site| {
            // the client may have disconnected
            if to.is_closed() {
                return true;
            }
            let done = catch_unwind(AssertUnwindSafe(|| job(site)));
            done.map(|done| to.send(done)).is_ok()
        });
        self.0.send(job).ok()?;
        answer.await.ok()
    }
}

fn work<P>(receive: &Mutex<Receiver<Job<P>>>, make: &Make<P>) {
    let mut site = make();
    loop {
        let next = receive.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        if !job(&site) {
            site = make();
        }
    }
}
