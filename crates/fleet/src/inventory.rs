//! Which nodes a fleet has: a number, a list, or a file with a line for each.

use super::host::{Engine, NO_PLACE, Node};
use super::slurm::tools::{self, SlurmNode};
use anyhow::{Context, Result, bail, ensure};
use gritstone_model::decode_text;
use gritstone_session::ssh::{Host, is_host_name};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Most nodes that are measured locally, in turn.
const MAX_LOCAL: usize = 100;

/// Each CPU that this process may use, as a node.
///
/// # Errors
/// When the affinity mask cannot be read.
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
/// When there is none, a name twice, or an invalid one.
pub fn nodes(on: Engine, partition: Option<&str>, text: Option<&str>) -> Result<Vec<Node>> {
    let nodes = match (on, text) {
        (Engine::Slurm, text) => slurm(partition, text)?,
        (_, Some(text)) => named(on, text)?,
        (_, None) => bail!("--nodes is missing: only Slurm lists its own nodes"),
    };
    ensure!(!nodes.is_empty(), "--nodes names no node");
    let mut names = BTreeSet::new();
    if let Some(twice) = nodes.iter().find(|node| !names.insert(&node.node)) {
        bail!("node {} is named twice", twice.node);
    }
    Ok(nodes)
}

/// Nodes of a partition: all, a number of usable ones, those of a list in Slurm's syntax, or of an inventory.
fn slurm(partition: Option<&str>, text: Option<&str>) -> Result<Vec<Node>> {
    let known = tools::nodes(partition)?;
    let to_node = |known: &SlurmNode| {
        let place = BTreeMap::from([(NO_PLACE.to_owned(), known.partition.clone())]);
        Node::new(known.name.clone(), place)
    };
    let selected = match text {
        None => known.iter().map(to_node).collect(),
        Some(text) => match text.parse::<usize>() {
            Ok(number) => {
                let usable = known.iter().filter(|known| known.unusable().is_none());
                let nodes: Vec<Node> = usable.map(to_node).take(number).collect();
                ensure!(
                    nodes.len() == number,
                    "--nodes {number}: {} can have a job now",
                    nodes.len()
                );
                nodes
            }
            Err(_) if Path::new(text).is_file() => inventory(text)?,
            Err(_) => read(&tools::names(text)?.join("\n"))?,
        },
    };
    let with_partition = |node: Node| {
        let known = known.iter().find(|known| known.name == node.node);
        let known = known.with_context(|| {
            let which = partition
                .map_or("the default partition".to_owned(), |name| format!("partition {name}"));
            format!("{which} has no node {}", node.node)
        })?;
        let mut slurm_node = to_node(known);
        ensure!(is_host_name(&slurm_node.node), "'{}' is not a host name", slurm_node.node);
        slurm_node.place.extend(node.place);
        Ok(slurm_node)
    };
    selected.into_iter().map(with_partition).collect()
}

/// A number of local nodes, or host names.
fn named(on: Engine, text: &str) -> Result<Vec<Node>> {
    let nodes = match on {
        Engine::Local => {
            let number: usize = text.parse::<usize>().ok().filter(|n| (1..=MAX_LOCAL).contains(n)).with_context(|| {
                format!("--nodes {text}: with --on local, how often this machine is measured, 1 to {MAX_LOCAL}")
            })?;
            (1..=number).map(|index| Node::new(format!("local-{index}"), BTreeMap::new())).collect()
        }
        _ if Path::new(text).is_file() => inventory(text)?,
        _ if is_path(text) => bail!("cannot find the inventory {text}"),
        _ => read(&text.replace(',', "\n"))?,
    };
    Ok(nodes)
}

fn is_path(text: &str) -> bool {
    text.ends_with(".txt") || text.contains('/') && !text.contains("://")
}

fn inventory(path: &str) -> Result<Vec<Node>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {path}"))?;
    let lines = decode_text(bytes).with_context(|| format!("the inventory {path}"))?;
    read(&lines).with_context(|| format!("the inventory {path}"))
}

/// A line for each node: its name, then `KEY=VALUE`; what follows `#` is a comment.
fn read(lines: &str) -> Result<Vec<Node>> {
    let mut nodes = vec![];
    for (number, line) in (1..).zip(lines.lines()) {
        let mut words = line.split('#').next().unwrap_or("").split_whitespace();
        let Some(name) = words.next() else { continue };
        let host: Host = name.parse().with_context(|| format!("line {number}"))?;
        let place = words.map(|word| {
            let pair = word.split_once('=').filter(|(key, _)| !key.is_empty());
            let pair = pair.map(|(key, value)| (key.to_owned(), value.to_owned()));
            pair.with_context(|| {
                format!("line {number}: '{word}': write KEY=VALUE, such as rack=a")
            })
        });
        let place: Vec<(String, String)> = place.collect::<Result<_>>()?;
        let count = place.len();
        let place: BTreeMap<String, String> = place.into_iter().collect();
        ensure!(place.len() == count, "line {number}: a key of {name} is repeated");
        nodes.push(Node::new(host.to_string(), place));
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_lists_are_expanded() {
        let names = |on, text| -> Vec<String> {
            nodes(on, None, Some(text)).unwrap().into_iter().map(|node| node.node).collect()
        };
        assert_eq!(names(Engine::Local, "2"), ["local-1", "local-2"]);
        assert_eq!(
            names(Engine::Ssh, "a,root@b.example,ssh://c:22/,[::1]:22,fe80::1%eth0"),
            ["a", "root@b.example", "c:22", "[::1]:22", "fe80::1%eth0"]
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "# all\nn1 rack=a switch=1\n\nn2 # rack=b\n").unwrap();
        let read = nodes(Engine::Ssh, None, file.path().to_str()).unwrap();
        assert_eq!(read[0].place["switch"], "1");
        assert_eq!((read.len(), read[1].place.len()), (2, 0));
        let utf16 = "\u{feff}n1 rack=a\r\nn2\r\n".encode_utf16();
        let bytes: Vec<u8> = utf16.flat_map(u16::to_le_bytes).collect();
        std::fs::write(file.path(), bytes).unwrap();
        let read = nodes(Engine::Ssh, None, file.path().to_str()).unwrap();
        assert_eq!((read[0].place["rack"].as_str(), read[1].node.as_str()), ("a", "n2"));
    }

    #[test]
    fn invalid_node_lists_are_refused() {
        for (on, text) in [
            (Engine::Local, "0"),
            (Engine::Local, "a,b"),
            (Engine::Ssh, ""),
            (Engine::Ssh, "a,a"),
            (Engine::Ssh, "a:22,ssh://a:22"),
            (Engine::Ssh, "a:ssh"),
            (Engine::Ssh, "-oProxyCommand=x"),
            (Engine::Ssh, "a;b"),
            (Engine::Ssh, "../a"),
            (Engine::Ssh, "a rack"),
            (Engine::Ssh, "a rack=1 rack=2"),
            (Engine::Ssh, "no-such-inventory.txt"),
        ] {
            assert!(nodes(on, None, Some(text)).is_err(), "{text}");
        }
    }
}
