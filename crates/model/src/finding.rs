//! Findings about results, as data: `report` words them.

use crate::{
    Author, Cache, Count, Flag, Id, Interference, LawView, LoadRate, NegativeBecause, Repeat, Rise,
    Status, Subject, Unfitted, Withheld,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    NotReached {
        /// Budget that would have sufficed for everything selected, s; null if the budget did not end the run.
        #[serde(default)]
        budget_s: Option<f64>,
    },
    Unavailable {
        reason: String,
    },
    Failed {
        /// Outcome of the first of them.
        outcome: Status,
        reason: String,
        count: Count,
        /// Whether a single one shows that work was not done.
        refuted: bool,
    },

    /// Text of the catalog entry, the workload or a document.
    Stated {
        by: Author,
        /// Consequence for the result.
        flag: Option<Flag>,
        text: String,
    },
    Custom {
        /// Name of the catalog, with the beginning of its hash.
        catalog: String,
    },
    /// The document does not print the number, but its basis.
    Reckoned {
        from: String,
    },
    /// Gritstone does not measure it.
    NotInCatalog {},

    // Work checks.
    /// A check value is wrong.
    WrongCheck {
        /// Timed regions with a wrong value.
        wrong: usize,
        regions: usize,
        /// Operations of the first.
        n: u64,
        got: u64,
        expected: u64,
    },
    /// Check values are claimed and missing.
    NoCheck {
        count: Count,
    },
    /// Time does not grow in proportion to n.
    NotLinear {
        small: u64,
        large: u64,
        /// Exponent of n between the two; null where it is not finite.
        exponent: Option<f64>,
        allowed: [f64; 2],
    },
    /// No launch timed two values of n twice.
    GrowthUnverified {
        launches: usize,
    },
    /// Less time than any system needs.
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
        claimed: f64,
        /// Least share of the claim.
        share: f64,
    },
    /// Contention saved switches: some sample has all of them, the total is below the claim.
    SavedSwitches {
        /// Each operation, over all samples.
        per_op: f64,
        claimed: f64,
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
    /// Fewer pages went out to swap than claimed.
    FewPageOuts {
        /// Each operation.
        per_op: f64,
        /// Claimed, at least.
        claimed: f64,
    },
    /// Another number of system calls than claimed, or than counted for the shipped program.
    SystemCalls {
        /// Each operation.
        per_op: f64,
        expected: f64,
        /// Whether the catalog entry claims it.
        claimed: bool,
    },
    /// No time elapsed.
    Untimed {
        count: Count,
    },
    /// The size did not come in whole bytes.
    Unsized {
        count: Count,
    },

    // Repeatability.
    /// Too few values for an interval.
    NoInterval {
        confidence: f64,
        needed: usize,
        n: usize,
        what: Repeat,
    },
    /// The interval is wider than the target.
    WideInterval {
        /// Half-width, as a share.
        half: f64,
        /// Target half-width.
        asked: f64,
        n: usize,
        what: Repeat,
    },
    /// The launches have several modes.
    SeveralModes {
        modes: usize,
        n: usize,
        what: Repeat,
    },
    /// The size differed between launches.
    SizeVaries {
        /// Least, bytes.
        least: f64,
        /// Most, bytes.
        most: f64,
    },
    /// Rounds in which a part has no value do not count.
    IncompleteRounds {
        count: Count,
    },
    Negative {
        value: f64,
        unit: String,
        because: NegativeBecause,
    },
    /// The interval of a difference reaches zero.
    ReachesZero {
        interval: [f64; 2],
        unit: String,
    },

    // Conditions.
    /// Too many launches had interference.
    Interfered {
        count: Count,
        causes: Vec<Interference>,
    },
    /// No launch could read the counters of other processes and of steal time.
    InterferenceUnobserved {},
    /// Failed executions that count, because the user ignores failures.
    FailuresIgnored {
        count: Count,
        /// Distinct exit statuses; negative for a signal.
        statuses: Vec<i32>,
    },
    /// Samples taken while the SMT sibling was busy are not in the estimate.
    LeftOut {
        count: Count,
    },
    Load {
        rates: Vec<LoadRate>,
    },
    IdleLoad {
        programs: Vec<String>,
    },
    /// Cost of an operation that waits for pages.
    Paging {
        /// CPU time, s.
        cpu_s: f64,
        /// Wall time, s.
        real_s: f64,
        major_faults: f64,
        /// Per counted unit, with its name.
        each: Option<(f64, String)>,
        /// Pages in from swap and out to it, per `each`; null if unknown.
        swapped: Option<[f64; 2]>,
    },

    /// Cost at both ends of a network.
    Ends {
        /// CPU time per counted unit, ns: of the measuring end, and of the other.
        cpu_ns: [f64; 2],
        /// The same as a share of one CPU.
        share: [f64; 2],
        /// The counted unit: a byte, a trip.
        each: String,
        /// Observed time, s: all regions of all launches; 0 if unreported.
        #[serde(default)]
        seconds: f64,
        /// Share of sent datagrams that did not arrive; null if none may be lost.
        lost: Option<f64>,
    },

    /// A curve by working set in KB, compared with the caches that the system reports.
    CacheRises {
        rises: Vec<Rise>,
        /// Caches at whose size it does not rise.
        unseen: Vec<Cache>,
    },

    /// A curve of rates by simultaneous users or jobs.
    Scaling {
        /// Quantity along x.
        things: String,
        /// Their number at the highest measured rate.
        peak: f64,
        /// Largest measured number.
        last: f64,
        /// Drop from the highest rate to the last, as a share of the highest.
        drop: f64,
        law: Option<Box<LawView>>,
        unfitted: Option<Unfitted>,
    },
    /// The highest rate of a curve with missing points, one of which may be higher.
    IncompleteCurve {
        /// Quantity along x.
        things: String,
        missing: Vec<f64>,
    },
    /// Supported number of users.
    Carried {
        /// In the launch with the fewest.
        least: u64,
        /// In the launch with the most.
        most: u64,
        /// Smallest number that was too large; null if none was.
        too_many: Option<u64>,
    },

    // Results that are made of others.
    /// A finding about a part.
    Inherited {
        from: Id,
        finding: Box<Finding>,
    },
    /// Parts have no result, or are missing in the run.
    PartsMissing {
        /// Those that are missing in the run.
        absent: Vec<Id>,
        empty: Vec<Id>,
    },
    /// A missing score.
    ScoreWithheld {
        baseline: String,
        /// Number of its benchmarks.
        of: usize,
        why: Withheld,
    },
    /// A score over a part of its benchmarks: the baseline lacks the others.
    PartialScore {
        part: usize,
        of: usize,
    },
    /// Benchmarks of a weighted mean that the baseline lacks.
    WeightLeftOut {
        /// Share of the weight that counts.
        share: f64,
        baseline: String,
        benchmarks: Vec<Id>,
    },
    /// Benchmarks of a score that have a flag.
    PartsFlagged {
        flag: Flag,
        benchmarks: Vec<Id>,
        of: usize,
    },

    // The reference workload.
    /// It was not timed as one batch.
    NoBatch {
        count: Count,
        /// Operations of one batch instead of `operations`.
        did: Option<u64>,
        /// Operations of the reference workload.
        operations: u64,
        /// Whether other launches have a time.
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
        /// Name of the side.
        lacking: String,
    },
    /// The work of the benchmark changed.
    VersionsDiffer {
        base: u32,
        other: u32,
    },
    /// The far ends were on different hosts, or on different paths.
    PeersDiffer {
        /// Host of the far ends of the base; null if they were on the measured system.
        base: Option<String>,
        /// The same of the other.
        other: Option<String>,
    },
    /// The units count different things.
    UnitsDiffer {
        base: String,
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
    /// No values of single launches.
    NoLaunches {},
    /// One side lacks the time that the document compares; real time is compared instead.
    RealTimeInstead {
        asked: Subject,
        /// Whether a measured side lacks it, not a printed one.
        unmeasured: bool,
    },
    /// Both sides have only one common time.
    OnlyTime {
        time: Subject,
    },
    /// A printed time is compared with measured real time.
    AcrossTimes {
        printed: Subject,
    },
    /// The sides have no common quantity.
    NothingInCommon {},
    /// Both are printed, without an interval.
    BothPrinted {},

    // History.
    /// The run is in no history.
    NoHistory {},
    /// No earlier run of the system passes the filter of the gate.
    NoRunPasses {
        /// Earlier runs that it leaves out.
        runs: usize,
        /// The options that are the filter.
        filter: String,
    },
    /// All earlier runs of the system have another directory, tuning, place of far ends, or other parameters.
    OtherCircumstances {
        runs: usize,
    },
    /// Slower than allowed; the new level was accepted.
    Accepted {},
    /// Too few earlier runs.
    ShortHistory {
        runs: usize,
        needed: usize,
    },

    // Sides against each other.
    /// Order matters: one side interferes with the launch after it.
    CarryOver {
        /// Ratio of the pairs that began with the base.
        base_first: f64,
        other_first: f64,
        /// p of no such effect, adjusted over all comparisons.
        p: f64,
    },

    /// One side is slower than usual more often than the other: "same" would hide what a minority of its launches costs.
    UnequalTails {
        /// Pairs in which the base is slower than the ratio says by more than the margin.
        base: usize,
        other: usize,
    },

    // Runs against each other.
    /// A run has no result above 0.
    NoEstimateIn {
        run: String,
    },
    /// A run has no such benchmark.
    NotInRun {
        run: String,
    },
    /// The work is in doubt in a run.
    InvalidIn {
        run: String,
        finding: Box<Finding>,
    },
    /// The program or the version differs between two runs.
    ProgramsDiffer {
        run: String,
        first: String,
    },

    // Audits.
    /// It ended before the first sample.
    EndedEarly {},
    /// An expected failure: the build gives up the arithmetic that the entry needs.
    NeedsIeee {
        finding: Box<Finding>,
        flags: String,
    },
}
