//! Runs whose launches were pruned: their results are permanent, and changes of them are detected.

use crate::common::{self, Raw, force, results};
use crate::processes::{PLACE, kill_after, start};
use gritstone_model::RunData;
use gritstone_store::{Pruned, Results, Scope, Shrunk, Store, StoreError, UploadOutcome};
use std::env;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

const NOW: &str = "2026-11-25T12:00:00Z";

fn prune(store: &mut Store, run: &RunData) -> Result<(), StoreError> {
    let id = &run.info.id;
    store.prune(id, "1", run.launches.len(), &results(id), NOW)
}

/// The same results, since they were kept.
fn with_pruned(run: &RunData, label: Option<&str>) -> Results {
    Results {
        pruned: Some(Pruned {
            time: NOW.to_owned(),
            analysis: "1".to_owned(),
            label: label.map(str::to_owned),
        }),
        ..results(&run.info.id)
    }
}

#[test]
fn pruned_runs_keep_results() {
    let runs = [common::run(1, 3), common::run(2, 4)];
    let (_folder, path, mut store) = common::with(&runs);
    let [one, other] = [0, 1].map(|index: usize| runs[index].info.id.as_str());
    for (index, run) in runs.iter().enumerate() {
        assert!(store.cache(&run.info.id, "1", 3 + index, &results(&run.info.id)));
    }
    let samples = store.samples(one).unwrap();
    assert_eq!(samples.launches, 3);
    assert!(samples.bytes > 1000, "{samples:?}");
    let before = (store.recurring().unwrap(), store.revision().unwrap());

    prune(&mut store, &runs[0]).unwrap();
    assert_eq!(store.samples(one).unwrap().launches, 0);
    let error = store.load(one).unwrap_err().to_string();
    assert!(error.contains(&format!("pruned on {NOW}")), "{error}");
    assert!(error.contains("gritstone show"), "{error}");
    // on a server nothing is resumed
    if !gritstone_store::is_server(&path) {
        common::fails(store.resume(one, &common::owner()), "Pruned");
    }
    common::fails(prune(&mut store, &runs[0]), "Pruned");
    // whatever the analysis is by now
    for analysis in ["1", "2"] {
        assert_eq!(store.results(one, analysis).unwrap(), Some(with_pruned(&runs[0], None)));
    }
    let result = |name: &str| store.result(one, "2", Some(&common::id(name))).unwrap();
    assert_eq!(result("byte/pipe").unwrap().results, results(one).results[..1]);
    assert_eq!(result("no/such"), None);
    let none = store.result(one, "2", None).unwrap().unwrap();
    assert_eq!((none.past, none.results.len()), (results(one).past, 0));
    let both = store.results_of_each(&[other, one], "1", Some(&common::id("byte/pipe")));
    let both = both.unwrap().into_iter().map(|result| result.unwrap().unwrap());
    let since: Vec<_> = both.map(|results| (results.past, results.pruned)).collect();
    let expected =
        [results(other), with_pruned(&runs[0], None)].map(|results| (results.past, results.pruned));
    assert_eq!(since, expected);
    assert_eq!(store.not_cached("2").unwrap(), [other]);
    assert!(
        !store.cache(one, "2", 3, &results("other"))
            && !store.cache(one, "2", 0, &results("other"))
    );
    // it is a run like others
    assert_eq!(store.recurring().unwrap(), before.0);
    assert_ne!(store.revision().unwrap(), before.1);
    let found = store.newest(&[common::id("byte/pipe")], 9, None).unwrap().concat();
    assert_eq!(found.len(), 2);
    assert_eq!(store.resolve("last~1", common::here).unwrap().id, one);
    assert_eq!(store.info(one).unwrap().machine, runs[0].info.machine);
    let heads = store.runs().unwrap();
    let pruned: Vec<_> = heads.iter().map(|head| head.pruned.as_deref()).collect();
    assert_eq!(pruned, [Some(NOW), None]);
    assert_eq!(heads[0].elapsed_s, Some(12.25));
    store.label(one, "baseline").unwrap();
    assert_eq!(store.results(one, "1").unwrap(), Some(with_pruned(&runs[0], Some("baseline"))));
    common::check_intact(&store, &runs[1]);
    drop(store);

    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.verify().unwrap(), [""; 0]);
    store.remove(one).unwrap();
    assert_eq!(store.results(one, "1").unwrap(), None);
    assert_eq!(Raw::open(&path).texts("SELECT run FROM kept_result"), [[""; 1]; 0]);
    store.import(&runs[0]).unwrap();
    common::check_intact(&store, &runs[0]);
}

#[test]
fn unfinished_runs_are_not_pruned() {
    let open = common::cut_off(1, 3);
    let whole = common::run(2, 3);
    let (_folder, _path, mut store) = common::with(&[open.clone(), whole.clone()]);
    common::fails(prune(&mut store, &open), "NotPruned");
    let fewer = common::run(2, 2);
    common::fails(prune(&mut store, &fewer), "NotPruned");
    common::fails(prune(&mut store, &common::run(3, 2)), "NoSuchRun");
    for run in [&open, &whole] {
        assert_eq!(store.load(&run.info.id).unwrap(), *run);
    }
}

/// Uploads of a pruned run are recognized by its hashes.
#[test]
fn pruned_runs_recognize_uploads() {
    let run = common::run(1, 3);
    let (_folder, _path, mut store) = common::with(&[]);
    store.add_token("node", "secret", &[Scope::Write], NOW).unwrap();
    let token = store.token("secret").unwrap().unwrap();
    assert_eq!(store.receive(&token, &run, NOW).unwrap(), UploadOutcome::Created);
    prune(&mut store, &run).unwrap();
    assert_eq!(store.receive(&token, &run, NOW).unwrap(), UploadOutcome::Unchanged);
    let labeled = |label: &str| {
        let mut run = run.clone();
        run.info.label = Some(label.to_owned());
        run
    };
    assert_eq!(store.import_once(&labeled("other")).unwrap(), UploadOutcome::Unchanged);
    let mut changed = run.clone();
    changed.launches[1].start += 1;
    let mut settings = run.clone();
    settings.info.settings.seed += 1;
    for other in [changed, settings, common::run(1, 2)] {
        assert_eq!(store.import_once(&other).unwrap(), UploadOutcome::Conflict);
    }
}

#[test]
fn triggers_guard_pruning() {
    let run = common::run(1, 2);
    let (_folder, path, mut store) = common::with(std::slice::from_ref(&run));
    let mut raw = Raw::open(&path);
    let delete = "DELETE FROM launch WHERE run = 1";
    let enter = "INSERT INTO ledger VALUES (9, '', 1, 'prune', '')";
    let keep = "INSERT INTO kept_run VALUES (1, '', '', '', 0, '', '')";
    let add = "INSERT INTO kept_result VALUES (1, 7, '', '', '')";
    let refused = |raw: &mut Raw, statements: &str| {
        let error = raw.execute(statements).unwrap_err();
        assert!(error.starts_with("append-only: "), "{statements}: {error}");
        let _ = raw.execute("ROLLBACK");
    };
    refused(&mut raw, delete);
    refused(&mut raw, &format!("BEGIN; {enter}; {delete}"));
    refused(&mut raw, &format!("BEGIN; {keep}; {delete}"));
    assert_eq!(store.load(&run.info.id).unwrap(), run);
    prune(&mut store, &run).unwrap();
    for statement in [
        add,
        keep,
        "DELETE FROM kept_run",
        "DELETE FROM kept_result",
        "UPDATE kept_run SET view = ''",
        "UPDATE kept_result SET result = ''",
        "INSERT INTO launch VALUES (1, 0, '', 'byte/pipe', 0, 0, '[]', 'measured', NULL, 0, '{}', '[]')",
    ] {
        refused(&mut raw, statement);
    }
    assert_eq!(store.results(&run.info.id, "1").unwrap(), Some(with_pruned(&run, None)));
    assert_eq!(store.verify().unwrap(), [""; 0]);
}

#[test]
fn pruned_results_detect_damage() {
    let exchange = |table: &str| {
        format!(
            "CREATE TEMP TABLE two AS SELECT * FROM {table}; DELETE FROM {table}; UPDATE two SET run = 3 - run; \
             INSERT INTO {table} SELECT * FROM two"
        )
    };
    for change in [
        "UPDATE kept_run SET view = '{}' WHERE run = 1",
        "UPDATE kept_run SET past = '{}' WHERE run = 1",
        "UPDATE kept_run SET results = 1 WHERE run = 1",
        "UPDATE kept_run SET analysis = '2' WHERE run = 1",
        "UPDATE kept_run SET sealed = seal WHERE run = 1",
        "UPDATE kept_result SET result = '{}' WHERE run = 1 AND position = 0",
        "UPDATE kept_result SET benchmark = 'byte/other' WHERE run = 1 AND position = 0",
        "DELETE FROM kept_result WHERE run = 1 AND position = 0",
        "DELETE FROM kept_result WHERE run = 1; DELETE FROM kept_run WHERE run = 1",
        "UPDATE ledger SET sealed = 'x' WHERE run = 1 AND entry = 'prune'",
        &exchange("kept_result"),
        &format!("{}; DROP TABLE two; {}", exchange("kept_result"), exchange("kept_run")),
    ] {
        let runs = [common::run(1, 3), common::run(2, 3)];
        let (_folder, path, mut store) = common::with(&runs);
        for run in &runs {
            prune(&mut store, run).unwrap();
        }
        assert_eq!(store.verify().unwrap(), [""; 0]);
        force(&path, change);
        let (id, pipe) = (&runs[0].info.id, common::id("byte/pipe"));
        let whole = store.results(id, "1");
        assert!(matches!(whole, Err(StoreError::Damaged(..))), "{change}: {whole:?}");
        let one = store.result(id, "1", Some(&pipe));
        assert!(matches!(one, Err(StoreError::Damaged(..))), "{change}: {one:?}");
        assert!(!store.verify().unwrap().is_empty(), "{change}");
        if !change.contains("TEMP") {
            let other = store.results(&runs[1].info.id, "1").unwrap();
            assert_eq!(other, Some(with_pruned(&runs[1], None)), "{change}");
        }
    }
    // nor can launches come back, or the entry go
    for change in [
        "INSERT INTO launch SELECT 1, number, seal, benchmark, round, start_ns, cpus, outcome, why, wall_ns, conditions, events \
         FROM launch WHERE run = 2",
        "DELETE FROM ledger WHERE entry = 'prune'",
        "UPDATE run_end SET elapsed_s = 1 WHERE run = 1",
    ] {
        let runs = [common::run(1, 3), common::run(2, 3)];
        let (_folder, path, mut store) = common::with(&runs);
        prune(&mut store, &runs[0]).unwrap();
        force(&path, change);
        assert!(!store.verify().unwrap().is_empty(), "{change}");
        let loaded = store.load(&runs[0].info.id);
        assert!(loaded.is_err(), "{change}");
    }
}

/// A failure in the middle leaves all launches.
#[test]
fn pruning_is_atomic() {
    let run = common::run(1, 3);
    let (_folder, path, mut store) = common::with(std::slice::from_ref(&run));
    // what is there already cannot be kept
    let twice = "INSERT INTO kept_run VALUES (1, '', '', '', 0, '', '')";
    Raw::open(&path).execute(twice).unwrap();
    assert!(prune(&mut store, &run).is_err());
    assert_eq!(store.load(&run.info.id).unwrap(), run);
    assert_eq!(store.runs().unwrap()[0].pruned, None);
}

/// The child of the next test: stores the results of run after run and reports each, until it is killed.
#[test]
#[ignore = "started by the other test"]
fn pruner() {
    let path = PathBuf::from(env::var_os(PLACE).expect("started by the other test"));
    let mut store = Store::open(&path).unwrap();
    let mut out = std::io::stdout();
    for number in 1..=KILLED {
        prune(&mut store, &common::run(number, 20)).unwrap();
        writeln!(out, "stored {number}").and_then(|()| out.flush()).unwrap();
    }
}

/// Runs of the store of the process that is killed.
const KILLED: u32 = 40;

#[test]
fn killed_pruning_is_atomic() {
    let runs: Vec<RunData> = (1..=KILLED).map(|number| common::run(number, 20)).collect();
    for most in [1, 4, 9] {
        let (_folder, path, store) = common::with(&runs);
        drop(store);
        let reported = kill_after(start("pruned::pruner", &path, KILLED), most);
        let store = Store::open(&path).unwrap();
        assert_eq!(store.verify().unwrap(), [""; 0]);
        let heads = store.runs().unwrap();
        for (run, head) in runs.iter().zip(&heads) {
            let id = &run.info.id;
            match &head.pruned {
                Some(_) => {
                    assert_eq!(store.results(id, "2").unwrap(), Some(with_pruned(run, None)))
                }
                None => assert_eq!(store.load(id).unwrap(), *run),
            }
        }
        let pruned = heads.iter().filter(|head| head.pruned.is_some()).count();
        assert!(
            reported >= most && [reported, reported + 1].contains(&pruned),
            "{pruned}, reported {reported}"
        );
    }
}

#[test]
fn shrink_needs_sole_use_as_a_file() {
    let run = |number| {
        let mut run = common::run(number, 30);
        run.launches.iter_mut().for_each(|launch| launch.cpus = (0..400).collect());
        run
    };
    let runs: Vec<RunData> = (1..=20).map(run).collect();
    let (_folder, path, mut store) = common::with(&runs);
    let size = || fs::metadata(&path).unwrap().len();
    assert!(matches!(store.shrink().unwrap(), Shrunk::Little(_)));
    for run in &runs[..15] {
        prune(&mut store, run).unwrap();
    }
    // the log is taken in
    drop(store);
    let before = size();
    let mut store = Store::open(&path).unwrap();
    let reader = Store::open_read_only(&path).unwrap();
    assert_eq!(reader.runs().unwrap().len(), 20);
    let used = store.shrink().unwrap();
    assert!(matches!(used, Shrunk::InUse(bytes) if bytes > before / 2), "{used:?}");
    assert_eq!(reader.load(&runs[19].info.id).unwrap(), runs[19]);
    drop(reader);
    let Shrunk::To(bytes) = store.shrink().unwrap() else {
        panic!("no other process has it");
    };
    assert!(bytes < before / 2, "{bytes} of {before}");
    // it has its log again, and is the store that it was
    let mode = Raw::open(&path).texts("PRAGMA journal_mode");
    assert_eq!(mode, [["wal".to_owned()]]);
    assert_eq!(store.load(&runs[19].info.id).unwrap(), runs[19]);
    assert_eq!(store.results(&runs[0].info.id, "1").unwrap(), Some(with_pruned(&runs[0], None)));
    assert_eq!(store.verify().unwrap(), [""; 0]);
    drop(store);
    assert_eq!(size(), bytes);
}
