//! What is stored comes back the same, whatever it is.

use crate::common;
use gritstone_model::{
    Batch, Benchmark, Better, Check, Claims, CommandWork, Compilers, Conditions, Contents, Curve,
    Event, Figure, Histogram, Id, KernelWork, Launch, Machine, Need, Outcome, OwnCatalogue,
    OwnFile, Placement, Program, PublishedWork, RunData, RunInfo, Sample, Settings, Skip, Source,
    Subject, Term, Unit, Usage, Verify, Work,
};
use gritstone_store::{Store, new_id};
use proptest::array::uniform10;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Text as it may come from a machine: quotes, line ends, NUL, anything but half a character.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[ -~]{0,12}",
        vec(any::<char>(), 0..6).prop_map(String::from_iter),
        Just("'; DROP TABLE run; --\"\0\n€".to_owned()),
    ]
}

/// A catalogue of the user's own, with a file that is text and one that is not.
fn own() -> OwnCatalogue {
    let file = |bytes: &[u8], executable| OwnFile {
        executable,
        contents: Contents::of(bytes.to_vec()),
    };
    OwnCatalogue {
        name: "mine".to_owned(),
        hash: "00ff".to_owned(),
        families: vec!["mine".to_owned()],
        files: BTreeMap::from([
            ("mine.toml".to_owned(), file(b"'\n\0\"", false)),
            ("mine/x".to_owned(), file(b"\x7fELF\xff", true)),
        ]),
    }
}

/// Small and large numbers alike.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..1000_u64,
        any::<u64>(),
        Just(u64::MAX),
        Just(1 << 63),
        Just(i64::MAX as u64)
    ]
}

/// Any number that is one; JSON knows no others.
fn real() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

fn id() -> impl Strategy<Value = Id> {
    "[a-z]{1,4}(/[a-z0-9][a-z0-9._-]{0,3}){0,2}(@[a-z]{1,3})?"
        .prop_map(|text| Id::parse(&text).unwrap())
}

fn texts() -> impl Strategy<Value = BTreeMap<String, String>> {
    btree_map(text(), text(), 0..4)
}

fn option<T: Strategy>(of: T) -> impl Strategy<Value = Option<T::Value>>
where
    T::Value: Clone,
{
    proptest::option::of(of)
}

fn usage() -> impl Strategy<Value = Usage> {
    [(); 10].map(|()| number()).prop_map(|n| Usage {
        user: n[0],
        system: n[1],
        cpu: n[2],
        vcsw: n[3],
        icsw: n[4],
        minflt: n[5],
        majflt: n[6],
        inblock: n[7],
        oublock: n[8],
        migrations: n[9],
    })
}

fn sample() -> impl Strategy<Value = Sample> {
    (number(), number(), number(), number(), usage()).prop_map(|(n, wall, pace, wide, usage)| {
        Sample {
            n,
            wall,
            pace,
            wide,
            usage,
        }
    })
}

fn event() -> impl Strategy<Value = Event> {
    let batch = (number(), vec(number(), 0..5), number(), number(), usage());
    let buckets = vec((any::<u32>(), number()), 0..5);
    let histogram = (number(), number(), number(), number(), buckets);
    prop_oneof![
        (any::<u32>(), text()).prop_map(|(protocol, kernel)| Event::Hello { protocol, kernel }),
        (text(), text()).prop_map(|(key, value)| Event::Param { key, value }),
        (number(), number()).prop_map(|(n, wall)| Event::Warm { n, wall }),
        sample().prop_map(|sample| Event::Sample(Box::new(sample))),
        sample().prop_map(|sample| Event::Process(Box::new(sample))),
        batch.prop_map(
            |(n, walls, pace, wide, usage)| Event::Batch(Box::new(Batch {
                n,
                walls,
                pace,
                wide,
                usage
            }))
        ),
        histogram.prop_map(
            |(count, min, max, sum, buckets)| Event::Latency(Box::new(Histogram {
                count,
                min,
                max,
                sum,
                buckets
            }))
        ),
        (number(), number(), number()).prop_map(|(n, got, expected)| Event::Check(Check {
            n,
            got,
            expected
        })),
        text().prop_map(|why| Event::Skip { why }),
        (any::<i32>(), text(), text()).prop_map(|(errno, call, why)| Event::Fail {
            errno,
            call,
            why
        }),
        Just(Event::Bye),
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Outcome::Measured),
        text().prop_map(Outcome::Skipped),
        text().prop_map(Outcome::Failed),
        text().prop_map(Outcome::TimedOut),
    ]
}

fn conditions_of((wall, known): (u64, [Option<u64>; 10])) -> Conditions {
    let [
        others,
        elsewhere,
        grain,
        steal,
        pressure,
        waited,
        throttled,
        memory_limit,
        overheated,
        gap,
    ] = known;
    Conditions {
        wall,
        others,
        elsewhere,
        grain,
        steal,
        pressure,
        waited,
        throttled,
        memory_limit,
        overheated,
        gap,
    }
}

fn launch() -> impl Strategy<Value = Launch> {
    let place = (any::<u32>(), number(), vec(any::<u32>(), 0..3), 1_u32..5);
    let conditions = (number(), uniform10(option(number())));
    (id(), place, outcome(), vec(event(), 0..12), conditions).prop_map(
        |(id, (round, start, cpus, copies), outcome, events, conditions)| Launch {
            id,
            round,
            start,
            cpus,
            copies,
            outcome,
            events,
            conditions: conditions_of(conditions),
        },
    )
}

fn command() -> impl Strategy<Value = CommandWork> {
    let verify = (vec(text(), 0..3), text()).prop_map(|(argv, stdout)| Verify { argv, stdout });
    let figure = prop_oneof![Just(Figure::Time), Just(Figure::LinkedSize)];
    let argv = vec(text(), 0..3);
    let names = || vec(text(), 0..3);
    (
        argv,
        texts(),
        (option(text()), option(text()), option(text())),
        names(),
        (names(), names()),
        option(verify),
        figure,
    )
        .prop_map(
            |(argv, files, (input, output, stdout), prepare, (leaves, removes), verify, figure)| {
                CommandWork {
                    argv,
                    files,
                    prepare,
                    input,
                    output,
                    stdout,
                    leaves,
                    removes,
                    verify,
                    figure,
                    user: None,
                }
            },
        )
}

fn work() -> impl Strategy<Value = Work> {
    let term = (id(), real()).prop_map(|(id, times)| Term { id, times });
    prop_oneof![
        (text(), texts()).prop_map(|(program, params)| Work::Kernel(KernelWork {
            program,
            params,
            uses: vec![]
        })),
        command().prop_map(Work::Command),
        command().prop_map(Work::Scenario),
        (vec(term, 0..4), option(id()))
            .prop_map(|(terms, share_of)| Work::Derived { terms, share_of }),
        (vec(id(), 0..4), text(), vec(real(), 0..4)).prop_map(|(over, baseline, weights)| {
            Work::Rating {
                over,
                baseline,
                weights,
            }
        }),
    ]
}

fn claims() -> impl Strategy<Value = Claims> {
    let number = || option(real());
    (
        any::<bool>(),
        any::<bool>(),
        number(),
        number(),
        number(),
        number(),
        number(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|c| Claims {
            check: c.0,
            linear: c.1,
            syscalls_per_op: c.2,
            switches_per_op: c.3,
            faults_per_op: c.4,
            major_faults_per_op: c.5,
            min_ns_per_op: c.6,
            ieee: c.7,
            syscalls_vary: c.8,
        })
}

fn time() -> impl Strategy<Value = Subject> {
    prop_oneof![
        Just(Subject::Real),
        Just(Subject::User),
        Just(Subject::System)
    ]
}

fn benchmark() -> impl Strategy<Value = Benchmark> {
    let source = (text(), text()).prop_map(|(document, place)| Source { document, place });
    let published =
        (text(), number(), time()).prop_map(|(work, operations, figure)| PublishedWork {
            work,
            operations,
            figure,
        });
    let need = (text(), vec(text(), 0..2), text()).prop_map(|(name, any, package)| Need {
        name,
        any,
        package,
    });
    let curve =
        (text(), vec((real(), id()), 0..4), any::<bool>()).prop_map(|(label, points, caches)| {
            Curve {
                label,
                points,
                caches,
            }
        });
    let unit = prop_oneof![Just("us"), Just("MB/s"), Just("ns/call"), Just("bytes")];
    let better = prop_oneof![Just(Better::Higher), Just(Better::Lower)];
    let placement = prop_oneof![
        Just(Placement::OneCpu),
        Just(Placement::Cross),
        Just(Placement::All)
    ];
    let head = (
        id(),
        any::<u32>(),
        work(),
        [(); 3].map(|()| text()),
        vec(source, 0..3),
    );
    let figure = (unit, better, real(), option(published), placement);
    let rest = (
        any::<bool>(),
        any::<bool>(),
        claims(),
        vec(need, 0..3),
        option(curve),
    );
    let remarks = (option(text()), option(text()));
    (head, figure, rest, remarks).prop_map(|(head, figure, rest, remarks)| {
        let (id, version, work, [title, operation, why], sources) = head;
        let (unit, better, amount_per_op, published, placement) = figure;
        let (processor_bound, files, claims, needs, curve) = rest;
        Benchmark {
            id,
            title,
            version,
            work,
            operation,
            why,
            sources,
            unit: Unit::parse(unit).unwrap(),
            better,
            amount_per_op,
            published,
            placement,
            processor_bound,
            files,
            claims,
            needs,
            curve,
            remark: remarks.0,
            not_comparable: remarks.1,
        }
    })
}

fn machine() -> impl Strategy<Value = Machine> {
    let names = [(); 4].map(|()| text());
    (names, option(text()), option(any::<i32>()), texts()).prop_map(
        |([id, name, system, configuration], document, year, facts)| Machine {
            id,
            name,
            system,
            document,
            year,
            configuration,
            facts,
        },
    )
}

fn settings() -> impl Strategy<Value = Settings> {
    let numbers = (any::<u64>(), real(), real(), any::<bool>());
    (
        vec(text(), 0..3),
        numbers,
        text(),
        texts(),
        texts(),
        (vec(2_u32..9, 0..3), vec(text(), 0..3), option(compilers())),
    )
        .prop_map(
            |(selectors, (seed, budget_s, precision, quick), dir, environment, params, last)| {
                let (copies, steady, compilers) = last;
                Settings {
                    selectors,
                    seed,
                    budget_s,
                    precision,
                    quick,
                    dir,
                    environment,
                    params,
                    copies,
                    steady,
                    trial: None,
                    catalogue: Some(own()),
                    compilers,
                }
            },
        )
}

fn compilers() -> impl Strategy<Value = Compilers> {
    let named = || option(text());
    (named(), named(), named(), named()).prop_map(|(cc, cflags, fc, fflags)| Compilers {
        cc,
        cflags,
        fc,
        fflags,
    })
}

/// A head; the identifier is given when it is stored.
fn info() -> impl Strategy<Value = RunInfo> {
    let label = option("[a-z ]{0,5}[a-su-z0-9'\"%]");
    // the years 1970 to 2100, in nanoseconds
    let started = (0..4_102_444_800_000_000_000_i128)
        .prop_map(|ns| jiff::Timestamp::from_nanosecond(ns).unwrap().to_string());
    let elapsed_s = option(0.0..1e9_f64);
    (label, started, elapsed_s, text(), machine(), settings()).prop_map(
        |(label, started, elapsed_s, gritstone, machine, settings)| RunInfo {
            id: String::new(),
            label,
            started,
            elapsed_s,
            gritstone,
            machine,
            settings,
        },
    )
}

fn run() -> impl Strategy<Value = RunData> {
    let program = (text(), text(), text()).prop_map(|(hash, compiler, flags)| Program {
        hash,
        compiler,
        flags,
    });
    let skip = (id(), text()).prop_map(|(id, reason)| Skip { id, reason });
    let programs = btree_map(id(), program, 0..4);
    let launches = vec(launch(), 0..6);
    (
        info(),
        vec(benchmark(), 0..4),
        programs,
        vec(skip, 0..3),
        launches,
    )
        .prop_map(|(info, benchmarks, programs, skips, launches)| RunData {
            info,
            benchmarks,
            programs,
            skips,
            launches,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Runs go into the same store one after the other, half of them in one piece; each comes back as it was.
    #[test]
    fn what_is_stored_comes_back(runs in vec(run(), 1..4)) {
        let (_folder, path) = common::place();
        let mut runs = runs;
        for (serial, run) in (0..).zip(&mut runs) {
            run.info.id = new_id(run.info.started.parse().unwrap(), serial);
        }
        let mut store = Store::open(&path).unwrap();
        for (i, run) in runs.iter().enumerate() {
            if i % 2 == 0 {
                common::store(&mut store, run);
            } else {
                store.import(run).unwrap();
            }
        }
        drop(store);
        let store = Store::open_read_only(&path).unwrap();
        for run in &runs {
            prop_assert_eq!(&store.load(&run.info.id).unwrap(), run);
        }
        let heads = store.runs().unwrap();
        prop_assert_eq!(heads.len(), runs.len());
        for head in heads {
            let run = runs.iter().find(|run| run.info.id == head.id).unwrap();
            let count = |name| run.launches.iter().filter(|l| l.outcome.name() == name).count() as u64;
            prop_assert_eq!(&head.label, &run.info.label);
            prop_assert_eq!(&head.started, &run.info.started);
            prop_assert_eq!(head.elapsed_s, run.info.elapsed_s);
            prop_assert_eq!(&head.machine, &run.info.machine.name);
            prop_assert_eq!(&head.system, &run.info.machine.system);
            prop_assert_eq!(head.launches.measured, count("measured"));
            prop_assert_eq!(head.launches.skipped, count("skipped"));
            prop_assert_eq!(head.launches.failed, count("failed"));
            prop_assert_eq!(head.launches.timed_out, count("timed_out"));
        }
    }
}
