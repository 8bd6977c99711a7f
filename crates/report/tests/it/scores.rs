//! SystemScores as a terminal prints them.

use crate::sample;
use crate::sample::briefs::{scored, scores_view as view};
use crate::sample::machines::id;
use gritstone_document::{Document, terminal};
use gritstone_model::*;
use gritstone_report::{score_lines, scores};

fn text(view: &ScoresView, width: usize) -> String {
    terminal::render(&scores(view), terminal::Look::plain(width))
}

fn score(environment: &str, value: f64, rows: &[&str], total: usize) -> EnvironmentScore {
    let rows: Vec<Id> = rows.iter().map(|row| id(row)).collect();
    EnvironmentScore {
        environment: environment.to_owned(),
        score: Some(value),
        interval: Some([value * 0.98, value * 1.02]),
        rows,
        of: total,
        ..EnvironmentScore::default()
    }
}

fn one_cpu(factor: f64) -> SystemScores {
    let why = "Of 2 rows 1 disturbed: byte/shell.";
    let notes = vec![sample::stated(Some(Flag::Interference), why)];
    let (cpu, unix) = (["byte/sieve", "byte/loop"], ["byte/pipe", "byte/shell"]);
    SystemScores {
        environments: vec![
            score("Processor", 12_800.0 * factor, &cpu, 20),
            EnvironmentScore {
                notes: notes.clone(),
                ..score("UNIX system", 6_100.0 * factor, &unix, 40)
            },
            EnvironmentScore {
                environment: "Memory".to_owned(),
                of: 7,
                ..EnvironmentScore::default()
            },
        ],
        overall: EnvironmentScore {
            notes,
            ..score("All environments", 8_850.0 * factor, &[cpu, unix].concat(), 67)
        },
    }
}

fn machine(name: &str, factor: f64) -> ScoredSystem {
    scored(format!("run-{name}"), name.to_owned(), one_cpu(factor))
}

#[test]
fn one_machine_by_environment() {
    insta::assert_snapshot!(text(&view(vec![machine("EPYC 7B13", 1.0)]), 100));
}

#[test]
fn withheld_scores_have_reasons() {
    let mut machine = machine("EPYC 7B13", 1.0);
    let SystemScores { environments, overall, .. } = &mut machine.one_cpu;
    for score in [&mut environments[0], overall] {
        let invalid = vec![Part::Benchmark(id("byte/sieve"))];
        (score.score, score.interval) = (None, None);
        score.withheld = Some(Withheld::Invalid(invalid));
    }
    insta::assert_snapshot!(text(&view(vec![machine]), 100));
}

#[test]
fn rows_that_the_user_named() {
    let mut machine = machine("EPYC 7B13", 1.0);
    let mut named = score("Named benchmarks", 3.2, &["byte/sieve"], 2);
    named.left_out = vec![LeftOutRow { id: id("byte/cc"), invalid: false }];
    machine.one_cpu.overall = named.clone();
    machine.one_cpu.environments = vec![named];
    let mut view = view(vec![machine]);
    view.by = vec!["byte/sieve".to_owned(), "byte/cc".to_owned()];
    insta::assert_snapshot!(text(&view, 100));
}

#[test]
fn unfinished_runs_say_so() {
    let mut machine = machine("EPYC 7B13", 1.0);
    let says =
        |machine: &ScoredSystem| text(&view(vec![machine.clone()]), 300).contains("did not end");
    assert!(!says(&machine));
    machine.unfinished = true;
    assert!(says(&machine));
}

#[test]
fn withheld_scores_name_their_side() {
    let mut machine = machine("EPYC 7B13", 1.0);
    let mut why = |why: Withheld| {
        let overall = &mut machine.one_cpu.overall;
        (overall.score, overall.interval, overall.withheld) = (None, None, Some(why));
        text(&view(vec![machine.clone()]), 300)
    };
    let one = || vec![Part::Benchmark(id("byte/sieve"))];
    let of_run = why(Withheld::Missing(one()));
    assert!(of_run.contains("Benchmarks of the run are missing"), "{of_run}");
    let of_base = why(Withheld::Uncovered(one()));
    assert!(of_base.contains("Benchmarks of the base are missing"), "{of_base}");
}

#[test]
fn score_lines_keep_doubts() {
    let machine = machine("EPYC 7B13", 1.0);
    let [line] = &*score_lines(&mut Document::new(""), &view(vec![]), &machine) else {
        panic!("more than one");
    };
    assert_eq!(line.notes.len(), 1);
}

/// Two environments of whole programs, for which a document prints numbers.
fn programs() -> SystemScores {
    let printed = |model: &str, score: f64| PublishedScore {
        id: format!("ref:hp-9000-{model}"),
        name: format!("HP 9000 Model {model}"),
        score,
    };
    let (one, seven) = (["app/spice/mosamp2"], ["app/hilo/isor@7", "app/hilo/wcs@7"]);
    SystemScores {
        environments: vec![
            EnvironmentScore {
                published: vec![printed("825S", 0.75), printed("850S", 1.57)],
                ..score("Single user (floating point)", 1.21, &one, 1)
            },
            EnvironmentScore {
                published: vec![printed("825S", 0.88), printed("850S", 1.6)],
                ..score("Seven users (other)", 1.33, &seven, 2)
            },
        ],
        overall: score("All environments", 1.27, &[one.as_slice(), &seven].concat(), 3),
    }
}

/// A machine that is rated by two benchmarks of a profile, with another version of one program.
fn by_profile() -> ScoresView {
    let weights = [("app/today/gcc@all", 30.0), ("app/today/link", 10.0)];
    let mut machine = machine("EPYC 7B13", 1.0);
    let ids = weights.map(|(row, _)| row);
    machine.one_cpu.environments =
        vec![score(ids[0], 1.3, &ids[..1], 1), score(ids[1], 0.9, &ids[1..], 1)];
    machine.one_cpu.overall = score("build", 1.19, &ids, 2);
    machine.differ_in = vec![Difference {
        what: "program".to_owned(),
        base: "gcc 12.2.0".to_owned(),
        other: "gcc 14.2.0".to_owned(),
    }];
    let profile = Profile {
        name: "build".to_owned(),
        title: "building software".to_owned(),
        why: "Compilers take most of it.".to_owned(),
        weights: weights.map(|(row, weight)| (id(row), weight)).into(),
    };
    ScoresView {
        base: "old".to_owned(),
        base_name: "old".to_owned(),
        profile: Some(profile),
        ..view(vec![machine])
    }
}

#[test]
fn scored_programs_come_first() {
    let mut both = machine("EPYC 7B13", 1.0);
    both.programs = Some(programs());
    insta::assert_snapshot!(text(&view(vec![both.clone()]), 110));
    let places = |machine: &ScoredSystem| {
        let text = text(&view(vec![machine.clone()]), 110);
        ["programs and users:", "VAX-11/780: "].map(|line| text.find(line))
    };
    assert!(matches!(places(&both), [Some(a), Some(b)] if a < b));
    // one that is missing withholds them, and they are last
    let overall = &mut both.programs.as_mut().unwrap().overall;
    let missing = vec![Part::Benchmark(id("daq/yewcom/page1@16"))];
    (overall.score, overall.interval) = (None, None);
    overall.withheld = Some(Withheld::Missing(missing));
    assert!(matches!(places(&both), [Some(a), Some(b)] if a > b));
    // a run of the programs alone has no other score
    both.programs = Some(programs());
    both.one_cpu.overall.rows.clear();
    assert!(matches!(places(&both), [Some(_), None]));
}

#[test]
fn profiles_show_weights() {
    insta::assert_snapshot!(text(&by_profile(), 100));
}

#[test]
fn uncovered_profiles_have_no_score() {
    let mut view = by_profile();
    let one = &mut view.machines[0].one_cpu;
    let lacking = vec![Part::Benchmark(id("app/today/link"))];
    one.environments[1] = EnvironmentScore {
        environment: "app/today/link".to_owned(),
        of: 1,
        ..EnvironmentScore::default()
    };
    one.overall = EnvironmentScore {
        environment: "build".to_owned(),
        withheld: Some(Withheld::Uncovered(lacking)),
        of: 2,
        ..EnvironmentScore::default()
    };
    insta::assert_snapshot!(text(&view, 100));
}
