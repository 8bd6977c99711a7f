//! A whole run and a whole comparison as JSON: the shape that others read.

use crate::compare::{Options, compare};
use crate::tests::made_up_runs::*;
use gritstone_model::*;

/// One benchmark of each kind, and a failure.
fn whole() -> RunData {
    let mut rows = vec![
        claimed("a/long"),
        claimed("a/short"),
        derived("a/rest", &[(1.0, "a/long"), (-1.0, "a/short")]),
        command("b/script"),
        plain("b/broken"),
    ];
    rows[3].curve = Some(curve("scripts", [(1.0, "b/script"), (2.0, "b/broken")]));
    let mut broken = launch("b/broken", 0, 1.0);
    broken.outcome = Outcome::Failed("pipe: EMFILE".to_owned());
    let mut launches = [scattered("a/long", 100.0), scattered("a/short", 60.0)].concat();
    launches.extend((0..6).map(|round| process("b/script", round, 2.0)));
    launches.push(broken);
    run(rows, launches)
}

/// As printed, with nine digits: further ones are rounding.
fn json(view: &impl serde::Serialize) -> String {
    let round = |line: &str| {
        let start = line.rfind(' ').map_or(0, |space| space + 1);
        let (head, value) = line.split_at(start);
        let number = value.trim_end_matches(',');
        match number.parse::<f64>() {
            Ok(x) if number.contains('.') => {
                let short: f64 = format!("{x:.8e}").parse().unwrap();
                format!("{head}{short:?}{}", &value[number.len()..])
            }
            _ => line.to_owned(),
        }
    };
    let text = serde_json::to_string_pretty(view).unwrap();
    text.lines().map(round).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_run() {
    insta::assert_snapshot!(json(&view(&whole())));
}

#[test]
fn a_run_survives_its_json() {
    let view = view(&whole());
    let back: RunView = serde_json::from_str(&serde_json::to_string(&view).unwrap()).unwrap();
    assert_eq!(json(&back), json(&view));
}

#[test]
fn a_comparison() {
    let vax = reference(vec![
        printed("a/long", Subject::Real, [Some(4.8), Some(1.4), Some(4.0)]),
        printed("b/script", Subject::Real, [Some(3.3), None, None]),
        printed("b/broken", Subject::Real, [Some(8.0), None, None]),
    ]);
    let view = compare(&vax, &view(&whole()), &Options::default());
    insta::assert_snapshot!(json(&view));
}

#[test]
fn two_runs() {
    let mut other = whole();
    other.info.id = "run-2".to_owned();
    other.info.machine.system = "Linux 6.2".to_owned();
    for launch in &mut other.launches {
        samples(launch).for_each(|sample| sample.wall = sample.wall / 10 * 12);
    }
    let view = compare(&view(&whole()), &view(&other), &Options::default());
    insta::assert_snapshot!(json(&view));
}
