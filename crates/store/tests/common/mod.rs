//! Made-up runs for the tests.

// each test file uses its own part of it
#![allow(dead_code)]

use gritstone_model::{
    Batch, Benchmark, ChangeState, Check, Conditions, Counter, Event, Histogram, Launch, Owner,
    RunData, RunInfo, Sample, Skip, Usage,
};
use gritstone_store::{
    Appended, NewTriageEntry, Results, Scope, Store, ThisMachine, UploadOutcome, Who,
};
pub use gritstone_testkit::{self as testkit, id};
use postgres::SimpleQueryMessage;
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// The URL of a server, with `DATABASE` in it, on which the tests of any store are executed; else they are on files.
pub const SERVER: &str = "GRITSTONE_STORE_TEST_SERVER";

pub const KNOWN: NewTriageEntry = NewTriageEntry {
    state: ChangeState::Acknowledged,
    assignee: None,
    note: "known",
    benchmarks: &[],
};

/// A private folder, and the path of a store in it, or of one in a private database.
pub fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = match std::env::var(SERVER) {
        Ok(server) => new_database(&server).into(),
        Err(_) => folder.path().join("gritstone.db"),
    };
    (folder, path)
}

fn new_database(server: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("t{}_{number}", std::process::id());
    let url = server.replace("DATABASE", "postgres");
    let mut client = postgres::Client::connect(&url, postgres::NoTls).expect("a server");
    let create = format!("CREATE DATABASE {name} TEMPLATE template0");
    client.batch_execute(&create).expect("a database");
    server.replace("DATABASE", &name)
}

/// Another connection to the same store, as `sqlite3` or `psql` would make it.
pub enum Raw {
    File(rusqlite::Connection),
    Server(Box<postgres::Client>),
}

impl Raw {
    pub fn open(path: &Path) -> Self {
        if gritstone_store::is_server(path) {
            let url = path.to_str().expect("a URL");
            let client = postgres::Client::connect(url, postgres::NoTls).expect("a server");
            return Self::Server(Box::new(client));
        }
        let connection = rusqlite::Connection::open(path).expect("a file");
        let set = connection.pragma_update(None, "foreign_keys", true);
        set.expect("foreign keys");
        Self::File(connection)
    }

    /// Executes statements, or says why not.
    pub fn execute(&mut self, sql: &str) -> Result<(), String> {
        match self {
            Self::File(connection) => {
                connection.execute_batch(sql).map_err(|error| error.to_string())
            }
            Self::Server(client) => client.batch_execute(sql).map_err(|error| {
                let message = error.as_db_error().map(|error| error.message().to_owned());
                message.unwrap_or_else(|| error.to_string())
            }),
        }
    }

    /// The first columns of all rows, as text.
    pub fn texts<const N: usize>(&mut self, sql: &str) -> Vec<[String; N]> {
        match self {
            Self::File(connection) => {
                let mut statement = connection.prepare(sql).expect(sql);
                let row = |row: &rusqlite::Row| {
                    let text = |column| match row.get_ref(column).expect("a column") {
                        ValueRef::Integer(v) => v.to_string(),
                        ValueRef::Real(v) => v.to_string(),
                        other => other.as_str().expect("text").to_owned(),
                    };
                    Ok(std::array::from_fn(text))
                };
                let rows = statement.query_map([], row).expect(sql);
                rows.collect::<Result<_, _>>().expect(sql)
            }
            Self::Server(client) => {
                let all = client.simple_query(sql).expect(sql);
                let row = |message: &SimpleQueryMessage| match message {
                    SimpleQueryMessage::Row(row) => Some(std::array::from_fn(|column| {
                        row.get(column).unwrap_or_default().to_owned()
                    })),
                    _ => None,
                };
                all.iter().filter_map(row).collect()
            }
        }
    }
}

/// A new store with these runs.
pub fn with(runs: &[RunData]) -> (TempDir, PathBuf, Store) {
    let (folder, path) = place();
    let mut store = Store::open(&path).expect("a store");
    runs.iter().for_each(|run| self::store(&mut store, run));
    (folder, path, store)
}

/// Results of a run that name it.
pub fn results(run: &str) -> Results {
    let result = |name: &str| (id(name), format!("{{\"of\":\"{run} {name}\"}}"));
    Results {
        view: format!("{{\"head\":\"{run}\"}}"),
        past: format!("{{\"past\":\"{run}\"}}"),
        results: vec![result("byte/pipe"), result("byte/pipe@cross")],
        pruned: None,
    }
}

/// Changes a store as its triggers would not let it.
pub fn force(path: &Path, change: &str) {
    match Raw::open(path) {
        Raw::File(connection) => {
            let off = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false);
            assert_eq!(off, Ok(false));
            let set = connection.pragma_update(None, "foreign_keys", false);
            set.expect("no foreign keys");
            connection.execute_batch(change).expect(change);
        }
        mut server => server
            .execute(&format!("SET session_replication_role = replica; {change}"))
            .expect(change),
    }
}

/// Adds a row to every table: a run, an uploaded and a pruned one, a revoked token and a triage entry.
pub fn fill_tables(store: &mut Store, run: &RunData) {
    let (now, secret) = ("2026-11-25T12:00:00Z", "secret");
    self::store(store, run);
    let added = store.add_token("node", secret, &[Scope::Write], now);
    added.expect("a token");
    let token = store.token(secret).expect("a read").expect("a token");
    let sent = store.receive(&token, &self::run(3, 1), now);
    assert_eq!(sent.expect("an upload"), UploadOutcome::Created);
    store.revoke_token("node", now).expect("a revocation");
    store.triage("x-worse", Who::Token(&token), &KNOWN, now).expect("an entry");
    let pruned = self::run(4, 2);
    self::store(store, &pruned);
    let results =
        Results { results: vec![(id("byte/pipe"), "{}".to_owned())], ..Results::default() };
    store.prune(&pruned.info.id, "1", 2, &results, now).expect("a pruning");
}

/// The store is whole, and has this run as it is.
pub fn check_intact(store: &Store, run: &RunData) {
    assert_eq!(store.load(&run.info.id).unwrap(), *run);
    assert_eq!(store.verify().unwrap(), [""; 0]);
}

/// The head of the `number`th run, one a minute.
pub fn info(number: u32) -> RunInfo {
    let started = format!("2026-11-21T09:{:02}:12.5Z", number % 60);
    RunInfo {
        id: gritstone_store::new_id(started.parse().expect("a time"), number),
        started,
        elapsed_s: None,
        ..testkit::run(vec![], vec![]).info
    }
}

pub fn benchmark(name: &str) -> Benchmark {
    testkit::benchmark(name, "us")
}

/// The `number`th launch, with one event of every kind that a good launch has.
pub fn launch(number: u64) -> Launch {
    let usage = Usage { user: 4_000_000, cpu: 11_234_567 + number, ..Usage::default() };
    let sample = |i: u64| {
        Box::new(Sample {
            n: 1000 + i,
            wall: 5_000_000 + 1000 * number + i,
            cycle_probe: 333_333,
            smt_probe: 0,
            usage,
        })
    };
    let mut events = vec![
        Event::Hello { protocol: 1, kernel: "byte/pipe".into() },
        testkit::param("resolution_ns", "1"),
        Event::Warm { n: 1, wall: 6000 },
    ];
    events.extend((0..5).map(|i| Event::Sample(sample(i))));
    events.extend([
        Event::Batch(Box::new(Batch {
            n: 25_000,
            walls: vec![2_500_000 + number, 2_500_001],
            cycle_probe: 0,
            smt_probe: 0,
            usage,
        })),
        Event::Process(sample(9)),
        Event::Latency(Box::new(Histogram {
            count: 3,
            min: 5,
            max: 200,
            sum: 210,
            buckets: vec![(5, 2), (164, 1)],
            of: None,
        })),
        Event::Counters {
            n: 1000,
            counts: [(Counter::UserInstructions, 12_000), (Counter::PageWalks, 0)].into(),
        },
        Event::Check(Check { n: 1000, got: u64::MAX, expected: 1 << 63 }),
        Event::Bye,
    ]);
    let round = u32::try_from(number / 2).expect("a small number");
    Launch {
        start: 1_000_000_000 * number,
        conditions: Conditions { wall: 50_000_000, others: Some(120_000), ..Conditions::default() },
        ..testkit::launch("byte/pipe", round, events)
    }
}

/// The `number`th run with this number of launches, ended.
pub fn run(number: u32, launches: u64) -> RunData {
    let benchmarks = ["byte/pipe", "byte/pipe@cross"].map(benchmark).into();
    let mut run = testkit::run(benchmarks, (0..launches).map(launch).collect());
    run.info = info(number);
    run.info.elapsed_s = Some(12.25);
    run.programs.remove(&id("byte/pipe@cross"));
    run.skips = vec![Skip {
        id: id("byte/pipe@cross"),
        reason: "One CPU only; two are needed.".to_owned(),
    }];
    run
}

/// The same, cut off.
pub fn cut_off(number: u32, launches: u64) -> RunData {
    let mut run = run(number, launches);
    run.info.elapsed_s = None;
    run
}

/// The machine of [`owner`].
pub fn here() -> ThisMachine {
    ThisMachine { owner: owner().machine, id: "this machine".into(), now: "9".into() }
}

/// Who runs these tests.
pub fn owner() -> Owner {
    Owner { uid: nix::unistd::geteuid().as_raw(), machine: "a machine".into() }
}

/// Stores a launch at once.
pub fn append(store: &mut Store, run: &str, launch: &Launch) {
    assert_eq!(store.append(run, launch).expect("a launch"), Appended::Stored);
}

/// Stores the beginning of a run.
pub fn begin(store: &mut Store, run: &RunData) {
    let info = RunInfo { elapsed_s: None, ..run.info.clone() };
    store.begin(&owner(), &info, &run.benchmarks, &run.programs, &run.skips).expect("a beginning");
}

/// Stores a run step by step: its beginning, its launches one by one, and its end if it has one.
pub fn store(store: &mut Store, data: &RunData) {
    begin(store, data);
    for launch in &data.launches {
        append(store, &data.info.id, launch);
    }
    if let Some(elapsed_s) = data.info.elapsed_s {
        store.finish(&data.info.id, elapsed_s).expect("an end");
    }
}

/// That it is an error of this kind.
pub fn fails<T: Debug, E: Debug>(done: Result<T, E>, kind: &str) {
    let error = format!("{:?}", done.unwrap_err());
    assert!(error.starts_with(kind), "{error}: not {kind}");
}
