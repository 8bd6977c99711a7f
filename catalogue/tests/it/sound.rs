//! What the catalog says: that it is sound, has the rows that were agreed on, and reads as it was written.

use gritstone_catalogue::{all, parse};
use gritstone_model::{Benchmark, Better, Kind, Placement, Work};

fn row(id: &str) -> Benchmark {
    let mut found = all().unwrap().benchmarks;
    found.retain(|row| row.id.as_str() == id);
    assert_eq!(found.len(), 1, "{id}");
    found.remove(0)
}

/// A row that counts in two environments would count twice in the rating over all.
#[test]
fn no_row_is_in_two_environments() {
    let mut seen = std::collections::BTreeSet::new();
    for benchmark in all().unwrap().benchmarks {
        let Work::Rating { over, weights, .. } = benchmark.work else {
            continue;
        };
        if !weights.is_empty() {
            continue; // a mean of its own, and no environment
        }
        assert!(over.len() > 3, "{}", benchmark.id);
        for id in over {
            assert!(seen.insert(id.clone()), "{id} of {}", benchmark.id);
        }
    }
    let has = |id: &str| seen.iter().any(|seen| seen.as_str() == id);
    assert!(has("kernel/forks/0") && has("aim/ram-read/long@memory"));
    assert!(!has("kernel/csw@cross") && !has("byte/object-size"));
}

#[test]
fn sources_are_documents_that_there_are() {
    for benchmark in all().unwrap().benchmarks {
        for source in benchmark.sources {
            let known = [
                "byte-1984",
                "weekly-1984",
                "hp-1987",
                "iocall-1985",
                "login-1982",
                "stream-1995",
                "lmbench-1996",
                "posix-2024",
                "linux-man-pages",
            ];
            assert!(
                known.contains(&source.document.as_str()),
                "{}: {}",
                benchmark.id,
                source.document
            );
        }
    }
}

#[test]
fn the_published_work_is_that_of_the_documents() {
    for (id, operations, figure) in [
        ("byte/pipe", 1024, "real_s"),
        ("byte/syscall", 25_000, "real_s"),
        ("byte/fcall-empty", 50_000, "user_s"),
        ("byte/fcall-assign", 50_000, "user_s"),
        ("byte/fcall-overhead", 50_000, "user_s"),
        ("byte/sieve", 10, "real_s"),
        ("byte/disk-write", 1, "real_s"),
        ("byte/disk-read", 1, "real_s"),
        ("byte/shell", 1, "real_s"),
        ("byte/multi/3", 1, "real_s"),
        ("byte/loop", 1_000_000, "real_s"),
        ("byte/cc", 1, "real_s"),
        ("iocall", 1001, "system_s"),
        ("iocall@hp", 1000, "real_s"),
        ("kernel/syscall", 100_000, "real_s"),
        ("kernel/csw", 100_000, "real_s"),
        ("kernel/signocsw", 10_000, "real_s"),
        ("kernel/pipediscard/512", 10_000, "real_s"),
        ("kernel/forks/100k", 1000, "real_s"),
        ("kernel/vexecs/0-big", 1000, "real_s"),
    ] {
        let published = row(id).published.unwrap();
        assert_eq!(
            (published.operations, published.figure.as_str()),
            (operations, figure),
            "{id}"
        );
    }
    for id in [
        "byte/object-size",
        "kernel/scheduler-time",
        "kernel/csw@cross",
        "kernel/posix-spawn/0-null",
        "kernel/execs/0-null@dynamic",
    ] {
        assert_eq!(row(id).published, None, "{id}");
    }
}

#[test]
fn every_kernel_proves_its_work() {
    for benchmark in all().unwrap().benchmarks {
        if benchmark.work.kind() == Kind::Kernel {
            let claims = &benchmark.claims;
            // a device decides for itself how its time grows with what it is given; what it made the system do is counted instead
            let of_a_device = matches!(benchmark.id.variant(), Some("uncached" | "cold"))
                || claims.major_faults_per_op.is_some()
                || benchmark.id.family() == "disk"
                || benchmark.id.as_str().starts_with("fs/fsync/")
                || benchmark.id.as_str() == "file/fsync";
            // the time of a region is that of waiting, and the figure that of single events in it
            let of_events = benchmark.id.family() == "rt";
            let grows = of_events || claims.linear != of_a_device;
            assert!(
                claims.check && grows && claims.min_ns_per_op.is_some(),
                "{}",
                benchmark.id
            );
        }
    }
}

#[test]
fn programs_are_named_by_the_identifier_unless_said() {
    let program = |id: &str| match row(id).work {
        Work::Kernel(work) => (work.program, work.params.into_iter().collect::<Vec<_>>()),
        other => panic!("{id} is {:?}", other.kind()),
    };
    let with = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
    assert_eq!(program("byte/pipe"), ("byte/pipe".to_owned(), vec![]));
    assert_eq!(program("byte/pipe@cross"), ("byte/pipe".to_owned(), vec![]));
    assert_eq!(
        program("byte/fcall-empty"),
        ("byte/fcall".to_owned(), with("how", "empty"))
    );
    assert_eq!(
        program("iocall"),
        ("iocall/iocall".to_owned(), with("form", "ncr"))
    );
    assert_eq!(
        program("iocall@hp"),
        ("iocall/iocall".to_owned(), with("form", "hp"))
    );
}

#[test]
fn variants_are_the_entry_but_for_what_they_say() {
    let (base, mut cross) = (row("byte/pipe"), row("byte/pipe@cross"));
    assert_eq!(
        (base.placement, cross.placement),
        (Placement::OneCpu, Placement::Cross)
    );
    assert_ne!((&base.title, &base.why), (&cross.title, &cross.why));
    cross.id = base.id.clone();
    cross.title = base.title.clone();
    cross.why = base.why.clone();
    cross.placement = base.placement;
    assert_eq!(base, cross);
    // a variant has a curve of its own or none
    let points = |id: &str| -> Vec<(f64, String)> {
        let curve = row(id).curve.unwrap();
        curve
            .points
            .into_iter()
            .map(|(x, id)| (x, id.to_string()))
            .collect()
    };
    for (id, suffix) in [("byte/multi/6", ""), ("byte/multi/6@one-cpu", "@one-cpu")] {
        let expected: Vec<_> = (1..=6)
            .map(|n| (f64::from(n), format!("byte/multi/{n}{suffix}")))
            .collect();
        assert_eq!(points(id), expected);
    }
}

#[test]
fn what_is_not_said_has_its_default() {
    let (family, rows) = parse(
        "demo.toml",
        "family = { name = 'demo', title = 't', why = 'one\n  sentence' }\n\
         [[benchmark]]\nid = 'demo/a/b@c'\nkind = 'kernel'\ntitle = 't'\nversion = 3\noperation = 'o'\nwhy = 'w'\n\
         sources = [{ document = 'd', place = 'p' }]\nunit = 'calls/s'\n"
            .replace("'one\n  sentence'", "'''one\n  sentence'''")
            .as_str(),
    )
    .unwrap();
    assert_eq!(family.why, "one sentence");
    let row = &rows[0];
    assert_eq!(row.better, Better::Higher);
    assert_eq!(
        (row.amount_per_op, row.placement, row.version),
        (1.0, Placement::OneCpu, 3)
    );
    assert_eq!(
        (row.files, row.processor_bound, row.curve.as_ref()),
        (false, false, None)
    );
    let Work::Kernel(work) = &row.work else {
        panic!("{:?}", row.work)
    };
    assert_eq!(work.program, "demo/a");
}

#[test]
fn a_file_by_itself_may_speak_of_another_family() {
    let text = "family = { name = 'demo', title = 't', why = 'w' }\n\
         [[benchmark]]\nid = 'demo/a'\nkind = 'derived'\ntitle = 't'\nversion = 1\noperation = 'o'\nwhy = 'w'\n\
         sources = [{ document = 'd', place = 'p' }]\nunit = 'ns'\nterms = [{ id = 'byte/loop', times = 1 }]\n";
    assert!(parse("demo.toml", text).is_ok());
    let own = text.replace("byte/loop", "demo/b");
    assert!(parse("demo.toml", &own).is_err());
}
