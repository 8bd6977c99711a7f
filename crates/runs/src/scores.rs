//! Scores of runs and systems against a base, by environment or by profile.

use crate::context::Context;
use anyhow::{Context as _, Result, bail, ensure};
use gritstone_analysis::scores::{self as stats, Environment, Options};
use gritstone_analysis::side::Side;
use gritstone_catalogue::profiles;
use gritstone_measure::CONFIDENCE;
use gritstone_model::{
    Id, Profile, PublishedScore, RunView, SCHEMA_SCORES, ScoredSystem, ScoresView, SystemScores,
    Work, decode_text,
};
use gritstone_plan::{Selectors, select};

/// The default baseline of scores.
const BASE: &str = "ref:amd-epyc-kvm-2026";

/// The default baseline of runs: that of `app/ratings` if a run has all its programs.
pub fn base<'a>(context: &'a Context, mut runs: impl Iterator<Item = &'a RunView>) -> &'a str {
    let all = &context.catalogue.benchmarks;
    let programs = stats::environments(all, true);
    let measured =
        |run: &RunView, id| run.get(id).is_some_and(|result| result.estimate().is_some());
    let mut baselines = all.iter().filter_map(|benchmark| match &benchmark.work {
        Work::Score { baseline, together: true, .. } => Some(baseline.as_str()),
        _ => None,
    });
    let has_all = |run: &RunView| {
        let mut benchmarks = programs.iter().flat_map(|environment| &environment.benchmarks);
        benchmarks.all(|id| measured(run, id))
    };
    let baseline = baselines.next().filter(|_| runs.any(has_all));
    baseline.unwrap_or(BASE)
}

/// Scores of runs and systems against a base: by environment, or over the benchmarks that `by` selects.
///
/// # Errors
/// When a selector matches nothing.
pub fn against(
    context: &Context,
    machines: &[RunView],
    base: &RunView,
    by: &[String],
) -> Result<ScoresView> {
    let all = &context.catalogue.benchmarks;
    let (environments, programs) = match by {
        [] => [false, true].map(|together| stats::environments(all, together)).into(),
        by => {
            let named = Environment {
                name: "Named benchmarks".to_owned(),
                weight: 1.0,
                score: None,
                benchmarks: named(context, by)?,
            };
            (vec![named], vec![])
        }
    };
    let rate = |machine: &RunView| {
        let options = Options { named: !by.is_empty(), ..options(context, machine, base) };
        ScoredSystem {
            programs: stats::score_programs(&programs, machine, base, &options)
                .map(|rated| published(context, &programs, rated)),
            ..stats::score(&environments, machine, base, &options)
        }
    };
    Ok(ScoresView { by: by.to_vec(), ..view(machines, base, &rate) })
}

/// The scores of two runs against the default baseline; none where they are of one system, or one has no score.
///
/// # Errors
/// When the baseline cannot be read.
pub fn side_by_side(context: &Context, sides: [&RunView; 2]) -> Result<Option<ScoresView>> {
    let [a, b] = sides;
    if a.machine.id == b.machine.id {
        return Ok(None);
    }
    let base = context.view(base(context, sides.into_iter()))?;
    let view = against(context, &sides.map(Clone::clone), &base, &[])?;
    let is_scored = |machine: &ScoredSystem| {
        let all = [Some(&machine.one_cpu), machine.programs.as_ref()];
        let mut environments = all.into_iter().flatten().flat_map(|scores| &scores.environments);
        environments.any(|environment| environment.score.is_some())
    };
    Ok(view.machines.iter().all(is_scored).then_some(view))
}

pub fn by_profile(
    context: &Context,
    machines: &[RunView],
    base: &RunView,
    profile: Profile,
) -> ScoresView {
    let rate = |machine: &RunView| {
        let options = options(context, machine, base);
        stats::score_profile(&profile, machine, base, &options)
    };
    let view = view(machines, base, &rate);
    ScoresView { profile: Some(profile), ..view }
}

fn options(context: &Context, machine: &RunView, base: &RunView) -> Options {
    // a printed system has no stored runs
    let other = match base.settings {
        None => machine,
        Some(_) => base,
    };
    Options {
        confidence: CONFIDENCE,
        named: false,
        require_all: false,
        effects: context.run_effects(&[other, machine].map(Side::from)),
    }
}

fn view(
    machines: &[RunView],
    base: &RunView,
    rate: &dyn Fn(&RunView) -> ScoredSystem,
) -> ScoresView {
    let mut all = vec![base];
    all.extend(machines);
    let rated =
        machines.iter().map(|machine| ScoredSystem { name: name(machine, &all), ..rate(machine) });
    ScoresView {
        schema: SCHEMA_SCORES.to_owned(),
        base: base.id.clone(),
        base_name: name(base, &all),
        by: vec![],
        profile: None,
        confidence: CONFIDENCE,
        machines: rated.collect(),
    }
}

/// A built-in profile, or one in a file.
pub fn profile(context: &Context, name: &str) -> Result<Profile> {
    let known = &context.catalogue.profiles;
    if let Some(known) = known.iter().find(|profile| profile.name == name) {
        return Ok(known.clone());
    }
    if !name.ends_with(".toml") {
        let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
        bail!(
            "no profile '{name}'; there are {}, and files of weights, FILE.toml",
            names.join(", ")
        );
    }
    let bytes = std::fs::read(name).with_context(|| format!("cannot read {name}"))?;
    let text = decode_text(bytes).with_context(|| name.to_owned())?;
    let mut found = profiles(name, &text, &context.catalogue.benchmarks)?;
    ensure!(found.len() == 1, "{name} has {} profiles: keep one", found.len());
    Ok(found.remove(0))
}

/// Adds the published scores of these environments.
fn published(
    context: &Context,
    environments: &[Environment],
    mut rated: SystemScores,
) -> SystemScores {
    let references = &context.references;
    for (environment, score) in environments.iter().zip(&mut rated.environments) {
        let cells = references.cells.iter();
        let cells = cells.filter(|cell| Some(&cell.benchmark) == environment.score.as_ref());
        let printed = cells.filter_map(|cell| {
            let mut machines = references.machines.iter();
            let machine = machines.find(|machine| machine.id == cell.machine)?;
            Some(PublishedScore {
                id: format!("ref:{}", machine.id),
                name: machine.name.clone(),
                score: cell.value.as_ref()?.value,
            })
        });
        score.published = printed.collect();
    }
    rated
}

/// The name of the machine; of the run if the name is ambiguous.
fn name(view: &RunView, all: &[&RunView]) -> String {
    let twin = |other: &&RunView| other.id != view.id && other.machine.name == view.machine.name;
    match (all.iter().any(twin), &view.label) {
        (false, _) => view.machine.name.clone(),
        (true, Some(label)) => label.clone(),
        (true, None) => view.id.clone(),
    }
}

/// Selected benchmarks; a score stands for its parts.
fn named(context: &Context, by: &[String]) -> Result<Vec<Id>> {
    let all = &context.catalogue.benchmarks;
    // reports unmatched selectors
    select(all, by)?;
    let selectors = Selectors::new(by);
    let ids = all.iter().map(|benchmark| &benchmark.id);
    let mut open: Vec<&Id> = ids.filter(|id| selectors.select(id)).collect();
    open.reverse();
    let mut benchmarks: Vec<Id> = vec![];
    while let Some(id) = open.pop() {
        let entry = all.iter().find(|benchmark| benchmark.id == *id);
        match entry.map(|entry| &entry.work) {
            Some(Work::Score { over, .. }) => open.extend(over.iter().rev()),
            _ if benchmarks.contains(id) => {}
            _ => benchmarks.push(id.clone()),
        }
    }
    Ok(benchmarks)
}
