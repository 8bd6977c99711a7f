//! The plan of a fleet run, stored beside the store; `resume` reads it.

pub use super::host::Engine;
use super::host::Node;
use super::inventory;
use super::lock;
use anyhow::{Context as _, Result, bail, ensure};
use gritstone_files::{Dir, StateDir};
use gritstone_model::{quote_word, split_words};
use gritstone_plan::{Selectors, select};
use gritstone_runs::context::Context;
use gritstone_session::local_backend::random;
use nix::sys::utsname::uname;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name and version of the file.
const SCHEMA: &str = "gritstone/fleet-plan/1";
const FILE: &str = "plan.json";
/// The directory of all fleets, beside the store.
const FLEETS: &str = "fleets";
/// Time of a node as a multiple of its budget: the last benchmark may exceed it.
const OVER_BUDGET: f64 = 1.5;
/// Its time besides, minutes.
const SURROUNDINGS: u64 = 5;

/// Options of a fleet run, with the names of the command line.
#[derive(Clone, Debug)]
pub struct Request {
    pub on: Engine,
    pub nodes: Option<String>,
    pub cores: bool,
    pub selectors: Vec<String>,
    pub suite: Option<String>,
    pub quick: bool,
    pub budget: Option<Duration>,
    pub precision: Option<f64>,
    pub at_once: Option<usize>,
    pub dir: Option<PathBuf>,
    pub ssh: String,
    pub partition: Option<String>,
    pub sbatch: String,
    pub shared: Option<PathBuf>,
    pub binary: Option<PathBuf>,
    pub label: Option<String>,
    pub allow: Vec<String>,
    pub no_privileged: bool,
}

/// Benchmarks, nodes, and the engine that starts them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    schema: String,
    /// Identifier of the fleet run.
    pub fleet: String,
    pub on: Engine,
    /// Command of OpenSSH's client.
    pub ssh: String,
    /// Options of Slurm jobs.
    #[serde(default)]
    pub slurm: Slurm,
    /// The binary for the nodes.
    pub binary: PathBuf,
    /// The machine that it was built for, as `uname -m` names it; none: the user named the binary.
    #[serde(default)]
    pub machine: Option<String>,
    /// Number of nodes that measure simultaneously.
    pub at_once: usize,
    /// Time limit of a node, minutes; none: without a budget, that of Slurm's partition if any.
    pub minutes: Option<u64>,
    /// Options of `gritstone run` for each node, the same seed on all.
    pub options: Vec<String>,
    pub nodes: Vec<Node>,
}

/// Options of Slurm jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slurm {
    /// The partition; none: the default one.
    pub partition: Option<String>,
    /// Command of `sbatch`, with the user's options.
    pub sbatch: String,
    /// A directory visible to the nodes; none: that of the plan.
    pub shared: Option<PathBuf>,
}

impl Slurm {
    fn new(args: &Request) -> Result<Self> {
        Ok(Self {
            partition: args.partition.clone(),
            sbatch: from_anywhere(&args.sbatch)?,
            shared: args.shared.as_ref().map(std::path::absolute).transpose()?,
        })
    }
}

fn time_limit(budget: Duration) -> u64 {
    let longest = budget.as_secs_f64() * OVER_BUDGET / 60.0;
    longest.ceil() as u64 + SURROUNDINGS
}

/// A command with an absolute program, since a fleet run may be resumed in another directory.
fn from_anywhere(command: &str) -> Result<String> {
    let mut words = split_words(command)?;
    match words.first_mut() {
        Some(program) if program.contains('/') && !program.starts_with('/') => {
            let path = std::path::absolute(&*program)?;
            *program =
                path.to_str().context("the name of this directory cannot be recorded")?.to_owned();
        }
        _ => return Ok(command.to_owned()),
    }
    let words: Vec<String> = words.iter().map(|word| quote_word(word)).collect();
    Ok(words.join(" "))
}

impl Plan {
    /// Makes the plan of a new fleet run.
    ///
    /// # Errors
    /// When a node, the binary or a selector is invalid.
    pub fn new(context: &Context, args: &Request) -> Result<Self> {
        let binary = match &args.binary {
            Some(path) => std::path::absolute(path)?,
            None => std::env::current_exe().context("the path of this program is unknown")?,
        };
        ensure!(binary.is_file(), "no program {}", binary.display());
        // fail here rather than in every job
        select(&context.catalogue.benchmarks, &context.with_suites_expanded(&args.selectors))?;
        args.suite.as_ref().map(|name| context.suite(name)).transpose()?;
        let local = args.on == Engine::Local;
        ensure!(local || !args.cores, "--cores is for --on local: on a node, run it there");
        Ok(Self {
            schema: SCHEMA.to_owned(),
            fleet: gritstone_store::new_id(jiff::Timestamp::now(), random()),
            on: args.on,
            ssh: from_anywhere(&args.ssh)?,
            slurm: Slurm::new(args)?,
            machine: match args.binary {
                Some(_) => None,
                None => Some(uname()?.machine().to_string_lossy().into_owned()),
            },
            binary,
            minutes: args.budget.map(time_limit),
            at_once: args.at_once.unwrap_or(if local { 1 } else { 8 }),
            options: options(context, args)?,
            nodes: match args.cores {
                true => inventory::cores()?,
                false => {
                    let nodes = args.nodes.as_deref();
                    inventory::nodes(args.on, args.partition.as_deref(), nodes)?
                }
            },
        })
    }

    /// Directory of its files, beside the store.
    pub fn folder(&self, context: &Context) -> Result<PathBuf> {
        Ok(base(context)?.join(FLEETS).join(&self.fleet))
    }

    /// The same as a private directory, without links.
    fn state(&self, context: &Context) -> Result<StateDir> {
        Ok(StateDir { base: base(context)?, below: PathBuf::from(FLEETS).join(&self.fleet) })
    }

    /// Opens its directory.
    ///
    /// # Errors
    /// When it does not belong to this user alone.
    pub fn open(&self, context: &Context) -> Result<Dir> {
        Ok(self.state(context)?.open()?)
    }

    /// Writes the plan.
    pub fn write(&self, context: &Context) -> Result<PathBuf> {
        let folder = self.folder(context)?;
        let directory = self.state(context)?.make();
        directory.with_context(|| format!("cannot make {}", folder.display()))?;
        let text = serde_json::to_string(self)?;
        gritstone_runs::output_file::write(&folder.join(FILE), text.as_bytes())?;
        Ok(folder)
    }

    /// The plan whose name contains this word, or the newest one.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn find(context: &Context, word: Option<&str>) -> Result<Self> {
        let folders = fs::read_dir(base(context)?.join(FLEETS)).into_iter().flatten().flatten();
        let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> =
            names.filter(|name| word.is_none_or(|word| name.contains(word))).collect();
        names.sort();
        if let ([one, other, ..], Some(word)) = (names.as_slice(), word) {
            bail!("'{word}' may be fleet {one} or {other}: write more of it");
        }
        let none = || match word {
            Some(word) => format!("no fleet run is called '{word}'"),
            None => "no fleet run was begun here: `gritstone fleet run` begins one".to_owned(),
        };
        let name = names.pop().with_context(none)?;
        let folder = base(context)?.join(FLEETS).join(name);
        read(&folder).with_context(|| format!("cannot read the plan in {}", folder.display()))
    }
}

/// The newest plan that a process measures; `None` without one that this user may read.
pub fn measured(context: &Context) -> Option<Plan> {
    let mut folders: Vec<PathBuf> = fs::read_dir(base(context).ok()?.join(FLEETS))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|folder| lock::is_held(folder))
        .collect();
    folders.sort_unstable();
    read(&folders.pop()?).ok()
}

/// A plan names commands to execute, so it must belong to this user.
fn read(folder: &Path) -> Result<Plan> {
    let text = gritstone_files::read_owned_text(folder, FILE)?.context("it is not there")?;
    let plan: Plan = serde_json::from_str(&text)?;
    ensure!(
        plan.schema == SCHEMA,
        "its schema is '{}', and this Gritstone reads '{SCHEMA}'",
        plan.schema
    );
    Ok(plan)
}

fn base(context: &Context) -> Result<PathBuf> {
    let store = match context.store_path()? {
        // beside other files of the server's user
        path if gritstone_store::is_server(&path) => {
            gritstone_store::default_path(|name| std::env::var_os(name))?
        }
        path => std::path::absolute(path)?,
    };
    let beside = store.parent().context("the path of the store has no directory")?;
    Ok(beside.to_owned())
}

/// Options of `gritstone run` on each node. All use one seed for the order of rounds, so that nodes can be compared.
fn options(context: &Context, args: &Request) -> Result<Vec<String>> {
    let seed = random().to_string();
    // on this machine, where a fleet run may be resumed in another directory
    let dir = match (&args.dir, args.on) {
        (Some(dir), Engine::Local) => Some(std::path::absolute(dir)?),
        (dir, _) => dir.clone(),
    };
    let valued = [
        ("--suite", args.suite.clone()),
        ("--budget", args.budget.map(|time| format!("{}s", time.as_secs_f64()))),
        ("--precision", args.precision.map(|share| share.to_string())),
        ("--dir", dir.map(|dir| dir.display().to_string())),
        ("--label", args.label.clone()),
        ("--seed", Some(seed)),
    ];
    let mut words = vec![];
    for (option, value) in valued {
        words.extend(value.into_iter().flat_map(|value| [option.to_owned(), value]));
    }
    let allowed = args.allow.iter().cloned();
    words.extend(allowed.flat_map(|what| ["--allow".to_owned(), what]));
    let flags = [(args.quick, "--quick"), (args.no_privileged, "--no-privileged")];
    words.extend(flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.to_owned()));
    words.push("--".to_owned());
    words.extend(args.selectors.iter().cloned());
    if args.cores && args.selectors.is_empty() && args.suite.is_none() {
        let standard = &context.suite("standard")?.benchmarks;
        let selectors = Selectors::new(standard);
        let entries = context.catalogue.benchmarks.iter().filter(|entry| entry.processor_bound);
        let ids = entries.map(|entry| &entry.id);
        let ids = ids.filter(|id| selectors.select(id));
        words.extend(ids.map(ToString::to_string));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_clients_become_absolute() {
        for plain in ["ssh", "ssh -F 'a b'", "/usr/bin/ssh -v"] {
            assert_eq!(from_anywhere(plain).unwrap(), plain);
        }
        let found = from_anywhere("./my-ssh -o 'A=b c'").unwrap();
        let words = split_words(&found).unwrap();
        assert!(words[0].starts_with('/') && words[0].ends_with("/my-ssh"));
        assert_eq!(words[1..], ["-o", "A=b c"]);
        assert!(from_anywhere("ssh 'x").is_err());
    }
}
