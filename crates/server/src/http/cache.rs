//! Pages as they were made, compressed. Readers of a page that is being made wait for it. While the store changes all the time, a page is
//! made once in [`Limits::remake`](crate::http::limits::Limits::remake), and is as old as that at most.

use crate::http::response::{Packed, Refused};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// Pages at most, those included that are being made.
const PAGES: usize = 10_000;

type Cell = Arc<OnceCell<Arc<Packed>>>;

/// A page at a revision of the store.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) revision: Arc<str>,
    requested: Instant,
    cell: Cell,
    /// Of the page, once it was made.
    bytes: usize,
}

#[derive(Default)]
struct Pages {
    entries: HashMap<String, Entry>,
    bytes: usize,
}

impl Pages {
    /// The entry, unless another one has its place.
    fn known(&mut self, name: &str, entry: &Entry) -> Option<&mut Entry> {
        let known = self.entries.get_mut(name)?;
        Arc::ptr_eq(&known.cell, &entry.cell).then_some(known)
    }
}

pub(crate) struct Cache {
    /// Bytes of pages at most; where they are more, all are forgotten, and made again when they are asked for.
    most: usize,
    /// Least time between two makings of a page.
    remake: Duration,
    pages: Mutex<Pages>,
}

impl Cache {
    pub(crate) fn new(most: usize, remake: Duration) -> Self {
        Self {
            most,
            remake,
            pages: Mutex::default(),
        }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry of a page: at this revision, or at an earlier one that was requested a moment ago.
    pub(crate) fn entry(&self, revision: &Arc<str>, name: &str) -> Entry {
        let mut pages = self.pages();
        if let Some(entry) = pages.entries.get(name)
            && (entry.revision == *revision || entry.requested.elapsed() < self.remake)
        {
            return entry.clone();
        }
        if pages.entries.len() >= PAGES {
            *pages = Pages::default();
        }
        let entry = Entry {
            revision: Arc::clone(revision),
            requested: Instant::now(),
            cell: Cell::default(),
            bytes: 0,
        };
        let before = pages.entries.insert(name.to_owned(), entry.clone());
        pages.bytes -= before.map_or(0, |before| before.bytes);
        entry
    }

    /// The page of an entry, which is made once. What cannot be made is tried again by the next reader.
    pub(crate) async fn page(
        &self,
        entry: &Entry,
        name: &str,
        make: impl Future<Output = Result<Packed, Refused>>,
    ) -> Result<Arc<Packed>, Refused> {
        if let Some(page) = entry.cell.get() {
            return Ok(Arc::clone(page));
        }
        let made = entry.cell.get_or_try_init(|| async {
            let page = Arc::new(make.await?);
            self.count(name, entry, name.len() + page.len());
            Ok(page)
        });
        let made = made.await.cloned();
        if made.is_err() {
            self.forget(name, entry);
        }
        made
    }

    fn count(&self, name: &str, entry: &Entry, bytes: usize) {
        let mut pages = self.pages();
        let Some(known) = pages.known(name, entry) else {
            return;
        };
        known.bytes = bytes;
        pages.bytes += bytes;
        if pages.bytes > self.most {
            *pages = Pages::default();
        }
    }

    fn forget(&self, name: &str, entry: &Entry) {
        let mut pages = self.pages();
        if pages.known(name, entry).is_some() && entry.cell.get().is_none() {
            pages.entries.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::response::{Answer, Media, Status};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::runtime::Builder;
    use tokio::task::yield_now;

    /// Counts how often pages are made.
    #[derive(Default)]
    struct Made(AtomicUsize);

    impl Made {
        async fn page(&self) -> Result<Packed, Refused> {
            self.0.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
            let text = "x".repeat(100);
            Ok(Packed::of(Answer {
                status: Status::Found,
                media: Media::Text,
                text,
            }))
        }

        async fn refusal(&self) -> Result<Packed, Refused> {
            self.0.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
            Err(Refused::new(Status::NotFound, "not there"))
        }

        fn count(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn run(test: impl Future<Output = ()>) {
        Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(test);
    }

    impl Cache {
        async fn get(
            &self,
            revision: &Arc<str>,
            name: &str,
            make: impl Future<Output = Result<Packed, Refused>>,
        ) -> Result<Arc<Packed>, Refused> {
            self.page(&self.entry(revision, name), name, make).await
        }
    }

    fn without_delay(most: usize) -> Cache {
        Cache::new(most, Duration::ZERO)
    }

    #[test]
    fn readers_wait_for_one_rendering() {
        run(async {
            let (cache, made) = (without_delay(1000), Made::default());
            let (one, two): (Arc<str>, Arc<str>) = ("1".into(), "2".into());
            let get = |revision| cache.get(revision, "a", made.page());
            let (a, b, c) = tokio::join!(get(&one), get(&one), get(&one));
            assert!(Arc::ptr_eq(&a.unwrap(), &b.unwrap()) && c.is_ok());
            assert_eq!(made.count(), 1);
            get(&two).await.unwrap();
            get(&two).await.unwrap();
            assert_eq!(made.count(), 2);
        });
    }

    #[test]
    fn changing_stores_share_a_page() {
        run(async {
            let (cache, made) = (Cache::new(1000, Duration::from_hours(1)), Made::default());
            for revision in ["1", "2", "3"] {
                let entry = cache.entry(&revision.into(), "a");
                assert_eq!(&*entry.revision, "1");
                cache.page(&entry, "a", made.page()).await.unwrap();
                assert_eq!(made.count(), 1);
            }
            cache.get(&"3".into(), "b", made.page()).await.unwrap();
            assert_eq!((made.count(), cache.pages().bytes), (2, 202));
        });
    }

    #[test]
    fn refusals_are_not_cached() {
        run(async {
            let (cache, made, one) = (without_delay(1000), Made::default(), Arc::from("1"));
            for count in 1..3 {
                assert!(cache.get(&one, "a", made.refusal()).await.is_err());
                assert_eq!(made.count(), count);
            }
            assert!(cache.pages().entries.is_empty());
        });
    }

    #[test]
    fn memory_is_bounded() {
        run(async {
            let (cache, made, one) = (without_delay(1000), Made::default(), Arc::from("1"));
            for name in 0..100 {
                cache
                    .get(&one, &name.to_string(), made.page())
                    .await
                    .unwrap();
                let pages = cache.pages();
                assert!(pages.entries.len() <= 11 && pages.bytes <= 1000);
            }
        });
    }
}
