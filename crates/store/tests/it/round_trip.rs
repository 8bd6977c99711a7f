//! What is stored comes back the same, whatever it is: ends of ranges, text that SQL or JSON give a meaning, every kind of event,
//! outcome and work.

use crate::common;
use gritstone_model::{
    CommandWork, Compilers, Contents, Curve, Event, Figure, KernelWork, Launch, Need, Outcome,
    OwnCatalogue, OwnFile, RunData, Sample, Subject, Term, Usage, Verify, Work,
};
use gritstone_store::{Store, new_id};
use std::collections::BTreeMap;

const TEXTS: [&str; 4] = [
    "",
    "'; DROP TABLE run; --\"\0\n€",
    "\u{feff}\u{202e}\u{10ffff}",
    "\\u0000",
];
const NUMBERS: [u64; 4] = [0, i64::MAX as u64, 1 << 63, u64::MAX];
const REALS: [f64; 5] = [-0.0, 5e-324, 0.1 + 0.2, f64::MIN, f64::MAX];

/// The run with this text, number and real wherever one may stand.
fn awkward(serial: u32, text: &str, number: u64, real: f64) -> RunData {
    let text = || text.to_owned();
    let texts = || BTreeMap::from([(text(), text()), ("k".to_owned(), text())]);
    let mut run = common::run(serial, 2);
    let info = &mut run.info;
    info.id = new_id(info.started.parse().unwrap(), serial);
    info.gritstone = text();
    info.machine.name = text();
    info.machine.facts = texts();
    info.settings.precision = real;
    info.settings.environment = texts();
    info.settings.params = texts();
    info.settings.compilers = Some(Compilers {
        cc: Some(text()),
        ..Compilers::default()
    });
    let file = |bytes: &[u8], executable| OwnFile {
        executable,
        contents: Contents::of(bytes.to_vec()),
    };
    info.settings.catalogue = Some(OwnCatalogue {
        name: "mine".to_owned(),
        hash: "00ff".to_owned(),
        families: vec!["mine".to_owned()],
        files: BTreeMap::from([
            ("mine.toml".to_owned(), file(text().as_bytes(), false)),
            ("mine/x".to_owned(), file(b"\x7fELF\xff", true)),
        ]),
    });
    let id = common::id("byte/pipe");
    let command = CommandWork {
        argv: vec![text()],
        files: texts(),
        input: Some(text()),
        verify: Some(Verify {
            argv: vec![text()],
            stdout: text(),
        }),
        figure: Figure::LinkedSize,
        ..CommandWork::default()
    };
    let kernel = KernelWork {
        program: text(),
        params: texts(),
        uses: vec![text()],
    };
    let works = [
        Work::Kernel(kernel),
        Work::Command(command.clone()),
        Work::Scenario(command),
        Work::Derived {
            terms: vec![Term {
                id: id.clone(),
                times: real,
            }],
            share_of: Some(id.clone()),
        },
        Work::Rating {
            over: vec![id.clone()],
            baseline: text(),
            weights: vec![real],
        },
    ];
    for (number, work) in works.into_iter().enumerate() {
        let mut entry = common::benchmark(&format!("awkward/{number}"));
        entry.title = text();
        entry.amount_per_op = real;
        entry.curve = Some(Curve {
            label: text(),
            points: vec![(real, id.clone())],
            caches: true,
        });
        entry.needs = vec![Need {
            name: text(),
            any: vec![text()],
            package: text(),
        }];
        entry.published = Some(gritstone_model::PublishedWork {
            work: text(),
            operations: number as u64,
            figure: Subject::User,
        });
        entry.work = work;
        run.benchmarks.push(entry);
    }
    run.skips[0].reason = text();
    let events = vec![
        Event::Param {
            key: text(),
            value: text(),
        },
        Event::Sample(Box::new(Sample {
            n: number,
            wall: number,
            pace: number,
            wide: number,
            usage: Usage {
                cpu: number,
                migrations: number,
                ..Usage::default()
            },
        })),
        Event::Skip { why: text() },
        Event::Fail {
            errno: i32::MIN,
            call: text(),
            why: text(),
        },
    ];
    let outcomes = [
        Outcome::Skipped(text()),
        Outcome::Failed(text()),
        Outcome::TimedOut(text()),
    ];
    run.launches.extend(outcomes.map(|outcome| {
        let mut launch = Launch {
            start: number,
            cpus: vec![u32::MAX],
            outcome,
            events: events.clone(),
            ..common::launch(2)
        };
        launch.conditions.wall = number;
        launch.conditions.gap = Some(number);
        launch
    }));
    run
}

#[test]
fn what_is_stored_comes_back() {
    let (_folder, path) = common::place();
    let mut store = Store::open(&path).unwrap();
    let mut runs = vec![];
    for (serial, text) in (0..).zip(TEXTS) {
        for (number, real) in NUMBERS.into_iter().zip(REALS.into_iter().skip(serial % 2)) {
            let run = awkward(runs.len() as u32, text, number, real);
            // half of them in one piece
            match runs.len() % 2 {
                0 => common::store(&mut store, &run),
                _ => store.import(&run).unwrap(),
            }
            runs.push(run);
        }
    }
    drop(store);
    let store = Store::open_read_only(&path).unwrap();
    for run in &runs {
        assert_eq!(store.load(&run.info.id).unwrap(), *run);
    }
    assert_eq!(store.runs().unwrap().len(), runs.len());
}
