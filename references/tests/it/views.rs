//! Looking a machine up, and what its view holds.

use gritstone_model::{
    Benchmark, Better, Estimate, Flag, Id, KernelWork, Kind, Measurement, Note, PublishedWork,
    RunView, Status, Subject, Term, Unit, Work,
};
use gritstone_references::{LookupError, References, all};
use std::collections::BTreeMap;

fn benchmark(id: &str, unit: &str, work: Work) -> Benchmark {
    Benchmark {
        title: format!("Title of {id}"),
        version: 3,
        operation: "one call".to_owned(),
        published: Some(PublishedWork {
            work: "25,000 calls".to_owned(),
            operations: 25_000,
            figure: Subject::Real,
        }),
        processor_bound: true,
        ..Benchmark::new(
            Id::parse(id).expect("an identifier"),
            Unit::parse(unit).expect("a unit"),
            work,
        )
    }
}

fn kernel(id: &str, unit: &str) -> Benchmark {
    let work = KernelWork {
        program: id.to_owned(),
        params: BTreeMap::new(),
        uses: vec![],
    };
    benchmark(id, unit, Work::Kernel(work))
}

fn derived(id: &str) -> Benchmark {
    let terms: Vec<Term> = Vec::new();
    benchmark(
        id,
        "ns/call",
        Work::Derived {
            terms,
            share_of: None,
        },
    )
}

fn result<'a>(view: &'a RunView, id: &str) -> &'a Measurement {
    view.results
        .iter()
        .find(|result| result.id.as_str() == id)
        .unwrap_or_else(|| panic!("no {id}"))
}

/// What a note is about, where that is not the result as a whole.
fn about(note: &Note) -> Option<&'static str> {
    (note.about != Subject::Result).then(|| note.about.as_str())
}

fn footnotes(result: &Measurement) -> Vec<(Option<Flag>, Option<&str>, &str)> {
    result
        .notes
        .iter()
        .map(|footnote| (footnote.flag(), about(footnote), crate::text(footnote)))
        .collect()
}

#[test]
fn a_name_in_full_with_and_without_ref() {
    let references = all().expect("sound");
    for asked in ["vax-11-780-4.1bsd", "ref:vax-11-780-4.1bsd"] {
        let view = references.view(asked, &[]).expect(asked);
        assert_eq!(view.id, "ref:vax-11-780-4.1bsd");
    }
}

#[test]
fn the_beginning_of_one_name_is_enough() {
    let references = all().expect("sound");
    let found = |asked: &str| references.machine(asked).expect(asked).id.clone();
    assert_eq!(found("ref:vax-11-750"), "vax-11-750-4.1bsd");
    assert_eq!(found("masscomp"), "masscomp-sys-iii");
    assert_eq!(found("vax-11-780-4.2bsd"), "vax-11-780-4.2bsd");
}

#[test]
fn the_beginning_of_several_names_is_answered_with_them() {
    let references = all().expect("sound");
    let candidates = |asked: &str| match references.view(asked, &[]) {
        Err(LookupError::Ambiguous { candidates, .. }) => candidates,
        other => panic!("{other:?}"),
    };
    let vaxes = [
        "vax-11-780-4.1bsd",
        "vax-11-780-4.2bsd",
        "vax-11-780-vms",
        "vax-11-780-vmunix-4.0",
        "vax-11-780-vmunix-4.1",
        "vax-11-780-weekly-1984",
    ];
    assert_eq!(candidates("ref:vax-11-780"), vaxes);
    assert_eq!(candidates("vax-11-780-4"), vaxes[..2]);
    assert_eq!(candidates("pdp-11-23"), ["pdp-11-23-v7", "pdp-11-23-venix"]);
    assert_eq!(
        references.machine("ref:pdp-11-23").unwrap_err().to_string(),
        "'pdp-11-23' fits 2 reference machines, name one of them: pdp-11-23-v7, pdp-11-23-venix"
    );
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let references = all().expect("sound");
    for (asked, first) in [
        ("ref:vax-11-785", "vax-11-78"),
        ("VAX-11/750", "vax-11-750-4.1bsd"),
        ("hp-900-825s", "hp-9000-825s"),
        ("cadmos-9200", "cadmus-9200-weekly-1984"),
        // not whole parts
        ("vax-11-7", "vax-11-7"),
    ] {
        match references.view(asked, &[]) {
            Err(LookupError::Unknown { nearest, .. }) => {
                assert_eq!(nearest.len(), 3);
                assert!(nearest[0].starts_with(first), "{asked}: {nearest:?}");
            }
            other => panic!("{asked}: {other:?}"),
        }
    }
    for nothing in ["", "ref:", "ref:ref:masscomp"] {
        assert!(
            matches!(
                references.machine(nothing),
                Err(LookupError::Unknown { .. })
            ),
            "{nothing}"
        );
    }
}

#[test]
fn times_are_published_and_the_estimate_is_left() {
    let references = all().expect("sound");
    let benchmarks = [
        derived("byte/fcall-overhead"),
        kernel("byte/syscall", "ns/call"),
    ];
    let view = references
        .view("vax-11-780-4.1bsd", &benchmarks)
        .expect("a VAX");
    assert_eq!(view.schema, "gritstone/run/2");
    assert_eq!(view.started, "1984-08");
    assert_eq!(view.machine.document.as_deref(), Some("byte-1984"));
    assert_eq!(view.machine.year, Some(1984));
    assert!(view.settings.is_none() && view.gritstone.is_none() && view.elapsed_s.is_none());
    // the order of the catalogue, then the rest by name
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
    assert_eq!(
        (syscall.value(), syscall.interval(), syscall.launches),
        (None, None, 0)
    );
    assert_eq!(syscall.title, "Title of byte/syscall");
    assert_eq!(
        (syscall.kind, syscall.unit.as_str()),
        (Kind::Kernel, "ns/call")
    );
    assert!(syscall.processor_bound);
    assert_eq!(syscall.measured.as_deref(), Some("byte-1984, table 1"));
    let published = syscall.published.as_ref().expect("times");
    assert_eq!(
        [published.real, published.user, published.system].map(|time| time.map(f64::from)),
        [Some(4.8), Some(1.4), Some(4.0)]
    );
    assert_eq!(
        (published.work.as_str(), published.figure.as_str()),
        ("25,000 calls", "real_s")
    );
    assert_eq!(
        (published.process, published.real.and_then(|e| e.interval)),
        (None, None)
    );
    let [(Some(Flag::Doubtful), Some("user_s"), why)] = footnotes(syscall)[..] else {
        panic!("{:?}", syscall.notes);
    };
    assert!(why.contains("5.4"), "{why}");

    let overhead = result(&view, "byte/fcall-overhead");
    assert_eq!(overhead.kind, Kind::Derived);
    let published = overhead.published.as_ref().expect("a time");
    assert_eq!(
        (published.real, published.user),
        (None, Some(Estimate::exact(1.0)))
    );
    assert_eq!(footnotes(overhead), []);
}

#[test]
fn a_figure_that_the_catalogue_does_not_have_says_so() {
    let references = all().expect("sound");
    let view = references.view("iocall-1985", &[]);
    assert!(view.is_err(), "a document is not a machine");
    let view = references.view("vax-11-780-4.2bsd", &[]).expect("a VAX");
    let iocall = result(&view, "iocall");
    assert_eq!(
        (iocall.title.as_str(), iocall.unit.as_str()),
        ("iocall", "s")
    );
    let notes = footnotes(iocall);
    assert_eq!(notes[0].0, None);
    assert!(
        notes[0].2.starts_with("iocall-1985, text [around]: "),
        "{notes:?}"
    );
    assert_eq!(notes[1].0, Some(Flag::NotComparable));
    let known = references
        .view("vax-11-780-4.2bsd", &[kernel("iocall", "ns/call")])
        .expect("a VAX");
    assert_eq!(footnotes(result(&known, "iocall")).len(), 1);
}

#[test]
fn a_missing_figure_is_a_result_with_its_reason() {
    let references = all().expect("sound");
    let view = references
        .view("omnibyte-idris", &[kernel("byte/disk-read", "MB/s")])
        .expect("Idris");
    let read = result(&view, "byte/disk-read");
    assert_eq!((read.estimate, &read.published), (None, &None));
    assert_eq!(read.outcome, Status::Published);
    assert_eq!(
        footnotes(read),
        [
            (
                None,
                None,
                "byte-1984, table 1 [$]: Not run: Idris 2.1 descends from Version 6 and has no rand()."
            ),
            (
                None,
                None,
                "byte-1984, table 1: The mark stands in place of the figure."
            ),
        ]
    );
}

#[test]
fn marks_of_a_row_come_before_those_of_a_cell() {
    let references = all().expect("sound");
    let view = references.view("sci-1000-sys-iii", &[]).expect("SCI");
    for result in &view.results {
        let place = result.measured.as_deref().expect("a place");
        assert!(
            crate::text(&result.notes[0]).starts_with(&format!("{place} [+]: ")),
            "{}",
            result.id
        );
    }
}

/// One machine, box-1, with one table.
fn with_table(table: &str) -> References {
    let document = "name = \"doc-1980\"\ntitle = \"t\"\nauthor = \"a\"\ndate = \"1980\"\nyear = 1980\nabout = \"x\"\n";
    let machines =
        "[[machine]]\nid = \"box-1\"\nname = \"Box\"\nsystem = \"V7\"\nconfiguration = \"64 KB\"\n";
    let files = [
        ("doc-1980/document.toml", document),
        ("doc-1980/machines.toml", machines),
        ("doc-1980/table.toml", table),
    ];
    References::parse(&files).expect("sound")
}

/// The tables of rates that hp-1987 has more of.
#[test]
fn printed_rates_and_times_of_one_operation_are_estimates() {
    let table = r#"place = "table 4.1"
[[row]]
machine = "box-1"
"aim/fork" = { value = 44.0, unit = "forks/s", doubt.value = "Smudged." }
"aim/add/long" = { value = 113.0, unit = "ns/op" }
"byte/object-size" = { value = 512.0, unit = "bytes", better = "lower" }
"app/csim" = { value = 2.0, unit = "s", real_s = 2.0, doubt = "Both." }
"#;
    let references = with_table(table);
    let benchmarks = [kernel("aim/fork", "us/fork")];
    let view = references.view("box-1", &benchmarks).expect("the box");
    let of = |id: &str| {
        let found = result(&view, id);
        (found.value(), found.unit.as_str(), found.better)
    };
    // as printed, whatever unit the catalogue has now
    assert_eq!(of("aim/fork"), (Some(44.0), "forks/s", Better::Higher));
    assert_eq!(of("aim/add/long"), (Some(113.0), "ns/op", Better::Lower));
    assert_eq!(
        of("byte/object-size"),
        (Some(512.0), "bytes", Better::Lower)
    );
    let fork = result(&view, "aim/fork");
    assert_eq!((&fork.published, fork.interval()), (&None, None));
    assert_eq!(footnotes(fork), [(Some(Flag::Doubtful), None, "Smudged.")]);
    let both = result(&view, "app/csim");
    assert_eq!(
        both.published
            .as_ref()
            .and_then(|times| Some(times.real?.value)),
        Some(2.0)
    );
    assert_eq!(footnotes(both)[0], (Some(Flag::Doubtful), None, "Both."));
}

/// What hp-1987 prints of its real-time tests, and login-1982 of its paging.
#[test]
fn statistics_titles_kinds_and_processor_time_travel() {
    let table = r#"place = "table 5.2"
[titles]
"rt/user-latency" = "Maximum time to user"
[footnotes]
"*" = "The optimiser did away with it."
"†" = "Simulated."
[kinds]
"*" = "invalid"
[[row]]
machine = "box-1"
"rt/user-latency" = { unit = "us", min = 7.5, median = 9.0, max = 120.0, marks = ["†"], doubt.min = "Less than none.", doubt.median = "Blurred." }
"rt/semaphore" = { unit = "ms", min = 1.0, median = 2.0, mean = 2.5, max = 3.0 }
"aim/add/float" = { value = 30.0, unit = "ns/op", marks = ["*"] }
"vm/fft/128" = { real_s = 9.0, cpu_s = 8.0, doubt.cpu_s = "Or 3." }
"#;
    let references = with_table(table);
    let view = references
        .view("box-1", &[kernel("aim/add/float", "ns/op")])
        .expect("the box");
    let latency = result(&view, "rt/user-latency");
    assert_eq!(latency.title, "Maximum time to user");
    assert_eq!(result(&view, "rt/semaphore").title, "rt/semaphore");
    assert_eq!(
        (latency.value(), latency.unit.as_str(), latency.better),
        (Some(9.0), "us", Better::Lower)
    );
    let statistics = |id: &str| {
        let printed = result(&view, id).statistics.clone().expect("statistics");
        assert_eq!((printed.sd, printed.percentiles.len()), (None, 0));
        (printed.min, printed.median, printed.mean, printed.max)
    };
    assert_eq!(statistics("rt/user-latency"), (7.5, 9.0, None, 120.0));
    assert_eq!(statistics("rt/semaphore"), (1.0, 2.0, Some(2.5), 3.0));
    assert_eq!(
        footnotes(latency)[..3],
        [
            (None, None, "doc-1980, table 5.2 [†]: Simulated."),
            (Some(Flag::Doubtful), Some("min"), "Less than none."),
            (Some(Flag::Doubtful), None, "Blurred."),
        ]
    );
    assert_eq!(
        footnotes(result(&view, "aim/add/float")),
        [(
            Some(Flag::Invalid),
            None,
            "doc-1980, table 5.2 [*]: The optimiser did away with it."
        )]
    );
    let fft = result(&view, "vm/fft/128");
    let published = fft.published.as_ref().expect("times");
    assert_eq!(
        (published.real.map(f64::from), published.cpu_s),
        (Some(9.0), Some(8.0))
    );
    assert_eq!(footnotes(fft)[0].1, Some("cpu_s"));
}
