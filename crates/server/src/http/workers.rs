//! Threads that answer: each has a site of its own, which is made and used there alone. A job that finds all of them busy waits in a queue,
//! and one that finds no room there is turned away.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// Makes what a thread answers with.
pub type Make<P> = Arc<dyn Fn() -> P + Send + Sync>;

/// Jobs that wait at most.
const WAITING: usize = 256;

/// Does its work, and says whether a fault left the site half done.
type Job<P> = Box<dyn FnOnce(&P) -> Result<(), Panicked> + Send>;

struct Panicked;

/// The threads, as those see them who have jobs.
pub(crate) struct Workers<P>(SyncSender<Job<P>>);

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Too many wait.
    Busy,
    /// The job panicked.
    Panicked,
}

impl<P: 'static> Workers<P> {
    /// Starts threads, which end when the last handle is dropped.
    pub(crate) fn start(threads: usize, make: &Make<P>) -> std::io::Result<Self> {
        let (send, receive) = sync_channel(WAITING);
        let receive = Arc::new(Mutex::new(receive));
        for _ in 0..threads {
            let (receive, make) = (Arc::clone(&receive), Arc::clone(make));
            let name = "answers".to_owned();
            let work = move || work(&receive, &make);
            thread::Builder::new().name(name).spawn(work)?;
        }
        Ok(Self(send))
    }

    /// What a job yields.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&P) -> T + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let (to, answer) = oneshot::channel();
        let job: Job<P> = Box::new(move |site| {
            // the client may have gone
            if to.is_closed() {
                return Ok(());
            }
            let done = catch_unwind(AssertUnwindSafe(|| job(site))).map_err(|_| Panicked)?;
            drop(to.send(done));
            Ok(())
        });
        match self.0.try_send(job) {
            Err(TrySendError::Full(_)) => return Err(NoAnswer::Busy),
            Err(TrySendError::Disconnected(_)) => return Err(NoAnswer::Panicked),
            Ok(()) => {}
        }
        answer.await.map_err(|_| NoAnswer::Panicked)
    }
}

fn work<P>(receive: &Mutex<Receiver<Job<P>>>, make: &Make<P>) {
    let mut site = make();
    loop {
        let next = receive
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(job) = next else { return };
        if job(&site).is_err() {
            site = make();
        }
    }
}
