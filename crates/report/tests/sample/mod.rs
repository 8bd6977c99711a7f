//! Made-up views with realistic values, shared by the tests and by the example that writes a brief of them.
#![allow(dead_code)] // each test uses a part

pub mod briefs;
pub mod entries;
pub mod machines;

use gritstone_model::{
    Absence, Author, Better, CommonChange, CompareCopies, CompareFigure, CompareRow, CompareSum,
    CompareView, CopiesPoint, CopiesView, Data, Difference, Estimate, Flag, LawView, Measured,
    Measurement, Note, Part, PartValue, Program, PublishedView, Quantity, ResultCurve, RunView,
    SCHEMA_COMPARE, Sampled, SeriesPoint, Statistics, Subject, Unfitted, VarianceSource, Verdict,
};
use gritstone_testkit::{compare_row, unit};
use machines::{empty, id, view};

/// id | title | unit | estimate | half-width as a share | published work in operations of one estimate | amount
/// in ns of the whole published work | user share | work in words
const ROWS: &str = "\
byte/pipe|Pipe, 512-byte writes|MB/s|1834.2|0.006|285800|0.05|1024 writes of 512 bytes
byte/syscall|System call|ns/call|117.63|0.0021|2940750|0.4|25,000 calls
byte/fcall-empty|Function call, empty|ns/call|1.2904|0.0009|64520|1|50,000 calls
byte/fcall-assign|Assignment inline|ns/iter|0.2381|0.0011|11905|1|50,000 iterations
byte/fcall-overhead|Function call, its overhead|ns/call|1.0523|0.0018|52615|1|50,000 calls
byte/sieve|Sieve of Eratosthenes|us/pass|24.871|0.0031|248710|1|10 passes
byte/disk-write|Disk write|MB/s|612.4|0.028|214000|0.1|256 blocks of 512 bytes
byte/disk-read|Disk read, random|MB/s|1290.7|0.009|101500|0.1|256 blocks of 512 bytes
byte/shell|Shell script|ms|4.2163|0.011|4216300|0.4|1 script
byte/multi/1|Multitasking, 1 process|ms|4.9712|0.012|4971200|0.4|1 script
byte/multi/2|Multitasking, 2 processes|ms|5.6109|0.013|5610900|0.4|2 scripts
byte/multi/3|Multitasking, 3 processes|ms|8.2377|0.014|8237700|0.4|3 scripts
byte/multi/4|Multitasking, 4 processes|ms|10.7702|0.012|10770200|0.4|4 scripts
byte/multi/5|Multitasking, 5 processes|ms|13.4129|0.013|13412900|0.4|5 scripts
byte/multi/6|Multitasking, 6 processes|ms|16.0034|0.011|16003400|0.4|6 scripts
byte/loop|Loop of long integers|ns/iter|0.2379|0.0008|237900|1|1,000,000 iterations
byte/cc|Compiling|ms|38.271|0.004|38271000|0.8|1 compilation
byte/object-size|Shortest program|bytes|778216|0|0|0|
iocall|System calls of a file|ns/call|171.93|0.0037|1032600|0.2|1,001 iterations";

/// A run of the first family on a small machine, with one of each kind of flag.
pub fn run() -> RunView {
    let mut run = view(
        "20260102T030405Z-5f3a",
        "AMD EPYC 7B13, 2 CPUs (KVM guest)",
        "Debian GNU/Linux 12, Linux 6.1.0-28-amd64",
    );
    run.started = "2026-01-02T03:04:05Z".to_owned();
    run.elapsed_s = Some(583.2);
    run.gritstone = Some("0.1.0".to_owned());
    run.machine.id = "a3f09c52".to_owned();
    run.machine.configuration = "8 GB of memory, ext4 on a virtio disk".to_owned();
    run.machine.facts = facts();
    let settings = serde_json::json!({
        "selectors": [], "seed": 8_675_309, "budget_s": 600.0, "precision": 0.01, "quick": false, "dir": "/var/tmp",
        "environment": { "LC_ALL": "C", "PATH": "/usr/bin:/bin" }, "params": {}, "copies": [],
        "steady": ["governor performance", "turbo off"],
    });
    run.settings = Some(serde_json::from_value(settings).unwrap());
    run.results = ROWS.lines().map(result).collect();
    trouble(&mut run);
    run
}

fn facts() -> std::collections::BTreeMap<String, String> {
    [
        ("cpu.model", "AMD EPYC 7B13"),
        ("cpu.count", "2"),
        ("cpu.cache.l2", "512 KB"),
        ("cpu.mitigations", "spectre_v2: Retpolines; meltdown: Not affected"),
        ("kernel.release", "6.1.0-28-amd64"),
        ("kernel.cmdline", "BOOT_IMAGE=/boot/vmlinuz-6.1.0-28-amd64 root=UUID=1b3c6f10-8a63-4a6e-9f4f-0d3f4c2f7c11 ro quiet"),
        ("libc", "glibc 2.36"),
        ("virtualization", "kvm"),
    ]
    .map(|(k, v)| (k.to_owned(), v.to_owned()))
    .into()
}

/// An estimate with this half-width, as a share.
pub fn within(value: f64, half: f64) -> Estimate {
    Estimate { value, interval: Some([value * (1.0 - half), value * (1.0 + half)]) }
}

pub fn sampled(sampled: Sampled) -> Data {
    Data::Measured(Box::new(Measured { sampled, ..Measured::default() }))
}

fn result(line: &str) -> Measurement {
    let cells: Vec<&str> = line.split('|').collect();
    let number = |i: usize| cells[i].parse::<f64>().unwrap();
    let (estimate, half, ns, user) = (number(3), number(4), number(5), number(6));
    let exact = half == 0.0;
    let within = |value: f64| match exact {
        true => Estimate::exact(value),
        false => within(value, half),
    };
    let real = ns / 1e9;
    let long = real > 0.4 || ns > 3e6;
    Measurement {
        title: cells[1].to_owned(),
        data: sampled(Sampled {
            estimate: Some(within(estimate)),
            confidence: (!exact).then_some(0.95),
            cycles: (cells[2].starts_with("ns")).then(|| within(estimate * 4.2)),
            ghz: (!exact).then_some(4.214),
            launches: if exact { 1 } else { 22 },
            samples: if exact { 1 } else { 440 },
            statistics: (!exact).then(|| Statistics {
                min: estimate * 0.99,
                median: estimate,
                mean: Some(estimate),
                max: estimate * 1.03,
                sd: Some(estimate * half * 2.0),
                drift: Some(-half / 3.0),
                modes: Some(1),
                ..Statistics::default()
            }),
            ..Sampled::default()
        }),
        published: (!exact).then(|| PublishedView {
            work: cells[7].to_owned(),
            figure: Subject::Real,
            real: Some(within(real)),
            user: long.then_some(Estimate::exact(real * user)),
            system: long.then_some(Estimate::exact(real * (0.97 - user))),
            process: Some(within(real + 0.000_61)),
            start_share: Some(0.000_61 / (real + 0.000_61)),
            ..PublishedView::default()
        }),
        program: Some(Program {
            hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
            compiler: "gcc (Debian 12.2.0-14) 12.2.0".to_owned(),
            flags: "-O2 -static".to_owned(),
        }),
        measured: cells[0].contains("disk").then(|| "page cache".to_owned()),
        ..empty(cells[0], cells[2])
    }
}

/// Row, flag, words.
const NOTES: &str = "\
byte/disk-write|noisy|The interval is ±2.8%, wider than the ±1% asked for.
byte/disk-write|interference|Steal took 3.1% of the time in 2 of 22 launches.
byte/fcall-overhead|invalid|The time does not grow in proportion to the calls: 1.4 times for twice as many.
byte/loop||The scan lost the listing: 1,000,000 iterations are assumed.
byte/cc|skipped|There is no C compiler here: apt-get install gcc";

fn row<'a>(run: &'a mut RunView, name: &str) -> &'a mut Measurement {
    let mut rows = run.results.iter_mut();
    rows.find(|row| row.id.as_str() == name).unwrap()
}

fn trouble(run: &mut RunView) {
    let start = "Starting the process takes more than a tenth of this time.";
    let start = stated(Some(Flag::NotComparable), start).about(Subject::Process);
    for name in "pipe syscall sieve disk-write disk-read fcall-empty".split(' ') {
        row(run, &format!("byte/{name}")).notes.push(start.clone());
    }
    let cc = row(run, "byte/cc");
    *cc = Measurement {
        title: cc.title.clone(),
        data: Data::absent(Absence::Skipped),
        ..empty("byte/cc", "ms")
    };
    for note in NOTES.lines() {
        let cells: Vec<&str> = note.split('|').collect();
        let flag = serde_json::from_str(&format!("\"{}\"", cells[1])).ok();
        row(run, cells[0]).notes.push(stated(flag, cells[2]));
    }
    let size = row(run, "byte/object-size");
    size.measured_mut().sampled.parts =
        [(Part::Text, 702_112.0), (Part::Data, 23_240.0), (Part::Bss, 52_864.0)]
            .map(|(part, value)| PartValue { part, value })
            .into();
    size.measured_mut().names = (0..40).map(|i| format!("__symbol_{i}")).collect();
    let points = [4.9712, 5.6109, 8.2377, 10.7702, 13.4129, 16.0034];
    let points = (1..).zip(points).map(|(x, y)| SeriesPoint {
        x: f64::from(x),
        estimate: Some(within(y, 0.01)),
        ..SeriesPoint::default()
    });
    let multi = row(run, "byte/multi/6");
    multi.curve = Some(ResultCurve {
        label: "number of background processes".to_owned(),
        points: points.collect(),
    });
}

/// Copies of a row that together do this at first, with the law or without.
pub fn copies(one: f64, law: bool) -> CopiesView {
    let rate = |n: f64| one * n / (1.0 + 0.11 * (n - 1.0) + 0.0021 * n * (n - 1.0));
    let point = |copies: u32| {
        let n = f64::from(copies);
        let efficiency = rate(n) / n / one;
        CopiesPoint {
            copies,
            total: Some(within(rate(n), 0.02)),
            per_copy: Some(rate(n) / n),
            efficiency: Some(match copies {
                1 => Estimate::exact(efficiency),
                _ => within(efficiency, 0.03),
            }),
            launches: 10,
            samples: 50,
            ..CopiesPoint::default()
        }
    };
    let curve = (0..=24).map(|step| {
        let n = 32_f64.powf(f64::from(step) / 24.0);
        SeriesPoint { x: n, estimate: Some(within(rate(n), 0.01)), ..SeriesPoint::default() }
    });
    CopiesView {
        points: [1, 2, 4, 8, 16, 32].map(point).to_vec(),
        law: law.then(|| LawView {
            contention: 0.11,
            coherence: 0.0021,
            peak: Some(20.6),
            peak_interval: Some([Some(17.2), Some(24.9)]),
            knee: Some(9.1),
            curve: curve.collect(),
            ..LawView::default()
        }),
        unfitted: (!law).then_some(Unfitted::NoRate),
    }
}

/// The run again with its curve on one CPU too, and with copies of a row.
pub fn run_with_variants() -> RunView {
    let mut run = run();
    run.results[0].measured_mut().copies = Some(copies(1834.2, true));
    let multi: Vec<Measurement> =
        run.results.iter().filter(|r| r.id.as_str().starts_with("byte/multi/")).cloned().collect();
    for (mut result, n) in multi.into_iter().zip(1..) {
        result.id = id(&format!("byte/multi/{n}@one-cpu"));
        result.title += ", on one CPU";
        result.curve = None;
        let times = |e: Estimate| e.times(0.9 + 0.35 * f64::from(n));
        result.measured_mut().sampled.estimate = result.estimate().map(times);
        let published = result.published.as_mut().unwrap();
        published.real = published.real.map(times);
        run.results.push(result);
    }
    run
}

/// Copies of which the first number did better together and less efficiently, and the second is not on the other side.
pub fn compared_copies() -> Vec<CompareCopies> {
    let figure = |base, ratio: f64, verdict| CompareFigure {
        base: Some(base),
        other: Some(base * ratio),
        ratio: Some(ratio),
        interval: Some([ratio * 0.97, ratio * 1.03]),
        verdict,
        ..CompareFigure::default()
    };
    let alone = |base| CompareFigure { base: Some(base), ..CompareFigure::default() };
    let copies = |copies, total, efficiency, notes| CompareCopies {
        copies,
        unit: "MB/s".to_owned(),
        total,
        efficiency,
        notes,
    };
    let (faster, slower) = (Verdict::Faster, Verdict::Slower);
    let others = stated(Some(Flag::Interference), "before: Others used the CPUs.");
    vec![
        copies(2, figure(2600.0, 1.2, faster), figure(0.93, 0.92, slower), vec![]),
        copies(4, alone(4100.0), alone(0.73), vec![others]),
    ]
}

/// Name, title, verdict, unit, both sides, ratio, and its interval.
const COMPARED: &str = "\
byte/object-size|Shortest program|slower|bytes|389108 778216|0.5
byte/pipe|Pipe|faster|MB/s|1400.2 1834.2|1.31 1.28 1.34
byte/syscall|System call|slower|ns/call|102.5 117.63|0.871 0.868 0.875
byte/shell|Shell script|inconclusive|ms|4.385 4.2163|1.04 0.97 1.11
byte/sieve|Sieve|same|us/pass|24.92 24.871|1.002 0.998 1.006
byte/cc|Compiling||ms|38.2|";

/// The variance of this number of benchmarks, learned from this number of runs.
pub fn learned(rows: usize, runs: usize) -> VarianceSource {
    VarianceSource { rows, default: 0, runs: Some([runs; 2]), default_sd: 0.007, assumed: false }
}

/// A comparison with a row for each verdict.
pub fn compare() -> CompareView {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').collect();
        let numbers = |column: usize| -> Vec<f64> {
            let words = cells[column].split_whitespace();
            words.map(|word| word.parse().unwrap()).collect()
        };
        let (sides, ratio) = (numbers(4), numbers(5));
        let verdict = format!("\"{}\"", cells[2]);
        let verdict: Option<Verdict> = serde_json::from_str(&verdict).ok();
        CompareRow {
            title: cells[1].to_owned(),
            ratio: ratio.first().copied(),
            interval: ratio.get(1).zip(ratio.get(2)).map(|(low, high)| [*low, *high]),
            verdict,
            unit: cells[3].to_owned(),
            better: match unit(cells[3]).quantity() {
                Quantity::Rate { .. } => Better::Higher,
                _ => Better::Lower,
            },
            base: sides.first().copied(),
            other: sides.get(1).copied(),
            ..compare_row(cells[0])
        }
    };
    let mut rows: Vec<CompareRow> = COMPARED.lines().map(row).collect();
    rows[3].smallest = Some(0.131);
    rows[5]
        .notes
        .push(stated(Some(Flag::Skipped), "There is no C compiler here: apt-get install gcc"));
    CompareView {
        schema: SCHEMA_COMPARE.to_owned(),
        base: "before".to_owned(),
        other: "after".to_owned(),
        runs: [1; 2],
        base_name: "node-17, Linux 6.1".to_owned(),
        other_name: "node-17, Linux 6.12".to_owned(),
        between_run: Some(learned(6, 7)),
        common: Some(CommonChange { rows: 17, ratio: 0.958 }),
        differ_in: vec![Difference {
            what: "kernel.release".to_owned(),
            base: "6.1.0-28".to_owned(),
            other: "6.12.3".to_owned(),
        }],
        margin: 0.01,
        sums: vec![CompareSum {
            family: Some("byte".to_owned()),
            rows: 6,
            faster: 1,
            slower: 2,
            same: 1,
            inconclusive: 1,
            without_ratio: 1,
            mean: Some(1.0443),
            interval: Some([1.0184, 1.0698]),
            of: 4,
        }],
        rows,
    }
}

/// The run against a machine of 1984, by the real time of the published work.
pub fn against_reference() -> CompareView {
    let (run, vax) = (run(), machines::references().swap_remove(0));
    let mut rows = Vec::new();
    for result in &run.results {
        let theirs = vax.results.iter().find(|r| r.id == result.id);
        let time = |r: &Measurement| r.published.as_ref().and_then(|p| Some(p.real?.value));
        let (base, other) = (theirs.and_then(time), time(result));
        let bounds = (result.published.as_ref()).and_then(|p| p.real?.interval);
        rows.push(CompareRow {
            title: result.title.clone(),
            ratio: base.zip(other).map(|(b, o)| b / o),
            interval: base.zip(bounds).map(|(b, [low, high])| [b / high, b / low]),
            verdict: base.zip(other).map(|_| Verdict::Faster),
            compared: Subject::Real,
            unit: "s".to_owned(),
            base,
            other,
            notes: result.notes_on_result().cloned().collect(),
            ..compare_row(result.id.as_str())
        });
    }
    rows.sort_by(|a, b| b.ratio.unwrap_or(0.0).total_cmp(&a.ratio.unwrap_or(0.0)));
    let sum = |family: Option<&str>, rows, faster| CompareSum {
        family: family.map(str::to_owned),
        rows,
        faster,
        without_ratio: rows - faster,
        mean: (faster > 0).then_some(3040.6),
        of: faster,
        ..CompareSum::default()
    };
    CompareView {
        base: "ref:vax-11-780-4.1bsd".to_owned(),
        other: run.id.clone(),
        base_name: "VAX-11/780, 4.1 BSD".to_owned(),
        other_name: run.machine.name,
        differ_in: vec![],
        between_run: None,
        common: None,
        sums: vec![sum(Some("byte"), 18, 14), sum(Some("iocall"), 1, 0), sum(None, 19, 14)],
        rows,
        ..compare()
    }
}

/// A note in the words of a document, which stand as they are.
pub fn stated(flag: Option<Flag>, text: impl Into<String>) -> Note {
    gritstone_testkit::stated(Author::Document, flag, &text.into())
}
