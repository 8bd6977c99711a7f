//! Databases: transactions match the model on each engine, missing work gives no result, commits are on disk, and a server leaves nothing
//! behind. Faults are planted in workloads that are started alone.

mod there;

use crate::common::workload::{built, built_from, is_right, workload_output};
use crate::common::{
    self, DISC, Home, alone, end_at_once, entries, eventually, flagged, measured, messages,
    needs_root, ours, processes, result, start, succeeds, traces,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One launch of few transactions.
const BRIEF: &str = "growth=0 target_ns=1000 samples=2";
/// The same of enough for several clients.
const SHORT: &str = "growth=0 target_ns=20000000 samples=2";

/// The same with some in each third of a region.
const LONG: &str = "growth=0 target_ns=500000000 samples=2";

/// The server that the system has, of the highest version.
pub fn postgres() -> PathBuf {
    let versions = entries(Path::new("/usr/lib/postgresql"));
    let servers = versions.into_iter().map(|path| path.join("bin/postgres"));
    let newest = servers.filter(|path| path.is_file()).max();
    newest.expect("no PostgreSQL: scripts/setup test installs it")
}

/// Arguments that select each engine.
fn engines() -> [String; 3] {
    let postgresql = format!("engine=postgresql postgres={}", postgres().display());
    let server = Path::new("/usr/sbin/mariadbd");
    assert!(server.is_file(), "no MariaDB: scripts/setup test installs it");
    let mariadb = format!("engine=mariadb mariadbd={}", server.display());
    ["engine=sqlite".to_owned(), postgresql, mariadb]
}

/// Processes of servers, of whatever run.
pub fn servers() -> BTreeSet<String> {
    let of_server = |path: &PathBuf| {
        fs::read_to_string(path.join("comm"))
            .is_ok_and(|comm| ["postgres", "mariadbd"].contains(&comm.trim()))
    };
    let all = entries(Path::new("/proc")).into_iter().filter(of_server);
    all.map(|path| path.display().to_string()).collect()
}

/// A directory that the server's account may not enter, which must not matter.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(DISC).unwrap()
}

#[test]
#[ignore = "measures: make test-full"]
fn ten_transactions_match_the_model() {
    let _turn = alone();
    let folder = folder();
    let workload = built("db/fasttrack", folder.path(), &[]);
    let before = servers();
    for engine in engines() {
        for lock in ["rows", "tables"] {
            let line = format!("{BRIEF} {engine} lock={lock} kind=9");
            let printed = workload_output(&workload, folder.path(), &line);
            assert!(is_right(&printed), "{line}: {printed}");
            assert!(printed.contains("client_cpu_ns"), "{line}: {printed}");
        }
    }
    assert_eq!(servers(), before);
    let left = entries(&folder.path().join("room"));
    assert!(left.iter().all(|path| path.ends_with("server")), "{left:?}");
}

#[test]
#[ignore = "measures: make test-full"]
fn undone_work_gives_no_result() {
    let _turn = alone();
    let program = "db/fasttrack.c";
    for (right, wrong, seen) in [
        // a commit that is none, a rollback that is none
        ("\"COMMIT\", NULL", "\"ROLLBACK\", NULL", "the table customer differs from the model"),
        ("\"ROLLBACK\", NULL", "\"COMMIT\", NULL", "the table line differs from the model"),
        // an update that is lost, and one of another row
        (
            "balance = balance + ?",
            "balance = balance + 0 * ?",
            "the table customer differs from the model",
        ),
        ("state = state + 1", "state = state", "the table orders differs from the model"),
        // fewer rows than asked for, though they would come back
        (
            "\"DELETE FROM line WHERE order_id BETWEEN ? AND ?\"",
            "\"DELETE FROM line WHERE order_id BETWEEN ? AND ? AND number < 3\"",
            "got=9 expected=10",
        ),
        (
            "FROM customer WHERE id = ?",
            "FROM customer WHERE id = ? % 1999 + 1",
            "got=9 expected=10",
        ),
        (
            "branch BETWEEN ? AND ?",
            "branch BETWEEN ? AND ? AND balance > 5000",
            "got=9 expected=10",
        ),
    ] {
        let folder = folder();
        let workload = built("db/fasttrack", folder.path(), &[(program, right, wrong)]);
        // what engines do differently on all of them
        let all = if wrong.ends_with("NULL") { 3 } else { 1 };
        for engine in &engines()[..all] {
            let printed =
                workload_output(&workload, folder.path(), &format!("{BRIEF} {engine} kind=1"));
            assert!(printed.contains(seen), "{wrong} {engine}: {printed}");
        }
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn unsynced_settings_are_named() {
    let _turn = alone();
    let folder = folder();
    let workload = built("db/fasttrack", folder.path(), &[]);
    let [sqlite, postgresql, mariadb] = engines();
    for (engine, setting) in [
        (&sqlite, "synchronous=NORMAL"),
        (&postgresql, "synchronous_commit=off"),
        (&mariadb, "innodb_flush_log_at_trx_commit=2"),
    ] {
        let line = format!("{BRIEF} {engine} kind=6");
        let named = |line: &str| {
            workload_output(&workload, folder.path(), line).contains("param key=stand_in")
        };
        assert!(!named(&line), "{line}");
        assert!(named(&format!("{line} {setting}")), "{setting}");
    }
    let home = Home { folder };
    let dir = home.path().display();
    let (id, setting) = ("db/fasttrack/6@postgresql", "fsync=off");
    let run = home.json(&format!("run {id} --quick --precision 50% --dir {dir} --param {setting}"));
    let row = result(&run, id);
    assert_eq!(row["outcome"], "measured", "{row}");
    assert!(flagged(row, "not-comparable"), "{row}");
    let warning = format!("With {setting} a commit does not wait");
    assert!(messages(row).contains(&warning), "{row}");
    assert!(traces(&home).is_empty() && processes(&home) == 0);
}

#[test]
#[ignore = "measures: make test-full"]
fn concurrent_clients_match_the_model() {
    let _turn = alone();
    let folder = folder();
    let workload = built("db/oltp", folder.path(), &[]);
    for engine in engines() {
        for mix in ["read-only", "read-write", "write share=50"] {
            let line = format!("{SHORT} {engine} users=3 mix={mix}");
            let printed = workload_output(&workload, folder.path(), &line);
            assert!(is_right(&printed), "{line}: {printed}");
            assert_eq!(
                printed.contains("offered_per_s"),
                mix.contains("share"),
                "{line}: {printed}"
            );
        }
    }
    for (engine, beside) in engines().iter().zip(["checkpoint", "checkpoint", "vacuum"]) {
        let line = format!("{LONG} {engine} users=3 mix=write share=50 beside={beside}");
        let printed = workload_output(&workload, folder.path(), &line);
        assert!(is_right(&printed), "{line}: {printed}");
        for when in ["before", "during"] {
            let kind = format!("latency users=3 kind={when} count=");
            assert!(printed.contains(&kind), "{line}: {printed}");
        }
        assert!(printed.contains("key=upkeep_ns"), "{line}: {printed}");
    }
    for (right, wrong, seen) in [
        ("{\"COMMIT\"", "{\"ROLLBACK\"", "the table differs from the model"),
        ("SET k = k + 1", "SET k = k", "the table differs from the model"),
        ("SET n = n + 1", "SET n = n + 2", "the table differs from the model"),
        (
            "SELECT c FROM account WHERE id = ?\"",
            "SELECT c FROM account WHERE id = ? % 9999 + 1\"",
            "got=0 ",
        ),
        (
            "SELECT c FROM account WHERE id BETWEEN ? AND ?\"",
            "SELECT c FROM account WHERE id BETWEEN ? AND ? AND n >= 0 LIMIT 99\"",
            "got=0 ",
        ),
        ("SELECT sum(k)", "SELECT sum(k) - 9999999", "got=0 "),
    ] {
        let folder = tempfile::tempdir_in(DISC).unwrap();
        let workload = built("db/oltp", folder.path(), &[("db/oltp.c", right, wrong)]);
        let all = if wrong.contains("ROLLBACK") { 3 } else { 1 };
        for engine in &engines()[..all] {
            let line = format!("{SHORT} {engine} users=3 mix=read-write");
            let printed = workload_output(&workload, folder.path(), &line);
            assert!(!is_right(&printed) && printed.contains(seen), "{wrong} {engine}: {printed}");
        }
        // in an open loop too
        let line = format!("{SHORT} {} users=3 mix=read-write share=50", engines()[0]);
        let printed = workload_output(&workload, folder.path(), &line);
        assert!(!is_right(&printed), "{wrong}: {printed}");
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn table_scans_match_the_model() {
    let _turn = alone();
    let folder = folder();
    let workload = built("db/bulk", folder.path(), &[]);
    for engine in engines() {
        for work in ["load", "index", "count", "range", "join"] {
            let line = format!("samples=1 {engine} work={work}");
            let printed = workload_output(&workload, folder.path(), &line);
            assert!(is_right(&printed), "{line}: {printed}");
        }
    }
    for (work, right, wrong) in [
        ("load", "i <= ENTRIES; i++) {\n\t\tlength", "i <= ENTRIES - 1; i++) {\n\t\tlength"),
        ("count", "amount < ?", "amount < ? - 100"),
        ("join", "WHERE day < ?", "WHERE day <= ? + 7"),
    ] {
        let folder = tempfile::tempdir_in(DISC).unwrap();
        let workload = built("db/bulk", folder.path(), &[("db/bulk.c", right, wrong)]);
        let printed = workload_output(&workload, folder.path(), &format!("samples=1 work={work}"));
        assert!(!is_right(&printed) && printed.contains("got=0 expected=1"), "{wrong}: {printed}");
    }
}

/// Syncs of the processes of one workload that does n times ten transactions: two of ten commit a change.
fn syncs(workload: &Path, folder: &Path, line: &str, n: u64) -> u64 {
    let log = folder.join("syncs");
    let strace = common::program(&["strace"]);
    let script = format!(
        "exec {} -f -e trace=fsync,fdatasync,openat -o {} {} \"$@\"",
        strace.display(),
        log.display(),
        workload.display()
    );
    let traced = common::make_script(folder.join("traced"), &script);
    let printed = workload_output(&traced, folder, &format!("mode=once n={n} {line}"));
    assert!(printed.is_empty(), "{line}: {printed}");
    let log = fs::read_to_string(&log).unwrap();
    log.lines().filter(|line| line.contains("sync(")).count() as u64
}

#[test]
#[ignore = "measures: make test-full"]
fn only_writing_commits_sync() {
    let _turn = alone();
    let folder = folder();
    let workload = built("db/fasttrack", folder.path(), &[]);
    let count = |line: &str, n| syncs(&workload, folder.path(), line, n);
    for (engine, unsafe_setting) in
        engines().iter().zip(["synchronous=OFF", "fsync=off", "innodb_flush_log_at_trx_commit=0"])
    {
        // of a hundred times ten against one: 198 commits more, and what a checkpoint may sync besides
        let line = format!("{engine} kind=6");
        let more = count(&line, 100) - count(&line, 1);
        assert!((198..260).contains(&more), "{line}: {more} syncs for 198 commits");
        let line = format!("{line} {unsafe_setting}");
        let more = count(&line, 100).saturating_sub(count(&line, 1));
        assert!(more < 20, "{line}: {more} syncs");
    }
}

#[test]
fn missing_engines_name_packages() {
    let folder = folder();
    let none = [("db/sqlite.h", "\"libsqlite3.so.0\"", "\"libsqlite3.so.none\"")];
    let workload = built("db/fasttrack", folder.path(), &none);
    let printed = workload_output(&workload, folder.path(), BRIEF);
    assert!(
        printed.contains("skip why=It needs libsqlite3.so.none: apt-get install libsqlite3-0."),
        "{printed}"
    );
}

#[test]
#[ignore = "measures: make test-full"]
fn engines_report_elapsed_and_cpu() {
    let _turn = alone();
    let home = Home { folder: folder() };
    let before = servers();
    let dir = home.path().display();
    let ids = ["db/fasttrack/5", "db/fasttrack/1@postgresql-tables"];
    let line = format!("run {} --quick --precision 50% --dir {dir}", ids.join(" "));
    let run = home.json(&line);
    for id in ids {
        let row = measured(&run, id);
        // the estimate is of undisturbed samples, the CPU time of all
        let elapsed = f64::max(row["estimate"].as_f64().unwrap(), row["as_ran"].as_f64().unwrap());
        let parts: Vec<f64> = (common::list(&row["parts"]).iter())
            .map(|part| part["value"].as_f64().unwrap())
            .collect();
        assert_eq!(parts.len(), 1 + usize::from(id.contains('@')), "{row}");
        // a process cannot use more than the time that passes
        assert!(parts.iter().all(|cpu| *cpu > 0.0 && *cpu < 1.2 * elapsed), "{row}");
        assert!(row["latencies"]["events"].as_u64().unwrap() > 100, "{row}");
    }
    assert_eq!(servers(), before);
    assert!(traces(&home).is_empty() && processes(&home) == 0);
    // beside the document, and said not to be the same work
    let (_, against, error) = home.run("compare ref:hp-9000-840s last");
    assert!(against.contains("db/fasttrack/5"), "{against}{error}");
}

/// Candidate moments: milliseconds after the start, the same in each run of the test.
fn moments(first: u64, last: u64) -> impl Iterator<Item = u64> {
    let mut state = 1987_u64;
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        first + (state >> 33) % (last - first)
    })
}

/// The last transaction that the server acknowledged to a client, and the state after the end.
struct Ends {
    acknowledged: i64,
    found: Option<i64>,
}

/// A client commits until a moment at which the server is killed, or a command takes the disk away; then the server restarts, if
/// `recovered`.
fn cut(
    program: &Path,
    room: &Path,
    settings: &str,
    command: &str,
    recovered: impl FnOnce() -> Option<PathBuf>,
) -> Ends {
    let number =
        |line: &str, key: &str| line.strip_prefix(key)?.strip_prefix('=')?.trim().parse().ok();
    let run = |room: &Path, words: &[&str]| {
        let server = format!("postgres={}", postgres().display());
        let output = Command::new(program)
            .args(["mode=once", "n=1", &server])
            .args(words)
            .current_dir(room)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        (printed, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let mut words: Vec<&str> = settings.split_whitespace().collect();
    let command = format!("command={command}");
    if command != "command=" {
        words.push(&command);
    }
    let (printed, error) = run(room, &words);
    let acknowledged = printed.lines().find_map(|line| number(line, "acknowledged"));
    let acknowledged = acknowledged.unwrap_or_else(|| panic!("{settings}: {printed}{error}"));
    // a cluster that does not begin any more has lost everything
    let found = recovered().and_then(|room| {
        let (printed, _) = run(&room, &["phase=recover"]);
        printed.lines().find_map(|line| number(line, "found"))
    });
    Ends { acknowledged, found }
}

#[test]
#[ignore = "measures: make test-full"]
fn acknowledged_writes_survive_kills() {
    let _turn = alone();
    let before = servers();
    let folder = folder();
    let program = built_from(include_str!("db/durable.c"), "db", folder.path());
    let ends = |settings: &str, moment: u64| {
        let room = folder.path().join("room");
        let _ = fs::remove_dir_all(&room);
        fs::create_dir(&room).unwrap();
        let settings = format!("{settings} moment_ms={moment}");
        cut(&program, &room, &settings, "", || Some(room.clone()))
    };
    for moment in moments(20, 700).take(20) {
        let Ends { acknowledged, found } = ends("", moment);
        assert!(acknowledged > 0, "{moment} ms");
        // the log may have one more, unacknowledged
        let found = found.expect("a server that begins again");
        assert!(
            found == acknowledged || found == acknowledged + 1,
            "{moment} ms: {found} of {acknowledged}"
        );
    }
    // the proof can fail: commits that do not wait for their log are lost
    let lost = moments(20, 700).take(10).filter(|moment| {
        let Ends { acknowledged, found } = ends("synchronous_commit=off", *moment);
        found.is_some_and(|found| found < acknowledged)
    });
    assert!(lost.count() > 0);
    eventually("no server is left", || servers() == before);
}

#[test]
#[ignore = "measures: make test-full"]
fn killed_servers_leave_nothing() {
    let _turn = alone();
    let before = servers();
    let segments = || fs::read_to_string("/proc/sysvipc/shm").unwrap().lines().count();
    let segments_before = segments();
    for (which, moment) in moments(0, 6000).take(20).enumerate() {
        let home = Home { folder: folder() };
        let dir = home.path().join("files");
        fs::create_dir(&dir).unwrap();
        let line = format!(
            "run db/fasttrack/6@postgresql --precision 0.01% --budget 120s --dir {}",
            dir.display()
        );
        let mut child = start(&home, &line, &[]);
        std::thread::sleep(std::time::Duration::from_millis(moment));
        let killed_server = which % 2 == 1;
        if killed_server {
            eventually("a server", || servers().len() > before.len());
            for process in servers().difference(&before) {
                let pid = process.trim_start_matches("/proc/").parse().unwrap();
                // it may have ended since
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
            common::end(&child, Signal::SIGINT);
            child.wait().unwrap();
        } else {
            end_at_once(&mut child);
        }
        eventually("no process is left", || processes(&home) == 0 && servers() == before);
        eventually("no file is left", || ours(&dir).is_empty() && traces(&home).is_empty());
        // killed between its journal and its watchdog it has made nothing: the next start removes the journal
        for journal in home.journals() {
            let entries = fs::read_to_string(&journal).unwrap();
            assert!(entries.lines().count() <= 1, "{moment} ms: {entries}");
        }
        let (code, _, error) = home.run("doctor");
        assert!(code <= 1, "{error}");
        assert!(home.journals().is_empty(), "{moment} ms");
    }
    assert_eq!(segments(), segments_before);
}

/// A file system in a file, mounted; gone with the test.
struct Disk {
    device: String,
    mounted: PathBuf,
}

impl Disk {
    fn mount(image: &Path, folder: &Path) -> Self {
        let mut losetup = Command::new("losetup");
        let device = succeeds(losetup.args(["--find", "--show", "--direct-io=on"]).arg(image));
        fs::create_dir_all(folder).unwrap();
        let disk = Self { device: device.trim().to_owned(), mounted: folder.to_owned() };
        // no commit of the journal but those that are asked for
        let options = ["-t", "ext4", "-o", "commit=300", &disk.device];
        succeeds(Command::new("mount").args(options).arg(folder));
        disk
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.mounted).status();
        let _ = Command::new("losetup").args(["-d", &self.device]).status();
    }
}

#[test]
#[ignore = "measures: make test-full"]
fn synced_writes_survive_power_cuts_as_root() {
    let _turn = alone();
    needs_root();
    let folder = folder();
    let program = built_from(include_str!("db/durable.c"), "db", folder.path());
    let (image, copy) = (folder.path().join("image"), folder.path().join("copy"));
    let ends = |settings: &str, moment: u64| {
        let _ = fs::remove_file(&copy);
        fs::File::create(&image).unwrap().set_len(512 << 20).unwrap();
        succeeds(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image));
        let disk = Disk::mount(&image, &folder.path().join("disk"));
        let room = disk.mounted.join("room");
        fs::create_dir(&room).unwrap();
        let settings = format!("{settings} moment_ms={moment}");
        let take = format!("cp --sparse=always {} {}", image.display(), copy.display());
        let mut again = None;
        cut(&program, &room, &settings, &take, || {
            let disk = Disk::mount(&copy, &folder.path().join("disk-again"));
            let room = disk.mounted.join("room");
            again = Some(disk);
            Some(room)
        })
    };
    for moment in moments(20, 700).take(5) {
        let Ends { acknowledged, found } = ends("", moment);
        let found = found.expect("a server that begins again");
        assert!(
            acknowledged > 0 && found >= acknowledged,
            "{moment} ms: {found} of {acknowledged}"
        );
    }
    let lost = moments(100, 700).take(3).filter(|moment| {
        let Ends { acknowledged, found } = ends("fsync=off", *moment);
        found.is_none_or(|found| found < acknowledged)
    });
    assert!(lost.count() > 0);
}
