//! Differences between sides.

use crate::compare::{Options, compare};
use crate::tests::made_up_runs::*;
use gritstone_model::*;

fn sample_run() -> RunData {
    run(vec![plain("a/b"), plain("a/c")], Vec::new())
}

fn differ(base: &RunView, other: &RunView) -> Vec<(String, String, String)> {
    let view = compare(base, other, &Options::default());
    let actual = |d: Difference| (d.what, d.base, d.other);
    view.differ_in.into_iter().map(actual).collect()
}

#[track_caller]
fn differs(change: impl FnOnce(&mut RunData), want: &[(&str, &str, &str)]) {
    let mut other = sample_run();
    change(&mut other);
    let want: Vec<_> =
        want.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect();
    assert_eq!(differ(&view(&sample_run()), &view(&other)), want);
}

#[test]
fn nothing_differs_from_itself() {
    differs(|_| (), &[]);
}

#[test]
fn irrelevant_facts_are_not_listed() {
    differs(
        |run| {
            run.info.id = "run-2".to_owned();
            run.info.started = "2026-02-02T03:04:05Z".to_owned();
            run.info.settings.budget_s = Some(1.0);
            run.info.settings.seed = 1;
            run.info.settings.precision = 0.5;
            run.info.settings.selectors.push("a/*".to_owned());
            let facts = &mut run.info.machine.facts;
            facts.insert("published.number".to_owned(), "0.9".to_owned());
        },
        &[],
    );
}

#[test]
fn machine_facts_and_settings() {
    differs(
        |run| {
            let machine = &mut run.info.machine;
            machine.name = "Other Computer".to_owned();
            machine.system = "Linux 6.2".to_owned();
            machine.configuration = "4 CPUs".to_owned();
            let facts = &mut machine.facts;
            facts.insert("cpu.model".to_owned(), "Difference Engine".to_owned());
            facts.insert("loadable".to_owned(), "yes".to_owned());
            run.info.gritstone = "0.2.0".to_owned();
            run.info.settings.dir = "/mnt".to_owned();
            let environment = &mut run.info.settings.environment;
            environment.insert("LC_ALL".to_owned(), "C.UTF-8".to_owned());
            environment.insert("TZ".to_owned(), "UTC".to_owned());
            let tuned = &mut run.info.settings.tuned;
            tuned.extend(["governor performance", "turbo off"].map(str::to_owned));
        },
        &[
            ("machine", "Made-up Computer", "Other Computer"),
            ("system", "Linux 6.1", "Linux 6.2"),
            ("configuration", "2 CPUs, 4 GB", "4 CPUs"),
            ("cpu.model", "Abacus", "Difference Engine"),
            ("loadable", "not known", "yes"),
            ("gritstone", "0.1.0", "0.2.0"),
            ("directory", "/tmp", "/mnt"),
            ("environment LC_ALL", "C", "C.UTF-8"),
            ("environment TZ", "not known", "UTC"),
            ("tuned", "nothing", "governor performance; turbo off"),
        ],
    );
}

#[test]
fn compilers_and_versions_differ() {
    differs(
        |run| {
            let program = run.programs.get_mut(&id("a/c")).unwrap();
            program.compiler = "clang 19".to_owned();
            program.flags = "-O3".to_owned();
            run.benchmarks[0].version = 2;
        },
        &[
            ("compiler", "cc 14.2", "clang 19"),
            ("compiler flags", "-O2", "-O3"),
            ("version of a/b", "1", "2"),
        ],
    );
}

#[test]
fn a_document_tells_little() {
    let mut vax = reference(vec![printed("a/b", Subject::Real, [None; 3])]);
    let facts = &mut vax.machine.facts;
    facts.insert("cpu.model".to_owned(), "KA780".to_owned());
    facts.insert("cabinet".to_owned(), "H9600".to_owned());
    let found = differ(&vax, &view(&sample_run()));
    let names: Vec<&str> = found.iter().map(|(what, ..)| what.as_str()).collect();
    assert_eq!(names, ["machine", "system", "configuration", "cpu.model"]);
}
