//! Slurm's own commands: `sinfo`, `sbatch`, `scontrol`, `squeue`, `scancel`. Accounting (`sacct`) is optional in Slurm, and not needed: the
//! controller remembers a job for minutes after its end (`MinJobAge`), and is polled every few seconds.

use crate::host::Node;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

/// A node as listed by `sinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmNode {
    pub name: String,
    /// Such as `idle` or `down*`.
    pub state: String,
    /// Why an administrator or Slurm took it out.
    pub reason: String,
    pub partition: String,
}

impl SlurmNode {
    /// Why no job can start on it, unless it comes back.
    pub fn unusable(&self) -> Option<String> {
        if is_usable(&self.state.to_ascii_lowercase()) {
            return None;
        }
        let reason = match self.reason.as_str() {
            "" | "none" => String::new(),
            reason => format!(" ({reason})"),
        };
        Some(format!("Slurm reports it as {}{reason}", self.state))
    }
}

/// Whether a job can start now or after the running ones. False for an unknown state.
fn is_usable(state: &str) -> bool {
    const USABLE: &str = "idle mix alloc comp planned plnd resv reserved powered_down powering_up \
                          power_up pow_up reboot boot";
    // of sinfo(1): does not respond, maintenance, is being powered down
    let out = ['*', '$', '%'];
    // of a compound state, each part counts
    let words = state.split('+').filter(|word| !word.is_empty());
    let mut words = words.map(|word| word.trim_end_matches(['~', '#', '!', '@', '^', '-']));
    words.all(|word| {
        !word.ends_with(out) && USABLE.split(' ').any(|usable| word.starts_with(usable))
    })
}

/// The nodes of a partition; without a name, of the default one.
///
/// # Errors
/// When Slurm does not answer, or the partition has none.
pub fn nodes(partition: Option<&str>) -> Result<Vec<SlurmNode>> {
    let mut words = vec!["--noheader", "--Node", "--format=%N|%T|%P|%E"];
    words.extend(partition.iter().flat_map(|partition| ["--partition", *partition]));
    let nodes = parse_nodes(&run("sinfo", &words, "")?, partition.is_some());
    match partition {
        Some(name) => ensure!(!nodes.is_empty(), "partition {name} has no node"),
        None => ensure!(
            !nodes.is_empty(),
            "Slurm has no default partition here: name one by --partition"
        ),
    }
    Ok(nodes)
}

/// Parses the output of `sinfo`; the default partition has a `*` after its name.
fn parse_nodes(output: &str, named: bool) -> Vec<SlurmNode> {
    let nodes = output.lines().filter_map(|line| {
        let mut fields = line.splitn(4, '|').map(|field| field.trim().to_owned());
        let [name, state, partition, reason] = [(); 4].map(|()| fields.next());
        let partition = partition?;
        (named || partition.ends_with('*')).then_some(SlurmNode {
            name: name?,
            state: state?,
            partition: partition.trim_end_matches('*').to_owned(),
            reason: reason.unwrap_or_default(),
        })
    });
    nodes.collect()
}

/// Expands a list in Slurm's syntax: `n[1-4],m7`.
///
/// # Errors
/// When the list is invalid.
pub fn names(list: &str) -> Result<Vec<String>> {
    let output = run("scontrol", &["show", "hostnames", list], "")?;
    Ok(output.lines().map(|line| line.trim().to_owned()).collect())
}

/// Largest number of tasks of an array.
///
/// # Errors
/// When Slurm does not report it.
pub fn most_tasks() -> Result<usize> {
    let output = run("scontrol", &["show", "config"], "")?;
    let line = output.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "MaxArraySize").then(|| value.trim().parse().ok())?
    });
    line.filter(|most| *most > 0).context("Slurm allows no arrays of jobs here (MaxArraySize)")
}

/// Submits an array, a task for each node, and releases it when each task has its node; returns the job id.
///
/// # Errors
/// When Slurm refuses it; nothing is in the queue then.
pub fn submit(words: &[String], script: &str, nodes: &[Node], at_once: usize) -> Result<String> {
    let tasks = format!("--array=0-{}%{at_once}", nodes.len() - 1);
    let (program, user) = words.split_first().context("--sbatch is empty")?;
    let mut line = vec!["--parsable", "--hold", &tasks];
    line.extend(user.iter().map(String::as_str));
    let output = run(program, &line, script)?;
    let Some(job) = job_of(&output) else {
        // after the user's options: held, with this name
        let name = words.iter().find_map(|word| word.strip_prefix("--job-name="));
        let cancelled =
            name.map(|name| run("scancel", &["--quiet", &format!("--name={name}")], ""));
        bail!(
            "{program} printed '{}', which has no job id{}",
            output.trim(),
            match cancelled {
                Some(Ok(_)) => "; the job is cancelled",
                _ => "; a submitted job is held: cancel it with scancel",
            }
        );
    };
    let begun = begin(&job, nodes);
    if begun.is_err() {
        // the first error is reported, not this one
        let _ = cancel(&job);
    }
    begun.map(|()| job)
}

/// The job id that `sbatch --parsable` prints on its last line, perhaps after lines of the site; a cluster of a federation follows after
/// `;`.
fn job_of(output: &str) -> Option<String> {
    let heads = output.lines().rev().filter_map(|line| line.trim().split(';').next());
    let mut jobs = heads.filter(|head| is_job(head));
    jobs.next().map(str::to_owned)
}

/// Assigns each task its node, and makes it wait for the neighbors of that node.
fn begin(job: &str, nodes: &[Node]) -> Result<()> {
    for (task, node) in nodes.iter().enumerate() {
        let (id, list) = (format!("JobId={job}_{task}"), format!("ReqNodeList={}", node.node));
        let after: Vec<String> = before(nodes, task)
            .into_iter()
            .map(|other| format!("afterany:{job}_{other}"))
            .collect();
        let after = format!("Dependency={}", after.join(","));
        let mut words = vec!["update", &id, &list];
        words.extend((after.len() > "Dependency=".len()).then_some(after.as_str()));
        run("scontrol", &words, "")?;
    }
    run("scontrol", &["release", job], "").map(drop)
}

/// The last earlier task in each of its places, so that no two of a place run simultaneously.
fn before(nodes: &[Node], task: usize) -> Vec<usize> {
    let last = |(key, value): (&str, &str)| {
        let there = |other: &Node| other.neighborhood().any(|place| place == (key, value));
        nodes[..task].iter().rposition(there)
    };
    let mut before: Vec<usize> = nodes[task].neighborhood().filter_map(last).collect();
    before.sort_unstable();
    before.dedup();
    before
}

/// State of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Waiting, with the reason.
    Pending(String),
    /// On its node.
    Running,
    /// Ended, with the state.
    Ended(String),
}

/// Tasks of a job known to Slurm; none when it has forgotten the job.
///
/// # Errors
/// When Slurm does not answer.
pub fn tasks(job: &str) -> Result<BTreeMap<usize, State>> {
    let words = ["--noheader", "--array", "--states=all", "--format=%K|%T|%r", "--jobs", job];
    match run("squeue", &words, "") {
        Ok(output) => Ok(states(&output)),
        Err(why) if why.to_string().contains("Invalid job id") => Ok(BTreeMap::new()),
        Err(why) => Err(why),
    }
}

fn states(output: &str) -> BTreeMap<usize, State> {
    let task = |line: &str| {
        let mut fields = line.splitn(3, '|').map(str::trim);
        let (task, state) = (fields.next()?.parse().ok()?, fields.next()?);
        let state = match state {
            "PENDING" | "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" | "RESV_DEL_HOLD" => {
                State::Pending(fields.next().unwrap_or_default().to_owned())
            }
            "COMPLETED" | "FAILED" | "CANCELLED" | "TIMEOUT" | "NODE_FAIL" | "PREEMPTED"
            | "OUT_OF_MEMORY" | "BOOT_FAIL" | "DEADLINE" | "REVOKED" | "LAUNCH_FAILED"
            | "RECONFIG_FAIL" | "SPECIAL_EXIT" => State::Ended(state.to_owned()),
            _ => State::Running,
        };
        Some((task, state))
    };
    output.lines().filter_map(task).collect()
}

/// Cancels a job or a task of it.
///
/// # Errors
/// When Slurm refuses.
pub fn cancel(job: &str) -> Result<()> {
    run("scancel", &["--quiet", job], "").map(drop)
}

/// Whether this is a job id.
pub fn is_job(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Standard output of a command.
fn run(program: &str, words: &[&str], input: &str) -> Result<String> {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| {
        format!("cannot start {program}: Slurm's commands have to be on PATH here (Debian: slurm-client)")
    })?;
    if let Some(mut stdin) = child.stdin.take() {
        // a command that ends early reports the reason
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        let last = error.lines().rfind(|line| !line.trim().is_empty());
        bail!("{program} failed: {}", last.unwrap_or("no error message").trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_match_the_partition() {
        let output = "n1|idle|batch*|none\nn1|idle|debug|none\nn2|down*|batch*|Not responding\nn3|drained|batch*|bad | disk\n";
        let nodes = parse_nodes(output, false);
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["n1", "n2", "n3"]);
        assert_eq!(nodes[0].partition, "batch");
        assert_eq!(nodes[0].unusable(), None);
        let why = nodes[1].unusable().unwrap();
        assert_eq!(why, "Slurm reports it as down* (Not responding)");
        assert!(nodes[2].unusable().unwrap().contains("bad | disk"));
        assert_eq!(parse_nodes(output, true).len(), 4);
    }

    #[test]
    fn node_states_are_known() {
        let usable = |state: &str| {
            let nodes = parse_nodes(&format!("n1|{state}|batch|"), true);
            nodes[0].unusable().is_none()
        };
        let states = "idle IDLE idle~ idle# mixed mixed- allocated allocated+ completing planned \
                      reserved powering_up powered_down reboot^ idle@";
        for state in states.split(' ') {
            assert!(usable(state), "{state}");
        }
        let states = "down down* drained draining drained* fail failing error unknown maint maint* \
                      idle$ inval powering_down idle% blocked future perfctrs idle* idle+drain \
                      mixed+maint something_new";
        for state in states.split(' ') {
            assert!(!usable(state), "{state}");
        }
    }

    #[test]
    fn job_numbers_follow_other_text() {
        for (output, job) in [
            ("123\n", Some("123")),
            ("123;cluster\n", Some("123")),
            ("Welcome to the cluster 7\nlua: 3 hours left\n4711\n", Some("4711")),
            ("4711;c1\nRemember the quota.\n", Some("4711")),
            ("sbatch: error: no\n", None),
            ("", None),
        ] {
            assert_eq!(job_of(output).as_deref(), job, "{output}");
        }
    }

    #[test]
    fn tasks_have_states() {
        let output = "0|COMPLETED|None\n1|RUNNING|None\n2|PENDING|Resources\n3|NODE_FAIL|NodeDown\n4|COMPLETING|None\nN/A|RUNNING|None\n\
                    5|SPECIAL_EXIT|None\n6|LAUNCH_FAILED|None\n7|REQUEUE_HOLD|Held\nsite: hello\n";
        let states = states(output);
        assert_eq!(states.len(), 8);
        assert_eq!(states[&5], State::Ended("SPECIAL_EXIT".to_owned()));
        assert_eq!(states[&6], State::Ended("LAUNCH_FAILED".to_owned()));
        assert_eq!(states[&7], State::Pending("Held".to_owned()));
        assert_eq!(states[&2], State::Pending("Resources".to_owned()));
        assert_eq!(states[&3], State::Ended("NODE_FAIL".to_owned()));
        assert_eq!([&states[&1], &states[&4]], [&State::Running; 2]);
        assert!(is_job("123") && !is_job("12_3") && !is_job(""));
    }

    #[test]
    fn neighbors_wait_for_each_other() {
        let node = |name: &str, rack: &str| {
            let place = [("rack", rack), ("partition", "batch")];
            Node {
                node: name.to_owned(),
                place: place.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
                cpu: None,
            }
        };
        let nodes = [node("a", "1"), node("b", "2"), node("c", "1"), node("d", "1")];
        let before: Vec<Vec<usize>> = (0..4).map(|task| before(&nodes, task)).collect();
        assert_eq!(before, [vec![], vec![], vec![0], vec![2]]);
    }
}
