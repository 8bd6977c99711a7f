//! Ratings as a terminal and a page print them.

use crate::sample;
use crate::sample::machines::id;
use gritstone_model::{
    Flag, ForMoney, Id, LeftOutRow, Part, Per, Price, RatedMachine, Rating, Ratings, RatingsView,
    SCHEMA_RATINGS, Withheld, Without,
};
use gritstone_report::{Document, rating_line, ratings, terminal};

fn text(view: &RatingsView, width: usize) -> String {
    terminal::render(&ratings(view), width, false)
}

fn rating(environment: &str, value: f64, rows: &[&str], of: usize) -> Rating {
    let without = |row: &&str, rating: f64| Without {
        row: Id::parse(row).unwrap(),
        rating,
    };
    let without = match rows {
        [first, .., last] => vec![without(first, value * 0.9), without(last, value * 1.07)],
        _ => vec![],
    };
    Rating {
        environment: environment.to_owned(),
        rating: Some(value),
        interval: Some([value * 0.98, value * 1.02]),
        rows: rows.iter().map(|row| id(row)).collect(),
        of,
        without,
        ..Rating::default()
    }
}

fn one_cpu(factor: f64) -> Ratings {
    let mut unix = rating(
        "UNIX system",
        6_100.0 * factor,
        &["byte/pipe", "byte/shell"],
        40,
    );
    let why = "Of 2 rows 1 disturbed: byte/shell.";
    unix.notes
        .push(sample::stated(Some(Flag::Interference), why));
    let mut overall = rating(
        "All environments",
        8_850.0 * factor,
        &["byte/sieve", "byte/loop", "byte/pipe", "byte/shell"],
        67,
    );
    overall.notes = unix.notes.clone();
    Ratings {
        environments: vec![
            rating(
                "Processor",
                12_800.0 * factor,
                &["byte/sieve", "byte/loop"],
                20,
            ),
            unix,
            Rating {
                environment: "Memory".to_owned(),
                of: 7,
                ..Rating::default()
            },
        ],
        overall,
        for_money: None,
    }
}

fn machine(name: &str, factor: f64) -> RatedMachine {
    RatedMachine {
        id: format!("run-{name}"),
        name: name.to_owned(),
        one_cpu: one_cpu(factor),
        all_cpus: None,
        copies: None,
        price: None,
    }
}

fn view(machines: Vec<RatedMachine>) -> RatingsView {
    RatingsView {
        schema: SCHEMA_RATINGS.to_owned(),
        base: "ref:vax-11-780-4.1bsd".to_owned(),
        base_name: "VAX-11/780".to_owned(),
        by: vec![],
        confidence: 0.95,
        machines,
    }
}

#[test]
fn one_machine_by_environment() {
    insta::assert_snapshot!(text(&view(vec![machine("EPYC 7B13", 1.0)]), 100));
}

#[test]
fn two_machines_with_all_their_cpus_and_prices() {
    let mut machines = vec![machine("EPYC 7B13", 1.0), machine("Graviton3", 0.8)];
    for (machine, amount) in machines.iter_mut().zip([0.42, 0.29]) {
        let price = Price {
            amount,
            per: Per::Hour,
        };
        let money = |ratings: &Ratings| {
            ratings.overall.rating.map(|value| ForMoney {
                value: value / amount,
                interval: ratings
                    .overall
                    .interval
                    .map(|ends| ends.map(|x| x / amount)),
            })
        };
        let mut all = one_cpu(3.0);
        all.for_money = money(&all);
        machine.one_cpu.for_money = money(&machine.one_cpu);
        machine.all_cpus = Some(all);
        machine.copies = Some(4);
        machine.price = Some(price);
    }
    insta::assert_snapshot!(text(&view(machines), 140));
}

#[test]
fn a_rating_that_is_withheld_says_why() {
    let mut machine = machine("EPYC 7B13", 1.0);
    for rating in [
        &mut machine.one_cpu.environments[0],
        &mut machine.one_cpu.overall,
    ] {
        rating.rating = None;
        rating.interval = None;
        rating.without.clear();
        rating.withheld = Some(Withheld::Invalid(vec![Part::Benchmark(
            Id::parse("byte/sieve").unwrap(),
        )]));
    }
    insta::assert_snapshot!(text(&view(vec![machine]), 100));
}

#[test]
fn rows_that_the_user_named() {
    let mut machine = machine("EPYC 7B13", 1.0);
    let mut named = rating("Rows named", 3.2, &["byte/sieve"], 2);
    named.left_out = vec![LeftOutRow {
        id: Id::parse("byte/cc").unwrap(),
        invalid: false,
    }];
    machine.one_cpu = Ratings {
        environments: vec![named.clone()],
        overall: named,
        for_money: None,
    };
    let mut view = view(vec![machine]);
    view.by = vec!["byte/sieve".to_owned(), "byte/cc".to_owned()];
    insta::assert_snapshot!(text(&view, 100));
}

#[test]
fn a_reference_machine_is_not_asked_for_copies() {
    let mut vax = machine("Sun-2/120", 1e-4);
    vax.id = "ref:sun-2-120".to_owned();
    let line = |machine: &RatedMachine| {
        let view = view(vec![machine.clone()]);
        rating_line(&mut Document::new(""), &view, machine)
    };
    assert!(!line(&vax).text.contains("all CPUs"));
    vax.id = "20260102T030405Z-5f3a".to_owned();
    assert!(line(&vax).text.contains("all CPUs: not rated"));
    // the doubt about a row travels with the line
    assert_eq!(line(&vax).marks.len(), 1);
}
