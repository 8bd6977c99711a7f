//! External servers (`--param dsn=`): a launch works in its own schema, removes it, and touches nothing else.

use super::{BRIEF, SHORT, built, folder, is_right, workload_output};
use crate::common::postgres::{OWNER, Server};
use crate::common::{Home, alone, end, eventually, flagged, messages, result, start};
use nix::sys::signal::Signal;
use nix::unistd::{User, geteuid};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The schemas of launches on a server.
fn schemas(there: &Server) -> String {
    there.sql("postgres", "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'gritstone%'")
}

fn dsn(there: &Server) -> String {
    there.url("postgres", OWNER)
}

/// A MariaDB started by the test, as the account of its package if the test runs as root; it ends on drop.
struct MariaDb {
    room: tempfile::TempDir,
    server: Child,
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        end(&self.server, Signal::SIGTERM);
        let _ = self.server.wait();
    }
}

impl MariaDb {
    fn start() -> Self {
        let room = tempfile::tempdir().unwrap();
        let program = Path::new("/usr/sbin/mariadbd");
        let mut command = Command::new(program);
        if geteuid().is_root() {
            let user = User::from_name("mysql").unwrap().unwrap();
            nix::unistd::chown(room.path(), Some(user.uid), Some(user.gid)).unwrap();
            command = Command::new("setpriv");
            let words = ["--reuid=mysql", "--regid=mysql", "--clear-groups", "--"];
            command.args(words).arg(program);
        }
        let path = room.path().display();
        let server = command
            .args(["--no-defaults", "--skip-grant-tables", "--skip-networking", "--skip-log-bin"])
            .args([format!("--datadir={path}"), format!("--socket={path}/socket")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let there = Self { room, server };
        eventually("it takes connections", || there.sql("SELECT 1") == "1");
        there
    }

    /// A file of options by which clients find it.
    fn options(&self) -> PathBuf {
        let options = self.room.path().join("options");
        let socket = self.room.path().join("socket");
        let text = format!("[client]\nuser=bench\nsocket={}\n", socket.display());
        fs::write(&options, text).unwrap();
        options
    }

    fn sql(&self, sql: &str) -> String {
        let socket = format!("--socket={}/socket", self.room.path().display());
        let output = Command::new("mariadb")
            .args(["--no-defaults", &socket, "-N", "-B", "-e", sql])
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn external_servers_stay_unchanged() {
    let _turn = alone();
    let there = Server::start();
    // tables of others, with the names of ours, and a schema that only looks like one of ours
    there.sql("postgres", "CREATE TABLE account AS SELECT 7 AS id");
    there.sql(
        "postgres",
        "CREATE SCHEMA gritstone_01234567; CREATE TABLE gritstone_01234567.t AS SELECT 8 AS id",
    );
    let (folder, dsn) = (folder(), dsn(&there));
    let both = "engine=postgresql";
    for (name, words) in [
        ("db/fasttrack", format!("{BRIEF} {both} kind=9")),
        ("db/oltp", format!("{SHORT} {both} users=3 mix=write share=50 beside=vacuum")),
        ("db/bulk", format!("samples=1 {both} work=index")),
    ] {
        let workload = built(name, folder.path(), &[]);
        let printed = workload_output(&workload, folder.path(), &format!("{words} 'dsn={dsn}'"));
        assert!(is_right(&printed), "{name}: {printed}");
        assert!(
            printed.contains("PostgreSQL") && printed.contains("With fsync=off a commit"),
            "{printed}"
        );
        assert_eq!(schemas(&there), "1", "{name}");
    }
    // a launch that fails removes what it has made, too
    let wrong = [("db/fasttrack.c", "balance = balance + ?", "balance = balance + 0 * ?")];
    let workload = built("db/fasttrack", folder.path(), &wrong);
    let text =
        workload_output(&workload, folder.path(), &format!("{BRIEF} {both} kind=1 'dsn={dsn}'"));
    assert!(text.contains("the table customer differs from the model"), "{text}");
    assert_eq!(schemas(&there), "1");
    assert_eq!(there.sql("postgres", "SELECT id FROM account"), "7");
    assert_eq!(there.sql("postgres", "SELECT id FROM gritstone_01234567.t"), "8");
}

#[test]
#[ignore = "measures: make test-full"]
fn next_launch_removes_leftovers() {
    let _turn = alone();
    let there = Server::start();
    let home = Home { folder: folder() };
    let id = "db/oltp/read-only@postgresql-2";
    let (dir, dsn) = (home.path().display().to_string(), dsn(&there));
    let line = format!("run {id} --quick --precision 50% --dir {dir} --param dsn={dsn}");
    let mut run = start(&home, &line, &[]);
    eventually("a schema is there", || schemas(&there) == "1");
    run.kill().unwrap();
    run.wait().unwrap();
    eventually("no client is connected", || {
        there.sql(
            "postgres",
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
        ) == "1"
    });
    assert_eq!(schemas(&there), "1");
    let run = home.json(&line);
    let row = result(&run, id);
    assert_eq!(row["outcome"], "measured", "{row}");
    // another server is another work
    assert!(flagged(row, "not-comparable"), "{row}");
    assert!(messages(row).contains("--param dsn"), "{row}");
    // what is shared does not say where it was
    let shared = home.ok("export last");
    assert!(!shared.contains(&dsn) && shared.contains("\"dsn\":\"server-"));
    assert_eq!(schemas(&there), "0");
}

#[test]
#[ignore = "measures: make test-full"]
fn option_files_find_external_mariadb() {
    let _turn = alone();
    let there = MariaDb::start();
    let options = there.options();
    there.sql("CREATE DATABASE gritstone_01234567");
    // of a launch that was killed
    there.sql("CREATE DATABASE gritstone_89abcdef; CREATE TABLE gritstone_89abcdef.made_by_gritstone (id INTEGER)");
    let folder = folder();
    let workload = built("db/oltp", folder.path(), &[]);
    let words = format!("{SHORT} engine=mariadb users=3 mix=read-write dsn={}", options.display());
    let printed = workload_output(&workload, folder.path(), &words);
    assert!(is_right(&printed), "{printed}");
    assert_eq!(
        there.sql("SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'gritstone%'"),
        "gritstone_01234567"
    );
}

#[test]
#[ignore = "measures: make test-full"]
fn unreachable_servers_are_skipped() {
    let folder = folder();
    let workload = built("db/oltp", folder.path(), &[]);
    let dsn = "dsn=postgresql://bench@/none?host=/nowhere";
    let skipped =
        workload_output(&workload, folder.path(), &format!("{SHORT} engine=postgresql {dsn}"));
    assert!(skipped.contains("skip why=The server of dsn= cannot be reached"), "{skipped}");
    let refused = workload_output(
        &workload,
        folder.path(),
        &format!("{SHORT} engine=postgresql {dsn} fsync=off"),
    );
    assert!(refused.contains("fsync= applies to a server that Gritstone starts"), "{refused}");
}
