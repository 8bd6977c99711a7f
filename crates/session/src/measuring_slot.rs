//! One run at a time per machine: processes that measure find each other at an abstract Unix socket.
//!
//! The kernel frees the name when the process ends in any way. Any user may take the name, which only warns others.

use gritstone_exec::ExecError;
use gritstone_model::{Event, Param};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, getsockopt, recv, socket,
    sockopt::PeerCredentials,
};
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const NAME: &str = "gritstone-measures";
/// Other processes that are remembered.
const MAX_GUESTS: usize = 16;
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Intervals in which runs of an ended run's guests find this one: they check before each launch.
const SETTLE_INTERVALS: u32 = 10;

/// Held by the process that measures on this machine (within its network namespace), or known to be held by another.
pub struct Slot {
    name: String,
    state: State,
}

enum State {
    /// Others connect, and stay connected while they measure.
    Held(UnixListener, Vec<OwnedFd>),
    /// Connected to the holder, if it has room for that.
    Taken(Option<OwnedFd>),
    /// There can be no socket.
    Unknown,
}

impl Slot {
    pub fn claim() -> Self {
        Self::named(NAME)
    }

    fn named(name: &str) -> Self {
        Self { name: name.to_owned(), state: occupy(name) }
    }

    /// Waits until no other process holds it.
    ///
    /// # Errors
    /// When the user interrupts.
    pub fn wait(stop: &AtomicBool) -> Result<Self, ExecError> {
        Self::wait_for(NAME, stop)
    }

    fn wait_for(name: &str, stop: &AtomicBool) -> Result<Self, ExecError> {
        let mut settle = 0;
        loop {
            if let Some(state) = bind(name) {
                let name = name.to_owned();
                let mut slot = Self { name, state };
                pause(settle, stop)?;
                if settle == 0 || slot.other().is_none() {
                    return Ok(slot);
                }
            } else if settle == 0 {
                settle = SETTLE_INTERVALS;
                // connected for longer, this process would count as one that measures
                let process = process_text(holder(name).as_ref().map_or(0, peer));
                log::warn!("{process} is measuring on this machine: waiting until it ends");
            }
            pause(1, stop)?;
        }
    }

    /// Another process that measures now; 0 if it is in another PID namespace or unknown.
    pub fn other(&mut self) -> Option<u32> {
        if let State::Taken(holder) = &self.state
            && !holder.as_ref().is_some_and(is_open)
        {
            self.state = occupy(&self.name);
        }
        match &mut self.state {
            State::Held(listener, guests) => {
                // a user may connect faster than this accepts
                let arrived = (0..MAX_GUESTS).map_while(|_| listener.accept().ok());
                guests.extend(arrived.map(|(guest, _)| guest.into()));
                guests.retain(is_open);
                guests.truncate(MAX_GUESTS);
                guests.first().map(peer)
            }
            State::Taken(holder) => Some(holder.as_ref().map_or(0, peer)),
            State::Unknown => None,
        }
    }
}

/// Warning that another process measures here.
pub fn warning(process: u32) -> String {
    format!(
        "another run is measuring on this machine ({}): they disturb each other",
        process_text(process)
    )
}

/// Adds the process of another run to the events of a launch, before the final one.
pub fn record(events: &mut Vec<Event>, other: Param) {
    events.insert(events.len().saturating_sub(1), Event::Param(other));
}

fn process_text(process: u32) -> String {
    match process {
        0 => "an unknown process".to_owned(),
        process => format!("process {process}"),
    }
}

fn pause(intervals: u32, stop: &AtomicBool) -> Result<(), ExecError> {
    for _ in 0..intervals {
        thread::sleep(POLL_INTERVAL);
        if stop.load(Ordering::Relaxed) {
            return Err(ExecError::Interrupted);
        }
    }
    Ok(())
}

fn occupy(name: &str) -> State {
    bind(name).unwrap_or_else(|| State::Taken(holder(name).ok()))
}

/// None if another process holds the name.
fn bind(name: &str) -> Option<State> {
    let bound =
        SocketAddr::from_abstract_name(name).and_then(|address| UnixListener::bind_addr(&address));
    match bound {
        Ok(listener) if listener.set_nonblocking(true).is_ok() => {
            Some(State::Held(listener, vec![]))
        }
        Err(why) if why.kind() == ErrorKind::AddrInUse => None,
        Ok(_) | Err(_) => Some(State::Unknown),
    }
}

/// Does not block if the holder accepts no connection.
fn holder(name: &str) -> Result<OwnedFd, Errno> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let stream = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    let address = UnixAddr::new_abstract(name.as_bytes())?;
    connect(stream.as_raw_fd(), &address)?;
    Ok(stream)
}

fn peer(stream: &OwnedFd) -> u32 {
    let credentials = getsockopt(&stream.as_fd(), PeerCredentials);
    credentials.map_or(0, |peer| peer.pid().unsigned_abs())
}

/// No data are ever sent, so a readable socket is closed.
fn is_open(stream: &OwnedFd) -> bool {
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    recv(stream.as_raw_fd(), &mut [0], flags) == Err(Errno::EAGAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unique(test: &str) -> String {
        format!("gritstone-test-{test}-{}", std::process::id())
    }

    #[test]
    fn others_are_seen_while_there() {
        let name = unique("seen");
        let here = Some(std::process::id());
        let mut holder = Slot::named(&name);
        assert_eq!(holder.other(), None);
        let mut guests = [Slot::named(&name), Slot::named(&name)];
        assert_eq!(holder.other(), here);
        assert_eq!(guests.each_mut().map(Slot::other), [here; 2]);
        drop(holder);
        // one of them holds it now
        let [first, second] = &mut guests;
        assert_eq!(first.other(), None);
        assert_eq!(second.other(), here);
        assert_eq!(first.other(), here);
        drop(guests);
        assert_eq!(Slot::named(&name).other(), None);
    }

    #[test]
    fn hostile_holders_only_warn() {
        let name = unique("hostile");
        let address = UnixAddr::new_abstract(name.as_bytes()).unwrap();
        let flags = SockFlag::SOCK_CLOEXEC;
        let silent = socket(AddressFamily::Unix, SockType::Stream, flags, None).unwrap();
        nix::sys::socket::bind(silent.as_raw_fd(), &address).unwrap();
        // bound, but not listening
        assert_eq!(Slot::named(&name).other(), Some(0));
        nix::sys::socket::listen(&silent, nix::sys::socket::Backlog::new(0).unwrap()).unwrap();
        let mut slots: Vec<Slot> = (0..5).map(|_| Slot::named(&name)).collect();
        // its queue is full, and never drained
        assert!(slots.iter_mut().all(|slot| slot.other().is_some()));
        assert_eq!(slots[4].other(), Some(0));
        drop(silent);
        assert_eq!(slots[0].other(), None);
    }

    #[test]
    fn many_guests_are_bounded() {
        let name = unique("many");
        let mut holder = Slot::named(&name);
        let guests: Vec<Slot> = (0..3 * MAX_GUESTS).map(|_| Slot::named(&name)).collect();
        assert!(holder.other().is_some());
        let State::Held(_, known) = &holder.state else {
            panic!("not held");
        };
        assert_eq!(known.len(), MAX_GUESTS);
        drop(guests);
        assert_eq!(holder.other(), None);
    }

    #[test]
    fn crowds_cannot_hold_up() {
        let name = unique("crowd");
        let mut holder = Slot::named(&name);
        for _ in 0..2 * MAX_GUESTS {
            drop(Slot::named(&name));
        }
        assert_eq!(holder.other(), None);
        let State::Held(listener, _) = &holder.state else {
            panic!("not held");
        };
        // the rest is accepted next time
        let left = std::iter::from_fn(|| listener.accept().ok()).count();
        assert_eq!(left, MAX_GUESTS);
    }

    #[test]
    fn waiting_outlasts_all_others() {
        let name = unique("wait");
        let stop = AtomicBool::new(false);
        let holder = Slot::named(&name);
        let mut guest = Slot::named(&name);
        assert!(guest.other().is_some());
        thread::scope(|scope| {
            let waiter = scope.spawn(|| Slot::wait_for(&name, &stop).unwrap().other());
            thread::sleep(3 * POLL_INTERVAL);
            assert!(!waiter.is_finished());
            drop(holder);
            // the guest still measures, whichever process has the name
            for _ in 0..2 * SETTLE_INTERVALS {
                let _ = guest.other();
                thread::sleep(POLL_INTERVAL);
            }
            assert!(!waiter.is_finished());
            drop(guest);
            assert_eq!(waiter.join().unwrap(), None);
        });
        let mut holder = Slot::named(&name);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| Slot::wait_for(&name, &stop));
            thread::sleep(3 * POLL_INTERVAL);
            // a waiting process does not measure
            assert_eq!(holder.other(), None);
            stop.store(true, Ordering::Relaxed);
            let ended = waiter.join().unwrap();
            assert!(matches!(ended, Err(ExecError::Interrupted)));
        });
    }
}
