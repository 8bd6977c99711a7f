//! The words of every finding, flag and outcome, once.

use gritstone_model::*;
use gritstone_report::findings::{mark, meaning, message, outcome};
use std::collections::BTreeSet;

fn id(text: &str) -> Id {
    Id::parse(text).unwrap()
}

fn named(text: &str) -> String {
    text.to_owned()
}

fn below() -> Box<Finding> {
    Box::new(Finding::BelowMinimum {
        ns: 9.0,
        minimum: 10.0,
    })
}

fn withheld(why: Withheld) -> Finding {
    Finding::ScoreWithheld {
        baseline: named("ref:vax"),
        of: 2,
        why,
    }
}

fn stated(by: Author, flag: Option<Flag>, text: &str) -> Finding {
    Finding::Stated {
        by,
        flag,
        text: named(text),
    }
}

/// Whether there is a result, what others say of it, and its work.
fn of_one() -> Vec<Finding> {
    use Finding::*;
    let failed = |outcome, part, refuted| Failed {
        outcome,
        reason: named("write: ENOSPC"),
        count: Count::launches(part, 10),
        refuted,
    };
    vec![
        NotReached {},
        Unavailable {
            reason: named("There is no cc: apt-get install gcc"),
        },
        failed(Status::Failed, 10, false),
        failed(Status::TimedOut, 2, false),
        failed(Status::Failed, 2, true),
        stated(Author::Catalog, None, "the listing is lost"),
        stated(Author::Workload, Some(Flag::NotComparable), "On a file"),
        stated(Author::Document, None, "hp-1987, table 1 [*]: starred"),
        stated(Author::Reader, Some(Flag::Doubtful), "a digit is blurred"),
        Custom {
            catalog: named("mine (0123abcd)"),
        },
        NotInCatalog {},
        WrongCheck {
            wrong: 1,
            regions: 40,
            n: 1000,
            got: 9,
            expected: 1001,
        },
        NoCheck {
            count: Count::launches(3, 10),
        },
        NotLinear {
            small: 4000,
            large: 8000,
            exponent: Some(0.0123),
            allowed: [0.7, 1.3],
        },
        NotLinear {
            small: 4000,
            large: 8000,
            exponent: None,
            allowed: [0.7, 1.3],
        },
        GrowthUnverified { launches: 10 },
        *below(),
        FewSwitches {
            per_op: 1.0,
            claimed: 2.0,
            share: 0.9,
        },
        ManyFaults {
            per_op: 0.01,
            claimed: 0.001,
        },
        FewMajorFaults {
            per_op: 1.0,
            claimed: 2.0,
        },
        SystemCalls {
            per_op: 0.0,
            expected: 1.0,
            claimed: true,
        },
        SystemCalls {
            per_op: 4.0,
            expected: 5.0,
            claimed: false,
        },
        Untimed {
            count: Count::launches(2, 10),
        },
        Unsized {
            count: Count::launches(1, 2),
        },
        EndedEarly {},
        NeedsIeee {
            finding: below(),
            flags: named("-Ofast"),
        },
    ]
}

fn cache(level: u8, kind: CacheKind, bytes: u64) -> Cache {
    Cache {
        level,
        kind,
        bytes,
        shared_by: 1,
    }
}

fn rise(from: f64, to: f64, cache: Option<Cache>) -> Rise {
    let factor = 4.23;
    Rise {
        from,
        to,
        factor,
        cache,
    }
}

/// How far it repeats, and what went on beside it.
fn of_repeats() -> Vec<Finding> {
    use Finding::*;
    let wide = |half| WideInterval {
        half,
        asked: 0.05,
        n: 9,
        what: Repeat::Launch,
    };
    let negative = |because| Negative {
        value: -40.0,
        unit: named("ns/call"),
        because,
    };
    vec![
        NoInterval {
            confidence: 0.95,
            needed: 6,
            n: 5,
            what: Repeat::Launch,
        },
        wide(0.069),
        wide(0.0501),
        SeveralModes {
            modes: 2,
            n: 10,
            what: Repeat::Round,
        },
        SizeVaries {
            least: 2000.0,
            most: 2008.0,
        },
        IncompleteRounds {
            count: Count::rounds(2, 10),
        },
        negative(NegativeBecause::Interference),
        negative(NegativeBecause::TooFew),
        negative(NegativeBecause::Work),
        ReachesZero {
            interval: [-0.5, 12.3],
            unit: named("ns/call"),
        },
        Interfered {
            count: Count::launches(3, 10),
            causes: vec![
                Interference::Others(0.4),
                Interference::Elsewhere(0.8),
                Interference::Steal(0.03),
                Interference::Stalled(0.02),
                Interference::Throttled(0.001),
                Interference::Overheated(3),
                Interference::MemoryLimit(1),
                Interference::Smt,
            ],
        },
        LeftOut {
            count: Count::launches(1, 10),
        },
        FrequencyDrift { sd: 0.015 },
        Load {
            rates: vec![LoadRate {
                per_hour: 1500.0,
                what: named("transactions of 16 users"),
            }],
        },
        IdleLoad {
            programs: vec![named("load/users")],
        },
        Paging {
            cpu_s: 1e-6,
            real_s: 3e-4,
            major_faults: 1.5,
            each: Some((0.5, named("page"))),
        },
        CacheRises {
            rises: vec![
                rise(32.0, 128.0, Some(cache(1, CacheKind::Data, 48 << 10))),
                rise(256.0, 512.0, None),
            ],
            unseen: vec![cache(3, CacheKind::Unified, 32 << 20)],
        },
        CacheRises {
            rises: vec![],
            unseen: vec![
                cache(1, CacheKind::Data, 32 << 10),
                cache(2, CacheKind::Unified, 3 << 19),
            ],
        },
        NoBatch {
            count: Count::launches(3, 10),
            did: Some(5),
            operations: 10,
            timed: true,
        },
        NoBatch {
            count: Count::rounds(10, 10),
            did: None,
            operations: 10,
            timed: false,
        },
        StartUp { limit: 0.1 },
        StartUpUnseen {
            process_s: 0.0123,
            real_s: 0.0124,
        },
    ]
}

/// Of results made of others, and of results compared.
fn of_several() -> Vec<Finding> {
    use Finding::*;
    let missing = |absent: &[&str], empty: &[&str]| PartsMissing {
        absent: absent.iter().map(|name| id(name)).collect(),
        empty: empty.iter().map(|name| id(name)).collect(),
    };
    let one = || vec![Part::Benchmark(id("a/one")), Part::Copies(id("a/two"), 8)];
    vec![
        Inherited {
            from: id("a/long"),
            finding: below(),
        },
        missing(&["a/long"], &[]),
        missing(&[], &["a/short"]),
        missing(&["a/long"], &["a/short"]),
        missing(&[], &[]),
        withheld(Withheld::Empty),
        withheld(Withheld::NoBaseline),
        withheld(Withheld::NotComparable),
        withheld(Withheld::Missing(one())),
        withheld(Withheld::TooMany(one())),
        withheld(Withheld::Invalid(one())),
        withheld(Withheld::NotPositive(one())),
        PartialScore { part: 1, of: 2 },
        WeightLeftOut {
            share: 0.75,
            baseline: named("ref:vax"),
            benchmarks: vec![id("a/rate")],
        },
        PartsFlagged {
            flag: Flag::Interference,
            benchmarks: vec![id("a/one"), id("a/two")],
            of: 3,
        },
        NoCounterpart {
            lacking: named("run-1"),
        },
        VersionsDiffer { base: 1, other: 2 },
        UnitsDiffer {
            base: named("ns/call"),
            other: named("calls/s"),
        },
        NoEstimate {
            base: true,
            other: false,
        },
        NoEstimate {
            base: false,
            other: true,
        },
        NoEstimate {
            base: false,
            other: false,
        },
        NotPositive {},
        NoLaunches {},
        RealTimeInstead {
            asked: Subject::System,
            unmeasured: true,
        },
        RealTimeInstead {
            asked: Subject::User,
            unmeasured: false,
        },
        OnlyTime {
            time: Subject::User,
        },
        AcrossTimes {
            printed: Subject::Cpu,
        },
        NothingInCommon {},
        BothPrinted {},
        NoHistory {},
        CorrelatedHistory { correlation: 0.71 },
        ShortHistory { runs: 4, needed: 5 },
        NoEstimateIn {
            run: named("run-0"),
        },
        NotInRun {
            run: named("run-1"),
        },
        InvalidIn {
            run: named("run-0"),
            finding: below(),
        },
        ProgramsDiffer {
            run: named("run-2"),
            first: named("run-0"),
        },
    ]
}

fn code(finding: &Finding) -> String {
    let value = serde_json::to_value(finding).unwrap();
    value["code"].as_str().unwrap().to_owned()
}

#[test]
fn every_finding_has_its_words() {
    let all = [of_one(), of_repeats(), of_several()].concat();
    let lines: Vec<String> = all
        .into_iter()
        .map(|finding| {
            let flag = finding.flag().map_or("-", Flag::as_str);
            let code = code(&finding);
            format!("{flag} {code}: {}", message(&Note::new(finding)))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn no_finding_is_without_words() {
    let all = [of_one(), of_repeats(), of_several()].concat();
    let worded: BTreeSet<String> = all.iter().map(code).collect();
    // serde names all variants to whom asks for one that is none
    let none = serde_json::from_str::<Finding>("{\"code\":\"\"}").unwrap_err();
    let none = none.to_string();
    let codes: BTreeSet<String> = none.split('`').skip(3).step_by(2).map(named).collect();
    assert!(codes.len() > 50, "{none}");
    assert_eq!(worded, codes);
}

#[test]
fn the_side_of_a_comparison_comes_first() {
    let note = Note {
        side: Some(named("before")),
        ..Note::new(*below())
    };
    assert_eq!(
        message(&note),
        "before: 9 ns/op is below the physical minimum of 10 ns."
    );
}

#[test]
fn every_flag_and_outcome_has_its_words() {
    let flags = [
        Some(Flag::Invalid),
        Some(Flag::Noisy),
        Some(Flag::Modes),
        Some(Flag::Interference),
        Some(Flag::Skipped),
        Some(Flag::NotComparable),
        Some(Flag::Doubtful),
        Some(Flag::Custom),
        None,
    ];
    let flags = flags.map(|flag| {
        let word = flag.map_or("-", Flag::as_str);
        format!("{word} {} {}", mark(flag), meaning(flag))
    });
    let outcomes = [
        Status::Measured,
        Status::Skipped,
        Status::Failed,
        Status::TimedOut,
        Status::Published,
    ];
    let outcomes = outcomes.map(|status| format!("{}: {}", status.as_str(), outcome(status)));
    insta::assert_snapshot!([&flags[..], &outcomes[..]].concat().join("\n"));
}
