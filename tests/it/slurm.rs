//! `gritstone fleet run --on slurm` on a private Slurm: a controller and four nodes on this host, each in a pid namespace, so that a node
//! can be killed with all its processes. The system's services are not touched.

use crate::common::{
    Home, Killed, SLOWER, alone, end, entries, eventually, list, make_script, needs_root,
    output_texts, program, start,
};
use crate::recipes::recipe;
use gritstone_store::Store;
use jiff::Timestamp;
use nix::sys::signal::Signal;
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

const NODES: [&str; 4] = ["n1", "n2", "n3", "n4"];
/// The node with a tenth of a CPU.
const SLOW: &str = "n3";
/// One node after the other: they share the CPUs of this host.
const LINE: &str =
    "fleet run --on slurm --at-once 1 --quick --budget 2m byte/pipe byte/syscall byte/sieve";

/// A cluster; its daemons end with it.
struct Cluster {
    home: Home,
    daemons: Vec<Killed>,
    nodes: Vec<(&'static str, Killed)>,
}

impl Cluster {
    fn start() -> Self {
        let home = Home::new();
        let folder = home.path().join("slurm");
        fs::create_dir(&folder).unwrap();
        let mut cluster = Self { daemons: vec![], nodes: vec![], home };
        fs::write(folder.join("slurm.conf"), configuration(&folder)).unwrap();
        fs::write(folder.join("key"), [0x5a_u8; 1024]).unwrap();
        crate::common::mode(&folder.join("key"), 0o600);
        let file = |option: &str, name: &str| format!("--{option}={}", folder.join(name).display());
        cluster.daemon(
            "munged",
            &[
                "--foreground".to_owned(),
                "--force".to_owned(),
                file("key-file", "key"),
                file("socket", "munge.socket"),
                file("pid-file", "munged.pid"),
                file("seed-file", "munged.seed"),
                file("log-file", "munged.log"),
            ],
        );
        eventually("munged listens", || folder.join("munge.socket").exists());
        cluster.daemon("slurmctld", &["-D".to_owned()]);
        for node in NODES {
            fs::create_dir_all(folder.join("spool").join(node)).unwrap();
            cluster.begin(node);
        }
        cluster.idle(&NODES);
        cluster
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.home.command(program);
        command.env("SLURM_CONF", self.conf()).stdin(Stdio::null());
        command
    }

    fn conf(&self) -> PathBuf {
        self.home.path().join("slurm/slurm.conf")
    }

    fn daemon(&mut self, name: &str, words: &[String]) {
        let mut command = self.command(daemon(name));
        command.args(words).stdout(Stdio::null()).stderr(self.log(name));
        self.daemons.push(Killed(command.spawn().unwrap()));
    }

    fn log(&self, name: &str) -> fs::File {
        let path = self.home.path().join(format!("slurm/{name}.said"));
        fs::File::options().create(true).append(true).open(path).unwrap()
    }

    /// Starts a node: what it starts dies with it.
    fn begin(&mut self, node: &'static str) {
        let traced = if node == SLOW { SLOWER } else { "" };
        let script = format!(
            "exec unshare --pid --fork --kill-child --mount-proc {traced} {} -D -N {node}",
            daemon("slurmd").display()
        );
        let mut command = self.command("/bin/sh");
        command.args(["-c", &script]).stdout(Stdio::null()).stderr(self.log(node));
        self.nodes.push((node, Killed(command.spawn().unwrap())));
    }

    /// Waits until Slurm gives jobs to these nodes.
    fn idle(&self, nodes: &[&str]) {
        eventually("the nodes are idle", || {
            let words = ["--noheader", "--Node", "--states=idle", "--format=%N"];
            let out = self.command(program(&["sinfo"])).args(words).output().unwrap();
            let out = String::from_utf8(out.stdout).unwrap();
            nodes.iter().all(|node| out.lines().any(|line| line.trim() == *node))
        });
    }

    fn dies(&mut self, node: &str) {
        self.nodes.retain(|(name, _)| *name != node);
    }

    fn start_fleet(&self, line: &str) -> Child {
        start(&self.home, line, &[("SLURM_CONF", self.conf().as_path())])
    }

    /// Exit code, standard output, standard error.
    fn run(&self, line: &str) -> (i32, String, String) {
        output_texts(self.start_fleet(line).wait_with_output().unwrap())
    }

    /// Directory of the newest fleet run, which the nodes see too.
    fn folder(&self) -> Option<PathBuf> {
        entries(&self.home.path().join("data/gritstone/fleets")).into_iter().max()
    }

    /// Waits until a node of a fleet that is begun measures.
    fn measures(&self, before: Option<&PathBuf>, node: &str) {
        eventually("the node measures", || {
            let folder = self.folder().filter(|folder| Some(folder) != before);
            folder.is_some_and(|folder| folder.join(format!("{node}.log")).exists())
        });
        thread::sleep(Duration::from_millis(300));
    }

    /// Remains of any fleet on the nodes and in the queue.
    fn left(&self) -> Vec<String> {
        let words = ["--noheader", "--format=%A %T"];
        let out = self.command(program(&["squeue"])).args(words).output().unwrap();
        let jobs = String::from_utf8(out.stdout).unwrap();
        let in_home = entries(self.home.path());
        let fleets = entries(&self.home.path().join("data/gritstone/fleets"));
        let files = fleets.iter().flat_map(|folder| entries(folder));
        let files = in_home.into_iter().chain(files).map(|path| path.display().to_string());
        let files =
            files.filter(|path| path.contains("gritstone-fleet-") || path.contains("/fleets/"));
        let ours = ["/lock", "/plan.json", "/progress.json"];
        let files = files.filter(|path| !ours.iter().any(|suffix| path.ends_with(suffix)));
        jobs.lines().map(str::to_owned).chain(files).collect()
    }

    /// The epilog of examples/fleet, after a job on each of three nodes, one of which fails its check, and one of which is inconclusive.
    fn drains_a_node_that_fails_its_check(&self) {
        let folder = self.home.path().join("slurm");
        let checks = folder.join("checks");
        let script = format!(
            "echo \"$*\" >>{}\ncase \"$*\" in *--node\\ n2*) exit 4 ;; *--node\\ n3*) exit 1 ;; esac",
            checks.display()
        );
        make_script(folder.join("gritstone"), &script);
        let store = folder.join("fleet.db");
        fs::write(&store, "").unwrap();
        let checked = folder.join("fleet.db.checked");
        for (node, after) in [("n1", "idle"), ("n2", "idle"), ("n3", "drained")] {
            let _ = fs::remove_file(&checked);
            self.job(node);
            eventually("the epilog has ended", || self.state(node) == after);
        }
        // once a day
        self.job("n1");
        eventually("the epilog has ended", || self.state("n1") == "idle");
        let printed = fs::read_to_string(checks).unwrap();
        assert_eq!(printed.lines().count(), 3, "{printed}");
        assert!(printed.contains("fleet check --node n1 --budget 60s"), "{printed}");
    }

    /// Executes a job on a node, and waits for its end.
    fn job(&self, node: &str) {
        let words = ["--quiet", "--wait", "--output=/dev/null", "--nodelist", node];
        let mut job = self.command(program(&["sbatch"]));
        assert!(job.args(words).args(["--wrap", "true"]).status().unwrap().success());
    }

    fn state(&self, node: &str) -> String {
        let words = ["--noheader", "--format=%T", "--nodes", node];
        let out = self.command(program(&["sinfo"])).args(words).output().unwrap();
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    }

    fn report(&self) -> Value {
        serde_json::from_str(&self.home.ok("fleet report --format json")).unwrap()
    }
}

fn daemon(name: &str) -> PathBuf {
    let path = Path::new("/usr/sbin").join(name);
    assert!(path.is_file(), "no {name}: scripts/setup test-full installs it");
    path
}

fn configuration(folder: &Path) -> String {
    let free = || TcpListener::bind("127.0.0.1:0").unwrap();
    let held: Vec<TcpListener> = (0..=NODES.len()).map(|_| free()).collect();
    let ports: Vec<u16> =
        held.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let host = host.trim();
    let cpus = thread::available_parallelism().unwrap();
    let mut text = format!(
        "ClusterName=gritstone\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={folder}/munge.socket\nCredType=cred/munge\n\
         StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool/%n\n\
         SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/slurmd-%n.pid\n\
         SlurmctldLogFile={folder}/slurmctld.log\nSlurmdLogFile={folder}/slurmd-%n.log\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
         SelectType=select/linear\nSchedulerType=sched/backfill\nSlurmdTimeout=10\nKillWait=5\nReturnToService=2\n",
        ports[0],
        folder = folder.display()
    );
    for (node, port) in NODES.iter().zip(&ports[1..]) {
        text += &format!(
            "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus}\n"
        );
    }
    // as slurm.conf has it, with what the environment of a node lacks
    let epilog = format!(
        "export GRITSTONE_STORE={folder}/fleet.db HOME={folder} PATH={folder}:/usr/bin:/bin\nexec {recipe}",
        folder = folder.display(),
        recipe = recipe("slurm-epilog").display()
    );
    make_script(folder.join("epilog"), &epilog);
    text += &format!("Epilog={}/epilog\n", folder.display());
    text + "PartitionName=batch Nodes=ALL Default=YES MaxTime=60 State=UP\n"
}

/// The nodes that have a run.
fn measured(view: &Value) -> Vec<&str> {
    let nodes = list(&view["nodes"]).iter();
    nodes.map(|node| node["node"].as_str().unwrap()).collect()
}

/// A fleet with a slow node and one that dies during its measurement and comes back: found, named, resumed, with nothing left.
#[test]
#[ignore = "measures: make test-full"]
fn slurm_measures_a_fleet_as_root() {
    let _turn = alone();
    needs_root();
    let mut cluster = Cluster::start();

    let fleet = cluster.start_fleet(LINE);
    cluster.measures(None, "n4");
    cluster.dies("n4");
    let (code, _, error) = output_texts(fleet.wait_with_output().unwrap());
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("n4: failed") && error.contains("NODE_FAIL"), "{error}");
    assert!(error.contains("1 of 4 nodes are missing"), "{error}");
    let view = cluster.report();
    assert_eq!(measured(&view), ["n1", "n2", "n3"]);
    assert_eq!(view["nodes"][0]["place"]["partition"], "batch");

    // it is still away, and is not waited for
    let (code, _, error) = cluster.run("fleet resume");
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("n4: skipped: Slurm reports it as down"), "{error}");

    cluster.begin("n4");
    cluster.idle(&NODES);
    let (code, out, error) = cluster.run("fleet resume");
    assert_eq!(code, 0, "{error}");
    let view = cluster.report();
    assert_eq!(measured(&view), NODES);
    let outliers = list(&view["outliers"]);
    let slow = |outlier: &&Value| outlier["effect"].as_f64().unwrap() < -0.3;
    let named: Vec<&Value> = outliers.iter().filter(slow).map(|outlier| &outlier["node"]).collect();
    assert!(!named.is_empty() && named.iter().all(|name| **name == SLOW), "{out}{view}");
    assert!(out.contains("n3: "), "{out}");
    assert_eq!(cluster.left(), Vec::<String>::new());
    cluster.drains_a_node_that_fails_its_check();
}

/// Ctrl-C cancels the jobs; if the process itself is killed, they go on, and `resume` imports their results.
#[test]
#[ignore = "measures: make test-full"]
fn jobs_follow_their_fleet_run_as_root() {
    let _turn = alone();
    needs_root();
    let cluster = Cluster::start();

    let fleet = cluster.start_fleet(LINE);
    cluster.measures(None, "n1");
    end(&fleet, Signal::SIGINT);
    let (code, _, error) = output_texts(fleet.wait_with_output().unwrap());
    assert_eq!(code, 130, "{error}");
    assert!(error.contains("is cancelled") && error.contains("fleet resume"), "{error}");
    let mut left = cluster.left();
    left.retain(|path| !path.ends_with("n1.log"));
    assert_eq!(left, Vec::<String>::new());

    let before = cluster.folder();
    let shared = cluster.home.path().join("shared");
    let line = format!(
        "fleet run --on slurm --nodes n[1-2] --shared {} --quick byte/syscall",
        shared.display()
    );
    let mut fleet = cluster.start_fleet(&line);
    eventually("the first node measures", || {
        let of_fleet = entries(&shared);
        of_fleet.iter().any(|folder| folder.join("n1.log").exists())
    });
    end(&fleet, Signal::SIGKILL);
    fleet.wait().unwrap();
    let (code, _, error) = cluster.run("fleet resume");
    assert_eq!(code, 0, "{error}");
    assert!(error.contains("was submitted earlier"), "{error}");
    assert_ne!(cluster.folder(), before);
    assert_eq!(measured(&cluster.report()), ["n1", "n2"]);
    assert_eq!(entries(&shared), Vec::<PathBuf>::new());
}

/// Time of each node's measurement, seconds.
fn times(cluster: &Cluster) -> Vec<(String, [f64; 2])> {
    let store = Store::open(&cluster.home.store()).unwrap();
    let heads = store.runs().unwrap();
    let members = store.members().unwrap().into_iter().map(|member| {
        let head = heads.iter().find(|head| head.id == member.run).unwrap();
        let began: Timestamp = member.started.parse().unwrap();
        let began = began.as_microsecond() as f64 / 1e6;
        (member.member.node, [began, began + head.elapsed_s.unwrap()])
    });
    members.collect()
}

/// Two nodes in a rack and two in none, two at once: the second of the rack waits for the first, and never three measure.
#[test]
#[ignore = "measures: make test-full"]
fn neighbors_measure_in_turns_as_root() {
    let _turn = alone();
    needs_root();
    let cluster = Cluster::start();
    let inventory = cluster.home.path().join("inventory");
    fs::write(&inventory, "n1 rack=a\nn2 rack=a\nn3\nn4\n").unwrap();
    let line = format!(
        "fleet run --on slurm --nodes {} --at-once 2 --quick --budget 2m byte/pipe byte/syscall byte/sieve",
        inventory.display()
    );
    let fleet = cluster.start_fleet(&line);
    // a task on which something was set is a job of its own to Slurm
    let mut second = String::new();
    eventually("the second task waits for the first", || {
        let words = ["show", "jobs", "--oneliner"];
        let out = cluster.command(program(&["scontrol"])).args(words).output().unwrap();
        let printed = String::from_utf8(out.stdout).unwrap();
        let task = printed.lines().find(|line| line.contains(" ArrayTaskId=1 "));
        second = task.unwrap_or_default().to_owned();
        second.contains(" Dependency=afterany:")
    });
    for part in [" ArrayTaskThrottle=2 ", " ReqNodeList=n2 ", " JobState=PENDING "] {
        assert!(second.contains(part), "{part}: {second}");
    }
    let (code, _, error) = output_texts(fleet.wait_with_output().unwrap());
    assert_eq!(code, 0, "{error}");

    let times = times(&cluster);
    let meet = |a: &[f64; 2], b: &[f64; 2]| a[0] < b[1] && b[0] < a[1];
    let time = |node: &str| times.iter().find(|(name, _)| name == node).unwrap().1;
    assert!(!meet(&time("n1"), &time("n2")), "{times:?}");
    // as many as measured when a node began
    let at_once = times.iter().map(|(_, span)| {
        let then = [span[0], span[0] + f64::EPSILON * span[0]];
        times.iter().filter(|(_, other)| meet(other, &then)).count()
    });
    assert_eq!(at_once.max(), Some(2), "{times:?}");
}
