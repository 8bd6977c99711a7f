//! `--on slurm`: an array of exclusive jobs, one for each node. A directory visible to the nodes carries the binary and the script, and the
//! bundles back.
//!
//! Slurm does not assign nodes to the tasks of an array: the array is submitted held, each task gets its node, then the array is released.

mod array;
pub mod tools;

use super::bundles;
use super::engine;
use super::host::Node;
use super::plan::Plan;
use super::progress::{NodeStates, Progress};
use anyhow::{Context as _, Result, ensure};
use array::Array;
use gritstone_files::StateDir;
use gritstone_model::{hexadecimal, split_words};
use gritstone_runs::context::Context;
use gritstone_store::StoreError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tools::{State, cancel, tasks};

/// Poll interval; the controller is shared.
const ASK: Duration = Duration::from_secs(5);
/// Time for a file of a finished job to appear: NFS caches directories for up to a minute.
const UNSEEN: Duration = Duration::from_secs(75);
/// Time for canceled jobs to end: Slurm kills them after `KillWait`, 30 s unless configured.
const ENDING: Duration = Duration::from_secs(90);
/// The submitted array, in the directory of the plan.
const QUEUED: &str = "slurm.json";
/// Suffixes of the files of a node.
const NODE_FILE_SUFFIXES: [&str; 3] = ["log", "jsonl", "part"];
const BINARY: &str = "gritstone";

/// A submitted array.
#[derive(Serialize, Deserialize)]
struct Queued {
    job: String,
    /// The node of each task.
    nodes: Vec<Node>,
}

/// A fleet run by Slurm.
struct Fleet<'a> {
    context: &'a Context,
    plan: &'a Plan,
    /// Directory of the plan.
    folder: &'a Path,
    /// Directory visible to the nodes.
    shared: PathBuf,
    /// SHA-256 of the binary.
    hash: String,
    stop: &'a AtomicBool,
}

/// Measures the nodes without a run; returns those that failed, and why.
pub fn measure(
    context: &Context,
    plan: &Plan,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<BTreeMap<String, String>> {
    let name = format!("gritstone-fleet-{}", plan.fleet);
    let shared = match &plan.slurm.shared {
        Some(base) => {
            let state = StateDir { base: base.clone(), below: name.into() };
            let directory = state.make();
            directory.with_context(|| format!("cannot make {}", state.path().display()))?
        }
        None => plan.open(context)?,
    };
    // the jobs execute files there
    ensure!(
        shared.is_private()?,
        "{} is not a directory of this user alone",
        shared.path().display()
    );
    let fleet = Fleet {
        context,
        plan,
        folder,
        shared: shared.path().to_owned(),
        hash: hexadecimal(Sha256::digest(
            fs::read(&plan.binary)
                .with_context(|| format!("cannot read {}", plan.binary.display()))?,
        )),
        stop,
    };
    let measured = fleet.measure();
    fleet.clean();
    measured
}

impl Fleet<'_> {
    fn measure(&self) -> Result<BTreeMap<String, String>> {
        let mut failed = BTreeMap::new();
        let refused = self.import_left()?;
        if let Some(queued) = self.queued()? {
            log::info!(
                "job {} of this fleet was submitted earlier: its results are used",
                queued.job
            );
            failed = self.follow(&queued, failed)?;
        }
        if self.stopped() {
            return Ok(failed);
        }
        let mut nodes = bundles::missing(self.context, self.plan)?;
        nodes.retain(|node| !refused.contains_key(&node.node));
        let (nodes, out) = self.usable(nodes)?;
        failed.retain(|node, _| !nodes.iter().any(|usable| usable.node == *node));
        failed.extend(out);
        failed.extend(refused);
        NodeStates { failed: failed.clone(), ..NodeStates::default() }.write(self.folder);
        if nodes.is_empty() {
            return Ok(failed);
        }
        self.bring()?;
        for some in nodes.chunks(tools::most_tasks()?) {
            if self.stopped() {
                break;
            }
            failed = self.follow(&self.submit(some)?, failed)?;
        }
        Ok(failed)
    }

    /// Imports bundles that an earlier attempt could not; returns nodes whose bundle the store still refuses, and why.
    fn import_left(&self) -> Result<BTreeMap<String, String>> {
        let mut refused = BTreeMap::new();
        for node in bundles::missing(self.context, self.plan)? {
            let copy = |end: &str| self.folder.join(&node.node).with_added_extension(end);
            match bundles::import(self.context, self.plan, &copy("jsonl"), &node.node) {
                Ok(()) => {
                    log::info!("{}: a bundle of an earlier attempt", node.node);
                    for end in NODE_FILE_SUFFIXES {
                        let _ = fs::remove_file(copy(end));
                        let _ = fs::remove_file(self.file(&node, end));
                    }
                }
                // it stays for the next attempt
                Err(why) if why.is::<StoreError>() => {
                    refused.insert(node.node.clone(), format!("{why:#}"));
                }
                // there is none, or not all of it
                Err(_) => {}
            }
        }
        Ok(refused)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Nodes that can have a job, and why the others cannot.
    fn usable(&self, nodes: Vec<Node>) -> Result<(Vec<Node>, BTreeMap<String, String>)> {
        let known = tools::nodes(self.plan.slurm.partition.as_deref())?;
        let (mut usable, mut out) = (vec![], BTreeMap::new());
        for node in nodes {
            let known = known.iter().find(|known| known.name == node.node);
            match known.map(tools::SlurmNode::unusable) {
                Some(None) => usable.push(node),
                Some(Some(why)) => drop(out.insert(node.node, why)),
                None => drop(out.insert(node.node, "Slurm no longer has it".to_owned())),
            }
        }
        for (node, why) in &out {
            log::info!("{node}: skipped: {why}");
        }
        Ok((usable, out))
    }

    /// Copies the binary to the shared directory.
    fn bring(&self) -> Result<()> {
        let binary = self.shared.join(BINARY);
        fs::copy(&self.plan.binary, &binary)
            .with_context(|| format!("cannot write {}", binary.display()))?;
        fs::set_permissions(&binary, fs::Permissions::from_mode(0o700))?;
        Ok(())
    }

    fn submit(&self, nodes: &[Node]) -> Result<Queued> {
        let plan = self.plan;
        let mut sbatch = split_words(&plan.slurm.sbatch)?.into_iter();
        let mut words = vec![sbatch.next().context("--sbatch names no command")?];
        // removes files of an earlier array
        for node in nodes {
            for end in NODE_FILE_SUFFIXES {
                let _ = fs::remove_file(self.file(node, end));
            }
        }
        let name = format!("--job-name=gritstone-{}", plan.fleet);
        // the script itself writes the node's log to the shared directory, since it can detect when that is missing
        let fixed = [
            "--nodes=1",
            "--ntasks=1",
            "--exclusive",
            "--mem=0",
            "--no-requeue",
            "--output=/dev/null",
            &name,
        ];
        words.extend(fixed.map(str::to_owned));
        words.extend(plan.minutes.map(|minutes| format!("--time={minutes}")));
        words.extend(plan.slurm.partition.iter().map(|name| format!("--partition={name}")));
        // the last option counts, so the user's come last
        words.extend(sbatch);
        let queued = Queued {
            job: tools::submit(&words, &self.script(nodes), nodes, plan.at_once)?,
            nodes: nodes.to_vec(),
        };
        let text = serde_json::to_string(&queued)?;
        let written =
            gritstone_runs::output_file::write(&self.folder.join(QUEUED), text.as_bytes());
        if written.is_err() {
            // an unrecorded job would go on without us
            let _ = cancel(&queued.job);
        }
        log::info!("job {}: {} nodes in the queue", queued.job, nodes.len());
        written.map(|()| queued)
    }

    /// The script of each task. A bundle gets its name when it is complete.
    fn script(&self, nodes: &[Node]) -> String {
        let shared = engine::quoted(&[self.shared.display().to_string()]);
        let mut script = "#!/bin/sh\numask 077\ncase $SLURM_ARRAY_TASK_ID in\n".to_owned();
        for (task, node) in nodes.iter().enumerate() {
            let words = engine::quoted(&engine::own_words(self.plan, node, "-"));
            script += &format!("{task}) n={} && set -- {words} ;;\n", node.node);
        }
        script += &format!(
            "*) exit 2 ;;\nesac\no={shared}/$n\nexec 2>\"$o.log\" || exit 2\n\
             [ \"$SLURMD_NODENAME\" = \"$n\" ] || {{ echo \"Slurm started it on $SLURMD_NODENAME\" >&2; exit 2; }}\n\
             [ -d \"${{TMPDIR:-/var/tmp}}\" ] || TMPDIR=/var/tmp\nset -e\n{}\n\
             cp {shared}/{BINARY} \"$d/gritstone\"\nchmod 700 \"$d/gritstone\"\n\
             echo \"{}  $d/gritstone\" | sha256sum -c --status || {{ echo \"the binary in {shared} is not the one that was brought\" >&2; exit 2; }}\n\
             \"$d/gritstone\" --store \"$d/store.db\" \"$@\" {} </dev/null >\"$d/bundle\"\n\
             cp \"$d/bundle\" \"$o.part\"\nmv \"$o.part\" \"$o.jsonl\"\n",
            engine::own_directory(self.plan, "$n"),
            self.hash,
            engine::quoted(&self.plan.options)
        );
        script
    }

    /// The array that an earlier process submitted.
    fn queued(&self) -> Result<Option<Queued>> {
        let text = gritstone_files::read_owned_text(self.folder, QUEUED)?;
        let Some(text) = text else { return Ok(None) };
        let queued: Queued = serde_json::from_str(&text)
            .with_context(|| format!("cannot read {}", self.folder.join(QUEUED).display()))?;
        ensure!(tools::is_job(&queued.job), "'{}' is not a job number", queued.job);
        let mut nodes = queued.nodes.iter();
        let known =
            nodes.all(|node| self.plan.nodes.iter().any(|planned| planned.node == node.node));
        ensure!(known, "job {} has a node that is not in the plan", queued.job);
        Ok(Some(queued))
    }

    /// Imports the bundles of the tasks until each has ended; returns failed nodes, including earlier ones, and why.
    fn follow(
        &self,
        queued: &Queued,
        failed: BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>> {
        // the process that submitted the array may have imported some
        let missing = bundles::missing(self.context, self.plan)?;
        let is_missing = |node: &Node| missing.iter().any(|other| other.node == node.node);
        let count = queued.nodes.iter().filter(|node| is_missing(node));
        let progress = Progress::new(self.folder, count.count(), failed);
        let mut array = Array::new(queued, progress);
        array.waiting.retain(|_, node| is_missing(node));
        let mut cancelled: Option<Instant> = None;
        while !array.waiting.is_empty() {
            match (cancelled, self.stopped()) {
                (None, true) => {
                    log::info!("job {} is cancelled", queued.job);
                    cancel(&queued.job)?;
                    cancelled = Some(Instant::now());
                }
                (Some(since), _) if since.elapsed() > ENDING => break,
                _ => {}
            }
            match tasks(&queued.job) {
                Ok(states) => self.handle_tasks(&mut array, &states, cancelled.is_some())?,
                // the controller may be restarting, while jobs go on
                Err(why) => array.log_report(&format!("Slurm does not answer: {why:#}")),
            }
            self.pause(&array, cancelled.is_some());
        }
        // an array that has left the queue is not followed again
        fs::remove_file(self.folder.join(QUEUED))?;
        Ok(array.progress.failed().clone())
    }

    fn pause(&self, array: &Array, ending: bool) {
        let until = Instant::now() + ASK;
        while !array.waiting.is_empty() && Instant::now() < until && (ending || !self.stopped()) {
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Handles each task that has not ended, or whose bundle has not appeared.
    fn handle_tasks(
        &self,
        array: &mut Array,
        states: &BTreeMap<usize, State>,
        cancelled: bool,
    ) -> Result<()> {
        let out = array.dead_nodes(self.plan, states);
        for (task, node) in array.waiting.clone() {
            let state = states.get(&task);
            match state {
                Some(State::Pending(_)) => {
                    // after an error the next poll retries
                    if let Some(why) = out.get(&node.node)
                        && cancel(&format!("{}_{task}", array.job)).is_ok()
                    {
                        array.skip(task, why);
                    }
                    continue;
                }
                Some(State::Running) => {
                    array.runs(task, &node.node);
                    continue;
                }
                Some(State::Ended(_)) | None => {}
            }
            let bundle = self.file(&node, "jsonl");
            if cancelled && !array.began.contains_key(&task) && !bundle.is_file() {
                array.waiting.remove(&task);
                continue;
            }
            let ended = array.ended.entry(task).or_insert_with(Instant::now).elapsed();
            let last_line = engine::last_log_line(&self.file(&node, "log"));
            let how = match state {
                Some(State::Ended(how)) => how.as_str(),
                _ => "forgotten",
            };
            if bundle.is_file() {
                array.take(task, bundles::import(self.context, self.plan, &bundle, &node.node));
                self.leave(&node, array.progress.failed().contains_key(&node.node));
            } else if let Some(why) =
                reason(how, last_line, ended > UNSEEN || cancelled, &self.shared)
            {
                array.skip(task, &why);
                self.leave(&node, true);
            }
        }
        array.report(states);
        Ok(())
    }

    fn file(&self, node: &Node, end: &str) -> PathBuf {
        self.shared.join(&node.node).with_added_extension(end)
    }

    /// Removes files of a node from the shared directory; if it failed, its log and a bundle that could not be imported stay beside the
    /// plan.
    fn leave(&self, node: &Node, failed: bool) {
        for end in NODE_FILE_SUFFIXES {
            let file = self.file(node, end);
            let copy = self.folder.join(&node.node).with_added_extension(end);
            if failed && end != "part" && file != copy {
                // some files may not exist
                let _ = fs::copy(&file, copy);
            }
            if !failed || end == "part" || self.shared != self.folder {
                let _ = fs::remove_file(file);
            }
        }
    }

    /// Removes the binary and the script, unless queued jobs need them.
    fn clean(&self) {
        if self.folder.join(QUEUED).exists() {
            return;
        }
        // they may not have been copied
        let _ = fs::remove_file(self.shared.join(BINARY));
        if self.shared != self.folder {
            let _ = fs::remove_dir(&self.shared);
        }
    }
}

/// Why an ended task left no bundle; `None` while files may still appear.
fn reason(how: &str, last_line: Option<String>, late: bool, shared: &Path) -> Option<String> {
    match (how, last_line) {
        ("FAILED", Some(last_line)) => Some(last_line),
        ("FAILED" | "COMPLETED", None) if !late => None,
        ("COMPLETED", Some(_)) if !late => None,
        ("FAILED" | "COMPLETED", None) => Some(format!(
            "its job {how} and wrote nothing to {}: nodes must share that directory (--shared)",
            shared.display()
        )),
        ("forgotten", last_line) if late => {
            Some(last_line.unwrap_or_else(|| {
                "Slurm no longer lists its job, which returned nothing".to_owned()
            }))
        }
        ("forgotten", _) => None,
        (how, last_line) => {
            let last_line = last_line
                .map_or(String::new(), |last_line| format!("; its last words: {last_line}"));
            Some(format!("Slurm says {how} of its job{last_line}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_wait_for_delayed_files() {
        let shared = Path::new("/shared");
        let why = |how: &str, last_line: Option<&str>, late: bool| {
            reason(how, last_line.map(str::to_owned), late, shared)
        };
        assert_eq!(why("FAILED", Some("no space"), false).unwrap(), "no space");
        assert_eq!(why("FAILED", None, false), None);
        assert!(why("FAILED", None, true).unwrap().contains("/shared"));
        assert_eq!(why("COMPLETED", Some("a note"), false), None);
        let died = why("NODE_FAIL", None, false).unwrap();
        assert_eq!(died, "Slurm says NODE_FAIL of its job");
        assert!(why("TIMEOUT", Some("x"), false).unwrap().ends_with("; its last words: x"));
        assert_eq!(why("forgotten", None, false), None);
        assert!(why("forgotten", None, true).is_some());
    }
}
