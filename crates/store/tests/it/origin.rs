//! Where runs come from: what was imported is never gone on with, nor what another user or another machine began.

use crate::common;
use gritstone_model::{Origin, Owner, RunData};
use gritstone_store::{Store, StoreError};

fn cut_off(number: u32) -> RunData {
    let mut run = common::run(number, 2);
    run.info.elapsed_s = None;
    run
}

#[test]
fn what_was_imported_takes_nothing_more_and_is_not_resumed() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let run = cut_off(1);
    store.import(&run).unwrap();
    let id = &run.info.id;
    let imported = |error: StoreError| matches!(error, StoreError::Imported { .. });
    assert!(imported(store.resume(id, &common::owner()).unwrap_err()));
    assert!(imported(store.append(id, &common::launch(2)).unwrap_err()));
    assert!(imported(store.finish(id, 1.0).unwrap_err()));
    assert!(store.resumable(&common::owner()).unwrap().is_empty());
    assert_eq!(store.runs().unwrap()[0].origin, Origin::Imported);
    assert_eq!(store.load(id).unwrap(), run);
}

#[test]
fn only_who_began_a_run_goes_on_with_it_where_it_began() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let run = cut_off(1);
    common::store(&mut store, &run);
    common::store(&mut store, &common::run(2, 1));
    let (owner, id) = (common::owner(), &run.info.id);
    for other in [
        Owner {
            uid: owner.uid + 1,
            ..owner.clone()
        },
        Owner {
            machine: "another".into(),
            ..owner.clone()
        },
    ] {
        let error = store.resume(id, &other).unwrap_err();
        assert!(matches!(error, StoreError::NotYours { .. }), "{error:?}");
        assert!(store.resumable(&other).unwrap().is_empty());
    }
    let ids = |runs: Vec<gritstone_store::RunHead>| -> Vec<String> {
        runs.into_iter().map(|run| run.id).collect()
    };
    assert_eq!(ids(store.resumable(&owner).unwrap()), [id.as_str()]);
    assert_eq!(store.resume(id, &owner).unwrap().into_data(), run);
    let ended = store.resume(&common::info(2).id, &owner).unwrap_err();
    assert!(matches!(ended, StoreError::Ended { .. }), "{ended:?}");
}

#[test]
fn a_file_that_others_can_write_says_nothing_of_who_began_a_run() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = common::place();
    let run = cut_off(1);
    let mut store = Store::open(&path).unwrap();
    common::store(&mut store, &run);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    let error = store.resume(&run.info.id, &common::owner()).unwrap_err();
    assert!(matches!(error, StoreError::NotYours { .. }), "{error:?}");
}
