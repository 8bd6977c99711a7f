//! A PostgreSQL server for one test: the system's program, in a temporary directory, reached by a socket there and by TCP on the loopback.

// each test file uses its own part of it
#![allow(dead_code)]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Who owns the server, and all in it.
pub const OWNER: &str = "owner";

/// The directory with the programs of the newest version.
pub fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let programs = versions.flatten().map(|entry| entry.path().join("bin"));
    let newest = programs.filter(|path| path.join("postgres").is_file()).max();
    newest.expect("no PostgreSQL (package postgresql): scripts/setup test installs it")
}

/// A server, which ends with this process.
pub struct Server {
    folder: TempDir,
    process: Option<Child>,
    port: u16,
    databases: AtomicU32,
}

impl Server {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let mut server = Self {
            folder,
            process: None,
            port: port.expect("a port").port(),
            databases: AtomicU32::new(0),
        };
        if nix::unistd::geteuid().is_root() {
            run(Command::new("chown").arg("postgres").arg(server.folder.path()));
        }
        let data = server.data();
        let init = [
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
            "--no-instructions",
            "--username",
            OWNER,
        ];
        run(server.program("initdb").args(init).arg("--pgdata").arg(&data));
        let access = "local all owner trust\nlocal all all scram-sha-256\nhostnossl all owner 127.0.0.1/32 trust\n\
             hostssl all all 127.0.0.1/32 scram-sha-256\n";
        fs::write(data.join("pg_hba.conf"), access).expect("who has access");
        server.resume();
        server
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A program of the server, as a user that it accepts, which ends with this process.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if nix::unistd::geteuid().is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        }
        command.arg(programs().join(name)).current_dir("/");
        command
    }

    /// Starts it, also again.
    pub fn resume(&mut self) {
        for _ in 0..600 {
            let log = fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(self.folder.path().join("log"));
            let mut command = self.program("postgres");
            command.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
            command.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
            // what is lost with a process is tested, not what is with the power
            command.args(["-c", "fsync=off", "-c", "max_connections=200"]);
            if self.data().join("server.key").exists() {
                command.args(["-c", "ssl=on"]);
            }
            let child = command.stdout(Stdio::null()).stderr(log.expect("a log"));
            let mut child = child.spawn().expect("setpriv of util-linux");
            loop {
                if self.psql("postgres", "SELECT 1").status.success() {
                    self.process = Some(child);
                    return;
                }
                // the memory of one that was killed is there for a moment
                if child.try_wait().expect("a child").is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = fs::read_to_string(self.folder.path().join("log"));
        panic!("PostgreSQL does not start: {}", log.unwrap_or_default());
    }

    /// Kills it with -9; its processes follow.
    pub fn kill(&mut self) {
        let mut process = self.process.take().expect("it runs");
        process.kill().and_then(|()| process.wait()).expect("a child");
        // until the server no longer answers
        while self.psql("postgres", "SELECT 1").status.success() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Takes connections over TLS from its next start on, with a certificate that is in the file returned.
    pub fn encrypt(&self) -> PathBuf {
        let (key, certificate) = (self.data().join("server.key"), self.data().join("server.crt"));
        run(Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "2",
            ])
            .args([
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-addext",
                "basicConstraints=critical,CA:FALSE",
            ])
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&certificate));
        let copy = self.folder.path().join("trusted.pem");
        fs::copy(&certificate, &copy).expect("a copy");
        run(Command::new("chmod").arg("600").arg(&key));
        if nix::unistd::geteuid().is_root() {
            run(Command::new("chown").arg("postgres").args([&key, &certificate]));
        }
        copy
    }

    /// Executes SQL as the owner.
    pub fn psql(&self, database: &str, sql: &str) -> Output {
        let mut command = Command::new(programs().join("psql"));
        command.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            OWNER,
            "-d",
            database,
            "-c",
            sql,
        ]);
        command.arg("-h").arg(self.folder.path()).args(["-p", &self.port.to_string()]);
        command.output().expect("psql")
    }

    /// The output of SQL that succeeds.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let done = self.psql(database, sql);
        let printed = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{sql}: {printed}");
        String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
    }

    /// A new database.
    pub fn database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("d{}_{number}", std::process::id());
        self.sql("postgres", &format!("CREATE DATABASE {name} TEMPLATE template0"));
        name
    }

    /// The URL of a database by its socket.
    pub fn url(&self, database: &str, user: &str) -> String {
        format!(
            "postgres:///{database}?host={}&port={}&user={user}",
            self.folder.path().display(),
            self.port
        )
    }

    /// The URL of a database by TCP.
    pub fn tcp(&self, database: &str, user: &str) -> String {
        format!("postgres://{user}@127.0.0.1:{}/{database}", self.port)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // at once, without what a client may still want
            let pid = nix::unistd::Pid::from_raw(process.id() as i32);
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGQUIT);
            let _ = process.wait();
        }
    }
}

fn run(command: &mut Command) {
    let done = command.output().expect("a program");
    let printed = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {printed}");
}
