//! What is printed of made-up trials.

use super::*;
use gritstone_model::{AbFigure, Finding, Note};
use gritstone_testkit::{ab_comparison as against, ab_figure, ab_view};

fn trial(ms: &[f64], comparisons: Vec<AbComparison>) -> (AbView, Ranking) {
    let names = ["a", "b", "c"];
    let figure = |(ms, side): (&f64, &str)| AbFigure {
        interval: Some([0.98 * ms, 1.03 * ms]),
        ..ab_figure(side, *ms)
    };
    let figures = ms.iter().zip(names).map(figure).collect();
    let view = ab_view(&names, figures, comparisons);
    let timing = |(index, ms): (usize, &f64)| Timing {
        command: format!("./{} input", ["old", "new", "other"][index]),
        times: [1.0, 1.01, 1.0, 1.02, 1.08].map(|t| t * ms / 1e3).into(),
        user: 0.9 * ms / 1e3,
        system: 0.05 * ms / 1e3,
        memory: vec![1_940_000],
        statuses: vec![0; 5],
        ..Timing::default()
    };
    let ranking = Ranking {
        commands: ms.iter().enumerate().map(timing).collect(),
        warm_ups: 0,
        unit: None,
        as_given: false,
        setup_varies: false,
        start_up_s: None,
        subtracted: None,
        percentiles: vec![],
        more_by: "--budget",
        stopped_by: None,
        elapsed_s: Some(1.25),
        width: 80,
        color: false,
    };
    (view, ranking)
}

fn shown(view: &AbView, ranking: &Ranking) -> String {
    commands(view, ranking).replace(terminal::NO_BREAK, " ")
}

#[test]
fn single_commands_have_no_ranking() {
    let (view, ranking) = trial(&[13.351], vec![]);
    insta::assert_snapshot!("one", shown(&view, &ranking));
}

#[test]
fn two_commands_have_a_verdict() {
    let with = |ratio, verdict| {
        let comparisons = vec![against("a", "b", ratio, verdict)];
        let (view, ranking) = trial(&[13.351, 11.6], comparisons);
        shown(&view, &ranking)
    };
    insta::assert_snapshot!("two_faster", with(1.5, Verdict::Faster));
    insta::assert_snapshot!("two_slower", with(0.5, Verdict::Slower));
    insta::assert_snapshot!("two_same", with(1.001, Verdict::Same));
    insta::assert_snapshot!("two_inconclusive", with(0.96, Verdict::Inconclusive));
}

#[test]
fn three_commands_are_ranked() {
    let all = vec![
        against("b", "a", 0.8, Verdict::Slower),
        against("b", "c", 0.97, Verdict::Inconclusive),
    ];
    let (view, mut ranking) = trial(&[13.351, 11.6, 1234.0], all);
    ranking.unit = Some("s");
    ranking.start_up_s = Some(0.0009);
    ranking.setup_varies = true;
    insta::assert_snapshot!("three", shown(&view, &ranking));
    ranking.as_given = true;
    ranking.commands[0].command =
        "a\u{1b}[31mcommand with a name that is longer than the terminal is wide".to_owned();
    insta::assert_snapshot!("three_as_given", shown(&view, &ranking));
}

#[test]
fn complications_are_noted() {
    let (view, mut ranking) = trial(&[13.351], vec![]);
    ranking.warm_ups = 3;
    ranking.commands[0] = Timing {
        times: [0.52].into_iter().chain([0.021, 0.022, 0.023].repeat(4)).collect(),
        statuses: [[1, -9].as_slice(), &[0; 11]].concat(),
        left_out: vec![7],
        ..ranking.commands[0].clone()
    };
    ranking.percentiles = vec![0.5, 0.99];
    ranking.subtracted = Some(("docker run x true".to_owned(), 0.25));
    insta::assert_snapshot!("remarks", shown(&view, &ranking));
}

#[test]
fn short_commands_have_no_ratio() {
    let mut c = against("a", "b", 1.0, Verdict::Slower);
    (c.ratio, c.interval) = (None, None);
    let (mut view, ranking) = trial(&[0.05, 200.0], vec![c]);
    view.rows[0].figures[0].at_most = true;
    let text = shown(&view, &ranking);
    assert!(text.contains("< 50") && text.contains("no ratio"), "{text}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    view.rows[0].comparisons[0].verdict = Verdict::Inconclusive;
    assert!(shown(&view, &ranking).contains("inconclusive: no ratio"));
}

#[test]
fn stopped_trials_give_no_advice() {
    let inconclusive = against("a", "b", 0.96, Verdict::Inconclusive);
    let (mut view, mut ranking) = trial(&[13.351, 11.6], vec![inconclusive]);
    ranking.stopped_by = Some("interrupted".to_owned());
    let text = shown(&view, &ranking);
    assert!(text.contains("12 interleaved pairs, 1.25 s; interrupted\n"), "{text}");
    let c = &mut view.rows[0].comparisons[0];
    (c.pairs, c.ratio, c.interval) = (0, None, None);
    ranking.stopped_by = Some("./new input failed".to_owned());
    let text = shown(&view, &ranking);
    assert!(text.ends_with("\n\n  no verdict: ./new input failed\n"), "{text}");
}

#[test]
fn inconclusive_comparisons_have_reasons() {
    let open =
        |other| AbComparison { pairs: 10, ..against("a", other, 0.4, Verdict::Inconclusive) };
    let (mut view, mut ranking) = trial(&[13.351, 11.6, 25.0], vec![open("b"), open("c")]);
    ranking.more_by = "--runs";
    let text = shown(&view, &ranking);
    let wanted = "  inconclusive: a verdict takes 12 pairs: raise --runs\n";
    assert_eq!(text.matches(wanted).count(), 1, "{text}");
    for (c, smallest) in view.rows[0].comparisons.iter_mut().zip([0.05, 0.03]) {
        (c.pairs, c.smallest) = (30, Some(smallest));
    }
    let text = shown(&view, &ranking);
    assert!(text.contains("minimum detectable effect 5.0%: raise --runs"), "{text}");
    ranking.stopped_by = Some("interrupted".to_owned());
    assert!(shown(&view, &ranking).contains("inconclusive: interrupted"));
}

#[test]
fn rankings_fit_the_terminal() {
    let all =
        vec![against("b", "a", 0.8, Verdict::Slower), against("b", "c", 0.5, Verdict::Slower)];
    let (view, mut ranking) = trial(&[13.351, 11.6, 25.0], all);
    for (number, command) in ranking.commands.iter_mut().enumerate() {
        command.command = format!("./compress --level={number} {}", "the-input-file ".repeat(20));
    }
    let text = shown(&view, &ranking);
    let (_, places) = text.split_once("against it").unwrap();
    assert!(places.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(places.contains("=0") && places.contains("=2"), "{text}");
}

#[test]
fn slow_first_runs_are_explained() {
    let (view, mut ranking) = trial(&[13.351], vec![]);
    let times = |first: f64, later: f64| {
        [&[first, later], [0.021, 0.022, 0.023].repeat(4).as_slice()].concat()
    };
    ranking.commands[0].times = times(0.52, 0.3);
    let text = shown(&view, &ranking);
    assert!(text.contains("The first run took") && text.contains("2 of 14 runs"), "{text}");
    ranking.commands[0].times = times(0.3, 0.52);
    assert!(!shown(&view, &ranking).contains("The first run"));
}

#[test]
fn unresolved_times_need_no_shell() {
    let (mut view, mut ranking) = trial(&[3.0], vec![]);
    ranking.start_up_s = Some(0.004);
    assert!(!shown(&view, &ranking).contains("use -N"));
    let figure = &mut view.rows[0].figures[0];
    figure.interval = Some([0.5, 4.0]);
    assert!(shown(&view, &ranking).contains("use -N"));
    let figure = &mut view.rows[0].figures[0];
    (figure.interval, figure.at_most) = (None, true);
    assert!(shown(&view, &ranking).contains("use -N"));
}

#[test]
fn numbers_stay_with_units() {
    let faster = against("a", "b", 1.5, Verdict::Faster);
    let (view, ranking) = trial(&[13.351, 11.6], vec![faster]);
    let text = commands(&view, &ranking);
    for joined in ["p\u{a0}<\u{a0}0.01,", "1.94\u{a0}MB", "[1.42\u{a0}–\u{a0}1.58]"] {
        assert!(text.contains(joined), "{text}");
    }
}

#[test]
fn notes_of_comparisons_name_sides() {
    let mut compared = against("a", "b", 1.0, Verdict::Inconclusive);
    compared.notes = vec![Note::new(Finding::UnequalTails { base: 0, other: 12 })];
    let (view, ranking) = trial(&[13.351, 13.4], vec![compared]);
    let text = shown(&view, &ranking).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("./new input against ./old input: Beyond the margin"), "{text}");
}

#[test]
fn peak_memory_is_compared() {
    let (view, mut ranking) = trial(&[13.351, 11.6], vec![against("a", "b", 1.5, Verdict::Faster)]);
    ranking.commands[1].memory = vec![14_300_000];
    let text = shown(&view, &ranking);
    let wanted = "peak memory of ./new input is 7.37× that of ./old input";
    assert!(text.contains(wanted), "{text}");
    for noise in [1_950_000, 2_100_000, 2_900_000] {
        ranking.commands[1].memory = vec![noise];
        assert!(!shown(&view, &ranking).contains("peak memory"), "{noise}");
    }
    let all =
        vec![against("b", "a", 0.8, Verdict::Slower), against("b", "c", 0.5, Verdict::Slower)];
    let (view, mut ranking) = trial(&[13.351, 11.6, 25.0], all);
    for (command, bytes) in ranking.commands.iter_mut().zip([8_000_000, 8_000_000, 4_000_000]) {
        command.memory = vec![bytes];
    }
    assert!(shown(&view, &ranking).contains("0.500× memory"), "{}", shown(&view, &ranking));
}
