//! weekly-1984, hp-1987 and iocall-1985, by themselves and beside byte-1984.
//!
//! Must not know: the shape of the files.

use crate::shipped::{cell, doubted, doubts, shipped, table, three};
use gritstone_model::Id;

/// Sums of the three machines, in hundredths of a second.
const TABLE_4_2: [(&str, i64); 15] = [
    ("byte/pipe", 400),
    ("byte/syscall", 570),
    ("byte/fcall-assign", 30),
    ("byte/fcall-empty", 30),
    ("byte/sieve", 39),
    ("byte/disk-write", 250),
    ("byte/disk-read", 80),
    ("byte/shell", 920),
    ("byte/multi/1", 990),
    ("byte/multi/2", 1890),
    ("byte/multi/3", 2810),
    ("byte/multi/4", 3680),
    ("byte/multi/5", 4650),
    ("byte/multi/6", 5810),
    ("byte/loop", 80),
];

#[test]
fn weekly_names_its_fastest_machines() {
    let references = shipped();
    let cells = table(&references, "weekly-1984", "running text");
    let fastest = |benchmark: &str, figure: usize| -> Vec<(&str, f64)> {
        let mut found: Vec<_> = cells
            .iter()
            .filter(|cell| cell.benchmark.as_str() == benchmark)
            .filter_map(|cell| {
                Some((
                    cell.machine.strip_suffix("-weekly-1984")?,
                    three(cell)[figure]?,
                ))
            })
            .collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        found
    };
    let (vax, zilog) = ("vax-11-780", "zilog-8000-32");
    assert_eq!(fastest("byte/pipe", 0), [(vax, 3.9)]);
    assert_eq!(fastest("byte/pipe", 2), [(vax, 1.2), (zilog, 1.5)]);
    assert_eq!(fastest("byte/syscall", 0), [(vax, 4.8), (zilog, 5.0)]);
    assert_eq!(
        fastest("byte/fcall-overhead", 1),
        [("altos-986", 0.4), ("sun-2-120", 0.8)]
    );
    assert_eq!(fastest("byte/sieve", 0), [(zilog, 1.0), (vax, 1.7)]);
    assert_eq!(
        fastest("byte/disk-write", 0),
        [("cadmus-9200", 1.7), ("sun-2-120", 1.8)]
    );
    assert_eq!(fastest("byte/disk-read", 0), [(zilog, 4.0)]);
    assert_eq!(fastest("byte/loop", 0), [(vax, 2.6), (zilog, 4.0)]);
    assert_eq!(fastest("byte/shell", 0), []);
    assert_eq!(fastest("byte/multi/1", 0), []);
    let six = fastest("byte/multi/6", 0);
    assert_eq!(six, [(zilog, 9.0), ("ibm-pc-xt", 130.0)]);
    assert_eq!(
        (six[1].1 / six[0].1).round(),
        14.0,
        "the ratio that the text gives"
    );
}

/// Figures of one machine in two documents are the same, or doubted in both.
#[test]
fn byte_and_weekly_agree_or_say_that_they_do_not() {
    let references = shipped();
    let (mut same, mut different) = (0, 0);
    for (weekly, byte) in [
        ("vax-11-780-weekly-1984", "vax-11-780-4.1bsd"),
        ("altos-986-weekly-1984", "altos-986-xenix"),
        ("sun-2-120-weekly-1984", "sun-2-120-4.2bsd"),
        ("ibm-pc-xt-weekly-1984", "ibm-pc-xt-pc-ix"),
    ] {
        let cells = |machine: &'static str| {
            references
                .cells
                .iter()
                .filter(move |cell| cell.machine == machine)
        };
        for ours in cells(weekly) {
            let theirs = cells(byte)
                .find(|cell| cell.benchmark == ours.benchmark)
                .expect("byte-1984 has every row");
            for (n, figure) in ["real_s", "user_s", "system_s"].into_iter().enumerate() {
                let (Some(a), Some(b)) = (three(ours)[n], three(theirs)[n]) else {
                    continue;
                };
                if a == b {
                    same += 1;
                    continue;
                }
                different += 1;
                for (cell, other) in [(ours, "byte-1984"), (theirs, "weekly-1984")] {
                    let said = doubts(cell).any(|doubt| {
                        doubt.about.as_str() == figure && crate::text(doubt).contains(other)
                    });
                    assert!(said, "{} {} {figure}", cell.machine, cell.benchmark);
                }
            }
        }
    }
    assert_eq!((same, different), (7, 2));
}

#[test]
fn hp_table_4_2_by_columns_by_rows_and_by_its_neighbours() {
    let references = shipped();
    let cells = table(&references, "hp-1987", "table 4.2");
    assert_eq!(cells.len(), 45);
    let real = |machine: &str, benchmark: &str| {
        cell(&cells, &format!("hp-9000-{machine}"), benchmark)
            .seconds
            .real
            .expect("a time")
    };
    // hundredths, for the one figure that has them; and the microseconds of a getpid() in the same document's table 4.1
    for (machine, sum, getpid) in [
        ("825s", 7930, 110.0),
        ("840s", 7639, 66.0),
        ("850s", 6660, 50.0),
    ] {
        let of_column: f64 = cells
            .iter()
            .filter(|cell| cell.machine.ends_with(machine))
            .filter_map(|cell| cell.seconds.real)
            .sum();
        assert_eq!((of_column * 100.0).round() as i64, sum, "{machine}");
        let syscall = real(machine, "byte/syscall");
        assert!(
            (syscall - 25_000.0 * getpid * 1e-6).abs() <= 0.051,
            "{machine} {syscall}"
        );
        let mut last = real(machine, "byte/shell");
        for n in 1..=6 {
            let next = real(machine, &format!("byte/multi/{n}"));
            assert!(next > last, "{machine} {n}");
            last = next;
        }
    }
    let of_rows = TABLE_4_2.map(|(benchmark, _)| {
        let sum: f64 = ["825s", "840s", "850s"]
            .map(|machine| real(machine, benchmark))
            .iter()
            .sum();
        (benchmark, (sum * 100.0).round() as i64)
    });
    assert_eq!(of_rows, TABLE_4_2);
    // the 850S is first everywhere; the 840S before the 825S in everything that is the kernel's, or doubted
    for cell in cells.iter().filter(|cell| cell.machine == "hp-9000-840s") {
        let benchmark = cell.benchmark.as_str();
        let [slow, middle, fast] = ["825s", "840s", "850s"].map(|machine| real(machine, benchmark));
        assert!(fast <= middle && fast <= slow, "{benchmark}");
        if benchmark != "byte/disk-write" {
            assert!(middle <= slow || doubted(cell), "{benchmark}");
        }
    }
}

#[test]
fn io_call_times_are_two_works() {
    let references = shipped();
    let of = |id: &str| -> Vec<(&str, [Option<f64>; 3])> {
        let id = Id::parse(id).expect("an identifier");
        let cells = references.cells.iter().filter(|cell| cell.benchmark == id);
        cells
            .map(|cell| (cell.machine.as_str(), three(cell)))
            .collect()
    };
    assert_eq!(
        of("iocall"),
        [("vax-11-780-4.2bsd", [None, None, Some(6.0)])]
    );
    assert_eq!(
        of("iocall@hp"),
        [
            ("hp-9000-825s", [Some(4.0), None, None]),
            ("hp-9000-840s", [Some(1.9), None, None]),
            ("hp-9000-850s", [Some(1.2), None, None]),
        ]
    );
    let around = references
        .cells
        .iter()
        .find(|cell| cell.document == "iocall-1985");
    let footnotes = &around.expect("one cell").notes;
    assert!(
        footnotes
            .iter()
            .any(|footnote| crate::text(footnote).contains("around"))
    );
}
