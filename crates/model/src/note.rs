//! Notes on results: a finding, its subject, and its flag.

use crate::names::names;
use crate::{Finding, NegativeBecause};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

names! {
    /// Flags, in the order of display.
    #[derive(PartialOrd, Ord, Hash, JsonSchema)]
    pub enum Flag {
        /// A work check failed; the result is in no score.
        Invalid = "invalid",
        /// The interval is wider than the target, or launches are too few.
        Noisy = "noisy",
        /// The launches have several modes.
        Modes = "modes",
        /// Other work, steal, throttling or a busy SMT sibling.
        Interference = "interference",
        /// No result: skipped, failed or timed out, as `outcome` says (`invalid` instead when the failure refutes the work).
        Skipped = "skipped",
        /// Other work, another version, another unit or a stand-in.
        NotComparable = "not-comparable",
        /// The source, or its scan, is doubtful.
        Doubtful = "doubtful",
        /// A custom benchmark.
        Custom = "custom",
    }
}

names! {
    /// Subject of a finding.
    #[derive(Default, PartialOrd, Ord, Hash, JsonSchema)]
    pub enum Subject {
        /// The result as a whole.
        #[default]
        Result = "result",
        /// The estimate alone.
        Estimate = "estimate",
        /// Wall time of the reference workload.
        Real = "real_s",
        /// User time of the reference workload.
        User = "user_s",
        /// System time of the reference workload.
        System = "system_s",
        /// User and system time of the reference workload.
        Cpu = "cpu_s",
        /// Time of the whole process of the reference workload.
        Process = "process_s",
        /// Page faults per page.
        FaultsPerPage = "faults_per_page",
        /// Minimum of a printed distribution.
        Min = "min",
        Mean = "mean",
        /// Maximum of a printed distribution.
        Max = "max",
    }
}

impl Subject {
    /// Whether a note on `self` concerns a use of `other`: notes on the whole result always do.
    pub fn concerns(self, other: Self) -> bool {
        self == Self::Result || self == other
    }
}

/// A finding with its subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// `code` and `data` in JSON.
    #[serde(flatten)]
    pub finding: Finding,
    /// Subject of the finding.
    #[serde(default)]
    pub about: Subject,
    /// In a comparison, the name of its side; absent for both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
}

impl Note {
    /// A note on the result as a whole.
    pub fn new(finding: Finding) -> Self {
        Self { finding, about: Subject::Result, side: None }
    }

    /// A note on a part of the result.
    #[must_use]
    pub fn about(self, about: Subject) -> Self {
        Self { about, ..self }
    }

    /// The flag that it raises.
    pub fn flag(&self) -> Option<Flag> {
        self.finding.flag()
    }
}

impl From<Finding> for Note {
    fn from(finding: Finding) -> Self {
        Self::new(finding)
    }
}

/// The flags that notes raise, each once.
pub fn flags(notes: &[Note]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = notes.iter().filter_map(Note::flag).collect();
    flags.sort_unstable();
    flags.dedup();
    flags
}

/// Sorted by flag, those without one last; each once.
pub fn in_order(mut notes: Vec<Note>) -> Vec<Note> {
    notes.sort_by_key(|note| {
        let flag = note.flag();
        (flag.is_none(), flag)
    });
    let mut once: Vec<Note> = Vec::new();
    for note in notes {
        if !once.contains(&note) {
            once.push(note);
        }
    }
    once
}

impl Finding {
    /// The flag that it raises.
    pub fn flag(&self) -> Option<Flag> {
        match self {
            Self::Stated { flag, .. } => *flag,
            Self::PartsFlagged { flag, .. } => Some(*flag),
            Self::Inherited { finding, .. }
            | Self::InvalidIn { finding, .. }
            | Self::NeedsIeee { finding, .. } => finding.flag(),
            Self::Failed { refuted: true, .. } => Some(Flag::Invalid),
            Self::Failed { count, .. } if count.part < count.of => Some(Flag::Noisy),
            Self::NoBatch { did: Some(_), .. } => Some(Flag::NotComparable),
            Self::NoBatch { timed: true, .. } => Some(Flag::Noisy),
            Self::Negative { because, .. } => Some(match because {
                NegativeBecause::Work => Flag::Invalid,
                NegativeBecause::Interference | NegativeBecause::TooFew => Flag::Noisy,
            }),
            Self::WrongCheck { .. }
            | Self::NoCheck { .. }
            | Self::NotLinear { .. }
            | Self::GrowthUnverified { .. }
            | Self::BelowMinimum { .. }
            | Self::FewSwitches { .. }
            | Self::ManyFaults { .. }
            | Self::FewMajorFaults { .. }
            | Self::FewPageOuts { .. }
            | Self::SystemCalls { .. }
            | Self::Untimed { .. }
            | Self::Unsized { .. } => Some(Flag::Invalid),
            Self::NoInterval { .. }
            | Self::WideInterval { .. }
            | Self::SizeVaries { .. }
            | Self::IncompleteRounds { .. }
            | Self::ReachesZero { .. } => Some(Flag::Noisy),
            Self::SeveralModes { .. } => Some(Flag::Modes),
            Self::Interfered { .. } | Self::SavedSwitches { .. } => Some(Flag::Interference),
            Self::NotReached { .. }
            | Self::Unavailable { .. }
            | Self::Failed { .. }
            | Self::PartsMissing { .. }
            | Self::ScoreWithheld { .. }
            | Self::NoBatch { .. }
            | Self::EndedEarly {} => Some(Flag::Skipped),
            Self::NotInCatalog {}
            | Self::IdleLoad { .. }
            | Self::StartUp { .. }
            | Self::NoCounterpart { .. }
            | Self::VersionsDiffer { .. }
            | Self::PeersDiffer { .. }
            | Self::UnitsDiffer { .. }
            | Self::NoEstimate { .. }
            | Self::NotPositive {}
            | Self::AcrossTimes { .. }
            | Self::NothingInCommon {}
            | Self::NoHistory {}
            | Self::NoRunPasses { .. }
            | Self::OtherCircumstances { .. }
            | Self::ShortHistory { .. }
            | Self::NoEstimateIn { .. }
            | Self::NotInRun { .. }
            | Self::IncompleteCurve { .. }
            | Self::ProgramsDiffer { .. } => Some(Flag::NotComparable),
            Self::FailuresIgnored { .. } => Some(Flag::Doubtful),
            Self::Custom { .. } => Some(Flag::Custom),
            Self::Reckoned { .. }
            | Self::InterferenceUnobserved {}
            | Self::LeftOut { .. }
            | Self::Load { .. }
            | Self::Paging { .. }
            | Self::Ends { .. }
            | Self::CacheRises { .. }
            | Self::Scaling { .. }
            | Self::Carried { .. }
            | Self::PartialScore { .. }
            | Self::WeightLeftOut { .. }
            | Self::StartUpUnseen { .. }
            | Self::NoLaunches {}
            | Self::Accepted {}
            | Self::CarryOver { .. }
            | Self::UnequalTails { .. }
            | Self::RealTimeInstead { .. }
            | Self::OnlyTime { .. }
            | Self::BothPrinted {} => None,
        }
    }
}
