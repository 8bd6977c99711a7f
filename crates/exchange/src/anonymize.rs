//! What a run says of who measured it and where: host and user names, addresses, values of the environment, paths below a home directory.
//! Shared files leave it out.

use crate::bundle;
use crate::private_texts::PrivateTexts;
use gritstone_model::{Machine, PRIVATE_FACTS, RunData, RunView, SERVER, Settings, Work};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// Digits of the hash that stands for a node: of 10,000 nodes no two have the same.
const NODE_DIGITS: usize = 12;

/// The run without them. A catalog of the user's own stays as it is, since a hash is of it.
#[must_use]
pub fn anonymous_run(run: &RunData, home: Option<&str>) -> RunData {
    let mut run = run.clone();
    let texts = PrivateTexts::new(&run.info.machine, home);
    machine(&mut run.info.machine);
    settings(&mut run.info.settings);
    for benchmark in &mut run.benchmarks {
        if let Work::Kernel(work) = &mut benchmark.work {
            server(&mut work.params);
        }
    }
    let catalogue = run.info.settings.catalogue.take();
    let mut run = scrubbed(&run, &texts);
    run.info.settings.catalogue = catalogue;
    run
}

/// What a reader sees of a run, likewise.
#[must_use]
pub fn anonymous_view(view: &RunView, home: Option<&str>) -> RunView {
    let mut view = view.clone();
    let texts = PrivateTexts::new(&view.machine, home);
    machine(&mut view.machine);
    let mut catalogue = None;
    if let Some(own) = &mut view.settings {
        settings(own);
        catalogue = own.catalogue.take();
    }
    let mut view = scrubbed(&view, &texts);
    if let Some(settings) = &mut view.settings {
        settings.catalogue = catalogue;
    }
    view
}

/// `host (model)` is the model. What was published has the name that the document has.
fn machine(machine: &mut Machine) {
    if machine.document.is_some() {
        return;
    }
    for name in PRIVATE_FACTS {
        machine.facts.remove(name);
    }
    if let Some((_, model)) = machine.name.split_once(" (")
        && let Some(model) = model.strip_suffix(')')
    {
        machine.name = model.to_owned();
    }
}

/// Servers are told apart, and their addresses are names of hosts and users.
fn server(params: &mut BTreeMap<String, String>) {
    if let Some(server) = params.get_mut(SERVER).filter(|server| *server != "none") {
        *server = format!("server-{}", &bundle::hash(server)[..NODE_DIGITS]);
    }
}

/// The names of variables stay: that one was set says how a run was made.
fn settings(settings: &mut Settings) {
    settings.environment.values_mut().for_each(String::clear);
    settings.commit = None;
    server(&mut settings.params);
    // nodes are told apart, and are named after hosts
    if let Some(member) = &mut settings.fleet {
        let hash = bundle::hash(&format!("{} {}", member.fleet, member.node));
        member.node = format!("node-{}", &hash[..NODE_DIGITS]);
        member.place.clear();
    }
    if let Some(peer) = &mut settings.peer {
        peer.host.clear();
        peer.address.clear();
        machine(&mut peer.machine);
    }
}

/// The same value with nothing private in any of its texts.
fn scrubbed<T: Serialize + DeserializeOwned>(value: &T, texts: &PrivateTexts) -> T {
    let mut json = serde_json::to_value(value).expect("plain data with text for keys becomes JSON");
    scrub(&mut json, texts);
    serde_json::from_value(json).expect("texts were changed, and texts they are")
}

fn scrub(value: &mut Value, texts: &PrivateTexts) {
    match value {
        Value::String(text) => texts.remove(text),
        Value::Array(all) => all.iter_mut().for_each(|value| scrub(value, texts)),
        Value::Object(all) => all.values_mut().for_each(|value| scrub(value, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_anonymized_distinctly() {
        let of = |server: &str| {
            let mut params = BTreeMap::from([(SERVER.to_owned(), server.to_owned())]);
            self::server(&mut params);
            params.remove(SERVER).unwrap()
        };
        let [one, other] = ["postgresql://ann@db1/x", "postgresql://ann@db2/x"].map(of);
        assert!(
            one != other && one.starts_with("server-") && !one.contains("db1"),
            "{one}"
        );
        assert_eq!(of("none"), "none");
    }
}
