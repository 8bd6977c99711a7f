//! Places shared by clients. Each client has a limit, which leaves places for others.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Places for clients.
pub(crate) struct Places<K> {
    all: Arc<Semaphore>,
    each: usize,
    of_client: Mutex<HashMap<K, Weak<Semaphore>>>,
}

/// A place, freed on drop.
#[derive(Debug)]
pub(crate) struct Place {
    _own: OwnedSemaphorePermit,
    _shared: OwnedSemaphorePermit,
}

impl<K: Eq + Hash> Places<K> {
    /// `all` places, of which a client gets at most `each`.
    pub(crate) fn new(all: usize, each: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(all)),
            each: each.clamp(1, all.max(1)),
            of_client: Mutex::default(),
        }
    }

    /// Waits for a place. A client at its own limit does not delay others.
    pub(crate) async fn take(&self, client: K) -> Place {
        let never = "the semaphores are never closed";
        Place {
            _own: self.share(client).acquire_owned().await.expect(never),
            _shared: Arc::clone(&self.all).acquire_owned().await.expect(never),
        }
    }

    /// A place, if one is free.
    pub(crate) fn try_take(&self, client: K) -> Option<Place> {
        Some(Place {
            _own: self.share(client).try_acquire_owned().ok()?,
            _shared: Arc::clone(&self.all).try_acquire_owned().ok()?,
        })
    }

    fn share(&self, client: K) -> Arc<Semaphore> {
        let mut of_client = self.of_client.lock().unwrap_or_else(PoisonError::into_inner);
        of_client.retain(|_, places| places.strong_count() > 0);
        if let Some(places) = of_client.get(&client).and_then(Weak::upgrade) {
            return places;
        }
        let places = Arc::new(Semaphore::new(self.each));
        of_client.insert(client, Arc::downgrade(&places));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[test]
    fn one_client_leaves_places() {
        let places = Places::new(3, 2);
        let now = |client| {
            let waited = places.take(client).now_or_never();
            assert_eq!(waited.is_some(), waited.is_some() || places.try_take(client).is_some());
            waited
        };
        let mut of_one: Vec<Place> = (0..2).map(|_| now("one").unwrap()).collect();
        assert!(now("one").is_none());
        let other = now("other").unwrap();
        // all are taken
        assert!(now("third").is_none());
        of_one.pop();
        assert!(now("one").is_some());
        drop((of_one, other));
        assert!((0..2).all(|_| now("one").is_some()));
        assert!(places.of_client.lock().unwrap().len() <= 1);
    }
}
