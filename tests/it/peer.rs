//! `run --peer`: the second host is a network namespace with its own sshd and keys. Results, cleanup on both hosts, and the effect of a cut
//! connection, a wrong version, a refused key, a stranger and a peer that violates the protocol.

use crate::common::{
    self, Home, Killed, alone, binary, end_at_once, entries, eventually, measured, needs_root,
    note_data, program, reason, result, succeeds,
};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const NEAR: &str = "10.213.8.1";
const FAR: &str = "10.213.8.2";
const NEAR_SIX: &str = "fd00:213:8::1";
const FAR_SIX: &str = "fd00:213:8::2";

/// Two hosts, of which the far one has an sshd.
struct Hosts {
    near: Killed,
    far: Killed,
    _daemon: Killed,
    home: Home,
}

/// A process that keeps a network namespace.
fn namespace() -> Killed {
    let current = fs::read_link("/proc/self/ns/net").unwrap();
    let keeper = Command::new("unshare").args(["--net", "sleep", "1000"]).spawn().unwrap();
    let path = format!("/proc/{}/ns/net", keeper.id());
    eventually("a namespace", || fs::read_link(&path).is_ok_and(|link| link != current));
    Killed(keeper)
}

/// A command in the network of a process.
fn within(keeper: &Killed) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/proc/{}/ns/net", keeper.0.id()));
    command
}

impl Hosts {
    fn new() -> Self {
        Self::without(&[])
    }

    /// A far host that lacks some programs.
    fn without(programs: &[&str]) -> Self {
        needs_root();
        let home = Home::new();
        let (near, far) = (namespace(), namespace());
        let other = far.0.id().to_string();
        let ip = |keeper, words: &str| {
            succeeds(within(keeper).arg("ip").args(words.split_whitespace()));
        };
        ip(&near, &format!("link add peer1 type veth peer name peer2 netns {other}"));
        for (keeper, link, four, six) in
            [(&near, "peer1", NEAR, NEAR_SIX), (&far, "peer2", FAR, FAR_SIX)]
        {
            ip(keeper, "link set lo up");
            ip(keeper, &format!("addr add {four}/30 dev {link}"));
            ip(keeper, &format!("addr add {six}/64 dev {link} nodad"));
            ip(keeper, &format!("link set {link} up"));
        }
        let path = |name: &str| home.path().join(name).display().to_string();
        for key in ["host-key", "user-key", "strange-key"] {
            let arguments = ["-q", "-t", "ed25519", "-N", "", "-f", &path(key)];
            succeeds(Command::new(program(&["ssh-keygen"])).args(arguments));
        }
        for folder in ["remote", "bin"] {
            fs::create_dir(path(folder)).unwrap();
        }
        let usual = std::env::var("PATH").unwrap();
        let server = format!(
            "Port 2222\nListenAddress {FAR}\nHostKey {}\nPidFile none\nUsePAM no\nStrictModes no\nAuthorizedKeysFile {}\n\
             PasswordAuthentication no\nPermitRootLogin prohibit-password\nSetEnv TMPDIR={} PATH={}:{usual}\n",
            path("host-key"),
            path("user-key.pub"),
            path("remote"),
            path("bin"),
        );
        fs::write(path("sshd_config"), server).unwrap();
        fs::create_dir_all("/run/sshd").unwrap();
        // what cannot be executed is not there
        let hide = |program: &&str| format!("mount --bind /dev/null $(command -v {program}); ");
        let hidden: String = programs.iter().map(hide).collect();
        let serve = format!("set -e; {hidden}exec /usr/sbin/sshd -D -e -f {}", path("sshd_config"));
        let daemon = within(&far)
            .args(["unshare", "--mount", "sh", "-c", &serve])
            .stderr(fs::File::create(path("sshd.log")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        for (name, key) in [("ssh_config", "user-key"), ("strange_config", "strange-key")] {
            let client = format!(
                "Host far\n  HostName {FAR}\n  Port 2222\n  User root\n  IdentityFile {}\n  IdentitiesOnly yes\n\
                   StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n",
                path(key)
            );
            fs::write(path(name), client).unwrap();
        }
        let log = path("sshd.log");
        eventually("sshd listens", || {
            fs::read_to_string(&log).is_ok_and(|printed| printed.contains("Server listening"))
        });
        Self { near, far, _daemon: Killed(daemon), home }
    }

    fn client(&self, config: &str) -> String {
        format!("ssh -F {}", self.home.path().join(config).display())
    }

    /// `gritstone run` on the near host.
    fn command(&self, ssh: &str, words: &str) -> Command {
        let mut command = self.home.command("nsenter");
        command
            .arg(format!("--net=/proc/{}/ns/net", self.near.0.id()))
            .arg(binary())
            .args(["run", "--peer", "far", "--quick", "--ssh", ssh])
            .args(words.split_whitespace());
        command
    }

    fn run(&self, words: &str) -> (i32, String, String) {
        common::output_texts(self.command(&self.client("ssh_config"), words).output().unwrap())
    }

    fn start(&self, words: &str) -> Child {
        self.command(&self.client("ssh_config"), words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// The far host is empty, and no process of the run is left on either.
    fn are_clean(&self) {
        let remote = self.home.path().join("remote");
        eventually("nothing is left there", || entries(&remote).is_empty());
        eventually("no far end is left", || far_ends().is_empty());
    }
}

/// Command lines of far ends that have parsed their arguments.
fn far_ends() -> Vec<(u32, String)> {
    let processes = entries(Path::new("/proc")).into_iter();
    let lines = processes.filter_map(|process| {
        let line = fs::read(process.join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let pid = process.file_name()?.to_str()?.parse().ok()?;
        line.contains(" end far ").then_some((pid, line))
    });
    lines.collect()
}

/// Listening sockets of a process in its network, as in /proc: address and port.
pub fn listening_sockets(pid: u32) -> Vec<(String, u16)> {
    let sockets = fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap_or_default();
    let lines = sockets.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (local, state) = (words.next()?, words.nth(1)?);
        let (address, port) = local.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        (state == "0A").then(|| (address.to_owned(), port))
    });
    // that of sshd is there before and after
    lines.filter(|(_, port)| *port != 2222).collect()
}

/// FAR as /proc has it.
fn far_in_proc() -> String {
    let address: std::net::Ipv4Addr = FAR.parse().unwrap();
    format!("{:08X}", u32::from_le_bytes(address.octets()))
}

#[test]
#[ignore = "measures: make test-full"]
fn peers_leave_nothing_as_root() {
    let _turn = alone();
    let hosts = Hosts::new();
    let with = [
        "net/tcp/128k",
        "net/tcp/stream@4",
        "net/tcp/rr",
        "net/udp/rr",
        "net/tcp/connect",
        "net/udp/stream",
        "net/tcp/latency",
        "net/udp/latency",
        "net/transfer/0",
        "net/transfer/1m",
        "net/transfer/0@scp",
        "net/transfer/0@rsync",
        "net/transfer/0@http",
        "net/http/requests",
        "net/http/latency",
        "net/http/requests@python",
        "net/tls/128k",
        "net/tls/handshake",
    ];
    let without = ["net/tcp/128k@loopback", "net/unix/rr", "net/remote-file@9p", "byte/pipe"];
    let rows = [with.as_slice(), &without].concat().join(" ");
    let (code, out, printed) = hosts.run(&format!("--format json {rows}"));
    assert_eq!(code, 0, "{printed}");
    let run: Value = serde_json::from_str(&out).unwrap();
    for id in with {
        let cpu = &note_data(measured(&run, id), "ends")["cpu_ns"];
        assert!((0..2).all(|end| cpu[end].as_f64().unwrap() > 0.0), "{id}: {cpu}");
    }
    for id in without {
        let row = result(&run, id);
        assert_eq!(row["outcome"], "skipped", "{row}");
        assert!(reason(row).contains("without --peer"), "{row}");
    }
    let peer = &run["settings"]["peer"];
    assert_eq!([&peer["host"], &peer["address"]], ["far", FAR]);
    assert_eq!(peer["near"]["interface"], "peer1");
    assert_eq!(peer["far"]["interface"], "peer2");
    assert_eq!(peer["machine"]["id"], run["machine"]["id"]);
    let shown = hosts.home.ok("show last");
    assert!(shown.contains("Far ends on far (10.213.8.2)"), "{shown}");
    hosts.are_clean();

    // with far ends elsewhere it is other work
    hosts.home.ok("run net/tcp/rr --quick");
    let compared = hosts.home.json("compare last~1 last net/tcp/rr");
    let row = common::with_id(&compared["rows"], "net/tcp/rr");
    assert!(row["ratio"].is_null(), "{row}");
    assert_eq!(note_data(row, "peers-differ")["base"], "far", "{row}");
    let shared = hosts.home.ok("export last~1");
    assert!(!shared.contains(FAR), "{shared}");
}

#[test]
#[ignore = "measures: make test-full"]
fn peers_listen_on_ipv6_as_root() {
    let _turn = alone();
    let hosts = Hosts::new();
    let rows = [
        "net/tcp/rr",
        "net/udp/rr",
        "net/tcp/connect",
        "net/transfer/0",
        "net/transfer/0@scp",
        "net/transfer/0@rsync",
        "net/transfer/0@http",
        "net/http/requests",
        "net/tls/handshake",
    ];
    let words = format!("--peer-address {FAR_SIX} --format json {}", rows.join(" "));
    let (code, out, printed) = hosts.run(&words);
    assert_eq!(code, 0, "{printed}");
    let run: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(run["settings"]["peer"]["address"], FAR_SIX);
    for id in rows {
        measured(&run, id);
    }
    hosts.are_clean();
}

#[test]
#[ignore = "measures: make test-full"]
fn closed_connections_end_peers_as_root() {
    let _turn = alone();
    let hosts = Hosts::new();
    for cut in ["ssh", "gritstone"] {
        let mut run = hosts.start("net/tcp/stream@4 net/tcp/128k");
        eventually("a far end serves", || !far_ends().is_empty());
        match cut {
            "ssh" => {
                let children = format!("/proc/{0}/task/{0}/children", run.id());
                let children = fs::read_to_string(children).unwrap();
                let mut ssh = children.split_whitespace().filter(|pid| {
                    let name = fs::read_to_string(format!("/proc/{pid}/comm"));
                    name.is_ok_and(|name| name.trim() == "ssh")
                });
                succeeds(Command::new("kill").args(["-9", ssh.next().unwrap()]));
                let ended = run.wait_with_output().unwrap();
                let printed = String::from_utf8_lossy(&ended.stderr).into_owned();
                assert_eq!(ended.status.code(), Some(3), "{printed}");
                assert!(printed.contains("the connection to the peer has ended"), "{printed}");
            }
            _ => end_at_once(&mut run),
        }
        hosts.are_clean();
    }
    // what was killed goes on with the same peer
    let mut resume = hosts.home.command("nsenter");
    resume.arg(format!("--net=/proc/{}/ns/net", hosts.near.0.id())).arg(binary()).args([
        "run",
        "--resume",
        "--ssh",
        &hosts.client("ssh_config"),
    ]);
    let (code, _, printed) = common::output_texts(resume.output().unwrap());
    assert_eq!(code, 0, "{printed}");
    hosts.are_clean();
}

#[test]
#[ignore = "measures: make test-full"]
fn other_versions_are_refused_as_root() {
    let _turn = alone();
    let hosts = Hosts::new();
    let file = |name: &str, text: &str| {
        common::make_program(&hosts.home.path().join(name), text.as_bytes())
    };
    // a host of an architecture for which this program is not
    file("bin/uname", "#!/bin/sh\necho m68k\n");
    let path = hosts.home.path().join("other");
    let words = format!("net/tcp/rr --binary {}", path.display());
    let refused_run = |words: &str, why: &str| {
        let (code, _, printed) = hosts.run(words);
        assert_eq!(code, 3, "{printed}");
        assert!(printed.contains(why), "{why}: {printed}");
        hosts.are_clean();
    };
    refused_run("net/tcp/rr", "this program is for");
    let refused = |why: &str| refused_run(&words, why);
    file("other", "#!/bin/sh\necho gritstone 0.0.9\n");
    refused("is gritstone 0.0.9, and this is");
    file("other", "#!/nowhere\n");
    refused("does not start there");
    fs::remove_file(&path).unwrap();
    symlink(binary(), &path).unwrap();
    let (code, _, printed) = hosts.run(&words);
    assert_eq!(code, 0, "{printed}");
    hosts.are_clean();
}

#[test]
#[ignore = "measures: make test-full"]
fn refused_keys_measure_nothing_as_root() {
    let _turn = alone();
    let hosts = Hosts::new();
    let mut command = hosts.command(&hosts.client("strange_config"), "net/tcp/rr");
    let (code, _, printed) = common::output_texts(command.output().unwrap());
    assert_eq!(code, 3, "{printed}");
    assert!(printed.contains("Permission denied"), "{printed}");
    hosts.are_clean();
}

#[test]
#[ignore = "measures: make test-full"]
fn peer_strangers_learn_nothing_as_root() {
    let _turn = alone();
    let hosts = Hosts::new();
    for row in ["net/tcp/connect", "net/transfer/1m", "net/tls/handshake"] {
        // a near end that is quick is before the stranger
        let seen = "did not start with the token of this launch";
        let first = (0..10).any(|_| intruded(&hosts, row).contains(seen));
        assert!(first, "{row}");
        hosts.are_clean();
    }
}

/// Output of a run whose far end receives random bytes from a stranger.
fn intruded(hosts: &Hosts, row: &str) -> String {
    let run = hosts.start(row);
    let mut found = None;
    eventually("the far end listens", || {
        found = far_ends().into_iter().find_map(|(pid, line)| {
            let sockets = listening_sockets(pid);
            Some((line, sockets.first()?.clone(), sockets.len()))
        });
        found.is_some()
    });
    let (line, (address, port), sockets) = found.unwrap();
    assert_eq!((address, sockets), (far_in_proc(), 1), "{line}");
    // no argument is as long as a token in digits
    let words = line.split_whitespace().skip(1);
    let longest = words.filter(|word| !word.starts_with('/')).map(str::len).max();
    assert!(longest < Some(32), "{line}");
    let says = format!("exec 3<>/dev/tcp/{FAR}/{port}; head -c 100 /dev/urandom >&3; sleep 1");
    let _ = within(&hosts.far).args(["timeout", "10", "bash", "-c", &says]).status();
    let ended = run.wait_with_output().unwrap();
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

#[test]
#[ignore = "measures: make test-full"]
fn missing_peer_servers_are_skipped_as_root() {
    let _turn = alone();
    let hosts = Hosts::without(&["rsync"]);
    let (code, out, printed) = hosts.run("--format json net/transfer/0@rsync net/tcp/rr");
    assert_eq!(code, 0, "{printed}");
    let run: Value = serde_json::from_str(&out).unwrap();
    let row = result(&run, "net/transfer/0@rsync");
    assert_eq!(row["outcome"], "skipped", "{row}");
    assert!(
        reason(row).contains("On the server: rsync is missing (apt-get install rsync)"),
        "{row}"
    );
    assert_eq!(result(&run, "net/tcp/rr")["outcome"], "measured", "{printed}");
    hosts.are_clean();
}

/// A fake ssh client that acts as a peer.
fn plays(home: &Home, script: &str) -> (i32, String) {
    let path = common::make_script(home.path().join("plays"), script);
    let words = ["run", "--peer", "far", "--quick", "--ssh", path.to_str().unwrap(), "net/tcp/rr"];
    let (code, _, printed) = home.run(&words);
    (code, printed)
}

#[test]
#[ignore = "measures: make test-full"]
fn misbehaving_peers_are_left() {
    let home = Home::new();
    let greets = format!(
        "echo Welcome; echo gritstone begins; echo {} 127.0.0.1; read n; head -c $n >/dev/null; echo version gritstone {}; read z",
        std::env::consts::ARCH,
        env!("CARGO_PKG_VERSION")
    );
    for (script, why) in [
        ("exit 7", "ssh has ended: exit status: 7"),
        ("yes", "its login shell prints more than"),
        ("head -c 100000 /dev/urandom; sleep 5", "peer far: "),
        ("echo gritstone begins; echo x86_64", "it did not identify itself as gritstone"),
        ("echo gritstone begins; echo x86_64 -", "--peer-address"),
        ("sleep 100", "it did nothing for 30 s"),
        (
            &format!("{greets}; head -c 1000 /dev/urandom"),
            "it did not identify itself as gritstone",
        ),
        (&format!("{greets}; cat /dev/zero"), "it did not identify itself as gritstone"),
        (&format!("{greets}; sleep 100"), "it did nothing for 30 s"),
    ] {
        let (code, printed) = plays(&home, script);
        assert_eq!(code, 3, "{script}: {printed}");
        assert!(printed.contains(why), "{script}: {printed}");
        assert!(printed.bytes().all(|c| c == b'\n' || c >= b' '), "{printed:?}");
    }
}
