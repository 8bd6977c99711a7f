//! Types that all crates exchange.

mod ab;
mod audit;
mod benchmark;
mod bisect;
mod brief;
mod change;
mod chapter;
mod commit;
mod compare;
mod counter;
mod cpu_set;
mod custom_catalog;
mod encoding;
mod estimate;
mod event;
mod event_by_name;
mod finding;
mod finding_parts;
mod fleet;
mod grouped;
mod history;
mod id;
mod latency;
mod launch_times;
mod machine;
mod measurement;
mod names;
mod note;
mod origin;
mod param;
mod peer;
mod plan;
mod pr;
mod privilege;
mod reliability;
mod run;
mod run_name;
mod score;
mod stored;
mod text;
mod unit;
#[warn(missing_docs)]
mod view;
mod words;

pub use ab::{AbComparison, AbFigure, AbRow, AbSide, AbView, SCHEMA_AB};
pub use audit::{AuditBuild, AuditEntry, AuditTest, AuditView, Claim, ClaimOutcome, SCHEMA_AUDIT};
pub use benchmark::{
    Benchmark, Claims, CommandWork, Curve, Family, Figure, KernelWork, Kind, Need, OVER, Output,
    PEER, Placement, PublishedWork, SERVER, Source, Term, UserCommand, Verify, Work,
};
pub use bisect::{BisectCommit, BisectOutcome, BisectStep, BisectView, SCHEMA_BISECT};
pub use brief::BriefParts;
pub use change::{
    Change, ChangeEvent, ChangeState, ChangesView, CommitRange, SCHEMA_CHANGES, Triage, TriageEntry,
};
pub use chapter::{Chapter, Exhibit, Form};
pub use commit::{Commit, plain_address};
pub use compare::{
    CommonChange, CompareCopies, CompareFigure, ComparePercentile, CompareRow, CompareSum,
    CompareView, Difference, RowVariance, SCHEMA_COMPARE, VarianceSource, Verdict,
};
pub use counter::{Counter, CounterChange, Counting, Counts, Explanation};
pub use cpu_set::CpuSet;
pub use custom_catalog::{Contents, CustomCatalog, CustomFile};
pub use encoding::{EncodingError, decode_text};
pub use estimate::Estimate;
pub use event::{Batch, Cause, Check, Event, Histogram, ResponsesOf, Sample, Usage};
pub use event_by_name::EventByName;
pub use finding::Finding;
pub use finding_parts::{
    Author, Count, Interference, LoadRate, NegativeBecause, Part, PartValue, Repeat, Rise,
    Unfitted, Withheld,
};
pub use fleet::{
    FleetBenchmark, FleetCommon, FleetDivision, FleetDrift, FleetEffect, FleetFact, FleetFamily,
    FleetGroup, FleetGroupEffect, FleetKind, FleetMember, FleetNode, FleetNodeProgress,
    FleetNodeState, FleetOutlier, FleetProgress, FleetProof, FleetScope, FleetSince, FleetSpread,
    FleetVerdict, FleetView, FleetWrong, SCHEMA_FLEET,
};
pub use grouped::grouped;
pub use history::{
    CheckOutcome, CheckRow, CheckView, HistoryChange, HistoryMark, HistoryPoint, HistorySeries,
    HistoryView, MissingBenchmark, SCHEMA_CHECK, SCHEMA_HISTORY, SameFact,
};
pub use id::{Id, IdError, Selector};
pub use latency::{Latencies, Percentile, PercentileBasis, Responses};
pub use machine::{Cache, CacheKind, Machine, PRIVATE_FACTS, short_processor};
pub use measurement::{
    Absence, Absent, Data, Measured, Measurement, OfRuns, Printed, ResultCurve, Sampled, Status,
};
pub use note::{Flag, Note, Subject, flags, in_order};
pub use origin::{Origin, Owner};
pub use param::{Metric, Number, Param, ProgramRate, START_UP_ERROR};
pub use peer::{Link, Peer, PeerPath};
pub use plan::{Calibration, Plan, Skip, Step};
pub use pr::{
    PrCounter, PrQuantity, PrRow, PrSide, PrSideName, PrUnmatched, PrView, PrWithoutValue,
    SCHEMA_PR,
};
pub use privilege::{Action, Privilege, Timeline};
pub use reliability::{Assessment, Reliability};
pub use run::{
    Compiled, Compilers, Conditions, Launch, Outcome, Program, RunData, RunInfo, Settings,
    TrialSide, other_program,
};
pub use run_name::{LAST, check_label, check_run_id};
pub use score::{
    EnvironmentScore, LeftOutRow, Profile, PublishedScore, SCHEMA_SCORES, ScoredSystem, ScoresView,
    SystemScores,
};
pub use stored::{
    FamilyTrend, ListedRun, ListedSystem, OverviewView, Recent, RunList, SCHEMA_OVERVIEW,
    SCHEMA_RUNS, SystemTrend,
};
pub use text::{escape_json, hexadecimal, is_unprintable, pluralize, quote_word};
pub use unit::{Better, Quantity, Unit, UnitError};
pub use view::{
    Contention, CopiesPoint, CopiesView, LawView, PublishedView, RunView, SCHEMA_DOCTOR,
    SCHEMA_LIST, SCHEMA_RUN, SCHEMA_SYSTEMS, SeriesPoint, Statistics,
};
pub use words::{
    UnclosedQuote, escape_catalog_places, fill_catalog_places, fill_places, is_place_name,
    split_words,
};
