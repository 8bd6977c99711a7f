//! Briefs of made-up runs, and a run that tries to break out of a page.

use super::{against_reference, entries, machines::references, run, stated};
use gritstone_document::Document;
use gritstone_model::{
    Assessment, BriefParts, CompareView, EnvironmentScore, Flag, Id, Reliability, RunView,
    SCHEMA_SCORES, ScoredSystem, ScoresView, SystemScores, Timeline,
};
use gritstone_report::{Brief, brief};

/// The whole report of a run, against a reference system.
pub fn document(run: &RunView, references: &[RunView]) -> Document {
    with_input(run, references, &against_reference(), brief)
}

/// The report or its first page.
pub fn with_input(
    run: &RunView,
    printed: &[RunView],
    baseline: &CompareView,
    make: impl Fn(&Brief) -> Document,
) -> Document {
    let parts = BriefParts {
        assessment: Assessment {
            reliability: Reliability::Low,
            measured: 19,
            causes: vec![(Flag::Noisy, 9)],
            interrupted: false,
        },
        scores: scores(run),
        base: references()[0].clone(),
        baseline: baseline.clone(),
        references: printed.to_vec(),
        benchmarks: entries::benchmarks(run),
        timelines: timelines(),
    };
    make(&Brief { run, parts: &parts })
}

fn timelines() -> Vec<Timeline> {
    let timeline = |title: &str, ids: &[&str]| Timeline {
        title: title.to_owned(),
        benchmarks: ids.iter().map(|id| Id::parse(id).unwrap()).collect(),
    };
    vec![
        timeline("System call", &["kernel/syscall", "byte/syscall"]),
        timeline("Pipe", &["byte/pipe"]),
        timeline("Dhrystone", &["cpu/dhrystone-1.1/reg"]),
    ]
}

fn scores(run: &RunView) -> ScoresView {
    let score = |environment: &str, score| EnvironmentScore {
        environment: environment.to_owned(),
        score,
        interval: score.map(|value: f64| [value * 0.9, value * 1.1]),
        of: 9,
        ..EnvironmentScore::default()
    };
    let one_cpu = SystemScores {
        environments: vec![score("Processor", Some(9876.0)), score("Memory", None)],
        overall: score("All environments", Some(1234.0)),
    };
    scores_view(vec![scored(run.id.clone(), run.machine.name.clone(), one_cpu)])
}

pub fn scored(id: String, name: String, one_cpu: SystemScores) -> ScoredSystem {
    ScoredSystem { id, name, programs: None, one_cpu, unfinished: false, differ_in: vec![] }
}

pub fn scores_view(machines: Vec<ScoredSystem>) -> ScoresView {
    ScoresView {
        schema: SCHEMA_SCORES.to_owned(),
        base: "ref:vax-11-780-4.1bsd".to_owned(),
        base_name: "VAX-11/780".to_owned(),
        by: vec![],
        profile: None,
        confidence: 0.95,
        machines,
    }
}

/// A run in which every text that comes from outside is this one.
pub fn hostile(evil: &str) -> RunView {
    let evil = || evil.to_owned();
    let mut run = run();
    let machine = &mut run.machine;
    for text in [
        &mut run.id,
        &mut machine.name,
        &mut machine.system,
        &mut machine.configuration,
        &mut run.started,
    ] {
        *text = evil();
    }
    machine.document = Some(evil());
    machine.facts = [(evil(), evil())].into();
    run.label = Some(evil());
    for result in &mut run.results {
        result.title = evil();
        result.measured = Some(evil());
        result.measured_mut().names = vec![evil()];
        if let Some(curve) = &mut result.curve {
            curve.label = evil();
        }
        let note = stated(Some(Flag::Interference), evil());
        result.notes.push(note);
        if let Some(published) = &mut result.published {
            published.work = evil();
        }
        if let Some(program) = &mut result.program {
            (program.hash, program.compiler, program.flags) = (evil(), evil(), evil());
        }
    }
    run
}
