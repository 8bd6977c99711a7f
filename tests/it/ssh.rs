//! `gritstone fleet run --on ssh`, with private sshd's: for this user, and for an unprivileged user in network namespaces.

use crate::common::list;
use crate::common::{
    Home, Killed, SLOWER, alone, binary, entries, eventually, make_program, make_script, mode,
    needs_root, output_texts, program, succeeds,
};
use crate::fleet::measured;
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// An sshd of this test's own, for this user, with keys made for it.
struct Sshd {
    daemon: Child,
    config: String,
}

impl Sshd {
    fn start(home: &Home) -> Self {
        let path = |name: &str| home.path().join(name).display().to_string();
        make_keys(home.path());
        // free now, and hopefully until the daemon listens
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nPidFile none\nUsePAM no\nStrictModes no\nAuthorizedKeysFile {}\n\
             PasswordAuthentication no\nPermitRootLogin prohibit-password\nSetEnv TMPDIR={} XDG_STATE_HOME={}\n",
            path("host-key"),
            path("authorized"),
            path("remote"),
            path("remote-state")
        );
        fs::write(path("sshd_config"), server).unwrap();
        fs::create_dir(path("remote")).unwrap();
        if nix::unistd::geteuid().is_root() {
            // where it confines itself; Debian's service makes the same
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let daemon = Command::new(sshd())
            .args(["-D", "-e", "-f", &path("sshd_config")])
            .stderr(fs::File::create(path("sshd.log")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).unwrap().unwrap().name;
        // node-c is nowhere
        let client = format!(
            "Host node-a node-b node-d\n  HostName 127.0.0.1\n  Port {port}\nHost node-c\n  HostName 127.0.0.1\n  Port 1\n\
             Host *\n  User {user}\n  IdentityFile {}\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n",
            path("user-key")
        );
        fs::write(path("ssh_config"), client).unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < until, "{}", fs::read_to_string(path("sshd.log")).unwrap());
            thread::sleep(Duration::from_millis(50));
        }
        Self { daemon, config: path("ssh_config") }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// Keys of a host and of a user who may log in there.
fn make_keys(folder: &Path) {
    for key in ["host-key", "user-key"] {
        let mut keygen = Command::new(program(&["ssh-keygen"]));
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
        succeeds(keygen.arg(folder.join(key)));
    }
    fs::copy(folder.join("user-key.pub"), folder.join("authorized")).unwrap();
}

fn sshd() -> &'static Path {
    let path = Path::new("/usr/sbin/sshd");
    assert!(path.is_file(), "no sshd: scripts/setup test-full installs it");
    path
}

#[test]
#[ignore = "measures: make test-full"]
fn ssh_hosts_are_left_unchanged() {
    let _turn = alone();
    let home = Home::new();
    let sshd = Sshd::start(&home);
    let inventory = home.path().join("inventory");
    // b stands where a stands, so they are not measured at once
    fs::write(&inventory, "node-a rack=1\nnode-b rack=1\nnode-c rack=2 # nowhere\nnode-d rack=3\n")
        .unwrap();
    let ssh = format!("ssh -F {}", sshd.config);
    let words = [
        "fleet",
        "run",
        "--on",
        "ssh",
        "--nodes",
        inventory.to_str().unwrap(),
        "--ssh",
        &ssh,
        "--at-once",
        "2",
        "--quick",
        "byte/syscall",
    ];
    let printed = home.fails(1, &words, "1 of 4 nodes are missing");
    assert!(printed.contains("node-c") && printed.contains("refused"), "{printed}");
    assert_eq!(measured(&home), ["node-a", "node-b", "node-d"]);
    let view: Value = serde_json::from_str(&home.ok("fleet report --format json")).unwrap();
    assert_eq!(view["nodes"][0]["place"]["rack"], "1");
    assert_eq!(entries(&home.path().join("remote")), Vec::<std::path::PathBuf>::new());
    let config = fs::read_to_string(&sshd.config).unwrap();
    let port = config.split("Port ").nth(1).unwrap().lines().next().unwrap();
    fs::write(&sshd.config, config.replace("Port 1\n", &format!("Port {port}\n"))).unwrap();
    home.ok("fleet resume");
    assert_eq!(measured(&home).len(), 4);
}

/// An unused uid.
const USER: u32 = 64_999;
const NODES: [&str; 4] = ["n1", "n2", "n3", "n4"];
const SLOW: &str = "n3";

/// Four hosts in network namespaces, whose sshd's belong to an unprivileged user.
struct Hosts {
    home: Home,
    namespace: Killed,
}

impl Hosts {
    fn start() -> Self {
        let home = Home::new();
        let path = |name: &str| home.path().join(name).display().to_string();
        make_keys(home.path());
        make_program(&home.path().join("gritstone"), &fs::read(binary()).unwrap());
        let users = fs::read_to_string("/etc/passwd").unwrap();
        let user = format!("gritfleet:x:{USER}:{USER}::{}:/bin/sh\n", home.path().display());
        fs::write(path("passwd"), users + &user).unwrap();
        let (mut inventory, mut client) = (String::new(), String::new());
        for (number, node) in (1..).zip(NODES) {
            fs::create_dir(path(node)).unwrap();
            let server = format!(
                "Port 2222\nListenAddress 10.99.{number}.2\nHostKey {}\nPidFile none\nUsePAM no\nStrictModes no\nAuthorizedKeysFile {}\n\
                 PasswordAuthentication no\nSetEnv TMPDIR={dir} XDG_STATE_HOME={dir}-state\n",
                path("host-key"),
                path("authorized"),
                dir = path(node)
            );
            fs::write(path(&format!("{node}.conf")), server).unwrap();
            inventory += &format!("{node} rack={}\n", number % 2);
            client += &format!("Host {node}\n  HostName 10.99.{number}.2\n");
        }
        client += &format!(
            "Host *\n  Port 2222\n  User gritfleet\n  IdentityFile {}\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n",
            path("user-key")
        );
        fs::write(path("ssh_config"), client).unwrap();
        fs::write(path("inventory"), inventory).unwrap();
        let ssh = format!("exec ssh -F {} \"$@\"", path("ssh_config"));
        make_script(home.path().join("client"), &ssh);
        fs::write(path("hosts.sh"), hosts(home.path())).unwrap();
        mode(home.path(), 0o755);
        let owner = format!("{USER}:{USER}");
        let mut chown = Command::new(program(&["chown"]));
        succeeds(chown.args(["-R", &owner, &path("")]));
        let mut command = Command::new(program(&["unshare"]));
        command
            .args([
                "--net",
                "--mount",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
                "sh",
                &path("hosts.sh"),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(path("hosts.log")).unwrap());
        let namespace = Killed(command.spawn().unwrap());
        let all = home.path().join("ready");
        eventually("the hosts are there", || all.exists());
        Self { home, namespace }
    }

    /// The command of the user, in the namespaces; its exit code, standard output, standard error.
    fn run(&self, line: &str) -> (i32, String, String) {
        let unshare = self.namespace.0.id();
        let children =
            fs::read_to_string(format!("/proc/{unshare}/task/{unshare}/children")).unwrap();
        let mut command = self.home.command(program(&["nsenter"]));
        let user = [format!("--reuid={USER}"), format!("--regid={USER}")];
        command
            .args(["--target", children.trim(), "--net", "--mount", "--pid", "setpriv"])
            .args(user)
            .args(["--clear-groups", "--inh-caps=-all", "--bounding-set=-all"])
            .arg(self.home.path().join("gritstone"))
            .args(line.split_whitespace());
        command.stdin(Stdio::null());
        output_texts(command.output().unwrap())
    }
}

/// Hosts with an address each, as what starts the namespaces executes it.
fn hosts(home: &Path) -> String {
    let mut script = format!(
        "set -e\nmount --bind {home}/passwd /etc/passwd\nip link set lo up\n",
        home = home.display()
    );
    for (number, node) in (1..).zip(NODES) {
        let traced = if node == SLOW { SLOWER } else { "" };
        script += &format!(
            "ip link add v{number} type veth peer name w{number}\n\
             unshare --net sh -c 'touch {home}/{node}.is; until ip link show w{number} 2>/dev/null >&2; do sleep 0.1; done; \
             ip link set lo up; ip addr add 10.99.{number}.2/24 dev w{number}; ip link set w{number} up; \
             exec setpriv --reuid={USER} --regid={USER} --clear-groups --bounding-set=-all {traced} {sshd} -D -e -f {home}/{node}.conf' &\n\
             until [ -e {home}/{node}.is ]; do sleep 0.1; done\n\
             ip link set w{number} netns $!\nip addr add 10.99.{number}.1/24 dev v{number}\nip link set v{number} up\n",
            home = home.display(),
            sshd = sshd().display()
        );
    }
    script + &format!("touch {}/ready\nwait\n", home.display())
}

/// Four hosts, one of them with slow system calls, for an unprivileged user.
#[test]
#[ignore = "measures: make test-full"]
fn slow_hosts_are_named_as_root() {
    let _turn = alone();
    needs_root();
    let hosts = Hosts::start();
    let path = |name: &str| hosts.home.path().join(name).display().to_string();
    let (code, _, error) = hosts.run(&format!(
        "fleet run --on ssh --nodes {} --at-once 1 --quick --budget 2m byte/pipe byte/syscall byte/sieve --ssh {}",
        path("inventory"),
        path("client")
    ));
    let log = fs::read_to_string(path("hosts.log")).unwrap();
    assert_eq!(code, 0, "{error}{log}");
    let (code, out, error) = hosts.run("fleet report --format json");
    assert_eq!(code, 0, "{error}");
    let view: Value = serde_json::from_str(&out).unwrap();
    let names: Vec<&str> =
        list(&view["nodes"]).iter().map(|node| node["node"].as_str().unwrap()).collect();
    assert_eq!(names, NODES);
    let outliers = list(&view["outliers"]).iter();
    let slow = outliers.filter(|outlier| outlier["effect"].as_f64().unwrap() < -0.3);
    let named: Vec<&Value> = slow.map(|outlier| &outlier["node"]).collect();
    assert!(!named.is_empty() && named.iter().all(|name| **name == SLOW), "{view}");
    for node in NODES {
        assert_eq!(entries(&hosts.home.path().join(node)), Vec::<PathBuf>::new());
    }
}
