//! The store on a PostgreSQL server: the same tests as for files, and those for servers alone.

use crate::common::{self, Raw};
use crate::postgresql::Server;
use gritstone_store::{Results, Store, StoreError, UploadOutcome, Who};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Executes tests of this program, by the words that libtest has, in a data directory and perhaps on a server.
fn executed(words: &[&str], data: &Path, server: Option<&str>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(words).env("XDG_DATA_HOME", data).env_remove("PGPASSWORD");
    if let Some(server) = server {
        command.env(common::SERVER, server);
    }
    let done = command.output().unwrap();
    let printed = String::from_utf8_lossy(&done.stdout);
    println!("{printed}");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(!printed.contains("running 0 tests"), "{words:?}");
}

/// The tests for files, on a server.
#[test]
#[ignore = "measures: make test-full store"]
fn on_a_server() {
    let server = Server::start();
    let data = tempfile::tempdir().unwrap();
    let url = server.url("DATABASE", "owner");
    for module in ["behavior::", "cache::", "pruned::", "processes::", "tokens::"] {
        let words = [module, "--skip", "as_a_file"];
        executed(&words, data.path(), Some(&url));
    }
}

/// Tests for servers alone.
#[test]
#[ignore = "measures: make test-full store"]
fn of_a_server() {
    let data = tempfile::tempdir().unwrap();
    let words = ["--ignored", "server::alone_", "--test-threads=2"];
    executed(&words, data.path(), None);
}

fn store(server: &Server) -> (PathBuf, String) {
    let database = server.database();
    (server.url(&database, "owner").into(), database)
}

#[test]
#[ignore = "started by the other test"]
fn alone_triggers_refuse_changes() {
    let server = Server::start();
    let (url, _) = store(&server);
    let run = common::run(2, 2);
    let mut store = Store::open(&url).unwrap();
    common::fill_tables(&mut store, &run);
    let mut other = Raw::open(&url);
    let columns = "SELECT table_name, column_name FROM information_schema.columns NATURAL JOIN information_schema.tables \
         WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'cached%'";
    let columns: Vec<[String; 2]> = other.texts(columns);
    assert!(columns.len() > 40, "{columns:?}");
    for [table, column] in &columns {
        for statement in [
            format!("UPDATE {table} SET {column} = {column}"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table} CASCADE"),
            // a table of the session that shadows one of ours
            format!(
                "CREATE TEMP TABLE IF NOT EXISTS ledger AS SELECT *, 'remove' AS entry FROM run; DELETE FROM public.{table}"
            ),
        ] {
            let error = other.execute(&statement).unwrap_err();
            assert!(error.starts_with("append-only: "), "{statement}: {error}");
        }
    }
    let ended = "INSERT INTO launch SELECT run, number + 2, seal, benchmark, round, start_ns, cpus, outcome, why, wall_ns, \
         conditions, events FROM launch";
    assert_eq!(other.execute(ended).unwrap_err(), "append-only: the run has ended");
    assert_eq!(store.load(&run.info.id).unwrap(), run);
    assert_eq!(store.verify().unwrap(), [""; 0]);
}

/// A database owner can damage everything, which is detected.
#[test]
#[ignore = "started by the other test"]
fn alone_damage_is_found() {
    let server = Server::start();
    for change in [
        "UPDATE launch SET events = replace(events, '5', '6') WHERE run = 1 AND number = 1",
        "DELETE FROM launch WHERE run = 1 AND number = 2",
        "UPDATE run SET owner_uid = owner_uid + 1 WHERE number = 1",
        "UPDATE benchmark SET id = 'byte/other' WHERE run = 1 AND position = 0",
        "UPDATE run_end SET elapsed_s = 1 WHERE run = 1",
    ] {
        let (url, _) = store(&server);
        let runs = [common::run(1, 3), common::run(2, 3)];
        let mut store = Store::open(&url).unwrap();
        runs.iter().for_each(|run| common::store(&mut store, run));
        let mut raw = Raw::open(&url);
        raw.execute(&format!("SET session_replication_role = replica; {change}")).unwrap();
        common::fails(store.load(&runs[0].info.id), "Damaged");
        assert_eq!(store.load(&runs[1].info.id).unwrap(), runs[1]);
        assert_eq!(store.verify().unwrap().len(), 1, "{change}");
    }
    let (url, _) = store(&server);
    let store = Store::open(&url).unwrap();
    for (change, name) in [
        ("ALTER TABLE launch DISABLE TRIGGER launch_is_not_changed", "launch_is_not_changed"),
        ("DROP TRIGGER run_is_not_emptied ON run", "run_is_not_emptied"),
    ] {
        Raw::open(&url).execute(change).unwrap();
        let wrong = store.verify().unwrap();
        assert!(wrong.iter().any(|line| line.contains(name)), "{wrong:?}");
    }
}

/// Each error says what is wrong, and none has the password.
#[test]
#[ignore = "started by the other test"]
fn alone_refusals_are_explained() {
    let mut server = Server::start();
    let trusted = server.encrypt();
    server.kill();
    let (url, away) = (server.tcp("x", "owner"), "Away");
    common::fails(Store::open_read_only(Path::new(&url)), away);
    common::fails(Store::open(Path::new(&url)), away);
    server.resume();

    let (_, database) = store(&server);
    server.sql(
        &database,
        "CREATE ROLE ann LOGIN PASSWORD 'pa:ss/w@rd'; GRANT CREATE ON SCHEMA public TO ann",
    );
    let trust = format!("sslmode=verify-full&sslrootcert={}", trusted.display());
    let url = |user: &str, database: &str, more: &str| {
        let url = server.tcp(database, user).replace("127.0.0.1", "localhost");
        PathBuf::from(format!("{url}?{more}"))
    };
    let right = "ann:pa%3Ass%2Fw%40rd";
    for (url, kind) in [
        (url("ann:wrong-pw", &database, &trust), "Refused"),
        (url("ann", &database, &trust), "Refused"),
        (url("nobody:wrong-pw", &database, &trust), "Refused"),
        (url(right, "none", &trust), "NoDatabase"),
        // in plain text, and with an untrusted certificate
        (url(right, &database, "sslmode=disable"), "Refused"),
        (url(right, &database, "sslmode=require"), "Database"),
        (url(right, &database, "sslmode=maybe"), "Url"),
    ] {
        let error = Store::open_read_only(&url).unwrap_err();
        let printed = format!("{error:?} {error}");
        assert!(printed.starts_with(kind), "{printed}");
        assert!(
            !printed.contains("wrong-pw") && !printed.contains("w@rd") && !printed.contains("%40"),
            "{printed}"
        );
    }
    let store = Store::open(&url(right, &database, &trust)).unwrap();
    assert_eq!(store.runs().unwrap(), []);
    assert!(!format!("{store:?}").contains("w%40rd") && !format!("{store:?}").contains("w@rd"));
    let encrypted =
        "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'ann'";
    assert_eq!(server.sql(&database, encrypted), "t");
    drop(store);

    let newer = "INSERT INTO gritstone_schema VALUES (77)";
    server.sql(&database, newer);
    let newer = PathBuf::from(server.url(&database, "owner"));
    common::fails(Store::open(&newer), "Newer");
    let (other, database) = self::store(&server);
    server.sql(&database, "CREATE TABLE run (id integer)");
    for opened in [Store::open(&other), Store::open_read_only(&other)] {
        common::fails(opened, "Foreign");
    }
}

/// The privileges that the documentation names suffice, and are no more than that.
#[test]
#[ignore = "started by the other test"]
fn alone_documented_privileges_suffice() {
    let server = Server::start();
    let (url, database) = store(&server);
    let run = common::run(1, 2);
    common::store(&mut Store::open(&url).unwrap(), &run);
    let text = include_str!("../../../../docs/serve.md");
    let (_, grants) = text.split_once("```sql\n").unwrap();
    let (grants, _) = grants.split_once("```").unwrap();
    let names = ["server", "reader", "admin"];
    for name in names {
        server.sql(&database, &format!("CREATE ROLE {name} LOGIN"));
    }
    server.sql("postgres", &format!("ALTER DATABASE {database} OWNER TO owner"));
    server.sql(&database, grants);
    let access = std::fs::read_to_string(server.folder().join("data/pg_hba.conf")).unwrap();
    std::fs::write(
        server.folder().join("data/pg_hba.conf"),
        format!("local all all trust\n{access}"),
    )
    .unwrap();
    server.sql(&database, "SELECT pg_reload_conf()");
    let path = |user: &str| PathBuf::from(server.url(&database, user));
    // the configuration is read again when the server gets to it
    while let Err(StoreError::Refused(..)) = Store::open_read_only(&path("reader")) {
        std::thread::sleep(Duration::from_millis(10));
    }

    let reader = Store::open_read_only(&path("reader")).unwrap();
    assert_eq!(reader.load(&run.info.id).unwrap(), run);
    assert_eq!(reader.runs().unwrap().len(), 1);
    // rows of several shapes, one by one, by one connection
    for _ in 0..2 {
        assert_eq!(reader.runs_of("0123", "2027", 9, &|_| true).unwrap().len(), 1);
        assert_eq!(reader.newest(&[common::id("byte/pipe")], 9, None).unwrap().concat().len(), 1);
        assert_eq!(reader.load(&run.info.id).unwrap(), run);
    }
    let mut reader = Store::open(&path("reader")).unwrap();
    common::fails(reader.import(&common::run(2, 1)), "Denied");

    let mut writer = Store::open(&path("server")).unwrap();
    let theirs = common::run(3, 2);
    common::store(&mut writer, &theirs);
    assert_eq!(writer.load(&theirs.info.id).unwrap(), theirs);
    writer.label(&theirs.info.id, "label").unwrap();
    writer.triage("r-worse", Who::User("ann"), &common::KNOWN, "2026-11-25T12:00:00Z").unwrap();
    common::fails(writer.remove(&theirs.info.id), "Denied");
    let id = &theirs.info.id;
    let results = Results::default();
    let prune = |store: &mut Store| store.prune(id, "1", 2, &results, "2026-11-25T12:00:00Z");
    common::fails(prune(&mut writer), "Denied");
    assert_eq!(writer.load(id).unwrap().launches, theirs.launches);
    let mut raw = Raw::open(&path("server"));
    for statement in [
        "UPDATE launch SET round = 0",
        "DELETE FROM launch",
        "TRUNCATE launch",
        "DROP TRIGGER run_is_not_changed ON run",
    ] {
        let error = raw.execute(statement).unwrap_err();
        assert!(error.contains("permission denied") || error.contains("must be owner"), "{error}");
    }

    let mut admin = Store::open(&path("admin")).unwrap();
    prune(&mut admin).unwrap();
    let reader = Store::open_read_only(&path("reader")).unwrap();
    common::fails(reader.load(id), "Pruned");
    assert!(reader.results(id, "2").unwrap().is_some());
    assert_eq!(admin.verify().unwrap(), [""; 0]);
    admin.remove(&theirs.info.id).unwrap();
    assert_eq!(admin.verify().unwrap(), [""; 0]);
}

/// Servers store runs while the database is killed again and again.
#[test]
#[ignore = "started by the other test"]
fn alone_killed_database_loses_nothing() {
    const KILLS: usize = 20;
    let mut server = Server::start();
    let (url, _) = store(&server);
    let done = AtomicBool::new(false);
    let writer = |first: u32| {
        let mut run = common::run(first, 5);
        let mut stored = vec![];
        while !done.load(Ordering::Relaxed) {
            let Ok(mut store) = Store::open(&url) else {
                continue;
            };
            // a failed answer may belong to a run that was stored: it is sent again
            while let Ok(answer) = store.import_once(&run) {
                assert_ne!(answer, UploadOutcome::Conflict);
                let number = first + 4 * (u32::try_from(stored.len()).unwrap() + 1);
                stored.push(std::mem::replace(&mut run, common::run(number, 5)));
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        }
        stored
    };
    let stored: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|first| scope.spawn(move || writer(first))).collect();
        for kill in 0..KILLS {
            std::thread::sleep(Duration::from_millis(20 + 13 * kill as u64));
            server.kill();
            std::thread::sleep(Duration::from_millis(10));
            server.resume();
        }
        done.store(true, Ordering::Relaxed);
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(!stored.is_empty());
    let store = Store::open(&url).unwrap();
    for run in &stored {
        assert_eq!(store.load(&run.info.id).unwrap(), *run);
    }
    // each writer may have stored one more before it got the answer
    let found = store.runs().unwrap().len();
    assert!((stored.len()..=stored.len() + 4).contains(&found));
    assert_eq!(store.verify().unwrap(), [""; 0]);
}
