//! Changes of level, grouped into events, and their triage.

use crate::names::names;
use crate::{Better, Difference, HistoryChange, Id, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`ChangesView`].
pub const SCHEMA_CHANGES: &str = "gritstone/changes/3";

/// A change of level of a benchmark on a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    pub benchmark: Id,
    pub title: String,
    pub machine: String,
    /// Display name of the system.
    pub name: String,
    /// Linux release of its first run.
    pub kernel: String,
    /// The last run of the level before; null if it is no longer among the newest.
    pub before: Option<String>,
    pub unit: Unit,
    pub better: Better,
    /// Median estimate of the level before; null if no run of it is among the newest.
    pub value_before: Option<f64>,
    /// Median estimate of the level since.
    pub value_since: Option<f64>,
    /// The change points.
    #[serde(flatten)]
    pub change: HistoryChange,
}

names! {
    /// Triage state of a change.
    #[derive(Default, PartialOrd, Ord, Hash, JsonSchema)]
    pub enum ChangeState {
        /// Not triaged.
        #[default]
        New = "new",
        /// Assigned to a person.
        Assigned = "assigned",
        /// Its cause is known.
        Acknowledged = "acknowledged",
        /// Intended, or accepted.
        Expected = "expected",
        /// Its cause is removed.
        Fixed = "fixed",
    }
}

impl ChangeEvent {
    /// Whether most of its changes came little by little.
    pub fn is_drift(&self) -> bool {
        let drifts = self.changes.iter().filter(|change| change.change.drift);
        2 * drifts.count() > self.changes.len()
    }

    pub fn benchmarks(&self) -> impl Iterator<Item = Id> {
        self.changes.iter().map(|change| change.benchmark.clone())
    }
}

impl ChangeState {
    /// Whether it still needs work.
    pub fn is_open(self) -> bool {
        matches!(self, Self::New | Self::Assigned | Self::Acknowledged)
    }
}

/// Entry of a triage log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TriageEntry {
    /// State from this entry on.
    pub state: ChangeState,
    /// Author: a user of the machine of the store, or the name of a token.
    pub who: String,
    /// Time, RFC 3339.
    pub at: String,
    /// Assignee; null if the entry names none.
    pub assignee: Option<String>,
    /// May be empty.
    pub note: String,
    /// Benchmarks that the change had then; empty if they are unknown.
    #[serde(default)]
    pub benchmarks: Vec<Id>,
}

/// State of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Triage {
    pub state: ChangeState,
    /// The last assignee; null without one, and after reopening.
    pub assignee: Option<String>,
    /// Benchmarks that joined the change after its last entry. It is new because of them, unless it is assigned.
    #[serde(default)]
    pub joined: Vec<Id>,
    /// Oldest first.
    pub log: Vec<TriageEntry>,
}

impl Triage {
    /// Adds the newest entry. The assignee stays until another is named, or the change is reopened.
    pub fn push(&mut self, entry: TriageEntry) {
        self.state = entry.state;
        if entry.assignee.is_some() || entry.state == ChangeState::New {
            self.assignee.clone_from(&entry.assignee);
        }
        self.log.push(entry);
    }

    /// Compares the benchmarks of the change with those that its last entry covers.
    pub fn cover(&mut self, benchmarks: impl IntoIterator<Item = Id>) {
        let Some(last) = self.log.last().filter(|entry| !entry.benchmarks.is_empty()) else {
            return;
        };
        let joined = benchmarks.into_iter();
        self.joined = joined.filter(|id| !last.benchmarks.contains(id)).collect();
        if !self.joined.is_empty() && self.state != ChangeState::Assigned {
            self.state = ChangeState::New;
        }
    }
}

/// The commits over which a change may have begun, of one branch where the branches are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitRange {
    /// The newest commit before the first run that may have begun the change, also of one for the better.
    pub good: String,
    /// Commit of the last run that may have begun it, or of the next run with a commit.
    pub bad: String,
    /// A page with these commits; null without a repository on the web.
    pub link: Option<String>,
}

/// Changes in one direction that begin with the same run of a system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeEvent {
    /// Identifier: that of a run that may have begun it, and `-worse` or `-better`. Events in the store keep theirs.
    pub id: String,
    /// The first run of the new levels.
    pub run: String,
    /// Its start, RFC 3339.
    pub started: String,
    pub machine: String,
    /// Display name of the system.
    pub name: String,
    /// Whether the new levels are worse.
    pub worse: bool,
    /// Runs that may have begun it, in the order of time, by all of its benchmarks.
    #[serde(default)]
    pub may_begin: Vec<String>,
    /// The last run of the levels before; null if it is no longer among the newest.
    pub before: Option<String>,
    /// Facts that differ between the runs before and after the change may have begun: of the system, compiler and Gritstone.
    pub differ_in: Vec<Difference>,
    /// Absent if the commits are unknown, or the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<CommitRange>,
    pub triage: Triage,
    /// One for each benchmark.
    pub changes: Vec<Change>,
}

/// Changes, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesView {
    /// [`SCHEMA_CHANGES`].
    pub schema: String,
    pub events: Vec<ChangeEvent>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reopening_clears_the_assignee() {
        let mut triage = Triage::default();
        let mut push = |state, assignee: Option<&str>| {
            triage.push(TriageEntry {
                state,
                who: "ana".to_owned(),
                at: String::new(),
                assignee: assignee.map(str::to_owned),
                note: String::new(),
                benchmarks: vec![],
            });
            triage.assignee.clone()
        };
        assert_eq!(push(ChangeState::Assigned, Some("ben")).as_deref(), Some("ben"));
        assert_eq!(push(ChangeState::Fixed, None).as_deref(), Some("ben"));
        assert_eq!(push(ChangeState::New, None), None);
        assert_eq!(push(ChangeState::Acknowledged, None), None);
    }

    #[test]
    fn entries_cover_their_benchmarks() {
        let [a, b] = ["byte/loop", "byte/pipe"].map(|id| Id::parse(id).unwrap());
        let with = |state, benchmarks: &[&Id]| {
            let mut triage = Triage::default();
            triage.push(TriageEntry {
                state,
                who: "ana".to_owned(),
                at: String::new(),
                assignee: None,
                note: String::new(),
                benchmarks: benchmarks.iter().copied().cloned().collect(),
            });
            triage.cover([a.clone(), b.clone()]);
            (triage.state, triage.joined)
        };
        use ChangeState::{Assigned, Expected, New};
        assert_eq!(with(Expected, &[&a, &b]), (Expected, vec![]));
        assert_eq!(with(Expected, &[&a]), (New, vec![b.clone()]));
        assert_eq!(with(Assigned, &[&a]), (Assigned, vec![b.clone()]));
        // of a store that did not have them
        assert_eq!(with(Expected, &[]), (Expected, vec![]));
    }
}
