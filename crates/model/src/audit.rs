//! Results of an audit: every claim of every entry, for the shipped program and for other builds.

use crate::{CustomCatalog, Id, Kind, Note};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the schema of [`AuditView`].
pub const SCHEMA_AUDIT: &str = "gritstone/audit/2";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditView {
    /// [`SCHEMA_AUDIT`].
    pub schema: String,
    pub gritstone: String,
    /// The shipped programs first, then every compiler with every set of flags.
    pub builds: Vec<AuditBuild>,
    /// One for each catalog entry with a workload.
    pub entries: Vec<AuditEntry>,
    /// The custom catalog of some of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalogue: Option<CustomCatalog>,
}

/// One build of the programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditBuild {
    /// `shipped`, `gcc -O3 -flto`.
    pub name: String,
    pub compiler: String,
    pub flags: String,
    /// Whether a failed claim in this build fails the entry, or is only reported.
    pub counts: bool,
    /// Why this build failed; null otherwise.
    pub why_not: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    pub id: Id,
    pub version: u32,
    pub kind: Kind,
    /// SHA-256 of the audited source; null if another program does the work.
    pub source: Option<String>,
    /// Tests by build.
    pub tests: Vec<AuditTest>,
}

/// One work check, tested on one build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditTest {
    pub build: String,
    pub claim: Claim,
    /// The claimed number, if any.
    pub claimed: Option<f64>,
    /// The measured number, if any.
    pub measured: Option<f64>,
    pub outcome: ClaimOutcome,
    /// Why it fails, or could not be tested; null otherwise.
    pub why: Option<Note>,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// The program compiles and exits successfully; another program has the expected output and files.
    Runs,
    /// Every check value is right.
    Check,
    /// Time grows in proportion to n: the exponent of n.
    Linear,
    /// System calls per operation.
    SyscallsPerOp,
    /// Voluntary switches per operation, at least.
    SwitchesPerOp,
    /// Page faults per operation, at most.
    FaultsPerOp,
    /// Major page faults per operation, at least.
    MajorFaultsPerOp,
    /// Pages written to swap per operation, at least.
    PageOutsPerOp,
    /// Nanoseconds per operation, at least.
    MinNsPerOp,
    /// Instructions per operation in user mode.
    InstructionsPerOp,
    /// The untimed proof of a command or scenario.
    Proof,
}

/// Outcome of a work check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimOutcome {
    Holds,
    /// It does not.
    Fails,
    /// It fails as expected: the build gives up the IEEE arithmetic that the entry needs.
    Expected,
    /// Not testable here.
    Untested,
    /// Nothing is claimed; the measured value is reported.
    NotClaimed,
}

impl AuditView {
    /// Whether a failure in this build fails the entry; true for unlisted builds.
    pub fn counts(&self, build: &str) -> bool {
        self.builds.iter().all(|known| known.name != build || known.counts)
    }

    /// Whether a claim of the entry fails in a build that counts.
    pub fn fails(&self, entry: &AuditEntry) -> bool {
        entry
            .tests
            .iter()
            .any(|test| test.outcome == ClaimOutcome::Fails && self.counts(&test.build))
    }
}

impl AuditEntry {
    /// Whether any claim of it could be tested.
    pub fn was_tested(&self) -> bool {
        self.tests
            .iter()
            .any(|test| matches!(test.outcome, ClaimOutcome::Holds | ClaimOutcome::Fails))
    }
}
