//! All systems of a store against each other, each as one node with its newest results.

use super::pages::{Answered, Pages, Refused, plain, said};
use crate::runs::context::World;
use crate::ui::output;
use gritstone_analysis::fleet::{self, NodeRun};
use gritstone_model::{FleetNodeState, FleetView, ListedSystem, RunView};
use gritstone_report::document::About;
use gritstone_report::html::{self, Frame};
use gritstone_serve::{Answer, Asked, Form, Media, Status};
use gritstone_store::{RunHead, Store};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Newest runs of a system among which its results are looked for.
const RUNS: usize = 5;

/// The comparison, and the newest run of each system. Of each benchmark the newest result of a system counts, in its newest runs; sides of A/B
/// tests and runs of A/A tests are of another state, or of one benchmark many times.
pub(super) fn compare(
    world: &World,
    store: &Store,
    heads: &[RunHead],
) -> (FleetView, Vec<RunView>) {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for head in heads {
        names.insert(&head.machine_id, &head.machine);
    }
    let mut nodes: BTreeMap<&str, (usize, NodeRun)> = BTreeMap::new();
    let mut newest: BTreeMap<&str, RunView> = BTreeMap::new();
    for head in heads.iter().rev().filter(|head| head.elapsed_s.is_some()) {
        let id = head.machine_id.as_str();
        if nodes.get(id).is_some_and(|(runs, _)| *runs == RUNS) {
            continue;
        }
        let view = match world.stored(store, &head.id) {
            Ok(view) => view,
            Err(why) => {
                output::remark(&format!("gritstone: run {} is left out: {why:#}", head.id));
                continue;
            }
        };
        let settings = view.settings.as_ref();
        let ordinary = settings.is_none_or(|of| of.trial.is_none() && !of.noise);
        if ordinary {
            let of = NodeRun {
                node: name(id, &names),
                ..NodeRun::of_view(&view)
            };
            let (runs, node) = nodes.entry(id).or_insert((
                0,
                NodeRun {
                    results: BTreeMap::new(),
                    ..of.clone()
                },
            ));
            *runs += 1;
            for (benchmark, result) in of.results {
                node.results.entry(benchmark).or_insert(result);
            }
        }
        newest.entry(id).or_insert(view);
    }
    let nodes: Vec<NodeRun> = nodes.into_values().map(|(_, node)| node).collect();
    let view = fleet::report("newest results of each system", &nodes, fleet::MARGIN);
    (view, newest.into_values().collect())
}

/// The name of a system, with its identifier where others have the same.
fn name(id: &str, names: &BTreeMap<&str, &str>) -> String {
    let name = names[id].trim();
    let same = names.values().filter(|other| other.trim() == name).count();
    match (name, same) {
        ("", _) => id.to_owned(),
        (name, 1) => name.to_owned(),
        (name, _) => format!("{name} ({id})"),
    }
}

impl Pages {
    /// The page of it.
    pub(super) fn fleet(&self, asked: &Asked, store: Option<&Rc<Store>>) -> Answered {
        let (digest, systems): (_, Vec<ListedSystem>) = self.known(store)?;
        let digest = digest.ok_or(Refused::Busy)?;
        let view = digest.fleet.clone();
        let progress = match asked.form {
            Form::Json => None,
            _ => crate::fleet::progress(&self.world, store.map(Rc::as_ref))?,
        };
        let page = || {
            let document = gritstone_report::systems_compared(&view, &systems, progress.as_ref());
            let live = progress.as_ref().filter(|of| !of.ended).map(|of| {
                let path = format!("{}/events", html::path(&About::Fleet));
                [gritstone_report::fleet_progress(of), path]
            });
            let frame = Frame {
                live,
                ..Frame::default()
            };
            (document, frame)
        };
        Ok(said(asked, &view, page)?)
    }

    /// How far the newest fleet run has come.
    pub(super) fn follow_fleet(&self, store: Option<&Rc<Store>>) -> Answered {
        let progress = crate::fleet::progress(&self.world, store.map(Rc::as_ref))?;
        let value = progress.as_ref().map(|of| {
            let count = |state| of.nodes.iter().filter(|node| node.state == state).count();
            serde_json::json!({
                "fleet": of.fleet,
                "of": of.of,
                "done": count(FleetNodeState::Done),
                "measuring": count(FleetNodeState::Measuring),
                "failed": count(FleetNodeState::Failed),
                "said": gritstone_report::fleet_progress(of),
            })
        });
        let text = gritstone_model::escape_json(value.unwrap_or_default().to_string());
        let status = match progress {
            Some(of) if !of.ended => Status::Found,
            _ => Status::Last,
        };
        Ok(Answer {
            status,
            ..plain(Media::Json, text)
        })
    }
}
