//! A run before it is measured: new, or the rest of an interrupted one.

use crate::command::run::args::RunArgs;
use crate::ui::output;
use crate::ui::progress::Display;
use crate::ui::skips;
use anyhow::{Context as _, Result, bail, ensure};
use gritstone_catalogue::{CustomBenchmarks, Suite};
use gritstone_document::percent_option;
use gritstone_exec::Variant;
use gritstone_host::doctor;
use gritstone_measure::{AfterPilot, Limits, learn_prior};
use gritstone_model::{Benchmark, Id, Launch, Placement, Plan, RunInfo, RunView, Settings};
use gritstone_peer::ConnectedPeer;
use gritstone_plan::{Offer, in_order, select, steps};
use gritstone_report::duration;
use gritstone_runs::context::Context;
use gritstone_runs::custom_catalog;
use gritstone_session::bounds::Bounds;
use gritstone_session::host_context::HostContext;
use gritstone_session::local_backend::{self, End, Side, random};
use gritstone_session::measuring::Session;
use gritstone_session::param_overrides;
use gritstone_session::resumption;
use gritstone_session::tune::{self, TuningOutcome};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Default suite.
const STANDARD: &str = "standard";
const MAX_COPIES: u32 = 256;

pub struct Job {
    pub host: HostContext,
    pub plan: Plan,
    pub info: RunInfo,
    pub bounds: Bounds,
    pub custom: Option<CustomBenchmarks>,
    pub peer: Option<ConnectedPeer>,
    /// Launches of an interrupted process; `None` for a new run.
    pub earlier: Option<Vec<Launch>>,
}

impl Job {
    pub fn new(context: &Context, args: &RunArgs) -> Result<Self> {
        let host = HostContext::probe(args.dir.as_deref())?;
        let catalogue = &context.catalogue.benchmarks;
        let is_suite = |word: &String| context.suite(word).is_ok();
        let (suites, selectors): (Vec<_>, Vec<_>) =
            args.selectors.iter().cloned().partition(is_suite);
        let suites: Vec<&String> = args.suite.iter().chain(&suites).collect();
        let suite = match (suites.as_slice(), &context.custom) {
            ([name], _) => Some(context.suite(name)?),
            ([], None) if selectors.is_empty() => Some(context.suite(STANDARD)?),
            ([], _) => None,
            _ => bail!("a run measures one suite, and selected benchmarks"),
        };
        let selectors = match suite {
            Some(_) => selectors,
            None => context.selectors(&selectors),
        };
        let mut wanted = select(catalogue, &budget_order(suite, &selectors))?;
        let params = args.params.iter().cloned().collect();
        param_overrides::apply(catalogue, &mut wanted, &params)?;
        let (refused, reached) =
            gritstone_peer::place_far_ends(&args.peer.options(), args.dry_run, &mut wanted)?;
        let permits = args.privileges.permits();
        let compilers = args.compilers.compilers();
        let custom = context.custom.as_ref();
        let mut offer = host.offer(&wanted, permits, custom, compilers.is_some());
        offer.refused.extend(refused);
        let mut plan = steps(wanted, &offer);
        let against_document = |name: &String| name.starts_with("ref:");
        let settings = Settings {
            reference: args.reference
                || suite.is_some_and(|suite| suite.reference)
                || args.against.as_ref().is_some_and(against_document),
            suite: suite.map(|suite| suite.name.clone()),
            commit: args.commit.commit()?,
            selectors,
            params,
            catalogue: custom_catalog::used_catalog(custom, &plan.benchmarks),
            peer: reached.as_ref().map(|reached| reached.peer.clone()),
            compilers,
            ..settings(args, &host)
        };
        let copied = add_copies(&mut plan, &offer, &settings, suite);
        ensure!(
            settings.copies.is_empty() || copied > 0,
            "none of these benchmarks can be measured as copies: --copies is for workloads on one CPU that run here (`gritstone list`)"
        );
        Ok(Self {
            plan,
            bounds: Bounds {
                tune: args.tune,
                wait: args.wait,
                reference: settings.reference,
                ..Bounds::new(permits)
            },
            info: local_backend::info(&host, args.label.clone(), settings),
            host,
            custom: context.custom.clone(),
            peer: reached,
            earlier: None,
        })
    }

    /// The time of six or ten launches of each benchmark, by similar runs of this store.
    pub fn expected(&self, context: &Context) -> Result<Duration> {
        let known = learn_prior(&context.runs_like(&self.info), &self.plan.benchmarks);
        let limits = limits(&self.info.settings)?;
        Ok(AfterPilot::new(&[&self.plan], limits, &known).expected())
    }

    /// Stores every launch; the view has the finished ones, however the run ended. A failure comes with a view only if nothing is stored.
    pub fn measure(mut self, context: &Context) -> Result<(RunView, Result<End>)> {
        // reports an unusable store before anything is prepared
        let mut store = context.writer()?;
        let limits = limits(&self.info.settings)?;
        let budget = limits.budget.unwrap_or(Duration::MAX);
        self.bounds.deadline = self.bounds.deadline.min(budget);
        let (host, mut plan, mut info) = (&self.host, self.plan, self.info);
        let mut session = Session::new(host, &mut plan, self.custom.as_ref(), self.bounds)?;
        session.setup.far_end = self.peer.as_ref().map(ConnectedPeer::far_end);
        let builds = match &info.settings.compilers {
            Some(compilers) => session.rebuild(compilers, &mut plan)?,
            None => BTreeMap::new(),
        };
        let outcome = tune::apply(self.bounds, session.journal.as_ref(), host, &session.setup);
        session.tuning = outcome.tuning;
        let earlier = self.earlier.as_deref();
        match earlier {
            None => info.settings.tuned.clone_from(&outcome.applied),
            Some(_) => resumption::check_same_tuning(&info, &outcome.applied)?,
        }
        let id = info.id.clone();
        session.probes = context.machine_probes(&info.machine.id);
        let known = learn_prior(&context.runs_like(&info), &plan.benchmarks);
        let mut scheduler = AfterPilot::new(&[&plan], limits, &known);
        if let Some(peer) = &info.settings.peer {
            output::remark(&format!("far ends on {}", gritstone_report::peer(peer)));
        }
        announce(&id, host, &plan, earlier);
        output::remark(&ends(&limits, scheduler.expected()));
        announce_conditions(host, &outcome);
        skips::announce(&plan);
        let side = [Side {
            name: String::new(),
            plan,
            variant: Variant { environment: host.environment(), builds, side: 0 },
            setting: None,
            info,
        }];
        let mut display = Display::new().expecting(scheduler.expected().min(budget));
        let end = session.measure(&mut store, &side, earlier, &mut scheduler, &mut display);
        match &end {
            Ok(End::Interrupted) if context.no_store => output::remark("interrupted"),
            Ok(End::Interrupted) => output::remark(&format!(
                "interrupted; finished launches are stored as run {id}; resume with `gritstone run --resume`"
            )),
            Ok(End::Whole) | Err(_) => {}
        }
        // frees memory: the summary loads the whole run with its own entries
        drop(side);
        match end {
            Err(error) if !context.no_store => Err(error),
            end => match context.stored(&store, &id) {
                Ok(view) => Ok((view, end)),
                Err(unreadable) => Err(end.err().unwrap_or(unreadable)),
            },
        }
    }
}

/// # Errors
/// When the settings are damaged.
pub fn limits(settings: &Settings) -> Result<Limits> {
    Ok(Limits {
        budget: (settings.budget_s.map(Duration::try_from_secs_f64).transpose())
            .context("the budget is damaged")?,
        precision: settings.precision,
        quick: settings.quick,
        seed: settings.seed,
    })
}

pub fn settings(args: &RunArgs, host: &HostContext) -> Settings {
    let precision = if args.quick { 0.05 } else { 0.02 };
    Settings {
        selectors: args.selectors.clone(),
        // fits into a signed integer of SQLite
        seed: args.seed.unwrap_or_else(|| u64::from(random())),
        budget_s: args.budget.map(|time| time.as_secs_f64()),
        precision: args.precision.unwrap_or(precision),
        quick: args.quick,
        dir: host.dir.display().to_string(),
        environment: host.environment(),
        copies: copies(&args.copies),
        allow: args.privileges.allowed(),
        no_privileged: args.privileges.no_privileged,
        ..Settings::default()
    }
}

/// Adds copies of `--copies` and of the suite, then orders the steps. Returns how many benchmarks `--copies` applied to.
pub fn add_copies(
    plan: &mut Plan,
    offer: &Offer,
    settings: &Settings,
    suite: Option<&Suite>,
) -> usize {
    let copied = gritstone_plan::add_copies(plan, offer, &settings.copies, |_| true);
    let all = u32::try_from(offer.cpus.len()).map_or(MAX_COPIES, |all| all.min(MAX_COPIES));
    if let Some(suite) = suite.filter(|_| all > 1 && !settings.copies.contains(&all)) {
        let of_suite = |id: &Id| suite.all_cpus.iter().any(|name| name == id.as_str());
        gritstone_plan::add_copies(plan, offer, &[all], of_suite);
    }
    in_order(plan, &budget_order(suite, &settings.selectors));
    copied
}

/// Selectors in the order of the budget: the suite first.
fn budget_order(suite: Option<&Suite>, selectors: &[String]) -> Vec<String> {
    let of_suite = suite.into_iter().flat_map(|suite| &suite.benchmarks);
    of_suite.chain(selectors).cloned().collect()
}

/// Sorted and distinct; a single copy is always measured.
fn copies(given: &[u32]) -> Vec<u32> {
    let each: BTreeSet<u32> = given.iter().copied().filter(|&copies| copies > 1).collect();
    each.into_iter().collect()
}

/// Benchmarks that the plan has a result for: those that are launched, and those computed from them.
pub fn measured(plan: &Plan) -> impl Iterator<Item = &Benchmark> {
    let skipped = |id: &Id| plan.skips.iter().any(|skip| skip.id == *id);
    let benchmarks = plan.benchmarks.iter();
    benchmarks.filter(move |benchmark| !skipped(&benchmark.id))
}

fn announce(id: &str, host: &HostContext, plan: &Plan, earlier: Option<&[Launch]>) {
    let chosen = &host.chosen;
    let cpus = match chosen.peer {
        Some(peer) if measured(plan).any(|benchmark| benchmark.placement == Placement::Cross) => {
            format!("CPU {} (and {peer} for two-CPU benchmarks)", chosen.measured)
        }
        _ => format!("CPU {}", chosen.measured),
    };
    let (count, plural) = match measured(plan).count() {
        1 => (1, ""),
        many => (many, "s"),
    };
    let there = |launches: &[Launch]| format!("; resuming after {} launches", launches.len());
    output::remark(&format!(
        "run {id}: {count} benchmark{plural} on {cpus}, files in {}{}",
        host.dir.display(),
        earlier.map(there).unwrap_or_default()
    ));
}

/// Findings of `doctor` that make results scatter, and what was tuned.
fn announce_conditions(host: &HostContext, outcome: &TuningOutcome) {
    let findings = doctor::now(host.facts());
    if !findings.is_empty() {
        let texts = findings.iter().map(|f| format!("{} {}", f.name, f.value));
        let texts = texts.collect::<Vec<_>>().join("; ");
        output::remark(&format!("results will scatter: {texts} (gritstone doctor)"));
    }
    if !outcome.applied.is_empty() {
        let applied = outcome.applied.join("; ");
        output::remark(&format!("tuned for this run: {applied}"));
    }
    for remark in &outcome.remarks {
        output::remark(remark);
    }
}

/// Expected duration and end of a run.
fn ends(limits: &Limits, expected: Duration) -> String {
    let clock = |after: Duration| {
        let end = jiff::Zoned::now().checked_add(after);
        end.map_or_else(|_| "?".to_owned(), |end| end.strftime("%H:%M").to_string())
    };
    let longest = clock(limits.longest(expected));
    let effort = effort(limits, expected);
    match limits.budget {
        Some(_) => format!("ends by {longest}: {effort}"),
        None if limits.quick => format!("ends about {longest}: {effort}"),
        None => format!("ends between {} and {longest}: {effort}", clock(expected)),
    }
}

/// What takes how long.
pub fn effort(limits: &Limits, expected: Duration) -> String {
    let time = duration(expected.as_secs_f64());
    match limits.budget {
        Some(budget) => format!(
            "everything takes about {time}, the budget is {}",
            duration(budget.as_secs_f64())
        ),
        None if limits.quick => format!("six launches of each take {time}"),
        None => format!(
            "ten launches of each take about {time}, and wider intervals than ±{} get more, up to {}",
            percent_option(limits.precision),
            duration(limits.longest(expected).as_secs_f64())
        ),
    }
}
