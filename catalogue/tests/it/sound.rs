//! The catalog is valid, has the agreed benchmarks, and is read unchanged.

use gritstone_catalogue::{all, load};
use gritstone_model::{Benchmark, Better, Kind, Placement, Selector, Work};
use std::collections::BTreeSet;
use std::path::Path;

fn benchmark(id: &str) -> Benchmark {
    let mut found = all().unwrap().benchmarks;
    found.retain(|benchmark| benchmark.id.as_str() == id);
    assert_eq!(found.len(), 1, "{id}");
    found.remove(0)
}

/// The documents that entries may name.
const DOCUMENTS: &str = "byte-1984 weekly-1984 hp-1987 iocall-1985 login-1982 stream-1995 lmbench-1996 posix-2024 linux-man-pages manual-pages";

#[test]
fn entries_are_proven_and_unique() {
    let mut rated = BTreeSet::new();
    for benchmark in all().unwrap().benchmarks {
        let (id, claims) = (benchmark.id.as_str(), &benchmark.claims);
        for source in &benchmark.sources {
            let known = DOCUMENTS.split(' ').any(|name| name == source.document);
            assert!(known, "{id}: {}", source.document);
        }
        match &benchmark.work {
            Work::Kernel(_) => {
                // a device decides for itself how its time grows with what it is given; what it made the system do is counted instead
                let of_a_device = matches!(
                    benchmark.id.variant(),
                    Some("uncached" | "cold" | "fsync" | "full-cache")
                ) || claims.major_faults_per_op.is_some()
                    || ["disk/", "fs/fsync/", "file/fsync"]
                        .iter()
                        .any(|begin| id.starts_with(begin));
                // the time of a region is that of waiting, and the figure that of single events in it
                let of_events = ["rt", "net", "netrt", "multiuser", "daq", "db"]
                    .contains(&benchmark.id.family())
                    || benchmark.id.variant() == Some("scheduled");
                // programs of the machine, each started once in a region
                let of_a_program =
                    ["app/spice/", "app/hilo/"].iter().any(|begin| id.starts_with(begin));
                let grows = of_events || of_a_program || claims.linear != of_a_device;
                assert!(claims.check && grows && claims.min_ns_per_op.is_some(), "{id}");
            }
            // one with weights is a mean of its own, and no environment: a benchmark in two would count twice in the score over all
            Work::Score { over, weights, together, .. } if weights.is_empty() => {
                // few small benchmarks are no environment, and fewer still are left of them by another baseline; those of the document are
                // of one program each, and nothing is left out of them
                assert!(over.len() > 3 || *together, "{id}");
                for part in over {
                    assert!(rated.insert(part.to_string()), "{part} of {id}");
                }
            }
            _ => {}
        }
    }
    assert!(rated.contains("kernel/forks/0") && rated.contains("aim/ram-read/long@memory"));
    assert!(!rated.contains("kernel/csw@cross") && !rated.contains("byte/object-size"));
}

/// The benchmark, the operations of its published work, and the time to look at; nothing for a benchmark without.
const PUBLISHED: &str = "
byte/pipe 1024 real_s
byte/syscall 25000 real_s
byte/fcall-empty 50000 user_s
byte/fcall-assign 50000 user_s
byte/fcall-overhead 50000 user_s
byte/sieve 10 real_s
byte/disk-write 1 real_s
byte/disk-read 1 real_s
vm/paging/sequential 1 real_s
vm/paging/random 1 real_s
byte/shell 1 real_s
byte/multi/3 1 real_s
byte/loop 1000000 real_s
byte/cc 1 real_s
iocall 1001 system_s
iocall@hp 1000 real_s
app/csim 1 user_s
app/plagen 1 user_s
app/router 1 user_s
app/spice/mosamp2 1 real_s
app/spice/greycode@7
app/hilo/isor
kernel/syscall 100000 real_s
kernel/csw 10000 real_s
kernel/signocsw 10000 real_s
kernel/scheduler-time 10000 real_s
kernel/pipediscard/512 10000 real_s
kernel/forks/100k 1000 real_s
kernel/vexecs/0-big 1000 real_s
byte/object-size
kernel/csw@cross
kernel/posix-spawn/0-null
kernel/execs/0-null@dynamic
";

#[test]
fn published_work_matches_the_documents() {
    for line in PUBLISHED.trim().lines() {
        let id = line.split(' ').next().unwrap();
        let output = match benchmark(id).published {
            Some(work) => format!("{id} {} {}", work.operations, work.figure.as_str()),
            None => id.to_owned(),
        };
        assert_eq!(output, line);
    }
}

#[test]
fn identifiers_name_programs_by_default() {
    for (id, program, params) in [
        ("byte/pipe@cross", "byte/pipe", "{}"),
        ("byte/fcall-empty", "byte/fcall", r#"{"how": "empty"}"#),
        ("iocall@hp", "iocall/iocall", r#"{"form": "hp"}"#),
    ] {
        let Work::Kernel(work) = benchmark(id).work else { panic!("{id}") };
        let found = (work.program.as_str(), format!("{:?}", work.params));
        assert_eq!(found, (program, params.to_owned()), "{id}");
    }
}

#[test]
fn variants_inherit_their_entry() {
    let (base, mut cross) = (benchmark("byte/pipe"), benchmark("byte/pipe@cross"));
    assert_eq!(cross.placement, Placement::Cross);
    assert_ne!((&base.title, &base.why), (&cross.title, &cross.why));
    cross.id = base.id.clone();
    cross.title = base.title.clone();
    cross.why = base.why.clone();
    cross.placement = Placement::OneCpu;
    assert_eq!(base, cross);
    // a variant has a curve of its own or none
    for suffix in ["", "@one-cpu"] {
        let curve = benchmark(&format!("byte/multi/6{suffix}")).curve.unwrap();
        let points = (1..).zip(curve.points);
        for (n, (x, id)) in points {
            let expected = format!("byte/multi/{n}{suffix}");
            assert_eq!((x, id.as_str()), (f64::from(n), expected.as_str()));
        }
    }
}

#[test]
fn missing_keys_have_defaults() {
    let text = "family = { name = 'demo', title = 't', why = '''one\n  sentence''' }\n\
         [[benchmark]]\nid = 'demo/a/b@c'\nkind = 'kernel'\ntitle = 't'\nversion = 3\noperation = 'o'\nwhy = 'w'\n\
         sources = [{ document = 'd', place = 'p' }]\nunit = 'calls/s'\n";
    let read = load(&[("demo.toml", text)]).unwrap();
    assert_eq!(read.families[0].why, "one sentence");
    let benchmark = &read.benchmarks[0];
    assert_eq!(benchmark.work.kind(), Kind::Kernel);
    assert_eq!((benchmark.better, benchmark.amount_per_op), (Better::Higher, 1.0));
    assert_eq!((benchmark.placement, benchmark.version), (Placement::OneCpu, 3));
    assert_eq!(
        (benchmark.files, benchmark.processor_bound, benchmark.curve.as_ref()),
        (false, false, None)
    );
}

#[test]
fn suites_select_what_they_say() {
    const OLD: [&str; 5] = ["login-1982", "byte-1984", "weekly-1984", "iocall-1985", "hp-1987"];
    let catalogue = gritstone_catalogue::all().unwrap();
    let selected = |name: &str| -> BTreeSet<&str> {
        let suite = catalogue.suites.iter().find(|suite| suite.name == name);
        let by: Vec<Selector> =
            (suite.unwrap().benchmarks.iter()).map(|text| Selector::new(text)).collect();
        let benchmarks = catalogue.benchmarks.iter();
        let benchmarks =
            benchmarks.filter(|benchmark| by.iter().any(|by| by.matches(&benchmark.id)));
        benchmarks.map(|benchmark| benchmark.id.as_str()).collect()
    };
    let old = catalogue.benchmarks.iter().filter(|benchmark| {
        let plain = !benchmark.id.as_str().contains('@');
        let (family, variant) = (benchmark.id.family(), benchmark.id.variant().unwrap_or_default());
        // the files that the document read were not in the cache
        let cold = matches!((family, variant), ("fs" | "daq", "cold") | ("fs", "full-cache"));
        // users or jobs at once, and load levels
        let loaded = matches!(family, "daq" | "app") && variant.parse::<u32>().is_ok()
            || family == "rt" && variant.starts_with("level-");
        // the longest times that it printed
        let longest = benchmark.curve.as_ref().is_some_and(|curve| curve.longest);
        // the score of what the documents measured one by one
        let score = benchmark.id.as_str() == "app/ratings@today";
        // figure 8.6
        let far = variant == "from" && benchmark.id.as_str().starts_with("net/remote-file/");
        (plain || cold || loaded || longest || score || far)
            && OLD.contains(&benchmark.sources[0].document.as_str())
    });
    let old: BTreeSet<&str> = old.map(|benchmark| benchmark.id.as_str()).collect();
    assert_eq!(selected("classic"), old);
    assert_eq!(selected("full").len(), catalogue.benchmarks.len());
    let standard = selected("standard");
    assert!((55..=65).contains(&standard.len()), "{}", standard.len());
    // a sum has its parts measured too, which a suite that is short on time does without, but for the switch that the documents of all years have
    for benchmark in catalogue.benchmarks.iter().filter(|benchmark| {
        standard.contains(benchmark.id.as_str()) && benchmark.id.as_str() != "sched/switch/2"
    }) {
        assert!(benchmark.work.parts().is_empty(), "{}", benchmark.id);
    }
}

/// Decisions about the documents' benchmarks name existing ones.
#[test]
fn decisions_name_benchmarks_that_exist() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../references/README.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().filter(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        cells.len() == 4 && matches!(cells[2], "benchmark" | "view" | "out")
    });
    let ids = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let ids = ids.filter(|name| name.contains('/') && !name.contains([' ', '=']));
    let catalogue = gritstone_catalogue::all().unwrap();
    let mut named = 0;
    for name in ids {
        let by = Selector::new(name);
        let found = catalogue.benchmarks.iter().any(|benchmark| by.matches(&benchmark.id));
        assert!(found, "{name}");
        named += 1;
    }
    assert!(named > 20, "{named}");
}

/// `report --classic` has every table of hp-1987, and every figure of its five chapters with numbers, or a reason for its absence.
#[test]
fn chapters_have_every_exhibit() {
    let chapters = gritstone_catalogue::all().unwrap().chapters;
    let exhibits = chapters.iter().flat_map(|chapter| &chapter.exhibits);
    let hp = exhibits.filter(|exhibit| exhibit.document == "hp-1987");
    let places: BTreeSet<&str> = hp.map(|exhibit| exhibit.place.as_str()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../references/hp-1987");
    let mut tables = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let number = name.strip_prefix("table-").and_then(|name| name.strip_suffix(".toml"));
        let number = number.filter(|number| !number.ends_with("-rates"));
        if let Some(number) = number {
            assert!(places.contains(format!("table {number}").as_str()), "{number}");
            tables += 1;
        }
    }
    assert_eq!(tables, 44);
    let figures = "2.1 2.2 2.3 2.4 2.5 3.1 3.2 3.3 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 5.1 5.2 6.1 7.1 7.2 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9.1 9.2";
    for figure in figures.split(' ') {
        let there =
            places.iter().any(|place| place.starts_with("figure") && place.contains(figure));
        assert!(there, "figure {figure}");
    }
}

#[test]
fn application_profile_covers_its_suite() {
    let catalogue = gritstone_catalogue::all().unwrap();
    let suite = catalogue.suites.iter().find(|suite| suite.name == "applications");
    let selectors: Vec<Selector> =
        (suite.unwrap().benchmarks.iter()).map(|text| Selector::new(text)).collect();
    let names: Vec<&str> = catalogue.profiles.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["build", "desktop", "science"]);
    for profile in &catalogue.profiles {
        let total: f64 = profile.weights.values().sum();
        assert_eq!(total, 100.0, "{}: a weight can be read as a percentage", profile.name);
        for id in profile.weights.keys() {
            let measured = selectors.iter().any(|selector| selector.matches(id));
            assert!(measured, "{}: {id}", profile.name);
        }
    }
}

/// Applications depend on their versions and inputs: each reports both, and is checked.
#[test]
fn modern_applications_report_versions() {
    let benchmarks = all().unwrap().benchmarks;
    let today = benchmarks.iter().filter(|b| b.id.as_str().starts_with("app/today/"));
    let mut count = 0;
    for benchmark in today {
        let (Work::Command(work) | Work::Scenario(work)) = &benchmark.work else {
            panic!("{}", benchmark.id);
        };
        assert!(!work.check.is_empty() && !work.prepare.is_empty(), "{}", benchmark.id);
        let versions = benchmark.needs.iter().filter(|need| need.version.is_some());
        assert!(versions.count() > 0, "{}", benchmark.id);
        count += 1;
    }
    assert!(count > 40, "{count}");
}

#[test]
fn families_may_span_files() {
    let entry = |id: &str| {
        format!(
            "[[benchmark]]\nid = '{id}'\nkind = 'command'\ntitle = 'T'\nversion = 1\noperation = 'O.'\nwhy = 'W.'\n\
             sources = [{{ document = 'd', place = 'p' }}]\nunit = 's'\nargv = ['/bin/true']\n"
        )
    };
    let head = "[family]\nname = 'a'\ntitle = 'A'\nwhy = 'W.'\n";
    let whole = format!("{head}{}", entry("a/one"));
    let read = |name: &str, text: &str| load(&[("a.toml", &whole), (name, text)]);
    let catalogue = read("a.more.toml", &entry("a/two")).unwrap();
    let ids: Vec<&str> = catalogue.benchmarks.iter().map(|b| b.id.as_str()).collect();
    assert_eq!((ids, catalogue.families.len()), (vec!["a/one", "a/two"], 1));
    for (name, text, what) in [
        ("a.more.toml", entry("b/two"), "is not of family 'a'"),
        ("a.more.toml", entry("a/one"), "is here a second time"),
        ("a.more.toml", format!("{head}{}", entry("a/two")), "remove it here"),
        ("b.more.toml", entry("b/two"), "there is no b.toml"),
        ("b.toml", entry("b/two"), "there is no [family]"),
    ] {
        let fault = read(name, &text).unwrap_err();
        assert!(fault.what.contains(what), "{name}: {fault}");
    }
}

#[test]
fn empty_suites_are_faults() {
    let benchmarks = gritstone_catalogue::all().unwrap().benchmarks;
    let suite = |rest: &str| format!("[[suite]]\nname = 'one'\ntitle = 'One'\n{rest}\n");
    let sound = suite("benchmarks = ['byte/*', 'byte/sieve']\nall_cpus = ['byte/sieve']");
    let read = |text: &str| gritstone_catalogue::suites("suites.toml", text, &benchmarks);
    assert_eq!(read(&sound).unwrap()[0].all_cpus, ["byte/sieve"]);
    let twice = sound.clone() + &sound;
    for (text, what) in [
        (suite("benchmarks = ['byte/none']"), "selects nothing"),
        (suite("benchmarks = ['byte/*', 'byte/*']"), "is there twice"),
        (sound.replace(", 'byte/sieve'", ""), "is not listed"),
        (sound.replace("sieve", "cc"), "not a kernel on one CPU"),
        (suite("benchmarks = ['byte/*']\nwhy = 'x'"), "unknown field"),
        (twice, "two suites"),
    ] {
        let fault = read(&text).unwrap_err();
        assert!(fault.what.contains(what), "{fault}");
    }
}
