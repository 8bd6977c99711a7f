//! A simulated run without faults, in which a test changes one place.

use crate::check;
use crate::run_effect::RunEffects;
use crate::run_summary::RunSummary;
use crate::summary::{Options, summarize};
use gritstone_model::*;
use gritstone_stats::scatter::Scatter;
pub use gritstone_testkit::{benchmark, id, param, run, samples, sum, unit};

/// Operations in a sample, and in the published work.
pub const N: u64 = 1_000_000;
pub const LAUNCHES: u32 = 10;
/// Factors of launches whose lower quartile, the third of ten, is exactly 1, in an order without drift.
pub const SCATTER: [f64; 10] = [1.005, 1.002, 1.007, 0.998, 1.001, 1.006, 1.004, 1.0, 1.008, 0.999];

/// A kernel in ns/call that claims nothing.
pub fn plain(name: &str) -> Benchmark {
    Benchmark {
        title: format!("Title of {name}"),
        operation: "one call".to_owned(),
        why: "It was made up.".to_owned(),
        ..benchmark(name, "ns/call")
    }
}

/// The same with every claim and with published work.
pub fn claimed(name: &str) -> Benchmark {
    Benchmark {
        published: Some(PublishedWork {
            work: "1,000,000 calls".to_owned(),
            operations: N,
            figure: Subject::Real,
        }),
        claims: Claims {
            check: true,
            linear: true,
            syscalls_per_op: Some(1.0),
            switches_per_op: Some(2.0),
            faults_per_op: Some(0.001),
            major_faults_per_op: None,
            page_outs_per_op: None,
            min_ns_per_op: Some(10.0),
            ieee: false,
            syscalls_vary: false,
        },
        processor_bound: true,
        ..plain(name)
    }
}

/// A command that is timed as a process.
pub fn command(name: &str) -> Benchmark {
    Benchmark {
        work: Work::Command(CommandWork::default()),
        unit: unit("s"),
        published: Some(PublishedWork {
            work: "1 script".to_owned(),
            operations: 1,
            figure: Subject::Real,
        }),
        ..plain(name)
    }
}

/// A sum of other benchmarks, in ns/call.
pub fn derived(name: &str, terms: &[(f64, &str)]) -> Benchmark {
    Benchmark { work: sum(terms.iter().copied()), ..plain(name) }
}

/// A curve through these benchmarks, from which nothing is derived.
pub fn curve<T: AsRef<str>>(label: &str, points: impl IntoIterator<Item = (f64, T)>) -> Curve {
    let points = points.into_iter().map(|(x, name)| (x, id(name.as_ref()))).collect();
    let label = label.to_owned();
    Curve { label, points, caches: false, scaling: false, longest: false }
}

/// A launch at 4 GHz in which an operation takes `ns` and all claims of [`claimed`] hold: 3 samples, 5 batches, 3
/// processes that take 5% longer. In each batch 60 ms are user and 40 ms system time.
pub fn launch(name: &str, round: u32, ns: f64) -> Launch {
    let wall = |n: u64| (ns * n as f64).round() as u64;
    let check = |n| Event::Check(Check { n, got: n + 1, expected: n + 1 });
    let mut events = vec![
        Event::Hello { protocol: 1, kernel: "made/up".to_owned() },
        param("tick_ns", "4000000"),
    ];
    // calibration, then the probe
    for n in [1000, 2000, 4000, 8000, 4000, 8000, 4000, 8000] {
        events.push(Event::Warm { n, wall: wall(n) });
    }
    for _ in 0..3 {
        events.push(Event::Sample(Box::new(Sample {
            n: N,
            wall: wall(N),
            cycle_probe: 250_000,
            smt_probe: 62_500,
            usage: Usage { vcsw: 2 * N, minflt: N / 1000, ..Usage::default() },
        })));
        events.push(check(N));
    }
    events.push(Event::Batch(Box::new(Batch {
        n: N,
        walls: vec![wall(N); 5],
        cycle_probe: 250_000,
        smt_probe: 62_500,
        usage: Usage {
            user: 300_000_000,
            system: 200_000_000,
            cpu: wall(N) * 5 - 5000,
            ..Usage::default()
        },
    })));
    events.push(check(N));
    for _ in 0..3 {
        events.push(Event::Process(Box::new(Sample {
            n: 1,
            wall: wall(N) / 20 * 21,
            cycle_probe: 250_000,
            smt_probe: 62_500,
            ..Sample::default()
        })));
    }
    events.push(Event::Bye);
    Launch {
        conditions: Conditions {
            wall: 1_000_000_000,
            others: Some(0),
            steal: Some(0),
            throttled: Some(0),
            ..Conditions::default()
        },
        ..gritstone_testkit::launch(name, round, events)
    }
}

/// A launch of a command: three processes of `s` seconds, half of it user time, a quarter system time.
pub fn process(name: &str, round: u32, s: f64) -> Launch {
    let ns = (s * 1e9).round() as u64;
    let sample = Event::Sample(Box::new(Sample {
        n: 1,
        wall: ns,
        cycle_probe: 0,
        smt_probe: 0,
        usage: Usage { user: ns / 2, system: ns / 4, ..Usage::default() },
    }));
    Launch {
        events: vec![
            param("tick_ns", "4000000"),
            sample.clone(),
            sample.clone(),
            sample,
            Event::Bye,
        ],
        ..launch(name, round, 1.0)
    }
}

/// Ten launches of `ns`, one a round.
pub fn launches(name: &str, ns: f64) -> Vec<Launch> {
    (0..LAUNCHES).map(|round| launch(name, round, ns)).collect()
}

/// Ten launches that scatter about `ns`.
pub fn scattered(name: &str, ns: f64) -> Vec<Launch> {
    (0..LAUNCHES).zip(SCATTER).map(|(round, factor)| launch(name, round, ns * factor)).collect()
}

/// The `number`th run, one a day.
pub fn dated_run(number: usize, launches: Vec<Launch>) -> RunData {
    let mut benchmarks: Vec<&Id> = launches.iter().map(|launch| &launch.id).collect();
    benchmarks.dedup();
    let benchmarks = benchmarks.into_iter().map(|id| plain(id.as_str()));
    let mut data = run(benchmarks.collect(), launches);
    data.info.id = format!("run-{number}");
    let (month, day) = (number / 28 + 1, number % 28 + 1);
    data.info.started = format!("2026-{month:02}-{day:02}T00:00:00Z");
    data
}

pub fn dated(number: usize, launches: Vec<Launch>) -> RunView {
    view(&dated_run(number, launches))
}

/// The same with ten benchmarks that take these times.
pub fn dated_ten(number: usize, ns: impl Fn(usize) -> f64) -> RunView {
    let launches = (0..10).flat_map(|index| scattered(&format!("a/b{index}"), ns(index)));
    dated(number, launches.collect())
}

pub fn view(run: &RunData) -> RunView {
    summarize(run, &Options::default())
}

/// A run of plain benchmarks whose launches scatter about these times.
pub fn plain_run<T: AsRef<str>>(rows: impl IntoIterator<Item = (T, f64)>) -> RunView {
    let row = |(name, ns): (T, f64)| (plain(name.as_ref()), scattered(name.as_ref(), ns));
    let (benchmarks, launches): (Vec<_>, Vec<_>) = rows.into_iter().map(row).unzip();
    view(&run(benchmarks, launches.concat()))
}

pub fn summaries(runs: &[RunView]) -> Vec<RunSummary> {
    runs.iter().map(RunSummary::new).collect()
}

/// The gate over these earlier runs, which allows 2%.
pub fn against(run: &RunView, earlier: &[RunView]) -> CheckView {
    check::against_history(run, &summaries(earlier), 0.02, &check::Accepted::default())
}

/// The levels of benchmarks in these runs, accepted by name.
pub fn accepted(by_name: impl IntoIterator<Item = (String, Id)>) -> check::Accepted {
    check::Accepted { by_name: by_name.into_iter().collect(), ..Default::default() }
}

pub fn only(run: &RunData) -> Measurement {
    let mut view = view(run);
    assert_eq!(view.results.len(), 1);
    view.results.remove(0)
}

pub fn row<'a>(view: &'a RunView, name: &str) -> &'a Measurement {
    let found = view.results.iter().find(|r| r.id.as_str() == name);
    found.unwrap_or_else(|| panic!("no row {name}"))
}

/// Batches of a launch, to be changed.
pub fn batches(launch: &mut Launch) -> impl Iterator<Item = &mut Batch> {
    launch.events.iter_mut().filter_map(|event| match event {
        Event::Batch(batch) => Some(&mut **batch),
        _ => None,
    })
}

/// Events by time in ns; each time must have one bucket.
pub fn histogram(times: &[(u32, u64)]) -> Histogram {
    assert!(times.iter().all(|(ns, _)| *ns < 128), "{times:?}");
    let each = || times.iter().map(|(ns, _)| u64::from(*ns));
    Histogram {
        count: times.iter().map(|(_, events)| events).sum(),
        min: each().min().unwrap(),
        max: each().max().unwrap(),
        sum: times.iter().map(|(ns, events)| u64::from(*ns) * events).sum(),
        buckets: times.to_vec(),
        of: None,
    }
}

pub fn reference(results: Vec<Measurement>) -> RunView {
    let empty = gritstone_testkit::view("ref:vax", "VAX 11/780", "4.1 BSD");
    RunView {
        machine: Machine {
            id: "vax".to_owned(),
            document: Some("byte-1984".to_owned()),
            year: Some(1984),
            configuration: "2 MB".to_owned(),
            ..empty.machine
        },
        results,
        ..empty
    }
}

/// A printed result with times (real, user, system) that compares `figure`.
pub fn printed(name: &str, figure: Subject, times: [Option<f64>; 3]) -> Measurement {
    Measurement {
        data: Data::Printed(Printed::default()),
        version: 0,
        program: None,
        notes: Vec::new(),
        published: Some(PublishedView {
            work: "1,000,000 calls".to_owned(),
            figure,
            real: times[0].map(Estimate::exact),
            user: times[1].map(Estimate::exact),
            system: times[2].map(Estimate::exact),
            ..PublishedView::default()
        }),
        ..only(&run(vec![plain(name)], Vec::new()))
    }
}

/// A printed result in us/call, without times of the published work.
pub fn printed_us(name: &str, us: f64) -> Measurement {
    let estimate = Some(Estimate::exact(us));
    Measurement {
        published: None,
        unit: unit("us/call"),
        data: Data::Printed(Printed { estimate, ..Printed::default() }),
        ..printed(name, Subject::Result, [None; 3])
    }
}

/// The score over these, against `ref:vax`.
pub fn score_over(over: &[&str], together: bool) -> Work {
    let over = over.iter().map(|name| id(name)).collect();
    Work::Score { over, baseline: "ref:vax".to_owned(), weights: vec![], together }
}

/// Run effects known to be zero.
pub fn no_effects<'a>(names: impl IntoIterator<Item = &'a str>) -> RunEffects {
    let none = Scatter { runs: 40, ..Scatter::known(0.0) };
    names.into_iter().map(|name| (id(name), none)).collect()
}

pub fn near(got: Option<impl Into<f64>>, want: f64) {
    let got: f64 = got.unwrap_or_else(|| panic!("no figure where {want} was expected")).into();
    assert!((got - want).abs() <= want.abs() * 1e-6, "{got} where {want} was expected");
}

/// Another frequency of the core, which both probes show.
pub fn set_cycle_probe(sample: &mut Sample, cycle_probe: u64) {
    sample.cycle_probe = cycle_probe;
    sample.smt_probe = cycle_probe / 4;
}

pub fn stated(flag: Option<Flag>, text: &str) -> Note {
    gritstone_testkit::stated(Author::Workload, flag, text)
}

/// A note in short: the side that it is of, its code, and its numbers to four digits.
pub fn short(note: &Note) -> &'static str {
    let side = note.side.as_ref().map(|side| format!("{side}: "));
    let finding = in_short(&serde_json::to_value(&note.finding).unwrap());
    Box::leak((side.unwrap_or_default() + &finding).into_boxed_str())
}

fn in_short(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Object(fields) if fields.contains_key("code") => {
            let code = fields["code"].as_str().unwrap();
            format!("{code} {}", in_short(&fields["data"])).trim().to_owned()
        }
        Value::Object(count) if count.contains_key("part") && count.len() == 3 => {
            format!("{}/{}", count["part"], count["of"])
        }
        Value::Object(fields) => {
            let field = |(key, value)| format!("{key}={}", in_short(value));
            fields.iter().map(field).collect::<Vec<_>>().join(" ")
        }
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(in_short).collect();
            format!("[{}]", values.join(", "))
        }
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            let rounded: f64 = format!("{:.3e}", number.as_f64().unwrap()).parse().unwrap();
            rounded.to_string()
        }
        other => other.to_string(),
    }
}

/// Subject, unless it is the whole result.
pub fn about(note: &Note) -> Option<&'static str> {
    let about = note.about;
    (about != Subject::Result).then(|| about.as_str())
}

pub fn shorts(notes: &[Note]) -> Vec<&'static str> {
    notes.iter().map(short).collect()
}
