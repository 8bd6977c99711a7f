//! Damaged stores, by bytes and by pages: read, or refused with an error, and never a crash or another result.

use crate::{common, mutation};
use gritstone_store::Store;
use rand::RngExt;
use rand_pcg::Pcg64;
use std::fs;

/// Bytes that SQLite reads as a unit.
const PAGE: usize = 4096;

/// Half of the time two pages change places, or one comes twice, as a disk that writes in the wrong place leaves them.
fn misplace(bytes: &mut [u8], random: &mut Pcg64) {
    let pages = bytes.len() / PAGE;
    if pages < 2 || random.random() {
        return;
    }
    let mut page = || random.random_range(0..pages) * PAGE;
    let (from, to) = (page(), page());
    let copy = bytes[from..from + PAGE].to_vec();
    if random.random() {
        bytes.copy_within(to..to + PAGE, from);
    }
    bytes[to..to + PAGE].copy_from_slice(&copy);
}

#[test]
fn damaged_stores_never_panic() {
    let runs = [common::run(1, 12), common::run(2, 12)];
    let (_folder, path, store) = common::with(&runs);
    drop(store);
    let whole = fs::read(&path).unwrap();
    mutation::each(&[&whole], |bytes, random| {
        let mut bytes = bytes.to_vec();
        misplace(&mut bytes, random);
        for end in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{end}", path.display()));
        }
        fs::write(&path, &bytes).unwrap();
        for opened in [Store::open_read_only(&path), Store::open(&path)] {
            let Ok(store) = opened else { continue };
            let _ = store.runs();
            for run in &runs {
                if let Ok(read) = store.load(&run.info.id) {
                    assert_eq!(read, *run, "another result without an error");
                }
            }
        }
    });
}
