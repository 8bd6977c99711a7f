//! An entry of the catalog: one benchmark.

use crate::privilege::{Action, Privilege};
use crate::{Better, Id, Quantity, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A family of benchmarks: the text before its tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Family {
    /// First part of the identifiers.
    pub name: String,
    pub title: String,
    /// Subject and reasons, a few sentences.
    pub why: String,
    /// Guidelines of the documents, each with its implementation here.
    #[serde(default)]
    pub guidelines: Vec<(String, String)>,
}

/// The five kinds of entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A workload of Gritstone.
    Kernel,
    /// Another program, timed as a process.
    Command,
    /// Several programs together.
    Scenario,
    /// Computed from other results, with its interval.
    Derived,
    /// A mean of ratios to a baseline.
    #[serde(rename = "rating")]
    Score,
}

/// Origin of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Short name of the document: `byte-1984`, `hp-1987`, ...
    pub document: String,
    /// Listing, table, section.
    pub place: String,
}

/// The fixed amount of work whose time the document prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedWork {
    /// Description: "25,000 calls".
    pub work: String,
    /// Its number of operations of this benchmark.
    pub operations: u64,
    /// The time that the document compares: `real_s`, `user_s` or `system_s`.
    pub figure: crate::Subject,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// All on one CPU, as on the machines of the documents.
    #[default]
    OneCpu,
    /// Two processes on two CPUs.
    Cross,
    /// On any CPU, by the scheduler.
    All,
}

/// Work checks; each is tested on every run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Claims {
    /// Every timed region yields a check value that must be right.
    pub check: bool,
    /// Time grows in proportion to n.
    pub linear: bool,
    /// System calls per operation.
    pub syscalls_per_op: Option<f64>,
    /// The number of system calls depends on a race: it is counted, but not tested.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub syscalls_vary: bool,
    /// Voluntary switches per operation, at least.
    pub switches_per_op: Option<f64>,
    /// Page faults per operation, at most.
    pub faults_per_op: Option<f64>,
    /// Major page faults per operation, which wait for a device, at least.
    pub major_faults_per_op: Option<f64>,
    /// Pages written to swap per operation, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_outs_per_op: Option<f64>,
    /// Physical lower bound, ns.
    pub min_ns_per_op: Option<f64>,
    /// The other claims hold only with IEEE 754 arithmetic, which some compiler flags give up.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ieee: bool,
}

/// A program that must be installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Name; `{name}` in a command line becomes its path.
    pub name: String,
    /// Suitable programs, best first; empty means `name` itself.
    #[serde(default)]
    pub any: Vec<String>,
    /// Its Debian package.
    pub package: String,
    /// Argument that prints its version, which is stored with the result; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// The work of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelWork {
    /// `family/name`: `kernels/family/name.c`.
    pub program: String,
    #[serde(default)]
    pub params: BTreeMap<String, String>,
    /// Helper programs that it executes (`family/name`), which have no entries.
    #[serde(default)]
    pub uses: Vec<String>,
}

/// Untimed execution that proves the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verify {
    pub argv: Vec<String>,
    /// Expected output, ignoring white space.
    pub stdout: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// The time of the process.
    #[default]
    Time,
    /// Text, data and bss of the linked program `a.out`.
    LinkedSize,
}

/// The work of a command or a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandWork {
    /// Program and arguments; `{name}` becomes the path of a need.
    pub argv: Vec<String>,
    /// Files that are written to its directory beforehand.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Untimed command before each timed one, in the same directory; empty if none.
    #[serde(default)]
    pub prepare: Vec<String>,
    /// Untimed command after each timed one, which fails or prints if the work was not done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub check: Vec<String>,
    /// Programs of Gritstone that `prepare` and `check` execute, `{family/name}` in their arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// The file in its directory that it reads as standard input; `None` for empty input.
    pub input: Option<String>,
    /// Destination of standard output: one of the files that it leaves, or `/dev/null`; `None` if it is compared.
    pub output: Option<String>,
    /// Expected output, ignoring white space; `None` for no output.
    pub stdout: Option<String>,
    /// Files that it must leave; they are removed before the next execution. Any other new file is a failure.
    #[serde(default)]
    pub leaves: Vec<String>,
    /// Files that it must remove.
    #[serde(default)]
    pub removes: Vec<String>,
    pub verify: Option<Verify>,
    #[serde(default)]
    pub figure: Figure,
    /// A command of the user without a catalog entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserCommand>,
}

/// Runs in the user's directory and environment; output and files are unrestricted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserCommand {
    pub directory: String,
    /// An untimed shell command before each execution.
    pub prepare: Option<String>,
    /// The same after each execution.
    pub cleanup: Option<String>,
    /// Whether any exit status or signal counts as success.
    #[serde(default)]
    pub ignore_failure: bool,
    /// Further exit statuses that count as success.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<u8>,
    /// Whether failed executions are left out, instead of ending the launch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leave_out_failures: bool,
    /// Whether it may leave processes running.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_background: bool,
    /// The file that it reads; `None` for empty input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    #[serde(default, skip_serializing_if = "Output::is_memory")]
    pub output: Output,
    /// Most executions of a launch, all of them timed. `None`: up to 20, and the first launch begins with an untimed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Start-up time of its shell, ns, which is subtracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_up_ns: Option<u64>,
    /// Half-width of its interval, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_up_error_ns: Option<u64>,
    /// CPU time of its shell, ns, which is subtracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_up_user_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_up_system_ns: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// Discarded in memory: some programs do less work if they detect `/dev/null`.
    #[default]
    Memory,
    /// Through a pipe that is drained.
    Pipe,
    /// To the standard output of Gritstone.
    Inherit,
    /// To this file, truncated before each execution.
    File(String),
}

impl Output {
    fn is_memory(&self) -> bool {
        *self == Self::Memory
    }
}

/// One term of a derived result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    pub id: Id,
    /// Factor; negative to subtract it.
    pub times: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Work {
    Kernel(KernelWork),
    Command(CommandWork),
    Scenario(CommandWork),
    /// Sum of terms, in nanoseconds per operation.
    Derived {
        terms: Vec<Term>,
        /// The benchmark whose rate is 100%, for a share.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share_of: Option<Id>,
    },
    #[serde(rename = "rating")]
    Score {
        /// Parts of the score.
        over: Vec<Id>,
        /// The reference machine, with score 1: `ref:...`.
        baseline: String,
        /// One for each part, for the weighted arithmetic mean of hp-1987; empty for the geometric mean.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<f64>,
        /// A benchmark that the baseline lacks withholds the score, instead of being left out.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        together: bool,
    },
}

impl Work {
    /// Which of the five kinds.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Kernel(_) => Kind::Kernel,
            Self::Command(_) => Kind::Command,
            Self::Scenario(_) => Kind::Scenario,
            Self::Derived { .. } => Kind::Derived,
            Self::Score { .. } => Kind::Score,
        }
    }

    /// Benchmarks that it is computed from; none if it is launched itself.
    pub fn parts(&self) -> Vec<&Id> {
        match self {
            Self::Derived { terms, share_of } => {
                let terms = terms.iter().map(|term| &term.id);
                terms.chain(share_of).collect()
            }
            Self::Score { over, .. } => over.iter().collect(),
            Self::Kernel(_) | Self::Command(_) | Self::Scenario(_) => Vec::new(),
        }
    }
}

/// The curve of a benchmark: the benchmarks that are its points, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Quantity along x.
    pub label: String,
    pub points: Vec<(f64, Id)>,
    /// Whether x are working sets in KB, so that the curve shows the sizes of caches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub caches: bool,
    /// x is a number of simultaneous users or jobs: the law of scaling is fitted, and a derived benchmark is the highest of its rates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scaling: bool,
    /// A derived benchmark is the longest operation at its points.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub longest: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// Its permanent name.
    pub id: Id,
    pub title: String,
    /// Changes with the work; results of different versions are never compared silently.
    pub version: u32,
    pub work: Work,
    pub operation: String,
    /// Purpose.
    pub why: String,
    pub sources: Vec<Source>,
    pub unit: Unit,
    pub better: Better,
    /// Amount per operation in the counted unit (bytes, calls).
    pub amount_per_op: f64,
    /// The reference workload: the amount of work of the document.
    pub published: Option<PublishedWork>,
    pub placement: Placement,
    /// Whether the core's frequency determines its time, so that core cycles compare better than nanoseconds.
    pub processor_bound: bool,
    /// Whether it measures how processes or threads share a CPU, which a real-time priority of one would change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scheduler: bool,
    /// Whether it uses files, in the directory of `--dir`.
    pub files: bool,
    /// Whether kernel threads work for it (writeback, journal, network, swap): they do not count as other processes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kernel_threads: bool,
    /// A line or a clock sets its pace, so that its time is the same at any frequency of the core.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paced: bool,
    /// The estimate of operations timed one by one is their mean, not their median.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mean: bool,
    /// Work checks.
    pub claims: Claims,
    /// Programs that must be installed.
    pub needs: Vec<Need>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub privileges: Vec<Privilege>,
    /// The curve of which this benchmark is the last point.
    pub curve: Option<Curve>,
    /// An assumption or a departure from the document that every reader must know.
    pub remark: Option<String>,
    /// Reason why a benchmark of the same name elsewhere is not comparable.
    pub not_comparable: Option<String>,
}

/// Parameter for the connection between the two ends of a network workload, and its value if one is on another host.
pub const OVER: &str = "over";
/// See [`OVER`].
pub const PEER: &str = "peer";
/// The parameter for the connection to an external database server; `none` if the launch starts one.
pub const SERVER: &str = "dsn";
/// Family of load programs, `load/name`, which run during a kernel.
pub(crate) const LOAD: &str = "load/";

impl KernelWork {
    /// Parameters: memory limit in pages, in bytes.
    pub const MEMORY_PAGES: &str = "memory_pages";
    pub const MEMORY_BYTES: &str = "memory_bytes";

    pub fn asks(&self, key: &str) -> bool {
        self.params.get(key).is_some_and(|value| value == "yes")
    }

    /// Whether a control group limits its memory.
    pub fn limits_memory(&self) -> bool {
        let limits = [Self::MEMORY_PAGES, Self::MEMORY_BYTES];
        limits.iter().any(|key| self.params.contains_key(*key))
    }

    /// Whether its far end is on another host.
    pub fn has_peer(&self) -> bool {
        self.params.get(OVER).is_some_and(|way| way == PEER)
    }

    /// Load programs from level 1; none at level 0.
    fn load(&self) -> impl Iterator<Item = &str> {
        let uses = self.uses.iter().map(String::as_str);
        uses.filter(|program| program.starts_with(LOAD))
    }

    /// The programs that it executes itself.
    pub fn helpers(&self) -> impl Iterator<Item = &str> {
        let uses = self.uses.iter().map(String::as_str);
        uses.filter(|program| !program.starts_with(LOAD))
    }
}

impl Benchmark {
    /// `hp-1987, table 4.3; byte-1984, listing 2`.
    pub fn source_text(&self) -> String {
        let sources = self.sources.iter();
        let sources = sources.map(|source| format!("{}, {}", source.document, source.place));
        sources.collect::<Vec<_>>().join("; ")
    }

    /// Actions of its workload and of its load, with its parameters.
    pub fn privileges(&self) -> impl Iterator<Item = Action> {
        let given = |(key, values): (&String, &Vec<String>)| match &self.work {
            Work::Kernel(work) => work.params.get(key).is_some_and(|is| values.contains(is)),
            _ => false,
        };
        let all = self.privileges.iter();
        all.filter(move |privilege| privilege.when.iter().all(given))
            .map(|privilege| privilege.action)
    }

    /// The programs whose privileges count as its own: its workload, those that it times, and those of its load.
    pub fn privileged_programs(&self) -> Vec<&str> {
        match &self.work {
            Work::Kernel(work) => work.load().chain([work.program.as_str()]).collect(),
            Work::Command(work) | Work::Scenario(work) => {
                work.uses.iter().map(String::as_str).collect()
            }
            _ => vec![],
        }
    }

    /// An entry without claims, for commands outside a catalog: higher rates are better, everything else lower.
    pub fn new(id: Id, unit: Unit, work: Work) -> Self {
        Self {
            id,
            title: String::new(),
            version: 1,
            work,
            operation: String::new(),
            why: String::new(),
            sources: vec![],
            better: match unit.quantity() {
                Quantity::Rate { .. } => Better::Higher,
                _ => Better::Lower,
            },
            unit,
            amount_per_op: 1.0,
            published: None,
            placement: Placement::OneCpu,
            processor_bound: false,
            scheduler: false,
            files: false,
            kernel_threads: false,
            paced: false,
            mean: false,
            claims: Claims::default(),
            needs: vec![],
            privileges: vec![],
            curve: None,
            remark: None,
            not_comparable: None,
        }
    }

    pub fn is_peak(&self) -> bool {
        self.is_of_curve(|curve| curve.scaling)
    }

    pub fn is_longest(&self) -> bool {
        self.is_of_curve(|curve| curve.longest)
    }

    fn is_of_curve(&self, how: fn(&Curve) -> bool) -> bool {
        self.curve.as_ref().is_some_and(how) && matches!(self.work, Work::Derived { .. })
    }

    /// Several copies require workloads on one CPU: commands, sizes and derived results are not workloads; benchmarks across CPUs use all
    /// of them already; one control group limits one process's memory, one trace times one, a peer has one far end, one has real-time
    /// priority on a CPU; and copies would add to a load.
    pub fn can_be_copied(&self) -> bool {
        let alone = ["traced", "priority"];
        let free = |work: &KernelWork| {
            let shares = !alone.iter().any(|key| work.params.contains_key(*key));
            shares && !work.limits_memory() && work.load().next().is_none()
        };
        matches!(&self.work, Work::Kernel(work) if free(work))
            && self.placement == Placement::OneCpu
            && !matches!(&self.work, Work::Kernel(work) if work.has_peer())
            && self.unit.quantity() != Quantity::Exact
    }

    /// Load programs, from level 1.
    pub fn load(&self) -> Vec<&str> {
        match &self.work {
            Work::Kernel(work) => work.load().collect(),
            _ => vec![],
        }
    }
}
