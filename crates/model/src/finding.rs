//! What is known of a result beside its numbers: facts with their figures, the flag that each raises, and what it is about.
//! No sentences: `report` words them.

use crate::{Cache, Id, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a reader must know before using a result, in the order in which flags are shown.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    /// A work check failed; the result is in no score.
    Invalid,
    /// The interval is wider than asked for, or launches are too few.
    Noisy,
    /// The launches fall into separate groups.
    Modes,
    /// Other work, steal, throttling or a busy SMT sibling.
    Interference,
    /// There is no result: skipped, failed or timed out, as `outcome` says (and `invalid` instead where the failure refutes the work).
    Skipped,
    /// Other work, another version, another unit or a stand-in.
    NotComparable,
    /// The source, or its scan, leaves it in doubt.
    Doubtful,
    /// A benchmark of the user's.
    Custom,
}

impl Flag {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Noisy => "noisy",
            Self::Modes => "modes",
            Self::Interference => "interference",
            Self::Skipped => "skipped",
            Self::NotComparable => "not-comparable",
            Self::Doubtful => "doubtful",
            Self::Custom => "custom",
        }
    }
}

/// What a finding is about.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
pub enum Subject {
    /// The result as a whole.
    #[default]
    #[serde(rename = "result")]
    Result,
    /// The estimate alone.
    #[serde(rename = "estimate")]
    Estimate,
    /// Core cycles.
    #[serde(rename = "cycles")]
    Cycles,
    /// Wall time of the reference workload.
    #[serde(rename = "real_s")]
    Real,
    /// Its user time.
    #[serde(rename = "user_s")]
    User,
    /// Its system time.
    #[serde(rename = "system_s")]
    System,
    /// Its user and system time together.
    #[serde(rename = "cpu_s")]
    Cpu,
    /// Time of the whole process that does it.
    #[serde(rename = "process_s")]
    Process,
    /// Page faults for each page.
    #[serde(rename = "faults_per_page")]
    FaultsPerPage,
    /// The least of a printed distribution.
    #[serde(rename = "min")]
    Min,
    /// Its mean.
    #[serde(rename = "mean")]
    Mean,
    /// Its greatest.
    #[serde(rename = "max")]
    Max,
}

impl Subject {
    /// The name that it has in JSON and in documents of references.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Estimate => "estimate",
            Self::Cycles => "cycles",
            Self::Real => "real_s",
            Self::User => "user_s",
            Self::System => "system_s",
            Self::Cpu => "cpu_s",
            Self::Process => "process_s",
            Self::FaultsPerPage => "faults_per_page",
            Self::Min => "min",
            Self::Mean => "mean",
            Self::Max => "max",
        }
    }

    /// Whether what is said of `self` counts against a use of `other`: what is said of the result as a whole always does.
    #[must_use]
    pub fn concerns(self, other: Self) -> bool {
        self == Self::Result || self == other
    }
}

/// A finding, and what it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// What was found: `code` and `data` in JSON.
    #[serde(flatten)]
    pub finding: Finding,
    /// About what.
    #[serde(default)]
    pub about: Subject,
    /// In a comparison, the side that it is of, by its name; absent where it is of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
}

impl Note {
    /// A note on the result as a whole.
    #[must_use]
    pub fn new(finding: Finding) -> Self {
        Self {
            finding,
            about: Subject::Result,
            side: None,
        }
    }

    /// The same on a part of it.
    #[must_use]
    pub fn about(self, about: Subject) -> Self {
        Self { about, ..self }
    }

    /// The flag that it raises.
    #[must_use]
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
#[must_use]
pub fn flags(notes: &[Note]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = notes.iter().filter_map(Note::flag).collect();
    flags.sort_unstable();
    flags.dedup();
    flags
}

/// In the order of their flags, those without one last; each once.
#[must_use]
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

/// Whose words a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Author {
    /// The catalog entry.
    Catalog,
    /// The workload, or what set it up.
    Workload,
    /// The document that published the figure.
    Document,
    /// Who copied the document.
    Reader,
}

/// What a count is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// Processes.
    Launch,
    /// Passes over several benchmarks.
    Round,
}

/// A part of a count: 3 of 8 launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Count {
    /// How many.
    pub part: usize,
    /// Of how many.
    pub of: usize,
    /// What is counted.
    pub what: Repeat,
}

impl Count {
    /// Of launches.
    #[must_use]
    pub fn launches(part: usize, of: usize) -> Self {
        let what = Repeat::Launch;
        Self { part, of, what }
    }

    /// Of rounds.
    #[must_use]
    pub fn rounds(part: usize, of: usize) -> Self {
        let what = Repeat::Round;
        Self { part, of, what }
    }
}

/// What interfered, at its worst over the launches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interference {
    /// CPU time of other processes on the CPUs of the launch, as a share of a CPU.
    Others(f64),
    /// The other CPUs were busy: a share of the time.
    Elsewhere(f64),
    /// Steal time of the hypervisor: a share of the time.
    Steal(f64),
    /// The work stood still: a share of the time.
    Stalled(f64),
    /// Throttled by the CPU quota: a share of the time.
    Throttled(f64),
    /// Times that the CPU was slowed for its heat.
    Overheated(u64),
    /// Times that the memory limit was reached.
    MemoryLimit(u64),
    /// Another thread of the core was busy.
    Smt,
}

/// What a program of a load did beside a benchmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadRate {
    /// Pieces of work an hour.
    pub per_hour: f64,
    /// What a piece is, as the program calls it.
    pub what: String,
}

/// Why a difference is below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NegativeBecause {
    /// Its parts had interference.
    Interference,
    /// There are too few rounds for an interval.
    TooFew,
    /// A part does not do its work.
    Work,
}

/// Why a score is withheld.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Withheld {
    /// There are no benchmarks to score by.
    Empty,
    /// The baseline is not among the systems that are known.
    NoBaseline,
    /// The baseline has no result that is comparable.
    NotComparable,
    /// These have no result.
    Missing(Vec<Part>),
    /// These have too many launches.
    TooMany(Vec<Part>),
    /// A work check of these failed.
    Invalid(Vec<Part>),
    /// These have a value, a reference or a weight that is not above 0.
    NotPositive(Vec<Part>),
}

/// A part of a result, or a benchmark that one is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Code of a program, bytes.
    Text,
    /// Its initialized data, bytes.
    Data,
    /// Its zeroed data, bytes.
    Bss,
    /// Between two CPUs.
    Cpus(u32, u32),
    /// The score without this benchmark.
    Without(Id),
    /// Ratio of this benchmark to the baseline.
    RatioOf(Id),
    /// A benchmark.
    Benchmark(Id),
    /// A benchmark as a number of copies.
    Copies(Id, u32),
}

/// A part with its value, in the unit of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartValue {
    /// Which.
    pub part: Part,
    /// What it comes to.
    pub value: f64,
}

/// Where a curve rises by more than its noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rise {
    /// The x from which it rises.
    pub from: f64,
    /// The x up to which it rises.
    pub to: f64,
    /// How many times as high it is there.
    pub factor: f64,
    /// The cache that ends in it; null where no cache does that the machine reports.
    pub cache: Option<Cache>,
}

/// Why nothing stands for a law of scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unfitted {
    /// Too few numbers of copies.
    Sizes {
        /// Numbers of copies that were measured.
        sizes: usize,
        /// How many it takes.
        needed: usize,
    },
    /// Too few launches of one number of copies.
    Launches {
        /// The number of copies.
        copies: u32,
        /// Its launches.
        launches: usize,
        /// How many it takes.
        needed: usize,
    },
    /// A rate is missing or zero.
    NoRate,
}

/// A fact about a result, with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "code",
    content = "data",
    rename_all = "kebab-case",
    rename_all_fields = "snake_case"
)]
pub enum Finding {
    // Whether there is a result.
    /// The run ended before the first launch.
    NotReached {},
    /// It cannot run here.
    Unavailable {
        /// Reason, and what mends it.
        reason: String,
    },
    /// Launches gave no result.
    Failed {
        /// How the first of them ended.
        outcome: Status,
        /// What it said.
        reason: String,
        /// How many.
        count: Count,
        /// Whether one showed by itself that work was not done.
        refuted: bool,
    },

    // What others say of it.
    /// Words of the entry, the workload or a document.
    Stated {
        /// Whose.
        by: Author,
        /// What they mean for the result.
        flag: Option<Flag>,
        /// The words.
        text: String,
    },
    /// A benchmark of the user's.
    Custom {
        /// Name of the catalog, with the beginning of its hash.
        catalog: String,
    },
    /// Gritstone does not measure it.
    NotInCatalog {},

    // Work checks.
    /// A check value is wrong.
    WrongCheck {
        /// Timed regions with a wrong value.
        wrong: usize,
        /// Of how many.
        regions: usize,
        /// Operations of the first.
        n: u64,
        /// What it came to.
        got: u64,
        /// What it should be.
        expected: u64,
    },
    /// Check values were promised and did not come.
    NoCheck {
        /// Launches without one.
        count: Count,
    },
    /// Time does not grow in proportion to n.
    NotLinear {
        /// Smaller n.
        small: u64,
        /// Larger n.
        large: u64,
        /// Exponent of n between the two; null where it is not finite.
        exponent: Option<f64>,
        /// Exponents that are allowed.
        allowed: [f64; 2],
    },
    /// No launch timed two values of n twice.
    GrowthUnverified {
        /// Launches.
        launches: usize,
    },
    /// Less time than any machine needs.
    BelowMinimum {
        /// Time of an operation, ns.
        ns: f64,
        /// Least time, ns.
        minimum: f64,
    },
    /// Fewer voluntary context switches than claimed.
    FewSwitches {
        /// Each operation.
        per_op: f64,
        /// Claimed.
        claimed: f64,
        /// Share of the claim that must be there.
        share: f64,
    },
    /// More page faults than claimed.
    ManyFaults {
        /// Each operation.
        per_op: f64,
        /// Claimed, at most.
        claimed: f64,
    },
    /// Fewer major page faults than claimed.
    FewMajorFaults {
        /// Each operation.
        per_op: f64,
        /// Claimed, at least.
        claimed: f64,
    },
    /// Another number of system calls than claimed, or than counted of the shipped program.
    SystemCalls {
        /// Each operation.
        per_op: f64,
        /// Expected.
        expected: f64,
        /// Whether the entry claims it.
        claimed: bool,
    },
    /// No time passed in what was timed.
    Untimed {
        /// Launches.
        count: Count,
    },
    /// The size did not come in whole bytes.
    Unsized {
        /// Launches.
        count: Count,
    },

    // Repeatability.
    /// Too few values for an interval.
    NoInterval {
        /// Confidence that was asked for.
        confidence: f64,
        /// Values that it takes.
        needed: usize,
        /// Values that there are.
        n: usize,
        /// What a value is of.
        what: Repeat,
    },
    /// The interval is wider than asked for.
    WideInterval {
        /// Half-width, as a share.
        half: f64,
        /// Half-width that was asked for.
        asked: f64,
        /// Values.
        n: usize,
        /// What a value is of.
        what: Repeat,
    },
    /// The values fall into separate groups.
    SeveralModes {
        /// Groups.
        modes: usize,
        /// Values.
        n: usize,
        /// What a value is of.
        what: Repeat,
    },
    /// A size that was not the same in all launches.
    SizeVaries {
        /// Least, bytes.
        least: f64,
        /// Most, bytes.
        most: f64,
    },
    /// Rounds in which a part has no value do not count.
    IncompleteRounds {
        /// Rounds.
        count: Count,
    },
    /// A difference below zero.
    Negative {
        /// The difference.
        value: f64,
        /// Its unit.
        unit: String,
        /// Why.
        because: NegativeBecause,
    },
    /// The interval of a difference reaches zero.
    ReachesZero {
        /// Its ends.
        interval: [f64; 2],
        /// Their unit.
        unit: String,
    },

    // Conditions.
    /// Too many launches had interference.
    Interfered {
        /// How many.
        count: Count,
        /// By what.
        causes: Vec<Interference>,
    },
    /// Launches beside a busy SMT sibling are not in the estimate.
    LeftOut {
        /// How many.
        count: Count,
    },
    /// The frequency of the core moved during the run.
    FrequencyDrift {
        /// Standard deviation of its logarithm between parts of the run.
        sd: f64,
    },
    /// What the load did.
    Load {
        /// Its programs.
        rates: Vec<LoadRate>,
    },
    /// Programs of the load did nothing.
    IdleLoad {
        /// Which.
        programs: Vec<String>,
    },
    /// What an operation took that waits for pages.
    Paging {
        /// CPU time, s.
        cpu_s: f64,
        /// Wall time, s.
        real_s: f64,
        /// Major page faults.
        major_faults: f64,
        /// The same for each of what the unit counts, with its name.
        each: Option<(f64, String)>,
    },

    /// A curve by working set in KB beside the caches that the machine reports.
    CacheRises {
        /// Where it rises.
        rises: Vec<Rise>,
        /// Caches at whose size it does not.
        unseen: Vec<Cache>,
    },

    // Results that are made of others.
    /// A finding about a part.
    Inherited {
        /// The part.
        from: Id,
        /// What was found.
        finding: Box<Finding>,
    },
    /// Parts have no result, or are not in the run.
    PartsMissing {
        /// Those that are not in the run.
        absent: Vec<Id>,
        /// Those without a result.
        empty: Vec<Id>,
    },
    /// A score that is not given.
    ScoreWithheld {
        /// Against which system.
        baseline: String,
        /// Benchmarks that it is over.
        of: usize,
        /// Why.
        why: Withheld,
    },
    /// A score over a part of its benchmarks: of the others the baseline has nothing.
    PartialScore {
        /// Benchmarks in it.
        part: usize,
        /// Of how many.
        of: usize,
    },
    /// Benchmarks of a weighted mean that the baseline has nothing of.
    WeightLeftOut {
        /// Share of the weight that counts.
        share: f64,
        /// Against which system.
        baseline: String,
        /// Which are left out.
        benchmarks: Vec<Id>,
    },
    /// Benchmarks of a score that have a flag.
    PartsFlagged {
        /// Which flag.
        flag: Flag,
        /// Which benchmarks.
        benchmarks: Vec<Id>,
        /// Of how many.
        of: usize,
    },

    // The reference workload.
    /// It was not timed as one batch.
    NoBatch {
        /// How often.
        count: Count,
        /// Operations that one did instead of `operations`.
        did: Option<u64>,
        /// Operations of the reference workload.
        operations: u64,
        /// Whether others give a time.
        timed: bool,
    },
    /// Start-up is too much of the process time.
    StartUp {
        /// Share of the process time that is allowed.
        limit: f64,
    },
    /// Start-up is lost in the noise.
    StartUpUnseen {
        /// Time of the whole process, s.
        process_s: f64,
        /// Time of the work alone, s.
        real_s: f64,
    },

    // Comparisons.
    /// A side has no such benchmark.
    NoCounterpart {
        /// The side, by its name.
        lacking: String,
    },
    /// The work of the benchmark changed.
    VersionsDiffer {
        /// Version of the base.
        base: u32,
        /// Version of the other.
        other: u32,
    },
    /// The units count different things.
    UnitsDiffer {
        /// Unit of the base.
        base: String,
        /// Unit of the other.
        other: String,
    },
    /// A side, or both, has no estimate.
    NoEstimate {
        /// Whether the base has one.
        base: bool,
        /// Whether the other has one.
        other: bool,
    },
    /// A value that is not above 0 has no ratio.
    NotPositive {},
    /// There are no values of single launches.
    NoLaunches {},
    /// The time that the document points to is not on both sides; real time is compared.
    RealTimeInstead {
        /// That time.
        asked: Subject,
        /// Whether a measured side lacks it, and not a printed one.
        unmeasured: bool,
    },
    /// Only one of the times is on both sides.
    OnlyTime {
        /// Which.
        time: Subject,
    },
    /// A printed time is compared with measured real time.
    AcrossTimes {
        /// The printed time.
        printed: Subject,
    },
    /// The sides have nothing of the same kind.
    NothingInCommon {},
    /// Both are printed, without an interval.
    BothPrinted {},

    // History.
    /// The run is in no history.
    NoHistory {},
    /// Its runs are correlated.
    CorrelatedHistory {
        /// Lag-1 correlation.
        correlation: f64,
    },
    /// Too few runs since the last change.
    ShortHistory {
        /// Runs.
        runs: usize,
        /// How many it takes.
        needed: usize,
    },

    // Runs against each other.
    /// A run has no result above 0.
    NoEstimateIn {
        /// The run.
        run: String,
    },
    /// A run has no such benchmark.
    NotInRun {
        /// The run.
        run: String,
    },
    /// The work is in doubt in a run.
    InvalidIn {
        /// The run.
        run: String,
        /// What was found.
        finding: Box<Finding>,
    },
    /// The program or the version differs between two runs.
    ProgramsDiffer {
        /// A run.
        run: String,
        /// The first run.
        first: String,
    },

    // Audits.
    /// It ended before the first sample.
    EndedEarly {},
    /// A failure that is to be expected: the build gives up the arithmetic that the entry needs.
    NeedsIeee {
        /// What was found.
        finding: Box<Finding>,
        /// Flags of the build.
        flags: String,
    },
}

impl Finding {
    /// The flag that it raises.
    #[must_use]
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
            | Self::SystemCalls { .. }
            | Self::Untimed { .. }
            | Self::Unsized { .. } => Some(Flag::Invalid),
            Self::NoInterval { .. }
            | Self::WideInterval { .. }
            | Self::SizeVaries { .. }
            | Self::IncompleteRounds { .. }
            | Self::ReachesZero { .. } => Some(Flag::Noisy),
            Self::SeveralModes { .. } => Some(Flag::Modes),
            Self::Interfered { .. } => Some(Flag::Interference),
            Self::NotReached {}
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
            | Self::UnitsDiffer { .. }
            | Self::NoEstimate { .. }
            | Self::NotPositive {}
            | Self::AcrossTimes { .. }
            | Self::NothingInCommon {}
            | Self::NoHistory {}
            | Self::CorrelatedHistory { .. }
            | Self::ShortHistory { .. }
            | Self::NoEstimateIn { .. }
            | Self::NotInRun { .. }
            | Self::ProgramsDiffer { .. } => Some(Flag::NotComparable),
            Self::Custom { .. } => Some(Flag::Custom),
            Self::LeftOut { .. }
            | Self::FrequencyDrift { .. }
            | Self::Load { .. }
            | Self::Paging { .. }
            | Self::CacheRises { .. }
            | Self::PartialScore { .. }
            | Self::WeightLeftOut { .. }
            | Self::StartUpUnseen { .. }
            | Self::NoLaunches {}
            | Self::RealTimeInstead { .. }
            | Self::OnlyTime { .. }
            | Self::BothPrinted {} => None,
        }
    }
}
