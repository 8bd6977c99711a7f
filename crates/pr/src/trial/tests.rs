use super::*;
use rand::RngExt as _;

const BENCHMARKS: usize = 20;
const ROUNDS: usize = 135;

fn margins(default: f64) -> Margins {
    Margins { default, by_name: BTreeMap::new() }
}

fn result(name: &str, value: f64) -> HarnessResult {
    HarnessResult {
        name: name.to_owned(),
        unit: "ns".to_owned(),
        better: Better::Lower,
        values: vec![value],
    }
}

/// Launches of one side on a noisy machine: a spread of 3%, and one in ten disturbed by up to a half.
fn launch(random: &mut Pcg64, slower: f64) -> Vec<HarnessResult> {
    let mut value = |name: usize| {
        let spread: f64 = (0..6).map(|_| random.random_range(-0.5..0.5)).sum::<f64>() * 0.042;
        let disturbed = match random.random_bool(0.1) {
            true => random.random_range(0.0..0.5),
            false => 0.0,
        };
        let effect = if name == 7 { slower } else { 0.0 };
        result(&format!("b{name}"), 100.0 * (spread + effect).exp() * (1.0 + disturbed))
    };
    (0..BENCHMARKS).map(&mut value).collect()
}

/// Rows after all is decided or the rounds are over.
fn simulate(seed: u64, slower: f64, rounds: usize) -> Vec<PrRow> {
    let mut random = Pcg64::seed_from_u64(seed);
    let first = launch(&mut random, 0.0);
    let mut trial = Trial::new([&first, &first], PrQuantity::Time, &margins(0.02), seed);
    while trial.rounds < rounds && !trial.open().is_empty() {
        let mut sides = [vec![], vec![]];
        for side in trial.order() {
            sides[side] = launch(&mut random, if side == 1 { slower } else { 0.0 });
        }
        trial.observe([&sides[0], &sides[1]], 0);
    }
    trial.rows("lines")
}

#[test]
fn equal_sides_are_rarely_called() {
    let trials = 100;
    let called = (0..trials).filter(|seed| {
        let rows = simulate(*seed, 0.0, ROUNDS);
        rows.iter().any(|row| matches!(row.verdict, Verdict::Slower | Verdict::Faster))
    });
    let called = called.count();
    assert!(called * 100 <= trials as usize, "{called} of {trials}");
}

#[test]
fn single_three_percent_is_found() {
    let trials = 30;
    let found = (0..trials).filter(|seed| {
        let rows = simulate(1000 + seed, 0.03, ROUNDS);
        let regressed: Vec<&str> =
            rows.iter().filter(|row| row.regressed).map(|row| row.name.as_str()).collect();
        regressed == ["b7"]
    });
    let found = found.count();
    assert!(found * 10 >= trials as usize * 9, "{found} of {trials}");
}

#[test]
fn stated_slowdowns_are_found() {
    let (trials, rounds) = (30, 40);
    let smallest = simulate(1, 0.0, rounds).into_iter();
    let smallest = smallest.filter(|row| row.verdict == Verdict::Inconclusive);
    let smallest: Vec<f64> = smallest.filter_map(|row| row.smallest).collect();
    let smallest = median(&smallest).unwrap();
    let found = |slower: f64| {
        let regressed = |seed: &u64| {
            let mut rows = simulate(2000 + seed, slower.ln_1p(), rounds).into_iter();
            rows.any(|row| row.name == "b7" && row.regressed)
        };
        (0..trials).filter(regressed).count()
    };
    assert!(found(smallest) * 10 >= trials as usize * 9, "{smallest}");
    assert!(found(smallest / 4.0) * 2 <= trials as usize, "{smallest}");
    // sixteen pairs are the first that can show anything among twenty benchmarks
    let known = |rounds| simulate(1, 0.0, rounds)[0].smallest.is_some();
    assert_eq!((known(15), known(16)), (false, true));
}

/// Rounds of exact values: (base, head) by benchmark.
fn exact(rounds: usize, rows: &[(&str, f64, f64)], margins: &Margins) -> Trial {
    let side = |which: fn(&(&str, f64, f64)) -> f64| {
        let results = rows.iter().map(|row| result(row.0, which(row)));
        results.collect::<Vec<_>>()
    };
    let (base, head) = (side(|row| row.1), side(|row| row.2));
    let mut trial = Trial::new([&base, &head], PrQuantity::Time, margins, 1);
    for _ in 0..rounds {
        trial.observe([&base, &head], 0);
    }
    trial
}

#[test]
fn exact_values_are_decided_early() {
    let trial = exact(18, &[("a", 1.0, 1.0), ("b", 1.0, 1.1), ("c", 1.0, 0.9)], &margins(0.02));
    assert_eq!(trial.open(), [""; 0]);
    let rows = trial.rows("lines");
    let output: Vec<_> =
        rows.iter().map(|row| (row.id.as_str(), row.verdict, row.regressed)).collect();
    let expected = [
        ("lines/b", Verdict::Slower, true),
        ("lines/c", Verdict::Faster, false),
        ("lines/a", Verdict::Same, false),
    ];
    assert_eq!(output, expected);
    assert_eq!(outcome(&rows, &[]), CheckOutcome::Regressed);
    assert!((rows[2].smallest.unwrap() - 0.02).abs() < 1e-12);
}

#[test]
fn probable_regressions_never_pass() {
    let names: Vec<String> = (0..BENCHMARKS).map(|index| format!("b{index:02}")).collect();
    let all: Vec<_> = names.iter().map(|name| (name.as_str(), 1.0, 1.3)).collect();
    let rows = exact(12, &all, &margins(0.02)).rows("lines");
    assert!(rows.iter().all(|row| row.verdict == Verdict::Slower && row.is_uncertain()));
    assert_eq!(outcome(&rows, &[]), CheckOutcome::Inconclusive);
    let rows = exact(18, &[("a", 1.0, 1.015), ("b", 1.0, 1.0)], &margins(0.02)).rows("lines");
    assert!(!rows.iter().any(PrRow::is_uncertain));
    assert_eq!(outcome(&rows, &[]), CheckOutcome::Passed);
}

#[test]
fn agreeing_counts_need_no_test() {
    let (base, head) = ([result("a", 1e6)], [result("a", 1.01e6)]);
    let margins = margins(0.005);
    let mut trial = Trial::new([&base, &head], PrQuantity::Instructions, &margins, 1);
    trial.observe([&base, &head], 0);
    assert_eq!(trial.open(), ["a"]);
    trial.observe([&base, &head], 0);
    assert_eq!(trial.open(), [""; 0]);
    let row = &trial.rows("command")[0];
    assert_eq!((row.verdict, row.regressed, row.spread), (Verdict::Slower, true, Some(0.0)));
    let mut trial = Trial::new([&base, &head], PrQuantity::Instructions, &margins, 1);
    for count in [1e6, 1.002e6, 1e6] {
        trial.observe([&base, &[result("a", count)]], 0);
    }
    let row = &trial.rows("command")[0];
    assert_eq!((row.verdict, trial.open().len()), (Verdict::Inconclusive, 1));
    assert!((row.spread.unwrap() - 0.002).abs() < 1e-12);
}

#[test]
fn margins_are_by_benchmark() {
    let mut margins = margins(0.02);
    margins.by_name.insert("b".to_owned(), 0.2);
    let rows = exact(18, &[("a", 1.0, 1.1), ("b", 1.0, 1.1)], &margins).rows("lines");
    assert_eq!((rows[0].name.as_str(), rows[0].regressed), ("a", true));
    assert_eq!((rows[1].name.as_str(), rows[1].verdict), ("b", Verdict::Same));
}

#[test]
fn rates_are_slower_when_lower() {
    let rate = |value| HarnessResult { better: Better::Higher, ..result("rate", value) };
    let (base, head) = ([rate(100.0)], [rate(90.0)]);
    let mut trial = Trial::new([&base, &head], PrQuantity::Time, &margins(0.02), 1);
    for _ in 0..18 {
        trial.observe([&base, &head], 0);
    }
    let row = &trial.rows("jmh")[0];
    assert_eq!((row.verdict, row.base, row.head), (Verdict::Slower, Some(100.0), Some(90.0)));
    assert!((row.ratio.unwrap() - 0.9).abs() < 1e-12);
}

#[test]
fn disturbed_repetitions_do_not_count() {
    let harness_result = |better, values: &[f64]| HarnessResult {
        better,
        values: values.to_vec(),
        ..result("a", 1.0)
    };
    let ns = |result: &HarnessResult| time(result).unwrap().ns;
    assert!((ns(&harness_result(Better::Lower, &[9.0, 2.0, 7.0, 3.0, 8.0])) - 3.0).abs() < 1e-12);
    assert!((ns(&harness_result(Better::Lower, &[7.0, 2.0])) - 2.0).abs() < 1e-12);
    assert!((ns(&harness_result(Better::Higher, &[0.1, 0.5, 0.2, 0.4])) - 1.0 / 0.4).abs() < 1e-12);
}

#[test]
fn unmatched_benchmarks_leave_it_open() {
    let (base, head) =
        ([result("a", 1.0), result("old", 1.0)], [result("a", 1.0), result("new", 1.0)]);
    let mut trial = Trial::new([&base, &head], PrQuantity::Time, &margins(0.02), 1);
    let named: Vec<_> = trial.unmatched.iter().map(|u| (u.name.as_str(), u.only)).collect();
    assert_eq!(named, [("old", PrSideName::Base), ("new", PrSideName::Head)]);
    for _ in 0..12 {
        trial.observe([&base, &head], 0);
    }
    assert_eq!(trial.closed(), ["a", "old", "new"]);
    assert_eq!(outcome(&trial.rows("lines"), &trial.unmatched), CheckOutcome::Inconclusive);
    assert_eq!(outcome(&trial.rows("lines"), &[]), CheckOutcome::Passed);
}

#[test]
fn failing_launches_end_a_benchmark() {
    let all = [result("a", 1.0), result("b", 1.0)];
    let mut trial = Trial::new([&all, &all], PrQuantity::Time, &margins(0.02), 1);
    for _ in 0..4 {
        trial.observe([&all, &all[..1]], 0);
    }
    assert_eq!(trial.open(), ["a"]);
    let rows = trial.rows("lines");
    let b = rows.iter().find(|row| row.name == "b").unwrap();
    assert_eq!((b.failed, b.pairs, b.verdict), (3, 0, Verdict::Inconclusive));
}

#[test]
fn orders_are_random() {
    let all = [result("a", 1.0)];
    let mut trial = Trial::new([&all, &all], PrQuantity::Time, &margins(0.02), 3);
    let first: Vec<usize> = (0..200).map(|_| trial.order()[0]).collect();
    let heads = first.iter().sum::<usize>();
    assert!((60..140).contains(&heads), "{heads}");
    let alternations = first.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!((60..140).contains(&alternations), "{alternations}");
}
