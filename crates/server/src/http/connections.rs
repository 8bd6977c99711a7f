//! Open connections: their number per client is limited, and when all places are taken, the one that has been idle longest is cut.

use crate::http::budget::Client;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Shortest idle time after which a connection may be cut for another client.
const GRACE: Duration = Duration::from_secs(1);
/// Poll interval while all places are taken.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    client: Client,
    /// Start of the idle time; `None` during a request.
    idle: Mutex<Option<Instant>>,
    /// Tells the connection to end.
    pub(crate) cut: Notify,
}

impl Connection {
    fn idle(&self) -> MutexGuard<'_, Option<Instant>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks it as busy until the guard is dropped.
    pub(crate) fn busy(&self) -> Busy<'_> {
        *self.idle() = None;
        Busy(self)
    }
}

/// A request in progress.
pub(crate) struct Busy<'a>(&'a Connection);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        *self.0.idle() = Some(Instant::now());
    }
}

/// All open connections.
pub(crate) struct Connections {
    places: Arc<Semaphore>,
    /// Most connections of a client.
    each: usize,
    open: Mutex<HashMap<u64, Arc<Connection>>>,
}

/// The place of a connection, freed on drop.
pub(crate) struct Opened {
    pub(crate) connection: Arc<Connection>,
    number: u64,
    all: Arc<Connections>,
    _place: OwnedSemaphorePermit,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.all.open().remove(&self.number);
    }
}

impl Connections {
    pub(crate) fn new(max: usize, each: usize) -> Arc<Self> {
        Arc::new(Self { places: Arc::new(Semaphore::new(max)), each, open: Mutex::default() })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place, for a client that is not known yet.
    pub(crate) async fn place(&self) -> OwnedSemaphorePermit {
        loop {
            let place = Arc::clone(&self.places).acquire_owned();
            if let Ok(place) = timeout(POLL_INTERVAL, place).await {
                return place.expect("never closed");
            }
            self.cut(|_| true, GRACE);
        }
    }

    /// Adds a connection. If the client has too many, its longest idle one is cut; `None` if all of them are busy.
    pub(crate) fn enter(
        self: &Arc<Self>,
        number: u64,
        place: OwnedSemaphorePermit,
        client: Client,
    ) -> Option<Opened> {
        let of_client = |connection: &Connection| connection.client == client;
        let count = self.open().values().filter(|connection| of_client(connection)).count();
        if count >= self.each && !self.cut(of_client, Duration::ZERO) {
            return None;
        }
        let connection = Arc::new(Connection {
            client,
            idle: Mutex::new(Some(Instant::now())),
            cut: Notify::new(),
        });
        self.open().insert(number, Arc::clone(&connection));
        Some(Opened { connection, number, all: Arc::clone(self), _place: place })
    }

    /// Cuts the longest idle connection, if it has been idle for at least this time.
    fn cut(&self, which: impl Fn(&Connection) -> bool, min: Duration) -> bool {
        let mut open = self.open();
        let idle = open.iter().filter(|(_, connection)| which(connection));
        let idle =
            idle.filter_map(|(number, connection)| Some((*connection.idle().as_ref()?, *number)));
        let longest = idle.min().filter(|(since, _)| since.elapsed() >= min);
        // no longer counts, even before its task ends
        let connection = longest.and_then(|(_, number)| open.remove(&number));
        if let Some(connection) = &connection {
            connection.cut.notify_one();
        }
        connection.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use std::net::Ipv4Addr;
    use tokio::runtime::Builder;

    fn client(number: u32) -> Client {
        Client::from_address(Ipv4Addr::from(number).into())
    }

    #[test]
    fn clients_lose_their_idlest_connection() {
        let all = Connections::new(10, 2);
        let open = |number, address| {
            let place = Arc::clone(&all.places).try_acquire_owned().unwrap();
            all.enter(number, place, client(address))
        };
        let is_cut = |opened: &Opened| opened.connection.cut.notified().now_or_never().is_some();
        let (one, two) = (open(1, 1).unwrap(), open(2, 1).unwrap());
        let other = open(3, 2).unwrap();
        let busy = one.connection.busy();
        let three = open(4, 1).unwrap();
        assert!(is_cut(&two) && !is_cut(&one) && !is_cut(&other));
        let busy_too = three.connection.busy();
        assert!(open(5, 1).is_none());
        drop((busy, busy_too));
        assert!(open(6, 1).is_some());
        assert!(is_cut(&one));
    }

    #[test]
    fn idle_connections_give_way() {
        let all = Connections::new(1, 1);
        let runtime = Builder::new_current_thread().enable_time().build();
        runtime.unwrap().block_on(async {
            let open = all.enter(1, all.place().await, client(1)).unwrap();
            let held = Arc::clone(&open.connection);
            tokio::spawn(async move {
                open.connection.cut.notified().await;
                drop(open);
            });
            let start = Instant::now();
            assert!(all.enter(2, all.place().await, client(2)).is_some());
            assert!(start.elapsed() >= GRACE && Arc::strong_count(&held) == 1);
        });
    }
}
