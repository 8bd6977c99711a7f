//! Plausibility of the numbers of a table: an extra digit, or a wrong unit or column, is outside its bounds, too far from the other systems
//! of the table, or breaks the order of similar machines.

use gritstone_model::{Better, Flag, Note, Selector};
use gritstone_references::{Cell, References, all};
use std::collections::BTreeMap;

type Magnitudes = (&'static str, &'static str, &'static str, &'static str, [f64; 2], f64);

/// Document, table (each where none is named), benchmark (all of the table where none), unit, the orders of magnitude between which all
/// numbers lie, and how far the medians, values and times of two systems may be apart.
#[rustfmt::skip]
const TABLES: &[Magnitudes] = &[
    ("byte-1984", "table 1", "", "s", [0.0, 50.0], 15.0),
    ("byte-1984", "table 3", "", "s", [2.0, 500.0], 20.0),
    ("dhrystone-1986", "results of version 1.1", "", "Dhrystones/s", [20.0, 50000.0], 1000.0),
    ("dhrystone-1986", "results of version 1.0", "", "Dhrystones/s", [20.0, 50000.0], 1000.0),
    ("hp-1987", "section 5, under tables 5.18 to 5.26", "", "ms", [200.0, 1000.0], 1.2),
    ("hp-1987", "section 5, under tables 5.18 to 5.26", "", "s", [1.0, 2.0], 1.2),
    ("hp-1987", "section 4, I/O call benchmark", "", "s", [1.0, 5.0], 5.0),
    ("hp-1987", "table 4.3, by the text on context switches", "", "s", [2.0, 20.0], 5.0),
    ("hp-1987", "section 1, MIPS analysis", "", "ratio", [0.5, 2.0], 3.0),
    ("hp-1987", "section 1, MIPS analysis", "", "instructions/s", [2000000.0, 5000000.0], 1.2),
    ("hp-1987", "section 2, text", "", "%", [5.0, 10.0], 1.2),
    ("hp-1987", "section 9, text", "", "ms", [2.0, 50.0], 1.2),
    ("hp-1987", "table 1.1", "", "ratio", [0.5, 2.0], 3.0),
    ("hp-1987", "table 2.1", "", "s", [10.0, 500.0], 2.0),
    ("hp-1987", "table 2.2", "", "s", [10.0, 100.0], 1.2),
    ("hp-1987", "table 3.1", "", "KWIPS", [2000.0, 5000.0], 1.5),
    ("hp-1987", "table 3.2", "", "Dhrystones/s", [5000.0, 20000.0], 2.0),
    ("hp-1987", "table 3.3", "", "KFLOPS", [200.0, 1000.0], 1.5),
    ("hp-1987", "table 4.1, rates", "", "calls/s", [5000.0, 20000.0], 3.0),
    ("hp-1987", "table 4.1, rates", "", "pairs/s", [20.0, 50.0], 1.2),
    ("hp-1987", "table 4.1, rates", "", "KB/s", [2000.0, 10000.0], 1.2),
    ("hp-1987", "table 4.1", "", "ns/op", [20.0, 5000.0], 3.0),
    ("hp-1987", "table 4.1", "", "ns/byte", [20.0, 500.0], 3.0),
    ("hp-1987", "table 4.1", "", "KB/s", [200.0, 2000.0], 5.0),
    ("hp-1987", "table 4.1", "", "bytes/s", [500.0, 2000.0], 1.2),
    ("hp-1987", "table 4.1", "", "ns/ref", [200.0, 500.0], 1.5),
    ("hp-1987", "table 4.1", "", "ns/call", [200.0, 1000.0], 2.0),
    ("hp-1987", "table 4.1", "", "forks/s", [20.0, 100.0], 2.0),
    ("hp-1987", "table 4.1", "", "us/call", [50.0, 500.0], 3.0),
    ("hp-1987", "table 4.1", "", "us/pair", [20000.0, 50000.0], 1.2),
    ("hp-1987", "table 4.2", "", "s", [0.1, 50.0], 5.0),
    ("hp-1987", "table 4.3", "", "s", [2.0, 200.0], 5.0),
    ("hp-1987", "table 4.4", "", "s", [0.1, 10.0], 5.0),
    ("hp-1987", "table 5.1", "", "ratio", [0.2, 5.0], 3.0),
    ("hp-1987", "table 5.10", "", "ms", [0.5, 5.0], 5.0),
    ("hp-1987", "table 5.11", "", "ms", [1.0, 10.0], 3.0),
    ("hp-1987", "table 5.12", "", "ms", [1.0, 10.0], 3.0),
    ("hp-1987", "table 5.13", "", "ms", [0.5, 5.0], 5.0),
    ("hp-1987", "table 5.14", "", "ms", [1.0, 5.0], 3.0),
    ("hp-1987", "table 5.15", "", "ms", [10.0, 50.0], 1.2),
    ("hp-1987", "table 5.16", "", "ms", [20.0, 50.0], 1.2),
    ("hp-1987", "table 5.17", "", "ms", [50.0, 100.0], 1.2),
    ("hp-1987", "table 5.18", "", "us", [50.0, 100000.0], 3.0),
    ("hp-1987", "table 5.19", "", "ms", [1.0, 500.0], 50.0),
    ("hp-1987", "table 5.2", "", "us", [50.0, 5000.0], 3.0),
    ("hp-1987", "table 5.20", "", "ms", [20.0, 500.0], 3.0),
    ("hp-1987", "table 5.21", "", "us", [200.0, 100000.0], 3.0),
    ("hp-1987", "table 5.22", "", "ms", [10.0, 100.0], 2.0),
    ("hp-1987", "table 5.23", "", "ms", [50.0, 500.0], 2.0),
    ("hp-1987", "table 5.24", "", "us", [100.0, 100000.0], 200.0),
    ("hp-1987", "table 5.25", "", "ms", [1.0, 1000.0], 50.0),
    ("hp-1987", "table 5.26", "", "ms", [2.0, 1000.0], 3.0),
    ("hp-1987", "table 5.27", "", "us", [200.0, 100000.0], 100.0),
    ("hp-1987", "table 5.28", "", "ms", [0.5, 200.0], 2.0),
    ("hp-1987", "table 5.29", "", "ms", [10.0, 200.0], 1.5),
    ("hp-1987", "table 5.3", "", "us", [500.0, 10000.0], 3.0),
    ("hp-1987", "table 5.4", "", "us", [50.0, 500.0], 3.0),
    ("hp-1987", "table 5.5", "", "ms", [0.5, 10.0], 3.0),
    ("hp-1987", "table 5.6", "", "us", [500.0, 10000.0], 3.0),
    ("hp-1987", "table 5.7", "", "ms", [0.5, 20.0], 7.0),
    ("hp-1987", "table 5.8", "", "us", [200.0, 5000.0], 7.0),
    ("hp-1987", "table 5.9", "", "ms", [0.5, 5.0], 7.0),
    ("hp-1987", "table 6.1", "", "s", [0.05, 20.0], 3.0),
    ("hp-1987", "table 6.1", "", "ms/transaction", [100.0, 20000.0], 3.0),
    ("hp-1987", "table 6.2", "", "ms/transaction", [50.0, 50000.0], 1.2),
    ("hp-1987", "table 7.1", "", "transactions/h", [500.0, 20000.0], 5.0),
    ("hp-1987", "table 7.2", "", "KB/s", [100.0, 1000.0], 2.0),
    ("hp-1987", "table 7.3", "", "KB/s", [200.0, 2000.0], 1.5),
    ("iocall-1985", "text", "", "s", [5.0, 10.0], 1.2),
    ("linux-lists-2009", "", "kernel/syscall@write-null", "us/call", [1.0, 50.0], 5.0),
    ("linux-lists-2009", "", "event/signal/install", "us", [0.5, 20.0], 5.0),
    ("linux-lists-2009", "", "event/signal/catch@handler", "us", [1.0, 50.0], 10.0),
    ("linux-lists-2009", "", "kernel/forks/0@dynamic", "ms/op", [0.2, 20.0], 10.0),
    ("linux-lists-2009", "", "kernel/execs/0-null@dynamic", "ms/op", [1.0, 50.0], 10.0),
    ("linux-lists-2009", "", "sched/switch/2", "us", [0.5, 100.0], 15.0),
    ("linux-lists-2009", "", "sched/switch/2@16k", "us", [2.0, 200.0], 15.0),
    ("linux-lists-2009", "", "sched/switch/2@64k", "us", [2.0, 1000.0], 50.0),
    ("linux-lists-2009", "", "sched/switch/8@16k", "us", [2.0, 200.0], 5.0),
    ("linux-lists-2009", "", "sched/switch/8@64k", "us", [10.0, 1000.0], 30.0),
    ("linux-lists-2009", "", "sched/switch/16@16k", "us", [5.0, 200.0], 5.0),
    ("linux-lists-2009", "", "sched/switch/16@64k", "us", [2.0, 1000.0], 10.0),
    ("linux-lists-2009", "", "ipc/pipe/latency", "us/trip", [2.0, 500.0], 7.0),
    ("linux-lists-2009", "", "ipc/udp/latency", "us/trip", [20.0, 2000.0], 5.0),
    ("linux-lists-2009", "", "ipc/tcp/latency", "us/trip", [20.0, 2000.0], 5.0),
    ("linux-lists-2009", "", "ipc/pipe/64k", "MB/s", [5.0, 2000.0], 5.0),
    ("linux-lists-2009", "", "ipc/tcp/1m", "MB/s", [2.0, 100.0], 3.0),
    ("linux-lists-2009", "", "memory/bandwidth/copy@libc", "MB/s", [10.0, 2000.0], 15.0),
    ("linux-lists-2009", "", "memory/bandwidth/copy@unrolled", "MB/s", [20.0, 2000.0], 3.0),
    ("linux-lists-2009", "", "memory/bandwidth/read", "MB/s", [20.0, 5000.0], 3.0),
    ("linux-lists-2009", "", "memory/bandwidth/write", "MB/s", [20.0, 2000.0], 5.0),
    ("linux-lists-2009", "", "memory/latency/beyond@stride", "ns/load", [50.0, 2000.0], 7.0),
    ("linux-lists-2009", "", "memory/latency/4k@stride", "ns/load", [1.0, 20.0], 3.0),
    ("linux-lists-2009", "", "sched/switch/8", "us", [20.0, 200.0], 1.2),
    ("linux-lists-2009", "", "kernel/syscall", "us/call", [0.1, 10.0], 7.0),
    ("linux-lists-2009", "", "ipc/unix/latency", "us/trip", [5.0, 200.0], 7.0),
    ("linux-lists-2009", "", "ipc/unix/64k", "MB/s", [10.0, 2000.0], 10.0),
    ("linux-lists-2009", "", "ipc/tcp/64k", "MB/s", [2.0, 1000.0], 30.0),
    ("linux-lists-2009", "", "kernel/forks/0@dynamic", "us/op", [100.0, 1000.0], 1.2),
    ("linux-lists-2009", "", "kernel/execs/0-null@dynamic", "us/op", [500.0, 10000.0], 1.2),
    ("lmbench-1996", "table 10", "", "us", [5.0, 500.0], 30.0),
    ("lmbench-1996", "table 11", "", "us/trip", [20.0, 500.0], 20.0),
    ("lmbench-1996", "table 12", "", "us/trip", [100.0, 2000.0], 10.0),
    ("lmbench-1996", "table 13", "", "us/trip", [100.0, 2000.0], 15.0),
    ("lmbench-1996", "table 16", "", "ms/file", [0.1, 100.0], 200.0),
    ("lmbench-1996", "table 2", "", "MB/s", [10.0, 500.0], 20.0),
    ("lmbench-1996", "table 3", "", "MB/s", [5.0, 100.0], 15.0),
    ("lmbench-1996", "table 5", "", "MB/s", [10.0, 200.0], 20.0),
    ("lmbench-1996", "table 6", "", "ns/load", [5.0, 2000.0], 10.0),
    ("lmbench-1996", "table 7", "", "us/call", [2.0, 100.0], 30.0),
    ("lmbench-1996", "table 8", "", "us", [2.0, 500.0], 50.0),
    ("lmbench-1996", "table 9", "", "ms/op", [0.5, 100.0], 30.0),
    ("login-1982", "table I", "", "s", [20.0, 100.0], 2.0),
    ("login-1982", "table II", "", "s", [20.0, 1000.0], 3.0),
    ("login-1982", "table IV", "", "s", [5.0, 2000.0], 15.0),
    ("processor-sdk-2026", "", "kernel/syscall", "us/call", [0.2, 5.0], 10.0),
    ("processor-sdk-2026", "", "event/signal/install", "us", [0.2, 10.0], 15.0),
    ("processor-sdk-2026", "", "event/signal/catch@handler", "us", [2.0, 50.0], 15.0),
    ("processor-sdk-2026", "", "kernel/forks/0@dynamic", "us/op", [200.0, 10000.0], 15.0),
    ("processor-sdk-2026", "", "kernel/execs/0-null@dynamic", "us/op", [200.0, 10000.0], 15.0),
    ("processor-sdk-2026", "", "ipc/pipe/latency", "us/trip", [10.0, 1000.0], 30.0),
    ("processor-sdk-2026", "", "ipc/unix/latency", "us/trip", [10.0, 1000.0], 30.0),
    ("processor-sdk-2026", "", "ipc/pipe/64k", "MB/s", [20.0, 1000.0], 50.0),
    ("processor-sdk-2026", "", "ipc/unix/64k", "MB/s", [20.0, 5000.0], 100.0),
    ("processor-sdk-2026", "", "memory/bandwidth/copy@libc", "MB/s", [20.0, 5000.0], 50.0),
    ("processor-sdk-2026", "", "memory/bandwidth/read", "MB/s", [100.0, 10000.0], 20.0),
    ("processor-sdk-2026", "", "memory/latency/128k@stride", "ns/load", [5.0, 500.0], 30.0),
    ("processor-sdk-2026", "", "memory/latency/1m@stride", "ns/load", [5.0, 500.0], 20.0),
    ("sysperf-1985", "table 2", "", "s", [0.2, 500.0], 5.0),
    ("unixbench-1995", "pgms/index.base", "", "MWIPS", [50.0, 100.0], 1.2),
    ("unixbench-1995", "pgms/index.base", "", "us/message", [50.0, 500.0], 1.2),
    ("unixbench-1995", "pgms/index.base", "", "ms/op", [5.0, 10.0], 1.2),
    ("unixbench-1995", "pgms/index.base", "", "us/loop", [50.0, 100.0], 1.2),
    ("unixbench-2024", "UnixBench Score: An Introduction, run of 25 June 2018", "", "MWIPS", [2000.0, 5000.0], 1.2),
    ("unixbench-2024", "UnixBench Score: An Introduction, run of 25 June 2018", "", "us/message", [0.5, 5.0], 1.2),
    ("unixbench-2024", "UnixBench Score: An Introduction, run of 25 June 2018", "", "us/op", [100.0, 200.0], 1.2),
    ("unixbench-2024", "UnixBench Score: An Introduction, run of 25 June 2018", "", "us/loop", [0.2, 0.5], 1.2),
    ("unixbench-2024", "bretmlw/sbc-benchmarks, b9b7df69", "", "MWIPS", [200.0, 10000.0], 20.0),
    ("unixbench-2024", "bretmlw/sbc-benchmarks, b9b7df69", "", "us/message", [0.5, 200.0], 30.0),
    ("unixbench-2024", "bretmlw/sbc-benchmarks, b9b7df69", "", "us/op", [200.0, 5000.0], 10.0),
    ("unixbench-2024", "bretmlw/sbc-benchmarks, b9b7df69", "", "us/loop", [0.5, 5.0], 5.0),
    ("weekly-1984", "running text", "", "s", [0.2, 200.0], 15.0),
];

/// A machine, one that follows it or is built like it, the benchmarks that both have, and the factor by which the second may be slower.
const LIKE: &[(&str, &str, &str, f64)] = &[
    ("vax-11-750-4.1bsd", "vax-11-780-4.1bsd", "byte/*", 1.01),
    ("pdp-11-23-venix", "pdp-11-70-2.8bsd", "byte/*", 1.0),
    ("hp-1000-a600", "hp-1000-a900", "rt/*", 1.2),
    ("hp-9000-840s", "hp-9000-850s", "byte/*", 1.0),
    ("hp-9000-840s", "hp-9000-850s", "kernel/*", 1.1),
    ("hp-9000-840s", "hp-9000-850s", "unix/*", 1.0),
    ("hp-9000-840s", "hp-9000-850s", "cpu/*", 1.0),
    ("hp-9000-840s", "hp-9000-850s", "app/*", 1.0),
    ("hp-9000-840s", "hp-9000-850s", "db/*", 1.0),
    ("vax-11-750-4.1bsd-sysperf-1985", "vax-11-750-4.3bsd-sysperf-1985", "kernel/*", 1.6),
    (
        "vax-11-750-unix-4.2bsd-dhrystone-1.0",
        "vax-11-780-unix-4.3bsd-dhrystone-1.0",
        "cpu/*@*",
        1.0,
    ),
    (
        "vax-11-780-unix-4.3bsd-dhrystone-1.0",
        "vax-11-785-unix-4.3bsd-dhrystone-1.0",
        "cpu/*@*",
        1.0,
    ),
    ("vax-11-785-unix-4.3bsd-dhrystone-1.0", "vax-8600-unix-4.3bsd-dhrystone-1.0", "cpu/*@*", 1.0),
    // a board and a later release, which costs more for each call
    ("am335x-evm-2018", "am335x-evm-2025", "*", 1.4),
    ("am437x-evm-2018", "am437x-evm-2025", "*", 1.7),
    ("am572x-evm-2018", "am572x-evm-2025", "*", 1.8),
    ("am65x-evm-2020", "am65x-evm-2025", "*", 2.5),
    ("am64x-evm-2021", "am64x-evm-2026", "*", 2.0),
    ("j7200-evm-2023", "j7200-evm-2025", "*", 1.5),
    ("j721e-evm-2023", "j721e-evm-2025", "*", 1.5),
    ("am62px-sk-2024", "am62px-sk-2026", "*", 1.5),
    // a processor and its successors
    ("am335x-evm-2025", "am572x-evm-2025", "kernel/*@*", 1.0),
    ("am572x-evm-2025", "j721e-evm-2025", "kernel/*@*", 1.0),
    ("raspberry-pi-model-b-rev2-unixbench-2021", "raspberry-pi-4-2.15ghz-unixbench-2021", "*", 1.0),
];

/// By what systems are compared.
const COMPARED: [&str; 4] = ["real", "cpu", "value", "median"];

fn shipped() -> References {
    all().expect("the shipped files are sound")
}

/// Every number of a cell by its name, with its unit.
fn numbers(cell: &Cell) -> Vec<(&str, &str, f64)> {
    let seconds = &cell.seconds;
    let times = [
        ("real", seconds.real),
        ("cpu", seconds.cpu),
        ("user", seconds.user),
        ("system", seconds.system),
    ];
    let times = times.into_iter().filter_map(|(name, s)| Some((name, "s", s?)));
    let value = cell.value.iter();
    let value = value.map(|value| ("value", value.unit.as_str(), value.value));
    let printed = cell.distribution.iter().flat_map(|distribution| {
        let all = [
            ("min", Some(distribution.min)),
            ("median", Some(distribution.median)),
            ("mean", distribution.mean),
            ("max", Some(distribution.max)),
        ];
        let unit = distribution.unit.as_str();
        all.into_iter().filter_map(move |(name, x)| Some((name, unit, x?)))
    });
    times.chain(value).chain(printed).collect()
}

/// The bounds of a number and how far it may be from those of other systems.
fn bounds(cell: &Cell, unit: &str) -> ([f64; 2], f64) {
    let row = TABLES.iter().find(|(document, place, benchmark, row_unit, ..)| {
        let there = [(*place, cell.place.as_str()), (benchmark, cell.benchmark.as_str())];
        let there = there.iter().all(|(named, is)| named.is_empty() || named == is);
        there && cell.document == *document && unit == *row_unit
    });
    let (.., bounds, spread) =
        row.unwrap_or_else(|| panic!("{}: no row for {unit}", describe(cell)));
    (*bounds, *spread)
}

fn describe(cell: &Cell) -> String {
    format!("{}, {}: {} of {}", cell.document, cell.place, cell.benchmark, cell.machine)
}

#[test]
fn numbers_match_table_magnitude() {
    for cell in &shipped().cells {
        for (name, unit, x) in numbers(cell) {
            let ([low, high], _) = bounds(cell, unit);
            assert!((low..=high).contains(&x), "{}: {name} {x} {unit}", describe(cell));
        }
    }
}

#[test]
fn table_systems_are_similar() {
    let references = shipped();
    let mut groups: BTreeMap<_, Vec<(&Cell, f64)>> = BTreeMap::new();
    for cell in &references.cells {
        for (name, unit, x) in numbers(cell) {
            if x > 0.0 && COMPARED.contains(&name) {
                let group = (&cell.document, &cell.place, &cell.benchmark, name, unit);
                groups.entry(group).or_default().push((cell, x));
            }
        }
    }
    for ((.., unit), group) in &groups {
        for ((a, x), (b, y)) in group.iter().flat_map(|a| group.iter().map(move |b| (a, b))) {
            let (_, spread) = bounds(a, unit);
            assert!(x <= &(y * spread), "{}: {x}, where {} has {y}", describe(a), b.machine);
        }
    }
    assert!(groups.len() > 500, "{}", groups.len());
}

/// A later machine of a kind is not slower than an earlier one, within what their systems differ.
#[test]
fn like_machines_keep_their_order() {
    let references = shipped();
    let mut wrong = vec![];
    for (earlier, later, selector, slack) in LIKE {
        let by = Selector::new(selector);
        let mut compared = 0;
        for a in references.cells.iter().filter(|cell| {
            cell.machine == *earlier && by.matches(&cell.benchmark) && !is_doubtful(cell)
        }) {
            let same = |b: &&Cell| b.machine == *later && b.benchmark == a.benchmark;
            let mut others = references.cells.iter();
            let Some(b) = others.find(same).filter(|b| !is_doubtful(b)) else {
                continue;
            };
            let rate = a.value.as_ref().is_some_and(|value| value.better == Better::Higher);
            for ((name, unit, x), (other_name, other_unit, y)) in
                numbers(a).into_iter().zip(numbers(b))
            {
                if (name, unit) == (other_name, other_unit) && COMPARED.contains(&name) {
                    let (slow, fast) = if rate { (x, y) } else { (y, x) };
                    if slow > fast * slack {
                        wrong.push(format!("{}: {x}, then {y} of {later}", describe(a)));
                    }
                    compared += 1;
                }
            }
        }
        assert!(compared > 0, "{earlier} and {later} have no {selector}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn is_doubtful(cell: &Cell) -> bool {
    let doubt = |note: &Note| note.flag() == Some(Flag::Doubtful);
    cell.notes.iter().any(doubt)
}
