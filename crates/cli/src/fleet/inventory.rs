//! Which nodes a fleet has: a number, a list, or a file with a line for each.

use crate::args::Engine;
use crate::ssh::is_host;
use anyhow::{Context, Result, bail, ensure};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Most nodes that are measured here in turn.
const MOST_LOCAL: usize = 100;

/// A node of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its name; with ssh, as OpenSSH knows it.
    pub node: String,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub place: BTreeMap<String, String>,
    /// The only CPU that it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
}

impl Node {
    fn new(node: String, place: BTreeMap<String, String>) -> Self {
        Self {
            node,
            place,
            cpu: None,
        }
    }
}

/// Each CPU that this process may use, as a node.
///
/// # Errors
/// When it is not known which these are.
pub fn cores() -> Result<Vec<Node>> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).context("the allowed CPUs are not known")?;
    let cpus = (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false));
    let node = |cpu: usize| Node {
        cpu: u32::try_from(cpu).ok(),
        ..Node::new(
            format!("local-cpu{cpu}"),
            BTreeMap::from([("cpu".to_owned(), cpu.to_string())]),
        )
    };
    Ok(cpus.map(node).collect())
}

/// The nodes that `--nodes` names.
///
/// # Errors
/// When it names none, one twice, or one that is no name.
pub fn nodes(on: Engine, text: &str) -> Result<Vec<Node>> {
    let nodes = match on {
        Engine::Local => {
            let number: usize = text.parse::<usize>().ok().filter(|n| (1..=MOST_LOCAL).contains(n)).with_context(|| {
                format!("--nodes {text}: with --on local, how often this machine is measured, 1 to {MOST_LOCAL}")
            })?;
            (1..=number)
                .map(|at| Node::new(format!("local-{at}"), BTreeMap::new()))
                .collect()
        }
        Engine::Ssh if Path::new(text).is_file() => {
            let lines =
                std::fs::read_to_string(text).with_context(|| format!("cannot read {text}"))?;
            read(&lines).with_context(|| format!("the inventory {text}"))?
        }
        Engine::Ssh => read(&text.replace(',', "\n"))?,
    };
    ensure!(!nodes.is_empty(), "--nodes {text} names no node");
    let mut seen = BTreeSet::new();
    if let Some(twice) = nodes.iter().find(|node| !seen.insert(&node.node)) {
        bail!("node {} is named twice", twice.node);
    }
    Ok(nodes)
}

/// A line for each node: its name, then `KEY=VALUE`; what follows `#` is a comment.
fn read(lines: &str) -> Result<Vec<Node>> {
    let mut nodes = vec![];
    for (number, line) in (1..).zip(lines.lines()) {
        let mut words = line.split('#').next().unwrap_or("").split_whitespace();
        let Some(name) = words.next() else { continue };
        ensure!(
            is_host(name),
            "line {number}: '{name}' is no name of a host: letters, digits and . _ - @"
        );
        let place = words.map(|word| {
            let pair = crate::amounts::pair(word);
            pair.map_err(|_| {
                anyhow::anyhow!("line {number}: '{word}': write KEY=VALUE, such as rack=a")
            })
        });
        nodes.push(Node::new(name.to_owned(), place.collect::<Result<_>>()?));
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_read_from_numbers_lists_and_files() {
        let names = |on, text| -> Vec<String> {
            nodes(on, text)
                .unwrap()
                .into_iter()
                .map(|of| of.node)
                .collect()
        };
        assert_eq!(names(Engine::Local, "2"), ["local-1", "local-2"]);
        assert_eq!(
            names(Engine::Ssh, "a,root@b.example"),
            ["a", "root@b.example"]
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "# all\nn1 rack=a switch=1\n\nn2 # rack=b\n").unwrap();
        let read = nodes(Engine::Ssh, file.path().to_str().unwrap()).unwrap();
        assert_eq!(read[0].place["switch"], "1");
        assert_eq!((read.len(), read[1].place.len()), (2, 0));
    }

    #[test]
    fn what_names_no_node_is_refused() {
        for (on, text) in [
            (Engine::Local, "0"),
            (Engine::Local, "a,b"),
            (Engine::Ssh, ""),
            (Engine::Ssh, "a,a"),
            (Engine::Ssh, "-oProxyCommand=x"),
            (Engine::Ssh, "a;b"),
            (Engine::Ssh, "../a"),
            (Engine::Ssh, "a rack"),
        ] {
            assert!(nodes(on, text).is_err(), "{text}");
        }
    }
}
