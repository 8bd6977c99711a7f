//! Damaged stores, by bytes and by pages: read, or refused with an error, and never a crash or another result.

use crate::{common, mutation};
use gritstone_model::RunData;
use gritstone_store::{Store, StoreError};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Bytes that SQLite reads as a unit.
const PAGE: usize = 4096;

/// Two pages change places, or one comes twice, as a disk that writes in the wrong place leaves them; or a page is zero, or 64 bytes are
/// inverted.
fn damage_pages(bytes: &mut [u8], random: &mut Pcg64) {
    let pages = bytes.len() / PAGE;
    if pages < 2 {
        return;
    }
    let mut page = || random.random_range(0..pages) * PAGE;
    let (from, to) = (page(), page());
    match random.random_range(0..4) {
        0 => {
            let copy = bytes[from..from + PAGE].to_vec();
            bytes.copy_within(to..to + PAGE, from);
            bytes[to..to + PAGE].copy_from_slice(&copy);
        }
        1 => bytes.copy_within(from..from + PAGE, to),
        2 => bytes[to..to + PAGE].fill(0),
        _ => {
            let start = random.random_range(0..bytes.len() - 64);
            let inverted = bytes[start..start + 64].iter_mut();
            inverted.for_each(|byte| *byte = !*byte);
        }
    }
}

/// All runs, and those that indices name.
pub fn lists(store: &Store, runs: &[RunData]) -> [Result<Vec<String>, StoreError>; 3] {
    let heads = store.runs();
    [
        heads.map(|heads| heads.into_iter().map(|head| head.id).collect()),
        store.newest(&[common::id("byte/pipe")], 9, None).map(|each| each.concat()),
        store.runs_of(&runs[0].info.machine.id, "2027", 9, &|_| true),
    ]
}

/// A new store with two runs and their cached results, and its lists.
pub fn with_cached(runs: &[RunData; 2]) -> (TempDir, PathBuf, Store, [Vec<String>; 3]) {
    let (folder, path, store) = common::with(runs);
    for run in runs {
        let id = &run.info.id;
        assert!(store.cache(id, "1", run.launches.len(), &common::results(id)));
    }
    let right = lists(&store, runs).map(Result::unwrap);
    assert!(right.iter().all(|list| list.len() == 2), "{right:?}");
    (folder, path, store, right)
}

#[test]
fn damaged_stores_never_panic() {
    let runs = [common::run(1, 12), common::run(2, 12)];
    let (_folder, path, store, right) = with_cached(&runs);
    let benchmarks = runs[0].benchmarks.len() as u64;
    drop(store);
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    mutation::each(&[&whole], |bytes, random| {
        let kind = random.random_range(0..3);
        let mut bytes = if kind == 0 { &whole } else { bytes }.to_vec();
        if kind < 2 {
            damage_pages(&mut bytes, random);
        }
        for end in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{end}", path.display()));
        }
        fs::write(&path, &bytes).unwrap();
        for opened in [Store::open_read_only(&path), Store::open(&path)] {
            let Ok(store) = opened else {
                refused += 1;
                continue;
            };
            for (index, list) in lists(&store, &runs).into_iter().enumerate() {
                match list {
                    Ok(list) => assert_eq!(list, right[index], "{index}"),
                    Err(error) => {
                        refused += 1;
                        let message = error.to_string();
                        let path = path.display().to_string();
                        assert!(message.contains(&path), "{message}");
                    }
                }
            }
            for head in store.runs().into_iter().flatten() {
                assert_eq!(head.benchmarks, benchmarks, "{head:?}");
            }
            for run in &runs {
                let id = &run.info.id;
                match store.load(id) {
                    Ok(read) => assert_eq!(read, *run, "another result without an error"),
                    Err(_) => refused += 1,
                }
                if let Ok(Some(cached)) = store.results(id, "1") {
                    assert_eq!(cached, common::results(id), "another cached result");
                }
            }
        }
    });
    assert!(refused > 0);
}
