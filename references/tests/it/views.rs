//! Looking a machine up, and what its view holds.

use gritstone_model::{
    Benchmark, Better, Estimate, Flag, Id, KernelWork, Kind, Measurement, PublishedWork, RunView,
    Status, Subject, Unit, Work,
};
use gritstone_references::{LookupError, References, all};
use std::collections::BTreeMap;

/// An entry of the catalog.
fn entry(id: &str, unit: &str) -> Benchmark {
    let work = KernelWork {
        program: id.to_owned(),
        params: BTreeMap::new(),
        uses: vec![],
    };
    Benchmark {
        title: format!("Title of {id}"),
        version: 3,
        published: Some(PublishedWork {
            work: "25,000 calls".to_owned(),
            operations: 25_000,
            figure: Subject::Real,
        }),
        processor_bound: true,
        ..Benchmark::new(
            Id::parse(id).unwrap(),
            Unit::parse(unit).unwrap(),
            Work::Kernel(work),
        )
    }
}

fn result<'a>(view: &'a RunView, id: &str) -> &'a Measurement {
    view.get(&Id::parse(id).unwrap())
        .unwrap_or_else(|| panic!("no {id}"))
}

fn notes(result: &Measurement) -> Vec<(Option<Flag>, &str, &str)> {
    let notes = result.notes.iter();
    notes
        .map(|note| (note.flag(), note.about.as_str(), crate::text(note)))
        .collect()
}

#[test]
fn a_machine_is_found_by_the_beginning_of_its_name() {
    let references = all().expect("sound");
    for (asked, found) in [
        ("vax-11-780-4.1bsd", "vax-11-780-4.1bsd"),
        ("ref:vax-11-780-4.1bsd", "vax-11-780-4.1bsd"),
        ("ref:vax-11-750", "vax-11-750-4.1bsd"),
        ("masscomp", "masscomp-sys-iii"),
    ] {
        assert_eq!(references.machine(asked).expect(asked).id, found);
    }
    for (asked, several) in [
        (
            "ref:vax-11-780-4",
            &["vax-11-780-4.1bsd", "vax-11-780-4.2bsd"],
        ),
        ("pdp-11-23", &["pdp-11-23-v7", "pdp-11-23-venix"]),
    ] {
        let Err(LookupError::Ambiguous { candidates, .. }) = references.machine(asked) else {
            panic!("{asked}");
        };
        assert_eq!(candidates, several);
    }
    for (asked, first) in [
        ("ref:vax-11-785", "vax-11-78"),
        ("VAX-11/750", "vax-11-750-4.1bsd"),
        ("hp-900-825s", "hp-9000-825s"),
        ("cadmos-9200", "cadmus-9200-weekly-1984"),
        // not whole parts
        ("vax-11-7", "vax-11-7"),
        ("", ""),
        ("ref:ref:masscomp", ""),
        // a document is not a machine
        ("iocall-1985", ""),
    ] {
        let Err(LookupError::Unknown { nearest, .. }) = references.machine(asked) else {
            panic!("{asked}");
        };
        assert!(
            nearest.len() == 3 && nearest[0].starts_with(first),
            "{asked}: {nearest:?}"
        );
    }
}

#[test]
fn times_are_published_and_the_estimate_is_left() {
    let references = all().expect("sound");
    let benchmarks = [
        entry("byte/fcall-overhead", "ns/call"),
        entry("byte/syscall", "ns/call"),
    ];
    let view = references
        .view("vax-11-780-4.1bsd", &benchmarks)
        .expect("a VAX");
    assert_eq!(
        (view.schema.as_str(), view.id.as_str()),
        ("gritstone/run/2", "ref:vax-11-780-4.1bsd")
    );
    assert_eq!(
        (view.started.as_str(), view.machine.year),
        ("1984-08", Some(1984))
    );
    assert_eq!(view.machine.document.as_deref(), Some("byte-1984"));
    // the order of the catalog, then the rest by name
    let ids: Vec<&str> = view
        .results
        .iter()
        .map(|result| result.id.as_str())
        .collect();
    assert_eq!(
        ids[..3],
        ["byte/fcall-overhead", "byte/syscall", "byte/disk-read"]
    );
    assert_eq!(ids.len(), 14);

    let syscall = result(&view, "byte/syscall");
    assert_eq!((syscall.outcome, syscall.version), (Status::Published, 0));
    assert_eq!((syscall.estimate, syscall.launches), (None, 0));
    assert_eq!(
        (syscall.title.as_str(), syscall.unit.as_str()),
        ("Title of byte/syscall", "ns/call")
    );
    assert_eq!(
        (syscall.kind, syscall.processor_bound),
        (Kind::Kernel, true)
    );
    assert_eq!(syscall.measured.as_deref(), Some("byte-1984, table 1"));
    let published = syscall.published.as_ref().expect("times");
    let times = [published.real, published.user, published.system];
    assert_eq!(times, [4.8, 1.4, 4.0].map(|s| Some(Estimate::exact(s))));
    assert_eq!(
        (published.work.as_str(), published.figure),
        ("25,000 calls", Subject::Real)
    );
    let [(Some(Flag::Doubtful), "user_s", why)] = notes(syscall)[..] else {
        panic!("{:?}", syscall.notes);
    };
    assert!(why.contains("5.4"), "{why}");

    let overhead = result(&view, "byte/fcall-overhead");
    let published = overhead.published.as_ref().expect("a time");
    assert_eq!(
        (published.real, published.user),
        (None, Some(Estimate::exact(1.0)))
    );
    assert_eq!(notes(overhead), []);
}

#[test]
fn a_figure_without_an_entry_and_one_that_is_missing_say_so() {
    let references = all().expect("sound");
    let view = references.view("vax-11-780-4.2bsd", &[]).expect("a VAX");
    let iocall = result(&view, "iocall");
    assert_eq!(
        (iocall.title.as_str(), iocall.unit.as_str()),
        ("iocall", "s")
    );
    let [(None, _, why), (Some(Flag::NotComparable), ..)] = notes(iocall)[..] else {
        panic!("{:?}", iocall.notes);
    };
    assert!(why.starts_with("iocall-1985, text [around]: "), "{why}");
    let known = [entry("iocall", "ns/call")];
    let known = references.view("vax-11-780-4.2bsd", &known).expect("a VAX");
    assert_eq!(notes(result(&known, "iocall")).len(), 1);

    let idris = references.view("omnibyte-idris", &[entry("byte/disk-read", "MB/s")]);
    let idris = idris.expect("Idris");
    let read = result(&idris, "byte/disk-read");
    assert_eq!((read.estimate, &read.published), (None, &None));
    assert_eq!(read.outcome, Status::Published);
    let mark =
        "byte-1984, table 1 [$]: Not run: Idris 2.1 descends from Version 6 and has no rand().";
    let missing = "byte-1984, table 1: The mark stands in place of the figure.";
    assert_eq!(
        notes(read),
        [(None, "result", mark), (None, "result", missing)]
    );
}

/// The tables of rates, real-time tests and paging, and marks of a row before those of a cell.
const TABLE: &str = r#"place = "table 5.2"
[titles]
"rt/user-latency" = "Maximum time to user"
[footnotes]
"*" = "The optimizer did away with it."
"†" = "Simulated."
"+" = "Upgraded."
[kinds]
"*" = "invalid"
[[row]]
machine = "box-1"
marks = ["+"]
"aim/fork" = { value = 44.0, unit = "forks/s", doubt.value = "Smudged." }
"aim/add/long" = { value = 113.0, unit = "ns/op" }
"byte/object-size" = { value = 512.0, unit = "bytes", better = "lower" }
"app/csim" = { value = 2.0, unit = "s", real_s = 2.0, doubt = "Both." }
"rt/user-latency" = { unit = "us", min = 7.5, median = 9.0, max = 120.0, marks = ["†"], doubt.min = "Less than none.", doubt.median = "Blurred." }
"rt/semaphore" = { unit = "ms", min = 1.0, median = 2.0, mean = 2.5, max = 3.0 }
"aim/add/float" = { value = 30.0, unit = "ns/op", marks = ["*"] }
"vm/fft/128" = { real_s = 9.0, cpu_s = 8.0, doubt.cpu_s = "Or 3." }
"#;

#[test]
fn printed_figures_are_estimates_and_titles_marks_and_doubts_travel() {
    let document = "name = \"doc-1980\"\ntitle = \"t\"\nauthor = \"a\"\ndate = \"1980\"\nyear = 1980\nabout = \"x\"\n";
    let machines =
        "[[machine]]\nid = \"box-1\"\nname = \"Box\"\nsystem = \"V7\"\nconfiguration = \"64 KB\"\n";
    let references = References::parse(&[
        ("doc-1980/document.toml", document),
        ("doc-1980/machines.toml", machines),
        ("doc-1980/table.toml", TABLE),
    ]);
    // as printed, whatever unit the catalog has now
    let view = references
        .expect("sound")
        .view("box-1", &[entry("aim/fork", "us/fork")]);
    let view = view.expect("the box");
    for (id, value, unit, better, title) in [
        (
            "aim/fork",
            44.0,
            "forks/s",
            Better::Higher,
            "Title of aim/fork",
        ),
        (
            "aim/add/long",
            113.0,
            "ns/op",
            Better::Lower,
            "aim/add/long",
        ),
        (
            "byte/object-size",
            512.0,
            "bytes",
            Better::Lower,
            "byte/object-size",
        ),
        (
            "rt/user-latency",
            9.0,
            "us",
            Better::Lower,
            "Maximum time to user",
        ),
    ] {
        let found = result(&view, id);
        assert_eq!(found.estimate, Some(Estimate::exact(value)), "{id}");
        assert_eq!((found.unit.as_str(), found.better), (unit, better), "{id}");
        assert_eq!(
            (found.title.as_str(), &found.published),
            (title, &None),
            "{id}"
        );
    }
    let statistics = |id: &str| {
        let printed = result(&view, id).statistics.clone().expect("statistics");
        assert_eq!((printed.sd, printed.percentiles.len()), (None, 0));
        (printed.min, printed.median, printed.mean, printed.max)
    };
    assert_eq!(statistics("rt/user-latency"), (7.5, 9.0, None, 120.0));
    assert_eq!(statistics("rt/semaphore"), (1.0, 2.0, Some(2.5), 3.0));
    let published = |id: &str| result(&view, id).published.clone().expect("times");
    assert_eq!(published("app/csim").real, Some(Estimate::exact(2.0)));
    let fft = published("vm/fft/128");
    assert_eq!(
        (fft.real, fft.cpu_s),
        (Some(Estimate::exact(9.0)), Some(8.0))
    );

    let doubtful = Some(Flag::Doubtful);
    for (id, expected) in [
        ("aim/fork", &[(doubtful, "result", "Smudged.")][..]),
        ("app/csim", &[(doubtful, "result", "Both.")]),
        ("vm/fft/128", &[(doubtful, "cpu_s", "Or 3.")]),
        (
            "rt/user-latency",
            &[
                (None, "result", "doc-1980, table 5.2 [†]: Simulated."),
                (doubtful, "min", "Less than none."),
                (doubtful, "result", "Blurred."),
            ],
        ),
        (
            "aim/add/float",
            &[(
                Some(Flag::Invalid),
                "result",
                "doc-1980, table 5.2 [*]: The optimizer did away with it.",
            )],
        ),
    ] {
        let of_row = (None, "result", "doc-1980, table 5.2 [+]: Upgraded.");
        let found = notes(result(&view, id));
        assert_eq!(
            (found[0], &found[1..=expected.len()]),
            (of_row, expected),
            "{id}"
        );
    }
}
