//! Removes private texts from shared files: host and user names, addresses, values of the environment, paths below a home directory.

use crate::bundle;
use crate::import;
use crate::private_texts::{PrivateTexts, is_word};
use gritstone_model::{Machine, PRIVATE_FACTS, RunData, RunView, SERVER, Settings, Work};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// Digits of the hash that replaces the name of a node: with 12, 10,000 nodes have no collision.
const NODE_DIGITS: usize = 12;

/// Keys whose values name benchmarks, workloads and units.
const NAME_KEYS: [&str; 15] = [
    "absent",
    "baseline",
    "benchmarks",
    "empty",
    "from",
    "id",
    "kernel",
    "over",
    "points",
    "program",
    "schema",
    "selectors",
    "share_of",
    "unit",
    "uses",
];

/// Removal changed a text so that it no longer parses.
#[derive(Debug, thiserror::Error)]
#[error(
    "the run cannot be stripped of names of hosts and users ({0}): give --with-identity, or choose another run"
)]
pub struct AnonymizeError(#[from] serde_json::Error);

/// The run without private texts. A custom catalog is unchanged, since it is identified by its hash.
///
/// # Errors
/// When removal would break the format of a text.
pub fn anonymous_run(run: &RunData, home: Option<&str>) -> Result<RunData, AnonymizeError> {
    let mut run = run.clone();
    let peer = run.info.settings.peer.as_ref();
    let texts = PrivateTexts::new(&run.info.machine, peer, home);
    anonymize_machine(&mut run.info.machine, &texts);
    anonymize_settings(&mut run.info.settings, &texts);
    for benchmark in &mut run.benchmarks {
        if let Work::Kernel(work) = &mut benchmark.work {
            anonymize_params(&mut work.params, &texts);
        }
    }
    let catalog = run.info.settings.catalogue.take();
    let mut run = scrubbed(&run, &texts)?;
    run.info.settings.catalogue = catalog;
    Ok(run)
}

/// A view of a run without private texts.
///
/// # Errors
/// As [`anonymous_run`].
pub fn anonymous_view(view: &RunView, home: Option<&str>) -> Result<RunView, AnonymizeError> {
    let mut view = view.clone();
    let peer = view.settings.as_ref().and_then(|all| all.peer.as_ref());
    let texts = PrivateTexts::new(&view.machine, peer, home);
    anonymize_machine(&mut view.machine, &texts);
    let mut catalog = None;
    if let Some(all) = &mut view.settings {
        anonymize_settings(all, &texts);
        catalog = all.catalogue.take();
    }
    let mut view = scrubbed(&view, &texts)?;
    if let Some(settings) = &mut view.settings {
        settings.catalogue = catalog;
    }
    Ok(view)
}

/// `host (model)` becomes the model; a machine of another program becomes unknown. A printed system keeps its published name.
fn anonymize_machine(machine: &mut Machine, texts: &PrivateTexts) {
    if machine.document.is_some() {
        return;
    }
    for name in PRIVATE_FACTS {
        machine.facts.remove(name);
    }
    for fact in machine.facts.values_mut() {
        texts.remove(fact);
    }
    import::unname(machine);
    if let Some((_, model)) = machine.name.split_once(" (")
        && let Some(model) = model.strip_suffix(')')
    {
        machine.name = model.to_owned();
    }
}

/// Servers get distinct names, since their addresses name hosts and users.
fn anonymize_params(params: &mut BTreeMap<String, String>, texts: &PrivateTexts) {
    if let Some(server) = params.get_mut(SERVER).filter(|server| *server != "none") {
        *server = format!("server-{}", &bundle::hash(server)[..NODE_DIGITS]);
    }
    // under any key, including those of programs
    params.values_mut().for_each(|value| texts.remove(value));
}

/// Names of variables stay: they show how a run was configured.
fn anonymize_settings(settings: &mut Settings, texts: &PrivateTexts) {
    settings.environment.values_mut().for_each(String::clear);
    settings.commit = None;
    anonymize_params(&mut settings.params, texts);
    // nodes are named after hosts, and must stay distinct
    if let Some(member) = &mut settings.fleet {
        let hash = bundle::hash(&format!("{} {}", member.fleet, member.node));
        member.node = format!("node-{}", &hash[..NODE_DIGITS]);
        member.place.clear();
    }
    if let Some(peer) = &mut settings.peer {
        peer.host.clear();
        peer.address.clear();
        anonymize_machine(&mut peer.machine, texts);
    }
}

/// The same value with private texts removed from all its strings.
fn scrubbed<T: Serialize + DeserializeOwned>(
    value: &T,
    texts: &PrivateTexts,
) -> Result<T, AnonymizeError> {
    let mut json = serde_json::to_value(value)?;
    scrub(&mut json, false, texts);
    Ok(serde_json::from_value(json)?)
}

fn scrub(value: &mut Value, is_name: bool, texts: &PrivateTexts) {
    match value {
        // a single word may be a name, too
        Value::String(text) if is_name || text.chars().all(is_word) => {}
        Value::String(text) => texts.remove(text),
        Value::Array(all) => all.iter_mut().for_each(|value| scrub(value, is_name, texts)),
        Value::Object(all) => all
            .iter_mut()
            .for_each(|(key, value)| scrub(value, NAME_KEYS.contains(&key.as_str()), texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_are_anonymized_distinctly() {
        let anonymized = |server: &str| {
            let mut params = BTreeMap::from([(SERVER.to_owned(), server.to_owned())]);
            let texts = PrivateTexts::new(&Machine::default(), None, None);
            anonymize_params(&mut params, &texts);
            params.remove(SERVER).unwrap()
        };
        let [one, other] = ["postgresql://ann@db1/x", "postgresql://ann@db2/x"].map(anonymized);
        assert!(one != other && one.starts_with("server-") && !one.contains("db1"), "{one}");
        assert_eq!(anonymized("none"), "none");
        let mut params = BTreeMap::from([("program".to_owned(), "/home/ann/x".to_owned())]);
        let texts = PrivateTexts::new(&Machine::default(), None, None);
        anonymize_params(&mut params, &texts);
        assert_eq!(params["program"], "~/x");
    }

    #[test]
    fn names_of_programs_stay() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/run.jsonl");
        let run = bundle::read(std::fs::read(path).unwrap().as_slice()).unwrap();
        let ids = |run: &RunData| {
            let all = run.benchmarks.iter();
            all.map(|one| (one.id.clone(), one.unit.clone(), one.work.kind())).collect::<Vec<_>>()
        };
        for name in ["pipe", "call", "kernel", "byte", "sample", "lower", "measured", "s"] {
            let mut run = run.clone();
            let facts = &mut run.info.machine.facts;
            facts.insert("host.name".to_owned(), name.to_owned());
            run.benchmarks[0].remark = Some(format!("by /data/{name} on {name}"));
            let found = anonymous_run(&run, Some(&format!("/home/{name}"))).unwrap();
            assert_eq!(ids(&found), ids(&run), "{name}");
            assert_eq!(found.launches.len(), run.launches.len());
            let remark = found.benchmarks[0].remark.as_deref();
            assert_eq!(remark, Some("by /data/USER on HOST"), "{name}");
        }
    }
}
