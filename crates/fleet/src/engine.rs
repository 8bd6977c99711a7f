//! Starts a node as a local process, or by OpenSSH. Either writes its bundle to one file of the plan's folder, and its log to another.

use super::host::Node;
use crate::plan::{Engine, Plan};
use anyhow::{Context, Result};
use gritstone_exchange::limits;
use gritstone_files::Dir;
use gritstone_model::quote_word;
use gritstone_session::ssh::{self, Host};
use rustix::fs::OFlags;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A node that is being measured.
pub struct Started {
    pub node: Node,
    pub child: Child,
    files: PathBuf,
    /// Threads that copy its output.
    output: Vec<JoinHandle<()>>,
}

/// Bytes of the log of a node.
const LONGEST_LOG: u64 = 1 << 20;
/// Time limit for the rest of the output after the end of a node, whose descendants may keep a pipe open.
const OUTPUT_PATIENCE: Duration = Duration::from_secs(2);

impl Started {
    /// The file of its bundle.
    pub fn bundle(&self) -> PathBuf {
        self.files.with_added_extension("jsonl")
    }

    /// Waits until its output is in files.
    pub fn wait_for_output(&mut self) {
        let since = Instant::now();
        let copies = |threads: &[JoinHandle<()>]| threads.iter().any(|copy| !copy.is_finished());
        while copies(&self.output) && since.elapsed() < OUTPUT_PATIENCE {
            thread::sleep(Duration::from_millis(10));
        }
        self.output.clear();
    }

    /// The last line of its log.
    pub fn last_log_line(&self) -> Option<String> {
        last_log_line(&self.files.with_added_extension("log"))
    }

    /// Removes its files. The log stays if it failed, and so does a bundle that could not be imported.
    pub fn clean(&self, measured: bool) {
        let file = |end: &str| self.files.with_added_extension(end);
        let empty = std::fs::metadata(self.bundle()).is_ok_and(|metadata| metadata.len() == 0);
        let needless = ["db", "db-wal", "db-shm"].map(file).into_iter();
        let needless = needless.chain(measured.then(|| file("log")));
        for path in needless.chain((measured || empty).then(|| self.bundle())) {
            // not every file is there
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Starts a node.
///
/// # Errors
/// When nothing can be started.
pub fn start(plan: &Plan, directory: &Dir, node: &Node) -> Result<Started> {
    let files = directory.path().join(&node.node);
    let open = |end| {
        let path = files.with_added_extension(end);
        let name = path.file_name().unwrap_or_default();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::APPEND;
        let opened = directory.file(name, flags);
        opened.with_context(|| format!("cannot write {}", path.display()))
    };
    let mut command = match plan.on {
        Engine::Local => local(plan, &files, node),
        _ => ssh(plan, node)?,
    };
    let bundle = match plan.on {
        // the node writes the file itself
        Engine::Local => None,
        _ => Some(open("jsonl")?),
    };
    let log = open("log")?;
    let logs = [log.try_clone()?, log.try_clone()?, log];
    let child = command.stderr(Stdio::piped()).spawn();
    let mut child =
        child.with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let [log, of_bundle, of_log] = logs;
    let bundle = child.stdout.take().zip(bundle);
    let bundle = bundle.map(|(from, to)| copy_bundle(from, to, of_bundle));
    let log = child.stderr.take().map(|from| copy(from, log, of_log, LONGEST_LOG));
    let output = bundle.into_iter().chain(log).collect();
    Ok(Started { node: node.clone(), child, files, output })
}

/// Copies the bundle that a node sends after the output of its login shell.
fn copy_bundle(from: ChildStdout, to: File, mut log: File) -> JoinHandle<()> {
    let mut from = BufReader::new(from);
    thread::spawn(move || match ssh::skip_banner(&mut from) {
        Ok(()) => copy_up_to(from, to, log, limits::UNPACKED),
        // it ended early, and its log has the reason
        Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => {}
        // the log may be full
        Err(why) => drop(writeln!(log, "\n{why}")),
    })
}

/// Copies the output of a node to a file, up to a limit; after that the node's writes fail.
fn copy(from: impl Read + Send + 'static, to: File, log: File, max: u64) -> JoinHandle<()> {
    thread::spawn(move || copy_up_to(from, to, log, max))
}

fn copy_up_to(mut from: impl Read, mut to: File, mut log: File, max: u64) {
    let copied = io::copy(&mut (&mut from).take(max), &mut to);
    let why = match copied {
        Ok(bytes) if bytes == max && from.read(&mut [0]).is_ok_and(|more| more > 0) => {
            format!("it sent more than {} MiB", max >> 20)
        }
        Ok(_) => return,
        Err(why) => format!("its output cannot be written: {why}"),
    };
    // the log may be full, too
    let _ = writeln!(log, "\n{why}");
}

/// The last line of a log.
pub fn last_log_line(log: &Path) -> Option<String> {
    let text = std::fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(last.trim().trim_start_matches("gritstone: ").to_owned())
}

/// Arguments of `gritstone fleet node`; the last ones are common to all nodes.
fn words(plan: &Plan, node: &Node, output: &str) -> Vec<String> {
    let mut words = own_words(plan, node, output);
    words.extend(plan.options.iter().cloned());
    words
}

/// Arguments of `gritstone fleet node` for this node alone.
pub fn own_words(plan: &Plan, node: &Node, output: &str) -> Vec<String> {
    let mut words: Vec<String> = [
        "fleet",
        "node",
        "--fleet",
        &plan.fleet,
        "--node",
        &node.node,
        "--of",
        &plan.nodes.len().to_string(),
        "--output",
        output,
    ]
    .map(str::to_owned)
    .to_vec();
    for (key, value) in &node.place {
        words.extend(["--place".to_owned(), format!("{key}={value}")]);
    }
    words.extend(node.cpu.iter().flat_map(|cpu| ["--cpu".to_owned(), cpu.to_string()]));
    words
}

fn local(plan: &Plan, files: &Path, node: &Node) -> Command {
    let mut command = Command::new(&plan.binary);
    let bundle = files.with_added_extension("jsonl");
    command.arg("--store").arg(files.with_added_extension("db"));
    command.args(words(plan, node, &bundle.display().to_string()));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.process_group(0);
    ssh::end_with_parent(&mut command);
    command
}

/// The binary is the input of a script that writes it to a private directory, and removes that at every exit.
fn ssh(plan: &Plan, node: &Node) -> Result<Command> {
    let binary = File::open(&plan.binary)
        .with_context(|| format!("cannot read {}", plan.binary.display()))?;
    let host: Host = node.node.parse()?;
    let mut command = ssh::command(&plan.ssh, &host, &script(plan, node))?;
    command.stdin(binary).stdout(Stdio::piped());
    Ok(command)
}

fn script(plan: &Plan, node: &Node) -> String {
    format!(
        "{}; cat >\"$d/gritstone\"; chmod 700 \"$d/gritstone\"; \
         \"$d/gritstone\" --store \"$d/store.db\" {} </dev/null",
        own_directory(plan, &node.node),
        quoted(&words(plan, node, "-"))
    )
}

/// First lines of a script that stops at errors: `$d` is a private directory on a node that can execute the binary, removed at every exit.
/// Directories that this fleet left when the node lost power are removed first; no node has a `+` in its name.
pub fn own_directory(plan: &Plan, node: &str) -> String {
    let purpose = format!("fleet-{}+{node}+", plan.fleet);
    let fits = plan.machine.as_ref().map_or_else(|| ":".to_owned(), |machine| {
        format!(
            "m=$(uname -m); if [ \"$m\" != {machine} ]; then echo \"the node is $m, and the binary is for {machine}: give --binary\" >&2; exit 2; fi"
        )
    });
    let begin = ssh::in_directory(&purpose, &fits);
    format!("rm -rf \"${{TMPDIR:-/var/tmp}}/gritstone-{purpose}\"*; {begin}")
}

/// Words for a shell.
pub fn quoted(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote_word(word)).collect();
    words.join(" ")
}
