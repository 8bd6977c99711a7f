//! The shipped data: control totals, and relations between numbers. A wrong cell fails one of them.

use gritstone_model::{Flag, Quantity};
use gritstone_references::{Cell, MEASURED, References, all};
use std::collections::BTreeSet;

/// Document, table, machine or benchmark (all of the table where none), cells with a figure, and the sum of their figures in thousandths,
/// added up from the scans by a script and not from these files.
#[rustfmt::skip]
const TOTALS: &[(&str, &str, &str, usize, i64)] = &[
    ("hp-1987", "table 1.1", "", 18, 20110),
    ("hp-1987", "section 1, MIPS analysis", "", 3, 4500002300),
    ("hp-1987", "table 2.2", "", 9, 376600),
    ("hp-1987", "table 2.1", "", 11, 942000),
    ("hp-1987", "table 3.1", "", 6, 18270000),
    ("hp-1987", "table 3.2", "", 6, 71855000),
    ("hp-1987", "table 3.3", "", 12, 7677000),
    ("hp-1987", "table 4.1", "", 105, 130590000),
    ("hp-1987", "table 4.1, rates", "", 18, 144489000),
    ("hp-1987", "table 4.3", "", 87, 3221000),
    ("hp-1987", "table 4.3, by the text on context switches", "", 3, 20000),
    ("hp-1987", "table 4.4", "", 39, 95800),
    ("hp-1987", "table 5.1", "", 36, 52230),
    ("hp-1987", "table 5.2", "", 8, 14605000),
    ("hp-1987", "table 5.3", "", 8, 64273000),
    ("hp-1987", "table 5.4", "", 4, 2654000),
    ("hp-1987", "table 5.5", "", 4, 36006),
    ("hp-1987", "table 5.6", "", 3, 24165000),
    ("hp-1987", "table 5.7", "", 4, 92784),
    ("hp-1987", "table 5.8", "", 4, 17240200),
    ("hp-1987", "table 5.9", "", 4, 28270),
    ("hp-1987", "table 5.10", "", 4, 28799),
    ("hp-1987", "table 5.11", "", 4, 50403),
    ("hp-1987", "table 5.12", "", 4, 54456),
    ("hp-1987", "table 5.13", "", 4, 33391),
    ("hp-1987", "table 5.14", "", 4, 34935),
    ("hp-1987", "table 5.15", "", 5, 474260),
    ("hp-1987", "table 5.16", "", 5, 627310),
    ("hp-1987", "table 5.17", "", 5, 1218910),
    ("hp-1987", "table 5.18", "", 7, 465663600),
    ("hp-1987", "table 5.19", "", 7, 1687610),
    ("hp-1987", "table 5.20", "", 7, 4662560),
    ("hp-1987", "table 5.21", "", 7, 290003600),
    ("hp-1987", "table 5.22", "", 7, 882650),
    ("hp-1987", "table 5.23", "", 7, 3210970),
    ("hp-1987", "table 5.24", "", 5, 478097400),
    ("hp-1987", "table 5.25", "", 5, 2570762),
    ("hp-1987", "table 5.26", "", 4, 3257020),
    ("hp-1987", "table 5.28", "", 5, 685585),
    ("hp-1987", "table 5.29", "", 4, 1723880),
    ("hp-1987", "table 5.27", "", 5, 365273000),
    ("hp-1987", "section 5, under tables 5.18 to 5.26", "", 6, 1943250),
    ("hp-1987", "table 6.1", "", 30, 45655710),
    ("hp-1987", "table 6.2", "", 59, 221116000),
    ("hp-1987", "table 7.1", "", 24, 150684000),
    ("hp-1987", "table 7.2", "", 12, 4838000),
    ("hp-1987", "table 7.3", "", 12, 8114000),
    ("hp-1987", "section 9, text", "", 2, 24393),
    ("byte-1984", "table 1", "byte/pipe", 15, 312600),
    ("byte-1984", "table 1", "byte/syscall", 15, 533600),
    ("byte-1984", "table 1", "byte/fcall-overhead", 15, 29300),
    ("byte-1984", "table 1", "byte/sieve", 15, 143200),
    ("byte-1984", "table 1", "byte/disk-write", 15, 117700),
    ("byte-1984", "table 1", "byte/disk-read", 13, 254000),
    ("byte-1984", "table 1", "byte/shell", 15, 259300),
    ("byte-1984", "table 1", "byte/loop", 15, 484800),
    ("byte-1984", "table 1", "vax-11-780-4.1bsd", 8, 39100),
    ("byte-1984", "table 1", "masscomp-sys-iii", 7, 47300),
    ("byte-1984", "table 1", "sun-2-120-4.2bsd", 8, 61000),
    ("byte-1984", "table 1", "vax-11-750-4.1bsd", 8, 54700),
    ("byte-1984", "table 1", "pdp-11-70-2.8bsd", 8, 66800),
    ("byte-1984", "table 1", "altos-986-xenix", 8, 83900),
    ("byte-1984", "table 1", "ibm-pc-xt-pc-ix", 8, 232700),
    ("byte-1984", "table 1", "pdp-11-23-venix", 8, 211700),
    ("byte-1984", "table 1", "ibm-pc-xt-venix-86", 8, 201300),
    ("byte-1984", "table 1", "sci-1000-sys-iii", 8, 130500),
    ("byte-1984", "table 1", "omnibyte-idris", 7, 199000),
    ("byte-1984", "table 1", "trs-80-16b-xenix", 8, 131200),
    ("byte-1984", "table 1", "pdp-11-23-v7", 8, 257700),
    ("byte-1984", "table 1", "dec-pro-350-venix", 8, 241200),
    ("byte-1984", "table 1", "apple-lisa-sys-iii", 8, 176400),
    ("byte-1984", "table 3", "vax-11-780-4.1bsd", 6, 51400),
    ("byte-1984", "table 3", "vax-11-750-4.1bsd", 6, 57200),
    ("byte-1984", "table 3", "pdp-11-70-2.8bsd", 6, 64900),
    ("byte-1984", "table 3", "masscomp-sys-iii", 6, 62900),
    ("byte-1984", "table 3", "sun-2-120-4.2bsd", 6, 62700),
    ("byte-1984", "table 3", "altos-986-xenix", 6, 105400),
    ("byte-1984", "table 3", "trs-80-16b-xenix", 6, 303800),
    ("byte-1984", "table 3", "sci-1000-sys-iii", 6, 384900),
    ("byte-1984", "table 3", "pdp-11-23-v7", 6, 402700),
    ("byte-1984", "table 3", "ibm-pc-xt-pc-ix", 6, 365800),
    ("byte-1984", "table 3", "apple-lisa-sys-iii", 6, 804800),
    ("byte-1984", "table 3", "pdp-11-23-venix", 2, 46800),
    ("byte-1984", "table 3", "ibm-pc-xt-venix-86", 3, 77500),
    ("byte-1984", "table 3", "dec-pro-350-venix", 3, 149300),
    ("byte-1984", "table 3", "omnibyte-idris", 0, 0),
    ("hp-1987", "table 4.2", "byte/pipe", 3, 4000),
    ("hp-1987", "table 4.2", "byte/syscall", 3, 5700),
    ("hp-1987", "table 4.2", "byte/fcall-assign", 3, 300),
    ("hp-1987", "table 4.2", "byte/fcall-empty", 3, 300),
    ("hp-1987", "table 4.2", "byte/sieve", 3, 390),
    ("hp-1987", "table 4.2", "byte/disk-write", 3, 2500),
    ("hp-1987", "table 4.2", "byte/disk-read", 3, 800),
    ("hp-1987", "table 4.2", "byte/shell", 3, 9200),
    ("hp-1987", "table 4.2", "byte/multi/1", 3, 9900),
    ("hp-1987", "table 4.2", "byte/multi/2", 3, 18900),
    ("hp-1987", "table 4.2", "byte/multi/3", 3, 28100),
    ("hp-1987", "table 4.2", "byte/multi/4", 3, 36800),
    ("hp-1987", "table 4.2", "byte/multi/5", 3, 46500),
    ("hp-1987", "table 4.2", "byte/multi/6", 3, 58100),
    ("hp-1987", "table 4.2", "byte/loop", 3, 800),
    ("hp-1987", "table 4.2", "hp-9000-825s", 15, 79300),
    ("hp-1987", "table 4.2", "hp-9000-840s", 15, 76390),
    ("hp-1987", "table 4.2", "hp-9000-850s", 15, 66600),
    ("hp-1987", "section 4, I/O call benchmark", "iocall", 3, 7100),
    ("hp-1987", "section 4, I/O call benchmark", "iocall@hp", 3, 7100),
    ("hp-1987", "section 2, text", "", 1, 7000),
    ("hp-1987", "section 8, figures 8.1 to 8.8", "", 0, 0),
    ("iocall-1985", "text", "", 1, 6000),
    ("login-1982", "table I", "", 4, 260400),
    ("login-1982", "table II", "", 3, 1634600),
    ("login-1982", "table IV", "", 6, 2817000),
    ("weekly-1984", "running text", "", 15, 173400),
    ("sysperf-1985", "table 2", "vax-11-750-4.1bsd-sysperf-1985", 29, 5364800),
    ("sysperf-1985", "table 2", "vax-11-750-4.2bsd-sysperf-1985", 29, 6498800),
    ("sysperf-1985", "table 2", "vax-11-750-4.3bsd-sysperf-1985", 29, 4052900),
    ("dhrystone-1986", "results of version 1.1", "", 56, 196529000),
    ("unixbench-1995", "pgms/index.base", "", 5, 459997),
    ("lmbench-1996", "table 2", "", 72, 4939000),
    ("lmbench-1996", "table 3", "", 34, 950000),
    ("lmbench-1996", "table 5", "", 36, 2033000),
    ("lmbench-1996", "table 6", "", 31, 12568000),
    ("lmbench-1996", "table 7", "", 18, 387000),
    ("lmbench-1996", "table 8", "", 30, 924000),
    ("lmbench-1996", "table 9", "", 34, 394400),
    ("lmbench-1996", "table 10", "", 70, 5435000),
    ("lmbench-1996", "table 11", "", 18, 3323000),
    ("lmbench-1996", "table 12", "", 17, 8149000),
    ("lmbench-1996", "table 13", "", 17, 7787000),
    ("lmbench-1996", "table 16", "", 32, 338800),
    ("linux-lists-2009", "199602281816.KAA03916@neteng.engr.sgi.com", "", 68, 6007600),
    ("linux-lists-2009", "199604160002.UAA19157@huahaga.rutgers.edu", "", 16, 1501900),
    ("linux-lists-2009", "199605160653.CAA12098@huahaga.rutgers.edu", "", 32, 5837500),
    ("linux-lists-2009", "19980322075452.09681@uni-koblenz.de", "", 121, 13410700),
    ("linux-lists-2009", "20011006130647.B26223@work.bitmover.com", "", 49, 4052300),
    ("linux-lists-2009", "20020908140944.347.qmail@linuxmail.org", "", 22, 4291924),
    ("linux-lists-2009", "20031220034548.GA4809@lucent", "", 24, 6598263),
    ("linux-lists-2009", "1121096632.28569.1107.camel@euskadi.packetvision", "", 24, 7664010),
    ("linux-lists-2009", "20090324173414.GB24227@balbir.in.ibm.com", "", 25, 14192905),
    ("processor-sdk-2026", "709962bf:source/linux/Release_Specific/Performance_Guide/Kernel_Performance_Guide.rst.inc", "", 65, 37029600),
    ("processor-sdk-2026", "1d35c536:source/linux/Release_Specific/Performance_Guide/Kernel_Performance_Guide.rst.inc", "", 65, 41685200),
    ("processor-sdk-2026", "d6c42a8b:source/devices/AM64X/Linux_Performance_Guide.rst", "", 13, 7041770),
    ("processor-sdk-2026", "8216aa2d:source/devices/AM335X/linux/Release_Specific_Performance_Guide.rst", "", 13, 4191590),
    ("processor-sdk-2026", "82937449:source/devices/AM437X/linux/Release_Specific_Performance_Guide.rst", "", 13, 3849640),
    ("processor-sdk-2026", "a3526abf:source/devices/AM62X/linux/Linux_Performance_Guide.rst", "", 13, 5915480),
    ("processor-sdk-2026", "85522a48:source/devices/AM57X/linux/Release_Specific_Performance_Guide.rst", "", 13, 6978620),
    ("processor-sdk-2026", "490ca878:source/devices/J7_Family/linux/_Release_Specific_Kernel_Performance_Guide.rst", "", 52, 46967610),
    ("processor-sdk-2026", "490ca878:source/linux/Release_Specific/Performance_Guide/_CoreSDK_Kernel_Performance_Guide.rst", "", 39, 16964760),
    ("processor-sdk-2026", "c26e2444:source/devices/AM62PX/linux/Linux_Performance_Guide.rst", "", 13, 7061000),
    ("processor-sdk-2026", "cf58f74d:source/devices/J7_Family/linux/_Release_Specific_Kernel_Performance_Guide.rst", "", 26, 22644040),
    ("processor-sdk-2026", "a34a7d93:source/devices/AM335X/linux/Release_Specific_Performance_Guide.rst", "", 26, 8661520),
    ("processor-sdk-2026", "a34a7d93:source/devices/AM437X/linux/Release_Specific_Performance_Guide.rst", "", 13, 3812780),
    ("processor-sdk-2026", "a34a7d93:source/devices/AM57X/linux/Release_Specific_Performance_Guide.rst", "", 13, 7541110),
    ("processor-sdk-2026", "a34a7d93:source/devices/AM62AX/linux/Linux_Performance_Guide.rst", "", 13, 7306370),
    ("processor-sdk-2026", "a34a7d93:source/devices/AM65X/linux/RT_Linux_Performance_Guide.rst", "", 13, 5461430),
    ("processor-sdk-2026", "a34a7d93:source/devices/J7_Family/linux/Release_Specific_Kernel_Performance_Guide.rst", "", 78, 63266510),
    ("processor-sdk-2026", "a34a7d93:source/devices/AM62X/linux/Linux_Performance_Guide.rst", "", 39, 15444900),
    ("processor-sdk-2026", "a34a7d93:source/devices/AM62PX/linux/Linux_Performance_Guide.rst", "", 13, 6949810),
    ("processor-sdk-2026", "a34a7d93:source/devices/AM62LX/linux/Linux_Performance_Guide.rst", "", 13, 5830990),
    ("processor-sdk-2026", "a34a7d93:source/devices/AM62DX/linux/Linux_Performance_Guide.rst", "", 13, 6806480),
    ("processor-sdk-2026", "a34a7d93:source/devices/AM64X/linux/RT_Linux_Performance_Guide.rst", "", 13, 5759170),
    ("dhrystone-1986", "results of version 1.0", "", 353, 840729000),
    ("unixbench-2024", "bretmlw/sbc-benchmarks, b9b7df69", "", 45, 27846969),
    ("unixbench-2024", "UnixBench Score: An Introduction, run of 25 June 2018", "", 5, 4053481),
];

fn shipped() -> References {
    all().expect("the shipped files are sound")
}

fn describe(cell: &Cell) -> String {
    format!("{} {}", cell.machine, cell.benchmark)
}

/// Every number of a cell.
fn figures(cell: &Cell) -> impl Iterator<Item = f64> {
    let printed = cell.distribution.as_ref();
    let seconds = &cell.seconds;
    let all = [
        cell.value.as_ref().map(|value| value.value),
        seconds.cpu,
        seconds.real,
        seconds.user,
        seconds.system,
        printed.map(|d| d.min),
        printed.map(|d| d.median),
        printed.and_then(|d| d.mean),
        printed.map(|d| d.max),
    ];
    all.into_iter().flatten()
}

fn doubted(cell: &Cell) -> bool {
    let doubt = |note: &gritstone_model::Note| note.flag() == Some(Flag::Doubtful);
    cell.notes.iter().any(doubt)
}

#[test]
fn every_table_adds_up() {
    let references = shipped();
    let mut totalled = BTreeSet::new();
    for &(document, place, part, count, sum) in TOTALS {
        let cells = references.cells.iter().filter(|cell| {
            let ours = cell.document == document && cell.place == place;
            ours && (part.is_empty() || cell.machine == part || cell.benchmark.as_str() == part)
        });
        let printed: Vec<&Cell> = cells.filter(|cell| !cell.is_missing()).collect();
        let total: f64 = printed.iter().copied().flat_map(figures).sum();
        let total = (total * 1000.0).round() as i64;
        assert_eq!((printed.len(), total), (count, sum), "{document}, {place} {part}");
        totalled.insert((document, place));
    }
    let printed = references.cells.iter();
    for cell in printed {
        let place = (cell.document.as_str(), cell.place.as_str());
        assert!(totalled.contains(&place), "{place:?}");
    }
}

#[test]
fn all_values_have_a_place() {
    let references = shipped();
    let documents = references.documents.iter();
    let documents: Vec<_> =
        documents.map(|document| (document.name.as_str(), document.year)).collect();
    assert_eq!(
        documents,
        [
            ("byte-1984", 1984),
            ("dhrystone-1986", 1986),
            ("hp-1987", 1987),
            ("iocall-1985", 1985),
            ("linux-lists-2009", 2009),
            ("lmbench-1996", 1996),
            ("login-1982", 1982),
            (MEASURED, 2026),
            ("processor-sdk-2026", 2026),
            ("sysperf-1985", 1985),
            ("unixbench-1995", 1995),
            ("unixbench-2024", 2024),
            ("weekly-1984", 1984),
        ]
    );
    assert_eq!((references.machines.len(), references.commands.len()), (330, 6));
    for cell in references.cells.iter().filter(|cell| cell.is_missing()) {
        assert!(!cell.notes.is_empty(), "{}: why is it missing?", describe(cell));
    }
}

/// Numbers of documents, machines and cells in the documents of this repository.
#[test]
fn documents_count_what_is_shipped() {
    let references = shipped();
    let printed = references.machines.iter();
    let printed = printed.filter(|machine| machine.document.as_deref() != Some(MEASURED));
    let years: Vec<i32> = printed.clone().filter_map(|machine| machine.year).collect();
    let span = years.iter().min().zip(years.iter().max()).unwrap();
    let systems = format!("{} systems of {} to {}", printed.count(), span.0, span.1);
    let cells = references.cells.len();
    let cells = format!("{},{:03} cells", cells / 1000, cells % 1000);
    let byte = references.machines.iter();
    let byte = byte.filter(|machine| machine.document.as_deref() == Some("byte-1984"));
    assert_eq!(byte.count(), 15);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (file, output) in [
        ("references/README.md", systems.as_str()),
        ("references/README.md", &cells),
        ("README.md", &systems),
        ("CHANGELOG.md", &systems),
        ("docs/history.md", "on fifteen systems"),
    ] {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(text.contains(output), "{file}: {output}");
    }
}

/// README.md gives the reason for each doubt, and the number of doubts.
#[test]
fn every_doubt_has_its_reasoning() {
    let references = shipped();
    let doubts = references.cells.iter().filter(|cell| doubted(cell));
    let mut doubts: Vec<String> =
        doubts.map(|cell| format!("| {} | {} |", cell.machine, cell.benchmark)).collect();
    let lines = include_str!("../../README.md").lines().filter(|line| {
        let about = |id: &str| line.starts_with(&format!("| {id} |"));
        references.machines.iter().any(|machine| about(&machine.id))
    });
    let mut reasoned: Vec<String> =
        lines.map(|line| line.split_inclusive('|').take(3).collect()).collect();
    doubts.sort();
    reasoned.sort();
    assert!(!doubts.is_empty());
    assert_eq!(reasoned, doubts);
}

#[test]
fn inconsistent_values_are_doubted() {
    let references = shipped();
    let (mut distributions, mut times) = (0, 0);
    for cell in &references.cells {
        if let Some(d) = &cell.distribution {
            distributions += 1;
            let within = |x: f64| (d.min..=d.max).contains(&x);
            let ordered = within(d.median) && within(d.mean.unwrap_or(d.median));
            assert!(ordered || doubted(cell), "{}", describe(cell));
        }
        let seconds = &cell.seconds;
        if let (Some(real), Some(user), Some(system)) = (seconds.real, seconds.user, seconds.system)
        {
            times += 1;
            // three figures, each rounded to a tenth; the real time of csh is in whole seconds
            let rounding = if cell.document == "sysperf-1985" { 1.0 } else { 0.151 };
            let fits = user + system <= real + rounding;
            assert!(fits || doubted(cell), "{}", describe(cell));
        }
    }
    assert_eq!((distributions, times), (144, 162));
}

/// Table 4.1 prints calls and RAM twice: a rate is its time turned around, rounded to thousands, to whole pairs, or to the time's last digit.
#[test]
fn rates_invert_their_times() {
    let references = shipped();
    let value = |machine: &str, id: &str| {
        let mut cells = references.cells.iter();
        let cell = cells.find(|cell| cell.machine == machine && cell.benchmark.as_str() == id);
        cell.and_then(|cell| Some(cell.value.as_ref()?.value))
    };
    let rates = references.cells.iter();
    let rates = rates.filter(|cell| cell.place == "table 4.1, rates");
    for cell in rates.clone() {
        let plain = cell.benchmark.as_str().strip_suffix("@rate").unwrap();
        let (rate, time) = (figures(cell).next(), value(&cell.machine, plain));
        let (rate, time) = (rate.unwrap(), time.expect(plain));
        let fits = match plain {
            "aim/creat-close" => (1e6 / time - rate).abs() < 0.5,
            _ if plain.starts_with("aim/ram-copy/") => (1e6 / rate - time).abs() < 1.0,
            _ => (1e6 / time - rate).abs() <= 500.0,
        };
        assert!(fits, "{}: {rate} and {time}", describe(cell));
    }
    assert_eq!(rates.count(), 18);
}

/// Work that contains another benchmark takes longer.
#[test]
fn containing_work_takes_longer() {
    let references = shipped();
    let ns = |machine: &str, id: &str| {
        let wanted = |cell: &&Cell| cell.machine == machine && cell.benchmark.as_str() == id;
        let value = references.cells.iter().find(wanted)?.value.as_ref()?;
        match value.unit.quantity() {
            Quantity::Time { ns } => Some(value.value * ns),
            _ => None,
        }
    };
    let mut compared = 0;
    let machines = references.machines.iter();
    for machine in machines.filter(|machine| machine.document.as_deref() != Some(MEASURED)) {
        for (part, times, whole) in [
            ("sched/switch/2", 2.0, "ipc/pipe/latency"),
            ("ipc/pipe/latency", 1.0, "ipc/udp/latency"),
            ("kernel/forks/0@dynamic", 1.0, "kernel/execs/0-null@dynamic"),
            ("memory/latency/4k@stride", 1.0, "memory/latency/beyond@stride"),
        ] {
            let id = &machine.id;
            if let (Some(part), Some(whole)) = (ns(id, part), ns(id, whole)) {
                // the two may be means of different runs
                assert!(part * times <= whole * 1.02, "{id}: {part} {whole}");
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}
