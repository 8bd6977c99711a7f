//! The pages of a store as files, for static web hosts.

mod plan;
mod record;
#[cfg(test)]
mod tests;

use crate::digests::Digests;
use crate::http::Site as _;
use crate::pages::{Pages, SiteFiles};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use gritstone_document::html;
use gritstone_runs::context::Context;
use gritstone_runs::files;
use gritstone_store::{Store, UploadOutcome};
use plan::{CHARTS_FILE, Page, Plan};
use record::{Made, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Timeout for the digest: practically none.
const PATIENCE: Duration = Duration::from_secs(24 * 3600);

/// Numbers of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub pages: usize,
    /// Rendered pages, whose inputs changed.
    pub rendered: usize,
    /// Pages whose content changed.
    pub written: usize,
    /// Removed pages.
    pub removed: usize,
    /// Pages that say why they could not be made.
    pub failed: usize,
}

/// Writes the pages of a store into a directory: new ones, and those whose inputs changed.
///
/// # Errors
/// When the store cannot be read, or the directory is not of a site or cannot be written.
pub fn write(store: &Path, directory: &Path) -> Result<Written> {
    let context = Context::new(Some(store.to_owned())).settled();
    let reader = context.reader()?;
    let record = Record::open(directory)?;
    let revision = match &reader {
        Some(store) => {
            context.compute_missing_results(store)?;
            store.revision()?
        }
        None => String::new(),
    };
    let digests = Arc::new(Digests::new(store.to_owned(), None));
    let digest = digests.latest(&revision, PATIENCE);
    let digest = digest.context("what changed is not known")?;
    let Plan { pages, site } = plan::plan(&context, reader.as_deref(), &digest)?;
    let outdated: Vec<&Page> =
        pages.iter().filter(|page| !record.is_current(&page.file, &page.inputs)).collect();
    let work = Work {
        store,
        digests,
        site: Arc::new(site),
        record: &record,
        outdated: &outdated,
        next: AtomicUsize::new(0),
        failed: AtomicUsize::new(0),
    };
    let rendered = work.share()?;
    let failed = work.failed.load(Ordering::Relaxed);
    let written = rendered.values().filter(|(_, is_new)| *is_new).count();
    let mut files: BTreeMap<String, Made> =
        rendered.into_iter().map(|(file, (page, _))| (file, page)).collect();
    let (script, _) = record.write(CHARTS_FILE, &html::charts(), "")?;
    files.insert(CHARTS_FILE.to_owned(), script);
    let mut all: BTreeSet<&str> = pages.iter().map(|page| page.file.as_str()).collect();
    all.insert(CHARTS_FILE);
    Ok(Written {
        pages: pages.len(),
        rendered: outdated.len(),
        written,
        removed: record.finish(files, &all)?,
        failed,
    })
}

/// Pages rendered by several threads.
struct Work<'a> {
    store: &'a Path,
    digests: Arc<Digests>,
    site: Arc<SiteFiles>,
    record: &'a Record,
    outdated: &'a [&'a Page],
    next: AtomicUsize,
    failed: AtomicUsize,
}

type Results = BTreeMap<String, (Made, bool)>;

impl Work<'_> {
    fn share(&self) -> Result<Results> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let threads: Vec<_> = (0..threads.min(self.outdated.len()))
                .map(|_| scope.spawn(|| self.part()))
                .collect();
            let mut all = Results::new();
            for thread in threads {
                match thread.join() {
                    Ok(part) => all.extend(part?),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(all)
        })
    }

    /// Renders pages until none is left.
    fn part(&self) -> Result<Results> {
        let pages = Pages::new(
            Context::new(Some(self.store.to_owned())).settled(),
            Arc::clone(&self.digests),
            |_, _| Ok(None),
            Arc::new(AtomicBool::new(false)),
        )
        .for_site(Arc::clone(&self.site));
        // opened once, not for each page
        let _open = pages.store().map_err(|refused| anyhow!(refused.why))?;
        let mut rendered = Results::new();
        while let Some(page) = self.outdated.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let request = match page.request() {
                Ok(request) => request,
                // of a run that was stored before its names were checked
                Err(why) => {
                    log::warn!("gritstone: no page {}: {why:#}", page.path);
                    continue;
                }
            };
            let (answer, inputs) = match pages.answer(page.route(), &request) {
                Ok(answer) => (answer, page.inputs.as_str()),
                // links may lead to it
                Err(refused) => {
                    let why = refused.fault.as_ref().unwrap_or(&refused.why);
                    log::warn!("gritstone: {}: {why}", page.path);
                    self.failed.fetch_add(1, Ordering::Relaxed);
                    // tried again by the next call
                    (pages.refused(&request, &refused)?, "")
                }
            };
            let written = self.record.write(&page.file, &answer.text, inputs)?;
            rendered.insert(page.file.clone(), written);
        }
        Ok(rendered)
    }
}

/// Stores the bundles below a folder.
///
/// # Errors
/// Names a file that is not a bundle, or differs from an earlier one with the same identifier.
pub fn import(folder: &Path, store: &Path) -> Result<()> {
    let mut bundles = vec![];
    find_bundles(folder, &mut bundles)?;
    ensure!(
        !bundles.is_empty(),
        "{} has no bundles: files that end in .jsonl or .zst, as `gritstone export` writes them",
        folder.display()
    );
    let mut store = Store::open(store)?;
    for path in bundles {
        let run = files::read(&path)?.run;
        if let UploadOutcome::Conflict = store.import_once(&run)? {
            bail!("{}: another file has another run {}", path.display(), run.info.id);
        }
    }
    Ok(())
}

fn find_bundles(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let failed = || format!("cannot read {}", folder.display());
    let mut entries = vec![];
    for entry in std::fs::read_dir(folder).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        entries.push((entry.path(), entry.file_type().with_context(failed)?));
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (path, kind) in entries {
        let is_bundle = path.extension().is_some_and(|end| end == "jsonl" || end == "zst");
        if kind.is_dir() {
            find_bundles(&path, found)?;
        } else if kind.is_file() && is_bundle {
            found.push(path);
        }
    }
    Ok(())
}
