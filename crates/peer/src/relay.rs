//! Connects launches on this machine to the program on the peer. A workload connects to a socket that only processes of its user may use,
//! and sends its token; it then receives the output of its far end. One workload at a time has a far end.

use crate::frame::{Frame, Start};
use crate::session::Session;
use anyhow::{Context as _, Result};
use gritstone_exec::FarEnd;
use gritstone_model::{KernelWork, Peer};
use gritstone_session::bounds::DEADLINE;
use gritstone_session::local_backend::random;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::geteuid;
use std::io::{BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Interval of keep-alives; the peer exits after a minute without one.
const ALIVE: Duration = Duration::from_secs(10);
/// Time for the peer to end a far end.
const END: Duration = Duration::from_secs(30);
/// Longer than the limit of a launch, so that a stuck launch is ended here first.
const LIMIT: Duration = DEADLINE.saturating_add(Duration::from_secs(60));
/// Announcement of a far end (`kernels/net/endpoints.h`): a port, whether something is missing, and a text; port 0 and a reason if it
/// exits.
const MAX_ANNOUNCEMENT: usize = 1024;

/// The listening socket, and the connection behind it.
pub struct Relay {
    /// Data for the launches.
    pub far_end: FarEnd,
    shared: Arc<Shared>,
    session: Session,
    address: SocketAddr,
}

#[derive(Default)]
struct Shared {
    to_peer: Mutex<Option<ChildStdin>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The launch that has a far end.
    launch: Option<UnixStream>,
    /// Why the peer is lost, if it is.
    gone: Option<String>,
    closing: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Relay {
    /// Starts listening.
    ///
    /// # Errors
    /// When no socket can be made.
    pub fn start(mut session: Session, peer: &Peer) -> Result<Self> {
        let words: Vec<String> = (0..4).map(|_| format!("{:08x}", random())).collect();
        let channel = format!("gritstone-peer-{}", words.concat());
        let address = SocketAddr::from_abstract_name(&channel)?;
        let listener = UnixListener::bind_addr(&address)
            .context("cannot open the socket for far ends of launches")?;
        let shared =
            Arc::new(Shared { to_peer: Mutex::new(session.input.take()), ..Shared::default() });
        let far_end = FarEnd { address: peer.address.clone(), channel, wanted: Arc::default() };
        let output = session.output.take().context("its output is closed")?;
        let hears = Arc::clone(&shared);
        thread::spawn(move || hears.hear(output));
        let (serves, wanted) = (Arc::clone(&shared), Arc::clone(&far_end.wanted));
        thread::spawn(move || serves.serve(&listener, &wanted));
        let alive = Arc::clone(&shared);
        thread::spawn(move || alive.stay_alive());
        Ok(Self { far_end, shared, session, address })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        locked(&self.shared.state).closing = true;
        self.shared.changed.notify_all();
        // the end of its input ends the peer, which cleans up; the session waits for that
        *locked(&self.shared.to_peer) = None;
        let _ = UnixStream::connect_addr(&self.address);
        let _ = &self.session;
    }
}

impl Shared {
    /// Sends a frame. Errors are ignored: a lost peer is detected by the reader.
    fn send(&self, frame: &Frame) {
        if let Some(peer) = locked(&self.to_peer).as_mut() {
            let _ = frame.write(peer);
        }
    }

    fn stay_alive(&self) {
        let mut state = locked(&self.state);
        while !state.closing && state.gone.is_none() {
            let waited = self.changed.wait_timeout(state, ALIVE);
            let (now, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            drop(now);
            if waited.timed_out() {
                self.send(&Frame::Alive);
            }
            state = locked(&self.state);
        }
    }

    /// Handles frames of the peer until it disconnects.
    fn hear(&self, mut output: BufReader<ChildStdout>) {
        let why = loop {
            match Frame::read(&mut output) {
                Ok(Some(Frame::Output(bytes))) => {
                    if let Some(launch) = locked(&self.state).launch.as_mut() {
                        // the reader detects a launch that has ended
                        let _ = launch.write_all(&bytes);
                    }
                }
                Ok(Some(Frame::Ended(why))) => self.end_launch(&why),
                Ok(Some(_)) => break "it does not speak the protocol of a peer".to_owned(),
                Ok(None) => break "the connection to the peer has ended".to_owned(),
                Err(why) => break format!("the connection to the peer has ended: {why}"),
            }
        };
        self.lose(why);
    }

    fn end_launch(&self, why: &str) {
        let launch = locked(&self.state).launch.take();
        if let Some(mut launch) = launch {
            if !why.is_empty() {
                complain(&mut launch, why);
            }
            let _ = launch.shutdown(Shutdown::Both);
        }
        self.changed.notify_all();
    }

    fn lose(&self, why: String) {
        locked(&self.state).gone.get_or_insert_with(|| why.clone());
        self.end_launch(&why);
    }

    /// Serves launches, one after the other.
    fn serve(&self, listener: &UnixListener, wanted: &Mutex<Option<KernelWork>>) {
        for launch in listener.incoming() {
            if locked(&self.state).closing {
                return;
            }
            let Ok(mut launch) = launch else { continue };
            if !is_ours(&launch) {
                continue;
            }
            if let Some(why) = locked(&self.state).gone.clone() {
                complain(&mut launch, &why);
                continue;
            }
            let work = locked(wanted).clone();
            let (Some(work), Ok(copy)) = (work, launch.try_clone()) else {
                complain(&mut launch, "no launch needs a far end");
                continue;
            };
            locked(&self.state).launch = Some(copy);
            self.send(&Frame::Start(Start {
                program: work.program,
                params: work.params,
                limit_s: LIMIT.as_secs(),
            }));
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = launch.read(&mut bytes) {
                self.send(&Frame::Input(bytes[..n].to_vec()));
            }
            self.send(&Frame::End);
            self.await_end();
        }
    }

    /// Waits until the peer has reported the end of the far end, so that the next one gets nothing of it.
    fn await_end(&self) {
        let state = locked(&self.state);
        let waits = |state: &mut State| state.launch.is_some() && state.gone.is_none();
        let waited = self.changed.wait_timeout_while(state, END, waits);
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(state);
        if waited.timed_out() {
            self.lose(format!("no answer from the peer for {} s", END.as_secs()));
        }
    }
}

fn is_ours(launch: &UnixStream) -> bool {
    getsockopt(launch, PeerCredentials).is_ok_and(|who| who.uid() == geteuid().as_raw())
}

/// Writes the announcement of a far end that failed to start.
fn complain(launch: &mut UnixStream, why: &str) {
    let mut announcement = vec![0; 4];
    announcement.extend(why.bytes().take(MAX_ANNOUNCEMENT - 5));
    announcement.resize(MAX_ANNOUNCEMENT, 0);
    let _ = launch.write_all(&announcement);
}
