//! What a run says of who measured it and where: host and user names, values of the environment, paths below a home directory. It is left out
//! of what is made to be shared.

use crate::bundle;
use gritstone_model::{Machine, PRIVATE_FACTS, RunData, RunView, SERVER, Settings, Work};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// Directories whose entries are homes of users.
const HOMES: [&str; 2] = ["/home/", "/Users/"];
/// Digits of the hash that stands for a node: of 10,000 nodes no two have the same.
const NODE_DIGITS: usize = 12;
/// The home of root.
const ROOT: &str = "/root";

/// The run without them. A catalog of the user's own stays as it is, since a hash is of it.
#[must_use]
pub fn anonymous_run(run: &RunData, home: Option<&str>) -> RunData {
    let mut run = run.clone();
    machine(&mut run.info.machine);
    settings(&mut run.info.settings);
    for benchmark in &mut run.benchmarks {
        if let Work::Kernel(work) = &mut benchmark.work {
            server(&mut work.params);
        }
    }
    let catalogue = run.info.settings.catalogue.take();
    let mut run = scrubbed(&run, home);
    run.info.settings.catalogue = catalogue;
    run
}

/// What a reader sees of a run, likewise.
#[must_use]
pub fn anonymous_view(view: &RunView, home: Option<&str>) -> RunView {
    let mut view = view.clone();
    machine(&mut view.machine);
    let mut catalogue = None;
    if let Some(own) = &mut view.settings {
        settings(own);
        catalogue = own.catalogue.take();
    }
    let mut view = scrubbed(&view, home);
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

/// The same value with no home in any of its texts.
fn scrubbed<T: Serialize + DeserializeOwned>(value: &T, home: Option<&str>) -> T {
    let mut json = serde_json::to_value(value).expect("plain data with text for keys becomes JSON");
    scrub(&mut json, home);
    serde_json::from_value(json).expect("texts were changed, and texts they are")
}

fn scrub(value: &mut Value, home: Option<&str>) {
    match value {
        Value::String(text) if text.contains('/') => *text = without_home(text, home),
        Value::Array(all) => all.iter_mut().for_each(|value| scrub(value, home)),
        Value::Object(all) => all.values_mut().for_each(|value| scrub(value, home)),
        _ => {}
    }
}

/// A text with `~` in the place of this home, and of any other by its usual place.
fn without_home(text: &str, home: Option<&str>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        out.push_str(before);
        // a path begins where nothing of one is before it
        let begins = !out.ends_with(|c: char| c.is_alphanumeric() || "._-~/".contains(c));
        let length = if begins {
            length_of_home(path, home)
        } else {
            0
        };
        out.push_str(if length > 0 { "~" } else { "/" });
        rest = &path[length.max(1)..];
    }
    out + rest
}

/// How long the home is with which a path begins; 0 where it begins with none.
fn length_of_home(path: &str, home: Option<&str>) -> usize {
    let ends = |length: usize| {
        !path[length..].starts_with(|c: char| c.is_alphanumeric() || "._-".contains(c))
    };
    let known = home
        .map(|home| home.trim_end_matches('/'))
        .filter(|home| !home.is_empty());
    for home in known.into_iter().chain([ROOT]) {
        if path.starts_with(home) && ends(home.len()) {
            return home.len();
        }
    }
    for homes in HOMES {
        if let Some(rest) = path.strip_prefix(homes) {
            let user = rest
                .find(|c: char| !(c.is_alphanumeric() || "._-".contains(c)))
                .unwrap_or(rest.len());
            if user > 0 {
                return homes.len() + user;
            }
        }
    }
    0
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

    #[test]
    fn only_home_directories_are_removed() {
        for (text, wanted) in [
            ("/home/ann/src/x.c", "~/src/x.c"),
            ("PATH=/root/bin:/usr/bin:/home/bob", "PATH=~/bin:/usr/bin:~"),
            ("cc -o '/srv/me/a b' /srv/me", "cc -o '~/a b' ~"),
            (
                "/srv/meadow /rooted /var/home/x a/home/b",
                "/srv/meadow /rooted /var/home/x a/home/b",
            ),
            ("byte/pipe MB/s /", "byte/pipe MB/s /"),
        ] {
            assert_eq!(without_home(text, Some("/srv/me")), wanted, "{text}");
        }
    }
}
