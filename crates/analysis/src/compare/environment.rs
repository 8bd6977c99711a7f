//! Differences between the environments of two sides: machine, system, facts, compilers, versions, settings.

use gritstone_model::{
    CustomCatalog, Difference, Finding, Id, Kind, Measurement, PRIVATE_FACTS, Peer, Program,
    RunView, Settings,
};
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of facts of the publication of a system's results, which are not of the system.
const PUBLICATION: &str = "published.";
/// A fact that one side lacks.
const UNKNOWN: &str = "not known";

/// Differences of each run of a side from the one before.
pub fn runs_differ_in(runs: &[RunView]) -> Vec<Difference> {
    let pairs = runs.windows(2);
    pairs.flat_map(|pair| differ_in(&pair[0], &pair[1])).collect()
}

/// All differences, the machine first.
pub(super) fn differ_in(base: &RunView, other: &RunView) -> Vec<Difference> {
    let mut differences = Differences::default();
    let (b, o) = (&base.machine, &other.machine);
    let hidden = |view: &RunView| hides_identity(view, base, other);
    let is_hidden = hidden(base) || hidden(other);
    if !is_hidden {
        differences.add("machine", &b.name, &o.name);
    }
    differences.add("system", &b.system, &o.system);
    differences.add("configuration", &b.configuration, &o.configuration);
    let [mut b_facts, mut o_facts] = [b.facts.clone(), o.facts.clone()];
    if is_hidden {
        for facts in [&mut b_facts, &mut o_facts] {
            facts.retain(|name, _| !PRIVATE_FACTS.contains(&name.as_str()));
        }
    }
    differences.facts(&b_facts, &o_facts, printed(base) || printed(other));
    if let (Some(b), Some(o)) = (&base.gritstone, &other.gritstone) {
        differences.add("gritstone", b, o);
    }
    differences.0.extend(programs_differ_in(base, other, &|_| true));
    for (b, o) in common(base, other) {
        if !b.is_published() && !o.is_published() {
            let what = format!("version of {}", b.id);
            differences.add(&what, &b.version.to_string(), &o.version.to_string());
        }
    }
    if let (Some(b), Some(o)) = (&base.settings, &other.settings) {
        differences.add("directory", &b.dir, &o.dir);
        differences.add("side of an A/B test", side(b), side(o));
        if !is_hidden {
            differences.maps("environment ", &b.environment, &o.environment);
        }
        differences.maps("parameter ", &b.params, &o.params);
        differences.maps("peer ", &peer(b), &peer(o));
        differences.add("tuned", &tuned_settings(&b.tuned), &tuned_settings(&o.tuned));
        differences.add("custom catalog", &overrides(b), &overrides(o));
    }
    differences.0
}

/// Whether the two are of one machine and this one was exported without names of hosts and values of the environment.
fn hides_identity(view: &RunView, base: &RunView, other: &RunView) -> bool {
    let is_empty = |settings: &Settings| settings.environment.values().all(String::is_empty);
    let has_fact = |name: &str| view.machine.facts.contains_key(name);
    base.machine.id == other.machine.id
        && view.settings.as_ref().is_some_and(is_empty)
        && !PRIVATE_FACTS.into_iter().any(has_fact)
}

/// Finding that the far ends of two runs were in different places.
pub(crate) fn peers_differ(base: &RunView, other: &RunView) -> Option<Finding> {
    let peer = |view: &RunView| view.settings.as_ref().and_then(|settings| settings.peer.clone());
    let (b, o) = (peer(base), peer(other));
    let path = |peer: &Option<Peer>| peer.as_ref().map(Peer::path);
    (path(&b) != path(&o)).then(|| Finding::PeersDiffer {
        base: b.map(|peer| peer.host),
        other: o.map(|peer| peer.host),
    })
}

/// The facts of the host of the far ends, and of the interfaces on the way.
fn peer(settings: &Settings) -> BTreeMap<String, String> {
    let Some(peer) = &settings.peer else {
        return BTreeMap::new();
    };
    let mut facts = peer.machine.facts.clone();
    for (end, link) in [("near", &peer.near), ("far", &peer.far)] {
        let Some(link) = link else { continue };
        let number = |number: Option<u64>| number.map_or_else(String::new, |n| n.to_string());
        let link_facts = [
            ("interface", link.interface.clone()),
            ("speed_mbit", number(link.speed_mbit)),
            ("mtu", number(link.mtu)),
            ("driver", link.driver.clone().unwrap_or_default()),
        ];
        facts.extend(link_facts.map(|(name, value)| (format!("{end}.{name}"), value)));
    }
    facts.insert("host".to_owned(), peer.host.clone());
    facts
}

/// Settings of a side of an A/B test; none for other runs.
fn side(settings: &Settings) -> &str {
    settings.trial.as_ref().map_or("none", |side| &side.what)
}

/// Without `--tune` the settings are known to be none, not unknown.
fn tuned_settings(tuned: &[String]) -> String {
    match tuned {
        [] => "nothing".to_owned(),
        some => some.join("; "),
    }
}

fn overrides(settings: &Settings) -> String {
    let catalog = settings.catalogue.as_ref();
    catalog.map_or_else(|| "none".to_owned(), CustomCatalog::named)
}

/// Whether the view is of a printed system.
fn printed(view: &RunView) -> bool {
    view.settings.is_none()
}

fn common<'a>(
    base: &'a RunView,
    other: &'a RunView,
) -> impl Iterator<Item = (&'a Measurement, &'a Measurement)> {
    base.results.iter().filter_map(|b| {
        let o = other.get(&b.id)?;
        Some((b, o))
    })
}

/// Compilers and flags of selected benchmarks, and versions and command lines of foreign programs, as one text each.
pub(crate) fn programs_differ_in(
    base: &RunView,
    other: &RunView,
    wanted: &dyn Fn(&Id) -> bool,
) -> Vec<Difference> {
    let mut differences = Differences::default();
    type Field = fn(&Program) -> &str;
    let fields: [(&str, bool, Field); 4] = [
        ("compiler", false, |program| &program.compiler),
        ("compiler flags", false, |program| &program.flags),
        ("program", true, |program| &program.compiler),
        ("command line", true, |program| &program.flags),
    ];
    for (what, theirs, field) in fields {
        let (mut bases, mut others) = (BTreeSet::new(), BTreeSet::new());
        let is_theirs = |b: &Measurement| matches!(b.kind, Kind::Command | Kind::Scenario);
        let of_this_kind = |b: &Measurement| is_theirs(b) == theirs && wanted(&b.id);
        for (b, o) in common(base, other).filter(|(b, _)| of_this_kind(b)) {
            let (Some(b), Some(o)) = (&b.program, &o.program) else {
                continue;
            };
            if field(b) != field(o) {
                bases.insert(field(b));
                others.insert(field(o));
            }
        }
        let joined = |set: BTreeSet<&str>| set.into_iter().collect::<Vec<_>>().join("; ");
        differences.add(what, &joined(bases), &joined(others));
    }
    differences.0
}

#[derive(Default)]
struct Differences(Vec<Difference>);

impl Differences {
    /// Adds a difference; an absent fact is unknown.
    fn add(&mut self, what: &str, base: &str, other: &str) {
        let text_or_unknown = |text: &str| {
            let text = if text.is_empty() { UNKNOWN } else { text };
            text.to_owned()
        };
        if base != other {
            self.0.push(Difference {
                what: what.to_owned(),
                base: text_or_unknown(base),
                other: text_or_unknown(other),
            });
        }
    }

    /// Facts of the system; where one side is a document, which prints few facts, only common ones.
    fn facts(
        &mut self,
        base: &BTreeMap<String, String>,
        other: &BTreeMap<String, String>,
        printed: bool,
    ) {
        let of_system = |facts: &BTreeMap<String, String>, others: &BTreeMap<String, String>| {
            let mut facts = facts.clone();
            facts.retain(|name, _| {
                !name.starts_with(PUBLICATION) && (!printed || others.contains_key(name))
            });
            facts
        };
        self.maps("", &of_system(base, other), &of_system(other, base));
    }

    fn maps(
        &mut self,
        prefix: &str,
        base: &BTreeMap<String, String>,
        other: &BTreeMap<String, String>,
    ) {
        let names: BTreeSet<&String> = base.keys().chain(other.keys()).collect();
        for name in names {
            let value = |map: &BTreeMap<String, String>| map.get(name).cloned().unwrap_or_default();
            self.add(&format!("{prefix}{name}"), &value(base), &value(other));
        }
    }
}
