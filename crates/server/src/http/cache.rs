//! Pages as they were made, compressed, of the newest revision. Readers of a page that is being made wait for it.

use crate::http::response::{Packed, Rejection};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;

/// Most pages, including those being rendered.
const PAGES: usize = 10_000;

type Cell = Arc<OnceCell<Arc<Packed>>>;

#[derive(Default)]
struct Pages {
    revision: Arc<str>,
    cells: HashMap<String, Cell>,
    bytes: usize,
}

pub(crate) struct Cache {
    /// Most bytes of pages; beyond it, the cache is emptied.
    max: usize,
    pages: Mutex<Pages>,
}

impl Cache {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, pages: Mutex::default() }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The page of a name at a revision, which is made once. What cannot be made is tried again by the next reader.
    pub(crate) async fn get(
        &self,
        revision: &Arc<str>,
        name: &str,
        make: impl Future<Output = Result<Packed, Rejection>>,
    ) -> Result<Arc<Packed>, Rejection> {
        let cell = self.cell(revision, name);
        if let Some(page) = cell.get() {
            return Ok(Arc::clone(page));
        }
        let page = cell.get_or_try_init(|| async {
            let page = Arc::new(make.await?);
            self.count(revision, name.len() + page.len());
            Ok(page)
        });
        let page = page.await.cloned();
        if page.is_err() {
            self.forget(name, &cell);
        }
        page
    }

    fn cell(&self, revision: &Arc<str>, name: &str) -> Cell {
        let mut pages = self.pages();
        if pages.revision != *revision || pages.cells.len() >= PAGES {
            *pages = Pages { revision: Arc::clone(revision), ..Pages::default() };
        }
        if let Some(cell) = pages.cells.get(name) {
            return Arc::clone(cell);
        }
        let cell = Cell::default();
        pages.cells.insert(name.to_owned(), Arc::clone(&cell));
        cell
    }

    fn count(&self, revision: &Arc<str>, bytes: usize) {
        let mut pages = self.pages();
        if pages.revision != *revision {
            return;
        }
        pages.bytes += bytes;
        if pages.bytes > self.max {
            pages.cells.clear();
            pages.bytes = 0;
        }
    }

    fn forget(&self, name: &str, cell: &Cell) {
        let mut pages = self.pages();
        if pages.cells.get(name).is_some_and(|known| Arc::ptr_eq(known, cell))
            && cell.get().is_none()
        {
            pages.cells.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::response::{Media, PageResponse, Status};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::runtime::Builder;
    use tokio::task::yield_now;

    /// Counts renderings.
    #[derive(Default)]
    struct Renderings(AtomicUsize);

    impl Renderings {
        async fn page(&self) -> Result<Packed, Rejection> {
            self.0.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
            let text = "x".repeat(100);
            Ok(Packed::new(PageResponse { status: Status::Found, media: Media::Text, text }))
        }

        async fn refusal(&self) -> Result<Packed, Rejection> {
            self.0.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
            Err(Rejection::new(Status::NotFound, "not there"))
        }

        fn count(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn run(test: impl Future<Output = ()>) {
        Builder::new_current_thread().build().unwrap().block_on(test);
    }

    #[test]
    fn readers_wait_for_one_rendering() {
        run(async {
            let (cache, renderings) = (Cache::new(1000), Renderings::default());
            let (one, two): (Arc<str>, Arc<str>) = ("1".into(), "2".into());
            let get = |revision| cache.get(revision, "a", renderings.page());
            let (a, b, c) = tokio::join!(get(&one), get(&one), get(&one));
            assert!(Arc::ptr_eq(&a.unwrap(), &b.unwrap()) && c.is_ok());
            assert_eq!(renderings.count(), 1);
            get(&two).await.unwrap();
            get(&two).await.unwrap();
            assert_eq!(renderings.count(), 2);
        });
    }

    #[test]
    fn refusals_are_not_cached() {
        run(async {
            let (cache, renderings, one) =
                (Cache::new(1000), Renderings::default(), Arc::from("1"));
            for count in 1..3 {
                assert!(cache.get(&one, "a", renderings.refusal()).await.is_err());
                assert_eq!(renderings.count(), count);
            }
            assert!(cache.pages().cells.is_empty());
        });
    }

    #[test]
    fn memory_is_bounded() {
        run(async {
            let (cache, renderings, one) =
                (Cache::new(1000), Renderings::default(), Arc::from("1"));
            for name in 0..100 {
                cache.get(&one, &name.to_string(), renderings.page()).await.unwrap();
                let pages = cache.pages();
                assert!(pages.cells.len() <= 11 && pages.bytes <= 1000);
            }
        });
    }
}
