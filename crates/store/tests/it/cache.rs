//! The cache of results: used where it is of this analysis and of all that the run has measured, and nowhere else.

use crate::common::{self, Raw, results};
use gritstone_store::{Results, Store};

#[test]
fn cache_is_valid_until_changes() {
    let run = common::cut_off(1, 2);
    let (_folder, path, mut store) = common::with(std::slice::from_ref(&run));
    let id = &run.info.id;
    let not_cached = |store: &Store, analysis| store.not_cached(analysis).unwrap();
    assert_eq!(not_cached(&store, "1"), [id.as_str()]);
    assert!(!store.cache(id, "1", 3, &results("run")), "it has two launches");
    assert!(store.cache(id, "1", 2, &results("run")));
    let cached = |store: &Store| store.results(id, "1").unwrap();
    assert_eq!(cached(&store), Some(results("run")));
    assert!(not_cached(&store, "1").is_empty());
    let one = |name: &str| store.result(id, "1", Some(&common::id(name))).unwrap();
    assert_eq!(one("byte/pipe").unwrap().results, results("run").results[..1]);
    assert_eq!(one("no/such"), None);
    let none = store.result(id, "1", None).unwrap().unwrap();
    assert_eq!((none.past, none.results), (results("run").past, vec![]));

    assert_eq!(store.results(id, "2").unwrap(), None);
    assert_eq!(not_cached(&store, "2"), [id.as_str()]);
    common::append(&mut store, id, &common::launch(2));
    assert_eq!(cached(&store), None, "of fewer launches");
    assert!(store.cache(id, "1", 3, &results("run")));
    store.finish(id, 9.0).unwrap();
    assert_eq!(cached(&store), None, "of a run without an end");
    assert!(store.cache(id, "1", 3, &results("run")));
    assert!(store.cache(id, "1", 3, &results("run")), "once more");
    drop(store);

    // a reader of a file caches too, and the cache may go at any time
    let mut other = Raw::open(&path);
    other.execute("DELETE FROM cached_run").unwrap();
    let mut store = Store::open_read_only(&path).unwrap();
    assert_eq!(cached(&store), None);
    if matches!(other, Raw::Server(_)) {
        assert!(!store.cache(id, "1", 3, &results("run")));
        store = Store::open(&path).unwrap();
    }
    assert!(store.cache(id, "1", 3, &results("run")));
    assert_eq!(cached(&store), Some(results("run")));
    assert_eq!(store.verify().unwrap(), [""; 0]);
    // while another writes, nothing waits for the cache
    let write = match &other {
        Raw::File(_) => "BEGIN IMMEDIATE",
        Raw::Server(_) => "BEGIN; LOCK TABLE cached_run",
    };
    other.execute(write).unwrap();
    assert!(!store.cache(id, "1", 3, &results("run")));
}

#[test]
fn batched_results_equal_single_ones() {
    let runs: Vec<_> = (1..=70).map(|number| common::run(number, 1)).collect();
    let (_folder, path, store) = common::with(&runs);
    let ids: Vec<&str> = runs.iter().map(|run| run.info.id.as_str()).collect();
    for (index, id) in ids.iter().enumerate() {
        let past = format!("past {index}");
        let stored = Results { past, ..results("run") };
        // one is not cached
        assert!(index == 40 || store.cache(id, "1", 1, &stored));
    }
    // one is not as it was written
    let changed = "UPDATE cached_result SET result = 'x' WHERE run = 8";
    Raw::open(&path).execute(changed).unwrap();
    for benchmark in [None, Some(common::id("byte/pipe"))] {
        let together = store.results_of_each(&ids, "1", benchmark.as_ref());
        let together: Vec<_> = together.unwrap().into_iter().map(Result::unwrap).collect();
        let alone = |id: &&str| store.result(id, "1", benchmark.as_ref()).unwrap();
        assert_eq!(together, ids.iter().map(alone).collect::<Vec<_>>());
        for (index, found) in together.iter().enumerate() {
            let there = index != 40 && (index != 7 || benchmark.is_none());
            assert_eq!(found.is_some(), there, "{index}");
            let past = found.as_ref().map(|results| results.past.clone());
            assert_eq!(past, there.then(|| format!("past {index}")));
        }
    }
    assert!(store.results_of_each(&[], "1", None).unwrap().is_empty());
}

#[test]
fn changed_results_are_ignored() {
    for change in [
        "UPDATE cached_run SET view = '{}'",
        "UPDATE cached_run SET past = '{}'",
        "UPDATE cached_run SET results = 1",
        "UPDATE cached_result SET result = '{}' WHERE position = 0",
        "UPDATE cached_result SET benchmark = 'byte/other' WHERE position = 0",
        "DELETE FROM cached_result WHERE position = 0",
        "CREATE TEMP TABLE two AS SELECT * FROM cached_result; DELETE FROM cached_result; \
         UPDATE two SET run = 3 - run; INSERT INTO cached_result SELECT * FROM two",
    ] {
        let (_folder, path, store) = common::with(&[common::run(1, 1), common::run(2, 1)]);
        for number in [1, 2] {
            assert!(store.cache(&common::info(number).id, "1", 1, &results("run")));
        }
        Raw::open(&path).execute(change).unwrap();
        let (id, benchmark) = (&common::info(1).id, common::id("byte/pipe"));
        assert_eq!(store.results(id, "1").unwrap(), None, "{change}");
        let one = store.result(id, "1", Some(&benchmark)).unwrap();
        assert!(one.is_none(), "{change}");
        // an entry finds the run all the same
        assert_eq!(store.newest(std::slice::from_ref(&benchmark), 9, None).unwrap()[0].len(), 2);
    }
}
