//! Lookup of machines, and contents of their views.

use gritstone_model::{Benchmark, Measurement, PublishedWork, Subject};
use gritstone_references::{LookupError, References, all};

/// An entry of the catalog.
fn entry(id: &str, unit: &str) -> Benchmark {
    Benchmark {
        title: format!("Title of {id}"),
        version: 3,
        published: Some(PublishedWork {
            work: "25,000 calls".to_owned(),
            operations: 25_000,
            figure: Subject::Real,
        }),
        processor_bound: true,
        ..gritstone_testkit::benchmark(id, unit)
    }
}

/// All that a view says, a line for each result and each note.
fn described(references: &References, machine: &str, benchmarks: &[Benchmark]) -> String {
    let view = references.view(machine, benchmarks).expect(machine);
    let machine = (&view.machine.document, view.machine.year);
    let head = format!("{} {} {} {machine:?}\n", view.schema, view.id, view.started);
    let line = |result: &Measurement| {
        let statistics = result.statistics();
        let statistics =
            statistics.map(|all| [Some(all.min), Some(all.median), all.mean, Some(all.max)]);
        let published = result.published.as_ref().map(|published| {
            let times = [published.real, published.user, published.system];
            (
                &published.work,
                published.figure,
                times.map(|time| time.map(f64::from)),
                published.cpu_s,
            )
        });
        let kind = (
            result.kind,
            result.outcome(),
            result.version,
            result.launches(),
            result.processor_bound,
        );
        let notes = result.notes.iter().map(|note| {
            let text = serde_json::to_value(&note.finding).unwrap()["data"]["text"].to_string();
            format!("    {:?} {} {text}\n", note.flag(), note.about.as_str())
        });
        format!(
            "{} '{}' {:?} {} {:?} {statistics:?} {published:?} {:?} {kind:?}\n{}",
            result.id,
            result.title,
            result.estimate(),
            result.unit,
            result.better,
            result.measured,
            notes.collect::<String>()
        )
    };
    head + &view.results.iter().map(line).collect::<String>()
}

#[test]
fn name_prefixes_find_machines() {
    let references = all().expect("sound");
    for (asked, found) in [
        ("vax-11-780-4.1bsd", "vax-11-780-4.1bsd"),
        ("ref:vax-11-780-4.1bsd", "vax-11-780-4.1bsd"),
        ("ref:vax-11-750-4.3bsd", "vax-11-750-4.3bsd-sysperf-1985"),
        ("masscomp-sys", "masscomp-sys-iii"),
    ] {
        assert_eq!(references.machine(asked).expect(asked).id, found);
    }
    for (asked, several) in [
        (
            "ref:vax-11-780-4",
            &["vax-11-780-4.1bsd", "vax-11-780-4.2bsd", "vax-11-780-4.2bsd-dhrystone-1986"][..],
        ),
        ("pdp-11-23", &["pdp-11-23-v7", "pdp-11-23-venix"][..]),
        // as the document spells it
        ("PDP-11/23", &["pdp-11-23-v7", "pdp-11-23-venix"][..]),
    ] {
        let Err(LookupError::Ambiguous { candidates, .. }) = references.machine(asked) else {
            panic!("{asked}");
        };
        assert_eq!(candidates, several);
    }
    // five of many, one a line
    let many = references.machine("vax").unwrap_err().to_string();
    assert_eq!(many.matches("\n  ref:vax-11-750").count(), 5, "{many}");
    assert_eq!(many.lines().count(), 7, "{many}");
    for (asked, first) in [
        ("ref:vax-11-795", "vax-11-7"),
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
        assert!(nearest.len() == 3 && nearest[0].starts_with(first), "{asked}: {nearest:?}");
    }
}

#[test]
fn machines_inherit_document_years() {
    let references = all().expect("sound");
    for (id, year, started) in [
        ("vax-11-780-4.1bsd", 1984, "1984-08"),
        ("sun-e450-sunos-5.5.1", 1998, "1998"),
        ("x86-64-2131-linux-2.6.29", 2009, "2009-03-24"),
    ] {
        let view = references.view(id, &[]).expect(id);
        let dates = (view.machine.year, view.started.as_str());
        assert_eq!(dates, (Some(year), started), "{id}");
    }
}

#[test]
fn times_are_published_values() {
    let references = all().expect("sound");
    let entries = ["byte/fcall-overhead", "byte/syscall"].map(|id| entry(id, "ns/call"));
    insta::assert_snapshot!(described(&references, "vax-11-780-4.1bsd", &entries));
}

#[test]
fn missing_entries_are_noted() {
    let references = all().expect("sound");
    let vax = described(&references, "vax-11-780-4.2bsd", &[]);
    let idris = described(&references, "omnibyte-idris", &[entry("byte/disk-read", "MB/s")]);
    insta::assert_snapshot!(vax + &idris);
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
fn printed_values_keep_doubts() {
    let document = "name = \"doc-1980\"\ntitle = \"t\"\nauthor = \"a\"\ndate = \"1980\"\nyear = 1980\nabout = \"x\"\n";
    let machines =
        "[[machine]]\nid = \"box-1\"\nname = \"Box\"\nsystem = \"V7\"\nconfiguration = \"64 KB\"\n";
    let references = References::parse(&[
        ("doc-1980/document.toml", document),
        ("doc-1980/machines.toml", machines),
        ("doc-1980/table.toml", TABLE),
    ]);
    // as printed, whatever unit the catalog has now
    let entries = [entry("aim/fork", "us/fork")];
    insta::assert_snapshot!(described(&references.expect("sound"), "box-1", &entries));
}
