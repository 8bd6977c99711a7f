//! Behavior of an intact store.

use crate::common::{self, Raw};
use gritstone_model::{
    ChangeState, CommandWork, Commit, Conditions, Contents, CustomCatalog, CustomFile, Event, Id,
    Launch, Origin, Outcome, Owner, Param, RunData, RunInfo, TriageEntry, TrialSide, Work,
};
use gritstone_store::{
    ChangeEntry, EntryContent, NewTriageEntry, ResolveError, RunHead, Store, StoreError,
    ThisMachine, Who,
};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The run with this text, number and real wherever one may stand.
fn awkward(serial: u32, text: &str, number: u64, real: f64) -> RunData {
    let text = || text.to_owned();
    let texts = || BTreeMap::from([(text(), text()), ("k".to_owned(), text())]);
    let mut run = common::run(serial, 2);
    let info = &mut run.info;
    info.gritstone = text();
    info.machine.name = text();
    info.machine.facts = texts();
    info.settings.seed = number;
    info.settings.precision = real;
    info.settings.environment = texts();
    let file = CustomFile { executable: true, contents: Contents::new(b"\x7fELF\xff".to_vec()) };
    info.settings.catalogue = Some(CustomCatalog {
        name: text(),
        hash: text(),
        families: vec![text()],
        files: BTreeMap::from([(text(), file)]),
    });
    let entry = &mut run.benchmarks[1];
    entry.title = text();
    entry.amount_per_op = real;
    entry.work = Work::Command(CommandWork {
        argv: vec![text()],
        files: texts(),
        input: Some(text()),
        ..CommandWork::default()
    });
    run.skips[0].reason = text();
    let why = text;
    let outcomes = [Outcome::Skipped(why()), Outcome::Failed(why()), Outcome::TimedOut(why())];
    run.launches.extend(outcomes.map(|outcome| Launch {
        start: number,
        cpus: vec![u32::MAX],
        copies: 1 + serial,
        outcome,
        events: vec![
            Event::Param(Param::new(text(), text())),
            Event::Warm { n: number, wall: 1 },
            Event::Skip { why: text() },
            Event::Fail { errno: i32::MIN, call: text(), why: text() },
        ],
        conditions: Conditions {
            wall: number,
            memory_limit: Some(number),
            ..Conditions::default()
        },
        ..common::launch(2)
    }));
    run
}

#[test]
fn impossible_times_count_as_failed() {
    let (_folder, _, mut store) = common::with(&[]);
    let mut run = common::run(0, 2);
    let samples = gritstone_testkit::samples(&mut run.launches[1]);
    samples.for_each(|sample| sample.wall = 1 << 62);
    store.import(&run).unwrap();
    let stored = store.load(&run.info.id).unwrap().launches;
    assert_eq!(stored[0], run.launches[0]);
    assert_eq!(stored[1].outcome.name(), "failed");
    let why = stored[1].outcome.why();
    assert!(why.ends_with("and the whole launch took 0.050 s"), "{why}");
    assert_eq!(stored[1].events, run.launches[1].events);
}

#[test]
fn memory_stores_write_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::current_dir().unwrap().join(":memory:");
    let mut store = Store::in_memory().unwrap();
    let run = common::run(0, 2);
    common::store(&mut store, &run);
    common::check_intact(&store, &run);
    assert!(store.is_in_memory() && Store::in_memory().unwrap().runs().unwrap().is_empty());
    assert!(!path.exists());
    let named = Store::open(&folder.path().join(":memory:")).unwrap();
    assert!(!named.is_in_memory());
}

#[test]
fn arbitrary_runs_round_trip() {
    let texts = ["", "'; DROP TABLE run; --\"\0\n€", "\u{feff}\u{202e}\u{10ffff}", "\\u0000"];
    let numbers = [0, i64::MAX as u64, 1 << 63, u64::MAX];
    let reals = [-0.0, 5e-324, 0.1 + 0.2, f64::MIN, f64::MAX];
    let (_folder, path, mut store) = common::with(&[]);
    let mut runs = vec![];
    for text in texts {
        for (number, real) in numbers.into_iter().zip(reals.into_iter().skip(runs.len() / 4 % 2)) {
            let run = awkward(runs.len() as u32, text, number, real);
            // half of them in one piece
            match runs.len() % 2 {
                0 => common::store(&mut store, &run),
                _ => store.import(&run).unwrap(),
            }
            runs.push(run);
        }
    }
    drop(store);
    let store = Store::open_read_only(&path).unwrap();
    for run in &runs {
        assert_eq!(store.load(&run.info.id).unwrap(), *run);
    }
    assert_eq!(store.runs().unwrap().len(), runs.len());
}

#[test]
fn empty_store_is_reported_as_a_file() {
    let (folder, _) = common::place();
    let path = folder.path().join("share/gritstone/gritstone.db");
    common::fails(Store::open_read_only(&path), "Missing");
    assert!(!path.exists(), "reading creates nothing");
    let store = Store::open(&path).unwrap();
    for name in ["share", "share/gritstone"] {
        let mode = folder.path().join(name).metadata().unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o700, "{name}: for its owner alone");
    }
    assert_eq!(store.runs().unwrap(), []);
    assert!(matches!(store.resolve("last", common::here), Err(ResolveError::NoneYet)));
    common::fails(store.load("20261121-093012-00000000"), "NoSuchRun");
}

#[test]
fn listings_sort_by_start() {
    let mut late = common::run(30, 3);
    late.info.label = Some("after".into());
    late.launches[1].outcome = Outcome::Failed("pipe: EMFILE".into());
    late.launches[2].outcome = Outcome::TimedOut("10 s".into());
    let mut early = common::cut_off(7, 1);
    early.launches[0].outcome = Outcome::Skipped("no second CPU".into());
    let (_folder, _, mut store) = common::with(&[late.clone(), early.clone()]);

    let heads = store.runs().unwrap();
    for (head, run) in heads.iter().zip([&early, &late]) {
        let info = &run.info;
        assert_eq!((&head.id, &head.label), (&info.id, &info.label));
        assert_eq!(head.elapsed_s, info.elapsed_s);
        assert_eq!((&head.started, &head.gritstone), (&info.started, &info.gritstone));
        let machine = (&head.machine_id, &head.machine, &head.system);
        let expected = &info.machine;
        assert_eq!(machine, (&expected.id, &expected.name, &expected.system));
    }
    assert_eq!(store.resolve("last", common::here).unwrap().id, late.info.id);
    // the early one has measured nothing
    common::fails(store.resolve("last~1", common::here), "TooFar");
    // nor has another machine any
    let elsewhere = || ThisMachine { owner: "elsewhere".into(), ..common::here() };
    common::fails(store.resolve("last", elsewhere), "NoneHere");
    assert_eq!(store.resolve("after", common::here).unwrap().id, late.info.id);

    // one of a clock that was ahead comes after all others
    let between = || ThisMachine { now: early.info.started.clone(), ..common::here() };
    let past = common::run(3, 1);
    common::store(&mut store, &past);
    assert_eq!(store.resolve("last", between).unwrap().id, past.info.id);
    assert_eq!(store.resolve("last~1", between).unwrap().id, late.info.id);

    // of several in one second the one stored later is the last
    for (random, fraction) in [(9, ".75"), (3, ""), (5, ".5")] {
        let started = format!("2026-11-21T09:50:12{fraction}Z");
        let mut run = common::run(0, 0);
        run.info.id = gritstone_store::new_id(started.parse().unwrap(), random);
        run.info.started = started;
        common::begin(&mut store, &run);
        assert_eq!(store.runs().unwrap().last().unwrap().id, run.info.id);
    }
}

#[test]
fn runs_are_relabeled_and_removed() {
    let runs = [common::run(1, 2), common::run(2, 3)];
    let (_folder, path, mut store) = common::with(&runs);
    let [one, other] = [0, 1].map(|index: usize| runs[index].info.id.as_str());
    store.label(one, "baseline").unwrap();
    store.label(one, "main").unwrap();
    assert!(matches!(store.label(one, "last"), Err(StoreError::Unfit(_))));
    let named = store.resolve("main", common::here).unwrap();
    assert_eq!((named.id.as_str(), named.labeled), (one, 1));
    assert!(store.resolve("baseline", common::here).is_err());
    assert_eq!(store.load(one).unwrap().info.label.as_deref(), Some("main"));
    assert_eq!(store.runs().unwrap()[0].label.as_deref(), Some("main"));

    store.remove(one).unwrap();
    common::fails(store.load(one), "NoSuchRun");
    common::fails(store.remove(one), "NoSuchRun");
    common::check_intact(&store, &runs[1]);
    drop(store);
    // its place in the ledger stays, its number is not given again, and it may come back as another
    let mut store = Store::open(&path).unwrap();
    store.remove(other).unwrap();
    store.import(&runs[0]).unwrap();
    common::check_intact(&store, &runs[0]);
    let mut raw = Raw::open(&path);
    assert_eq!(raw.texts("SELECT number FROM run"), [["3".to_owned()]]);
    let refused = raw.execute("DELETE FROM launch WHERE run = 3").unwrap_err();
    assert!(refused.contains("append-only"), "{refused}");
}

#[test]
fn ended_runs_take_no_launches() {
    let (_folder, path, mut store) = common::with(&[]);
    let mut run = common::cut_off(1, 2);
    let id = run.info.id.clone();
    common::fails(store.append(&id, &common::launch(0)), "NoSuchRun");
    common::fails(store.finish(&id, 1.0), "NoSuchRun");
    common::store(&mut store, &run);
    drop(store);

    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.load(&id).unwrap(), run);
    common::append(&mut store, &id, &common::launch(2));
    store.finish(&id, 99.5).unwrap();
    run.launches.push(common::launch(2));
    run.info.elapsed_s = Some(99.5);
    common::fails(store.append(&id, &common::launch(3)), "Ended");
    common::fails(store.finish(&id, 13.0), "Ended");
    let again = store.begin(&common::owner(), &common::info(1), &[], &[].into(), &[]);
    for again in [again, store.import(&run)] {
        common::fails(again, "Exists");
    }
    assert_eq!(store.load(&id).unwrap(), run);
}

/// Only the owner resumes a run, on its machine; imported runs accept nothing more.
#[test]
fn only_the_owner_resumes_as_a_file() {
    let (imported, begun) = (common::cut_off(1, 2), common::cut_off(2, 2));
    let (_folder, path, mut store) = common::with(&[begun.clone(), common::run(3, 1)]);
    store.import(&imported).unwrap();
    let id = &imported.info.id;
    common::fails(store.resume(id, &common::owner()), "Imported");
    common::fails(store.append(id, &common::launch(2)), "Imported");
    common::fails(store.finish(id, 1.0), "Imported");
    assert_eq!(store.runs().unwrap()[0].origin, Origin::Imported);
    assert_eq!(store.load(id).unwrap(), imported);

    let (owner, id) = (common::owner(), &begun.info.id);
    let (uid, machine) = (owner.uid, owner.machine.clone());
    let not_theirs = |store: &Store, owner: &Owner| {
        common::fails(store.resume(id, owner), "NotYours");
    };
    for other in [Owner { uid: uid + 1, machine }, Owner { uid, machine: "another".into() }] {
        not_theirs(&store, &other);
        assert!(store.resumable(&other).unwrap().is_empty());
    }
    let resumable = store.resumable(&owner).unwrap();
    assert_eq!(resumable.len(), 1);
    assert_eq!(resumable[0].id, *id);
    assert_eq!(store.resume(id, &owner).unwrap().into_data(), begun);
    common::fails(store.resume(&common::info(3).id, &owner), "Ended");
    // a file that others can write says nothing of who began a run
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
    not_theirs(&store, &owner);
}

#[test]
fn unstorable_values_are_refused() {
    let (_folder, _, mut store) = common::with(&[]);
    let mut cases = vec![common::run(1, 1); 8];
    cases[0].info.settings.budget_s = Some(f64::INFINITY);
    cases[1].benchmarks[1].amount_per_op = f64::NAN;
    cases[2].info.label = Some("last~1".into());
    cases[3].info.id = "x/../y".into();
    cases[4].info.started = "today".into();
    cases[5].info.elapsed_s = Some(-1.0);
    cases[6].launches[0].copies = 0;
    cases[7].info.elapsed_s = Some(-0.0);
    for run in &cases {
        common::fails(store.import(run), "Unfit");
    }
    let ended = common::run(1, 0).info;
    let begun = store.begin(&common::owner(), &ended, &[], &[].into(), &[]);
    common::fails(begun, "Unfit");
    assert_eq!(store.runs().unwrap(), []);
    store.import(&common::run(1, 1)).unwrap();
}

#[test]
fn triggers_refuse_changes_as_a_file() {
    let run = common::run(2, 2);
    let (_folder, path, mut store) = common::with(&[]);
    common::fill_tables(&mut store, &run);
    let mut other = Raw::open(&path);
    let columns = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c \
         WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE 'cached%'";
    let columns: Vec<[String; 2]> = other.texts(columns);
    assert!(columns.len() > 40, "{columns:?}");
    let mut statements = vec![
        "INSERT INTO launch SELECT run, number + 2, seal, benchmark, round, start_ns, cpus, outcome, why, wall_ns, \
         conditions, events FROM launch".to_owned(),
        "REPLACE INTO run SELECT number + 1, seal, id, origin, owner_uid, owner_machine, label, started, gritstone, machine_id, \
         machine_name, machine_system, settings, machine FROM run".to_owned(),
    ];
    for [table, column] in &columns {
        statements.extend([
            format!("UPDATE {table} SET {column} = {column}"),
            format!("UPDATE OR REPLACE {table} SET {column} = 7"),
            format!("DELETE FROM {table}"),
            format!("REPLACE INTO {table} SELECT * FROM {table}"),
            format!("INSERT INTO {table} SELECT * FROM {table} WHERE true ON CONFLICT DO UPDATE SET {column} = 7"),
        ]);
    }
    for statement in statements {
        let error = other.execute(&statement).unwrap_err();
        assert!(error.starts_with("append-only: "), "{statement}: {error}");
    }
    assert_eq!(store.load(&run.info.id).unwrap(), run);
    // and every row belongs to a run
    for row in [
        "benchmark VALUES (7, 0, 'byte/pipe', '{}')",
        "program VALUES (7, 'byte/pipe', '', '', '')",
        "skip VALUES (7, 0, 'byte/pipe', '{}')",
        "run_end VALUES (7, '', 1.0, 0)",
        "launch VALUES (7, 0, '', 'byte/pipe', 0, 0, '[]', 'measured', NULL, 0, '{}', '[]')",
        "cached_run VALUES (7, '', '', '', 0, '', '')",
        "cached_result VALUES (7, 0, '', '', '')",
        "kept_run VALUES (7, '', '', '', 0, '', '')",
        "kept_result VALUES (7, 0, '', '', '')",
    ] {
        let error = other.execute(&format!("INSERT INTO {row}")).unwrap_err();
        assert_eq!(error, "FOREIGN KEY constraint failed", "{row}");
    }
}

#[test]
fn sql_queries_read_samples() {
    let (_folder, path, _store) = common::with(&[common::run(1, 2)]);
    // the example of the crate's documentation
    let text = include_str!("../../src/lib.rs");
    let (_, text) = text.split_once("```sql\n").unwrap();
    let (text, _) = text.split_once("//! ```").unwrap();
    let rows: Vec<[String; 2]> = Raw::open(&path).texts(&text.replace("//! ", ""));
    let number = |row: usize| -> [f64; 2] { rows[row].clone().map(|text| text.parse().unwrap()) };
    assert_eq!((rows.len(), number(0), number(5)), (10, [0.0, 5000.0], [1.0, 5001.0]));
}

#[test]
fn histories_select_wanted_runs() {
    let mut runs = [1, 2, 3, 4, 5, 6].map(|number| common::run(number, 1));
    let (every, extra) = (common::id("byte/pipe"), common::id("own/extra"));
    for index in [0, 2] {
        runs[index].benchmarks.push(common::benchmark("own/extra"));
    }
    // sides of a trial are in no history and take no place in one
    for index in [1, 4] {
        runs[index].info.settings.trial = Some(TrialSide::default());
    }
    // a variable of that name is no trial
    let variables = &mut runs[5].info.settings.environment;
    variables.insert("trial".into(), "a".into());
    for (index, branch) in [(0, "origin/main"), (3, "main"), (5, "work")] {
        runs[index].info.settings.commit =
            Some(Commit::new("0123abc", Some(branch), None).unwrap());
    }
    let (_folder, _, mut store) = common::with(&runs);
    let ids = |indices: &[usize]| -> Vec<String> {
        indices.iter().map(|index| runs[*index].info.id.clone()).collect()
    };
    let found = |store: &Store, benchmark: &Id, most| {
        let newest = store.newest(std::slice::from_ref(benchmark), most, None);
        newest.unwrap().concat()
    };
    assert_eq!(found(&store, &every, 2), ids(&[3, 5]));
    assert_eq!(found(&store, &every, 9), ids(&[0, 2, 3, 5]));
    assert_eq!(found(&store, &extra, 1), ids(&[2]));
    assert!(found(&store, &common::id("no/such"), 9).is_empty());
    let of_branch = |most| store.newest(std::slice::from_ref(&every), most, Some("main"));
    assert_eq!(
        [of_branch(1), of_branch(9)].map(|runs| runs.unwrap().concat()),
        [ids(&[3]), ids(&[0, 3])]
    );
    // another machine takes no place
    let mut other = common::run(50, 1);
    "other".clone_into(&mut other.info.machine.id);
    store.import(&other).unwrap();
    let newest = [ids(&[3, 5]), vec![other.info.id]].concat();
    assert_eq!(found(&store, &every, 2), newest);
}

#[test]
fn newest_runs_are_found() {
    let mut runs = [4, 1, 3, 2].map(|number| common::run(number, 1));
    runs[2].info.machine.id = "another".to_owned();
    runs[1].benchmarks.push(common::benchmark("own/extra"));
    runs[3].programs.values_mut().next().unwrap().flags = "-O3 -Unusual".to_owned();
    // the facts of a system are those of its newest run
    for (index, model) in [(0, "Turbo 9"), (1, "Turbo 8")] {
        let facts = &mut runs[index].info.machine.facts;
        facts.insert("cpu.model".into(), model.into());
    }
    let (_folder, _, mut store) = common::with(&runs);
    let id = |index: usize| runs[index].info.id.clone();
    store.label(&id(0), "Main 100%").unwrap();
    let ids =
        |heads: Vec<RunHead>| -> Vec<String> { heads.into_iter().map(|head| head.id).collect() };
    let newest = |machine, most| ids(store.newest_runs(machine, most).unwrap());
    assert_eq!(newest(None, 3), [id(0), id(2), id(3)]);
    assert_eq!(newest(Some("0123"), 2), [id(0), id(3)]);
    assert_eq!(newest(Some("nobody"), 9), [""; 0]);
    let mut all = newest(None, 9);
    all.reverse();
    assert_eq!(ids(store.runs().unwrap()), all);
    assert_eq!(store.count().unwrap(), 4);
    assert_eq!(store.head(&id(0)).unwrap(), store.runs().unwrap()[3]);
    common::fails(store.head("none"), "NoSuchRun");
    let (heads, counts): (Vec<_>, Vec<_>) = store.systems().unwrap().into_iter().unzip();
    assert_eq!((ids(heads), counts), (vec![id(0), id(2)], vec![3, 1]));
    for (text, found) in [
        ("MAIN 100%", vec![id(0)]),
        ("100_", vec![]),
        ("Own/Ex", vec![id(1)]),
        ("-unusual", vec![id(3)]),
        ("turbo 9", vec![id(0), id(3), id(1)]),
        ("turbo 8", vec![]),
        (&id(2), vec![id(2)]),
        ("byte/pipe", vec![id(0), id(2), id(3), id(1)]),
        ("nothing of the kind", vec![]),
    ] {
        assert_eq!(store.mentioning(text).unwrap(), found, "{text}");
    }
}

#[test]
fn searches_fold_letters_as_a_file() {
    let (_folder, _, mut store) = common::with(&[common::run(1, 1)]);
    let id = common::run(1, 1).info.id;
    store.label(&id, "ÄRGER").unwrap();
    for text in ["ÄRGER", "ärger", "Ärg"] {
        assert_eq!(store.mentioning(text).unwrap(), [id.as_str()], "{text}");
    }
}

#[test]
fn sides_have_no_history() {
    let mut runs = [1, 2].map(|number| common::run(number, 1));
    runs[1].benchmarks.push(common::benchmark("own/side"));
    runs[1].info.settings.trial = Some(TrialSide::default());
    let (_folder, _, store) = common::with(&runs);
    let all = store.benchmarks().unwrap();
    let is_shown =
        |name: &str| all.iter().find(|(id, _)| id.as_str() == name).map(|(_, shown)| *shown);
    assert_eq!([is_shown("byte/pipe"), is_shown("own/side")], [Some(true), Some(false)]);
    let titles = store.titles(&|id| id.as_str() == "own/side").unwrap();
    assert_eq!(titles.len(), 1);
}

#[test]
fn machine_runs_have_a_limit() {
    let mut runs = [1, 2, 3, 4].map(|number| common::run(number, 1));
    runs[1].info.machine.id = "another".to_owned();
    runs[0].benchmarks.push(common::benchmark("own/extra"));
    let (_folder, _, store) = common::with(&runs);
    let ids = |numbers: &[usize]| -> Vec<String> {
        numbers.iter().map(|n| runs[*n].info.id.clone()).collect()
    };
    let started = |index: usize| runs[index].info.started.as_str();
    for (machine, until, found) in [
        ("0123", started(3), ids(&[3, 2, 0])),
        ("0123", started(2), ids(&[2, 0])),
        ("another", started(3), ids(&[1])),
        ("nobody", started(3), ids(&[])),
        ("0123", "", ids(&[])),
    ] {
        let all = store.runs_of(machine, until, 9, &|_| true).unwrap();
        assert_eq!(all, found, "{machine} until {until}");
    }
    let not_the_last = |run: &RunInfo| run.id != runs[3].info.id;
    let one = store.runs_of("0123", started(3), 1, &not_the_last);
    assert_eq!(one.unwrap(), ids(&[2]));
    let benchmarks = ["byte/pipe", "own/extra"].map(common::id);
    let with = store.runs_with("0123", &benchmarks, 1, &not_the_last);
    assert_eq!(with.unwrap(), ids(&[2, 0]).into_iter().collect());
}

#[test]
fn special_file_names_work_as_a_file() {
    let (folder, _) = common::place();
    for name in [":memory:", "file:x?mode=memory", "a%20b?c#d ä.db"] {
        let path = folder.path().join(name);
        common::store(&mut Store::open(&path).unwrap(), &common::run(1, 1));
        assert!(path.is_file(), "{name}");
        let store = Store::open_read_only(&path).unwrap();
        assert_eq!(store.runs().unwrap().len(), 1);
    }
    let files = folder.path().read_dir().unwrap().count();
    assert_eq!(files, 3, "nothing is left beside them");
    common::fails(Store::open(Path::new("")), "Unusable");
}

#[test]
fn accepted_levels_are_permanent() {
    let (_folder, _path, mut store) = common::with(&[common::run(1, 1)]);
    let run = store.runs().unwrap()[0].id.clone();
    assert_eq!(store.accepted().unwrap(), []);
    let [a, b] = ["a/b", "a/c"].map(|id| Id::parse(id).unwrap());
    store.accept(&run, std::slice::from_ref(&a)).unwrap();
    store.accept(&run, &[b.clone(), a.clone()]).unwrap();
    let mut all = store.accepted().unwrap();
    all.sort();
    assert_eq!(all, [(run.clone(), a.clone()), (run.clone(), b)]);
    assert_eq!(store.verify().unwrap(), [] as [String; 0]);
    common::fails(store.accept("20200101-000000-00000000", &[a]), "NoSuchRun");
    store.remove(&run).unwrap();
    assert_eq!(store.accepted().unwrap(), []);
}

#[test]
fn next_run_replaces_removed_one() {
    let mut runs = [1, 2, 3, 4].map(|number| common::run(number, 1));
    runs[1].info.machine.id = "another".to_owned();
    runs[3].benchmarks.push(common::benchmark("own/extra"));
    let (_folder, _, mut store) = common::with(&runs);
    let id = |index: usize| runs[index].info.id.clone();
    let [pipe, extra] = ["byte/pipe", "own/extra"].map(common::id);
    let accepted = [pipe.clone(), extra.clone()];
    store.accept(&id(0), &accepted).unwrap();

    store.remove(&id(0)).unwrap();
    assert_eq!(store.replaced().unwrap(), [(id(2), id(0))]);
    let mut all = store.accepted().unwrap();
    all.sort();
    assert_eq!(all, [(id(2), pipe), (id(3), extra)]);

    store.remove(&id(2)).unwrap();
    let both = [(id(3), id(0)), (id(3), id(2))];
    let mut replaced = store.replaced().unwrap();
    replaced.sort();
    assert_eq!(replaced, both);
    assert_eq!(store.accepted().unwrap().len(), 2);
    store.remove(&id(3)).unwrap();
    assert_eq!(store.replaced().unwrap(), []);
    assert_eq!(store.verify().unwrap(), [""; 0]);
}

#[test]
fn expected_changes_are_accepted() {
    let (_folder, _, mut store) = common::with(&[common::run(1, 1)]);
    let (run, pipe) = (store.runs().unwrap()[0].id.clone(), [common::id("byte/pipe")]);
    let mut accepted = |event: &str, state| {
        let entry = NewTriageEntry { state, benchmarks: &pipe, ..common::KNOWN };
        store.triage(event, Who::User("ana"), &entry, "2026-01-01T00:00:00Z").unwrap();
        store.expected().unwrap()
    };
    let event = format!("{run}-worse");
    assert_eq!(accepted(&format!("{run}-better"), ChangeState::Expected), []);
    assert_eq!(accepted(&event, ChangeState::Acknowledged), []);
    assert_eq!(accepted(&event, ChangeState::Expected), [(run.clone(), pipe[0].clone())]);
    assert_eq!(accepted(&event, ChangeState::New), []);
}

#[test]
fn replacements_are_of_one_series() {
    let mut runs = [1, 2, 3, 4].map(|number| common::run(number, 1));
    runs[1].info.settings.params = [("tty".to_owned(), "/dev/ttyS0".to_owned())].into();
    runs[2].benchmarks = vec![common::benchmark("own/extra")];
    runs[2].launches.clear();
    let (_folder, _, mut store) = common::with(&runs);
    let id = |index: usize| runs[index].info.id.clone();
    let pipe = [common::id("byte/pipe")];
    store.accept(&id(0), &pipe).unwrap();
    let state = ChangeState::Expected;
    let entry = NewTriageEntry { state, benchmarks: &pipe, ..common::KNOWN };
    let event = format!("{}-worse", id(0));
    store.triage(&event, Who::User("ana"), &entry, "2026-01-01T00:00:00Z").unwrap();
    store.remove(&id(0)).unwrap();
    assert_eq!(store.replaced().unwrap(), [(id(3), id(0))]);
    assert_eq!(store.accepted().unwrap()[0].0, id(3));
    assert!(store.expected().unwrap().contains(&(id(3), pipe[0].clone())));
}

#[test]
fn shown_revision_follows_the_view() {
    let (_folder, path, mut store) = common::with(&[]);
    // runs come whole to a database
    let grows = !gritstone_store::is_server(&path);
    let mut seen = std::collections::BTreeSet::new();
    let mut is_new = |store: &Store| seen.insert(store.shown_revision().unwrap());
    assert!(is_new(&store) && !is_new(&store));
    let run = common::cut_off(1, 2);
    let id = run.info.id.clone();
    common::store(&mut store, &run);
    assert!(is_new(&store));
    for number in 2..5 {
        common::append(&mut store, &id, &common::launch(number));
        assert_eq!(is_new(&store), grows);
    }
    store.finish(&id, 1.0).unwrap();
    assert!(is_new(&store));
    store.label(&id, "renamed").unwrap();
    assert!(is_new(&store));
    let now = "2026-11-27T08:00:00Z";
    store.triage("x-worse", Who::User("me"), &common::KNOWN, now).unwrap();
    assert!(is_new(&store));
    store.remove(&id).unwrap();
    assert!(is_new(&store) && !is_new(&store));
}

/// A store of version 5, with a triage entry.
fn version_5(path: &Path) {
    let is_server = gritstone_store::is_server(path);
    let folder = format!(
        "{}/schema/{}",
        env!("CARGO_MANIFEST_DIR"),
        if is_server { "postgres" } else { "sqlite" }
    );
    let mut raw = Raw::open(path);
    if is_server {
        raw.execute("SET search_path = public, pg_temp").unwrap();
    }
    for number in 1..=5 {
        let text = std::fs::read_to_string(format!("{folder}/{number:04}.sql")).unwrap();
        raw.execute(&text).unwrap();
        if is_server {
            let insert = format!("INSERT INTO gritstone_schema VALUES ({number})");
            raw.execute(&insert).unwrap();
        }
    }
    if !is_server {
        let header = "PRAGMA application_id = 0x47525332; PRAGMA user_version = 5";
        raw.execute(header).unwrap();
    }
    let entry = "INSERT INTO change_entry (number, event, entry, token, who, note, at) \
         VALUES (1, 'r-worse', 'acknowledge', NULL, 'ana', 'microcode', '2026-11-25T12:00:00Z')";
    raw.execute(entry).unwrap();
}

#[test]
fn last_counts_own_imports() {
    let (_folder, _, mut store) = common::with(&[]);
    let mut run = common::run(1, 1);
    store.import(&run).unwrap();
    common::fails(store.resolve("last", common::here), "NoneHere");
    run = common::run(2, 1);
    run.info.machine.id = common::here().id;
    store.import(&run).unwrap();
    assert_eq!(store.resolve("last", common::here).unwrap().id, run.info.id);
}

#[test]
fn version_5_entries_migrate() {
    let (_folder, path) = common::place();
    version_5(&path);
    let known = TriageEntry {
        state: ChangeState::Acknowledged,
        who: "ana".to_owned(),
        at: "2026-11-25T12:00:00Z".to_owned(),
        assignee: None,
        note: "microcode".to_owned(),
        benchmarks: vec![],
    };
    let entry = |entry: &TriageEntry| ChangeEntry {
        event: "r-worse".to_owned(),
        content: EntryContent::Triage(entry.clone()),
    };
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.change_entries().unwrap(), [entry(&known)]);
    drop(store);
    let assignees = "SELECT coalesce(assignee, benchmarks, '-') FROM change_entry";
    // reading has not migrated it
    let raw = |sql: &str| Raw::open(&path).execute(sql);
    assert!(raw(assignees).is_err());
    let mut store = Store::open(&path).unwrap();
    assert_eq!(raw(assignees), Ok(()));
    assert_eq!(store.change_entries().unwrap(), [entry(&known)]);
    let assigned = TriageEntry {
        state: ChangeState::Assigned,
        assignee: Some("ben".to_owned()),
        benchmarks: ["byte/loop", "iocall/read@4k"].map(common::id).into(),
        ..known.clone()
    };
    let new = NewTriageEntry {
        state: assigned.state,
        assignee: assigned.assignee.as_deref(),
        note: &assigned.note,
        benchmarks: &assigned.benchmarks,
    };
    store.triage("r-worse", Who::User("ana"), &new, &assigned.at).unwrap();
    let entries = [&known, &assigned].map(entry);
    assert_eq!(store.change_entries().unwrap(), entries);
}
