//! Threads that answer: each has an [`Answers`] of its own, which is made and used there alone. A question that finds all of them busy
//! waits in a queue, and one that finds no room there is turned away.

use crate::http::{Answer, Asked};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// Answers questions, one at a time.
pub trait Answers {
    /// The answer to a question.
    fn answer(&mut self, asked: &Asked) -> Answer;
}

/// Makes what a thread answers with.
pub type Make = Arc<dyn Fn() -> Box<dyn Answers> + Send + Sync>;

/// Questions that wait at most.
const WAITING: usize = 256;

struct Job {
    asked: Asked,
    to: oneshot::Sender<Answer>,
}

/// The threads, as those see them who have questions.
#[derive(Clone)]
pub(crate) struct Workers(SyncSender<Job>);

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Too many wait.
    Busy,
    /// It failed in a way that nobody foresaw.
    Lost,
}

impl Workers {
    /// Starts so many threads. They end when nobody can ask them any more.
    pub(crate) fn start(threads: usize, make: &Make) -> std::io::Result<Self> {
        let (send, receive) = sync_channel(WAITING);
        let receive = Arc::new(Mutex::new(receive));
        for _ in 0..threads {
            let (receive, make) = (Arc::clone(&receive), Arc::clone(make));
            let work = move || work(&receive, &make);
            thread::Builder::new()
                .name("answers".to_owned())
                .spawn(work)?;
        }
        Ok(Self(send))
    }

    pub(crate) async fn ask(&self, asked: Asked) -> Result<Answer, NoAnswer> {
        let (to, answer) = oneshot::channel();
        match self.0.try_send(Job { asked, to }) {
            Err(TrySendError::Full(_)) => return Err(NoAnswer::Busy),
            Err(TrySendError::Disconnected(_)) => return Err(NoAnswer::Lost),
            Ok(()) => {}
        }
        answer.await.map_err(|_| NoAnswer::Lost)
    }
}

fn work(receive: &Mutex<Receiver<Job>>, make: &Make) {
    let mut answers = make();
    loop {
        let next = receive
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(Job { asked, to }) = next else { return };
        // who asked has gone
        if to.is_closed() {
            continue;
        }
        match catch_unwind(AssertUnwindSafe(|| answers.answer(&asked))) {
            // it may have gone meanwhile
            Ok(answer) => drop(to.send(answer)),
            // what is half done is not used again
            Err(_) => answers = make(),
        }
    }
}
