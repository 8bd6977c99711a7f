//! Scenarios of many users: contents of their terminals, results, cleanup, and missing work that gives no result. Faults are planted in
//! workloads that are started alone, or in programs of the machine.

use crate::common::workload::{built, kernels, workload_output};
use crate::common::{
    self, DISC, Home, alone, make_script, measured, messages, note_data, processes, program,
    result, succeeds,
};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn terminal_emulates_a_vt100() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("show.c");
    let text = format!(
        "#include <stdio.h>\n#include \"{}\"\nint main(void)\n{{\n\tstatic struct terminal t;\n\tint c;\n\tterminal_reset(&t);\n\
         \twhile ((c = getchar()) != EOF)\n\t\tterminal_feed(&t, (char)c);\n\tfor (int i = 0; i < ROWS; i++)\n\t\tputs(t.cell[i]);\n\
         \tprintf(\"%d %d\\n\", t.row, t.column);\n}}\n",
        kernels().join("multiuser/terminal.h").display()
    );
    fs::write(&source, text).unwrap();
    let show = folder.path().join("show");
    succeeds(Command::new("cc").arg("-o").arg(&show).arg(&source));
    let shown = |bytes: &str| {
        let file = folder.path().join("bytes");
        fs::write(&file, bytes).unwrap();
        let output = Command::new(&show).stdin(fs::File::open(&file).unwrap()).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        let lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
        (lines[..24].join("|").trim_end_matches('|').to_owned(), lines[24].clone())
    };
    for (bytes, screen, cursor) in [
        ("a\r\nb\tc", "a|b       c", "1 9"),
        ("abc\x08\x08X", "aXc", "0 2"),
        ("\x1b[2;3Hx\x1b[Hy", "y|  x", "0 1"),
        ("abc\x1b[1D\x1b[K", "ab", "0 2"),
        ("one\r\ntwo\r\nthree\x1b[2;1H\x1b[J", "one", "1 0"),
        // the last column waits for the next letter
        (&format!("{}\r", "x".repeat(80)), &"x".repeat(80), "0 0"),
        (&"x".repeat(81), &format!("{}|x", "x".repeat(80)), "1 1"),
        // a region scrolls, and the lines around it stay
        ("a\r\nb\r\nc\x1b[1;2r\x1b[2;1H\nd", "b|d|c", "1 1"),
        ("a\r\nb\x1b[H\x1bMz", "z|a|b", "0 1"),
        ("abcd\x1b[1;2H\x1b[2P", "ad", "0 1"),
        ("ad\x1b[1;2H\x1b[2@", "a  d", "0 1"),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[M", "a|c", "1 0"),
        ("a\r\nb\x1b[1;1H\x1b[L", "|a|b", "0 0"),
        // what is not for the screen
        ("\x1b]0;title\x07\x1b[?1049h\x1b[7mx\x1b[m\x1b(B\x1b[6n", "x", "0 1"),
        ("\u{e4}b", "?b", "0 2"),
        ("\x1b\x1bcx", "x", "0 1"),
        (&"\n".repeat(30), "", "23 0"),
    ] {
        assert_eq!(shown(bytes), (screen.to_owned(), cursor.to_owned()), "{bytes:?}");
    }
}

/// Users who develop, for two rounds at most.
const DEVELOP: &str = "users=2 per_op=9 growth=0 target_ns=1000 samples=1";

#[test]
#[ignore = "measures: make test-full"]
fn rounds_work_with_every_editor() {
    let folder = tempfile::tempdir().unwrap();
    let fortran = program(&["gfortran"]);
    for (family, rest) in [
        ("program-development", DEVELOP),
        ("editing", "users=3 per_op=9 growth=0 target_ns=1000 samples=2"),
    ] {
        let workload = built(&format!("multiuser/{family}"), folder.path(), &[]);
        for editor in ["vi", "vim", "nvi", "busybox"].map(|name| program(&[name])) {
            let line = format!("{rest} editor={} fortran={}", editor.display(), fortran.display());
            let printed = workload_output(&workload, folder.path(), &line);
            assert!(
                printed.contains("check n=1 got=9 expected=9"),
                "{}: {printed}",
                editor.display()
            );
            assert!(printed.ends_with("bye\n"), "{printed}");
        }
    }
}

/// Without gfortran the users write C: gritstone finds another compiler, and reports that the result is not comparable.
#[test]
#[ignore = "measures: make test-full"]
fn c_replaces_missing_fortran() {
    let folder = tempfile::tempdir().unwrap();
    let workload = built("multiuser/program-development", folder.path(), &[]);
    for compiler in ["gcc", "clang"] {
        let line = format!(
            "{DEVELOP} editor={} fortran={}",
            program(&["vi"]).display(),
            program(&[compiler]).display()
        );
        let printed = workload_output(&workload, folder.path(), &line);
        assert!(printed.contains("check n=1 got=9 expected=9"), "{printed}");
        assert!(printed.contains("param key=stand_in"), "{printed}");
        // what a user waited for, by kind: the first of a round
        assert!(printed.contains("latency users=2 kind=compile count="), "{printed}");
    }
}

#[test]
fn wrong_editors_give_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let vi = program(&["vi"]);
    let (vi, fortran) = (vi.display(), program(&["gfortran"]));
    let elsewhere = format!("mkdir -p other; cp \"$1\" other/; exec {vi} other/\"$1\"");
    let elsewhere = make_script(folder.path().join("elsewhere"), &elsewhere);
    let workload = built("multiuser/program-development", folder.path(), &[]);
    let line = format!("{DEVELOP} editor={} fortran={}", elsewhere.display(), fortran.display());
    let develop = workload_output(&workload, folder.path(), &line);
    assert!(develop.contains("fail errno=0 call=user"), "{develop}");
    assert!(develop.contains("have succeeded"), "{develop}");

    // writes what it is asked to, and another text into it
    let workload = built("multiuser/editing", folder.path(), &[]);
    let another = format!("{vi} \"$@\"; echo another >> edited.txt");
    let another = make_script(folder.path().join("another"), &another);
    let line =
        format!("users=1 per_op=9 growth=0 target_ns=1000 samples=1 editor={}", another.display());
    let edit = workload_output(&workload, folder.path(), &line);
    assert!(edit.contains("the files at the end of a round"), "{edit}");
    assert!(!edit.contains("sample "), "{edit}");
}

#[test]
fn lying_compilers_give_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = folder.path().join("nothing-fortran");
    let nothing = make_script(nothing, "! grep -q wrong_ program.f90");
    let workload = built("multiuser/program-development", folder.path(), &[]);
    let line =
        format!("{DEVELOP} editor={} fortran={}", program(&["vi"]).display(), nothing.display());
    let said_so = workload_output(&workload, folder.path(), &line);
    assert!(said_so.contains("'./program' ended with status 127"), "{said_so}");

    let workload = built("multiuser/compile", folder.path(), &[]);
    let make = program(&["make"]);
    let line = format!("jobs=2 warm=0 samples=1 make={} cc=true", make.display());
    let said_so = workload_output(&workload, folder.path(), &line);
    assert!(said_so.contains("fail errno=0 call=program"), "{said_so}");
    // what a compiler complains of is said
    let complains = "echo 'no room in this house' >&2; exit 1";
    let refuses = make_script(folder.path().join("refuses"), complains);
    let make = program(&["make"]);
    let line = format!("jobs=2 warm=0 samples=1 make={} cc={}", make.display(), refuses.display());
    let workload = built("multiuser/compile", folder.path(), &[]);
    let said_so = workload_output(&workload, folder.path(), &line);
    assert!(said_so.contains("no room in this house"), "{said_so}");
    // an editor and a compiler that are missing are found missing by the status of the prompt
    let workload = built("multiuser/editing", folder.path(), &[]);
    let said_so = workload_output(&workload, folder.path(), "users=1 per_op=9 editor=/nowhere/vi");
    assert!(said_so.contains("ended with status 127"), "{said_so}");
}

#[test]
fn skipping_scanners_give_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let line = "users=2 page=1 growth=0 target_ns=300000000 samples=2";
    let fine = workload_output(&built("daq/yewcom", folder.path(), &[]), folder.path(), line);
    assert!(fine.ends_with("bye\n"), "{fine}");
    for (right, wrong) in [
        // it says that it has written them all
        ("if (pwrite(data_file", "if (n % 5 != 3 && pwrite(data_file"),
        // it is behind, and does not say so
        (
            "scanner_status->start_ns + n * INTERVAL_NS",
            "scanner_status->start_ns + 2 * n * INTERVAL_NS",
        ),
    ] {
        let faulty = built("daq/yewcom", folder.path(), &[("daq/scanner.h", right, wrong)]);
        let printed = workload_output(&faulty, folder.path(), line);
        // the file says so, or a screen on which an old record is
        let found = ["call=scanner why=", "call=yewcom why=a screen"];
        let found = found.iter().any(|why| printed.contains(why));
        assert!(found, "{wrong}: {printed}");
    }
}

#[test]
fn wrong_records_give_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let line = "users=2 page=5 growth=0 target_ns=50000000 samples=2";
    for (right, wrong) in [
        ("(off_t)(point[i] * sizeof r)", "(off_t)((point[i] + 1) % points_in_file * sizeof r)"),
        // the end of a record is that of the one before it
        ("read(file, &r, sizeof r) != sizeof r", "read(file, &r, sizeof r - 4) < 0"),
    ] {
        let faulty = built("daq/yewcom", folder.path(), &[("daq/yewcom.c", right, wrong)]);
        let printed = workload_output(&faulty, folder.path(), line);
        assert!(
            printed.contains("a screen does not show the requested records"),
            "{wrong}: {printed}"
        );
    }
}

#[test]
fn cold_records_come_from_disk() {
    let folder = tempfile::tempdir_in(DISC).unwrap();
    let line = "users=2 page=5 points=1000000 cold=yes growth=0 target_ns=300000000 samples=2";
    let fine = workload_output(&built("daq/yewcom", folder.path(), &[]), folder.path(), line);
    assert!(fine.ends_with("bye\n"), "{fine}");
    let replacement = ("daq/yewcom.c", "if (cold)\n\t\tposix_fadvise", "if (0)\n\t\tposix_fadvise");
    let faulty = built("daq/yewcom", folder.path(), &[replacement]);
    let said = workload_output(&faulty, folder.path(), line);
    assert!(said.contains("pages of the file are in the page cache"), "{said}");
}

/// No user is timed beside processes that have exited.
#[test]
#[ignore = "measures: make test-full"]
fn early_exits_give_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let keys = "beside=compute jobs=2 interval_ms=20 growth=0 target_ns=100000000 samples=3";
    let screens = "users=2 page=1 growth=0 target_ns=50000000 samples=2";
    let cases = [
        (
            "multiuser/response",
            keys,
            ("multiuser/jobs.h", "compute();\n", "number > 0 ? _exit(0) : compute();\n"),
            "call=job why=",
        ),
        // after some pieces, mostly within a sample
        (
            "multiuser/response",
            keys,
            (
                "multiuser/jobs.h",
                "compute();\n",
                "work_done[number] > 40 ? _exit(0) : compute();\n",
            ),
            "call=job",
        ),
        (
            "daq/yewcom",
            screens,
            (
                "daq/yewcom.c",
                "page_points((uint32_t)strtoul(request",
                "if (page == 1)\n\t\t\t_exit(0);\n\t\tpage_points((uint32_t)strtoul(request",
            ),
            "call=yewcom why=a display process",
        ),
    ];
    for (name, line, fault, why) in cases {
        let fine = workload_output(&built(name, folder.path(), &[]), folder.path(), line);
        assert!(fine.ends_with("bye\n"), "{name}: {fine}");
        let printed = workload_output(&built(name, folder.path(), &[fault]), folder.path(), line);
        assert!(printed.contains(why), "{}: {printed}", fault.2);
    }
}

#[test]
fn shortages_are_reported_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let workload = built("multiuser/editing", folder.path(), &[]);
    let many = workload_output(&workload, folder.path(), "users=90000 per_op=9");
    assert!(many.contains("skip why=90000 users"), "{many}");
    // a user's shell that dies
    let vi = make_script(folder.path().join("vi"), "kill -9 $PPID");
    let line = format!("users=2 per_op=9 editor={}", vi.display());
    let dead = workload_output(&workload, folder.path(), &line);
    assert!(dead.contains("the shell has exited"), "{dead}");
}

#[test]
#[ignore = "measures: make test-full"]
fn missing_gfortran_is_not_comparable() {
    let _turn = alone();
    let home = Home::new();
    // all programs but the one that is hidden
    let path = home.path().join("path");
    fs::create_dir(&path).unwrap();
    for folder in ["/usr/bin", "/bin"] {
        for file in common::entries(Path::new(folder)) {
            let name = file.file_name().unwrap();
            if !name.to_string_lossy().contains("gfortran") {
                let _ = std::os::unix::fs::symlink(&file, path.join(name));
            }
        }
    }
    let line = format!("run multiuser/program-development@1 --quick --dir {DISC} --format json");
    let output = home.gritstone(&line).env("PATH", &path).output().unwrap();
    let run = serde_json::from_slice(&output.stdout).unwrap();
    let row = result(&run, "multiuser/program-development@1");
    assert_eq!(row["outcome"], "measured", "{row}");
    assert!(messages(row).contains("The users write C"), "{}", messages(row));
    let kinds = common::list(&row["responses"]).iter();
    let kinds: Vec<&str> = kinds.filter_map(|response| response["kind"].as_str()).collect();
    assert_eq!(kinds, ["compile", "date", "ls", "pwd", "run", "vi"]);
}

#[test]
#[ignore = "measures: make test-full"]
fn result_is_number_of_users() {
    let _turn = alone();
    let home = Home::new();
    let run = home.json(&format!(
        "run multiuser/editing@typing --quick --dir {DISC} --param users=2 --param most_users=4 --param letters_a_second=50 --param think_ms=100 --param window_ms=2000"
    ));
    let row = result(&run, "multiuser/editing@typing");
    assert_eq!(row["outcome"], "measured", "{row}");
    let data = note_data(row, "carried");
    // a quick machine carries all four, and a slow one two at least
    assert!([2, 4].contains(&data["least"].as_u64().unwrap()), "{data}");
    let all = common::list(&row["responses"]).iter();
    let users = all
        .filter(|response| response["kind"].is_null())
        .map(|response| response["users"].as_u64());
    assert_eq!(users.collect::<Vec<_>>(), [Some(2), Some(4)]);
    let (code, text, _) = home.run("show last");
    assert_eq!(code, 0);
    assert!(text.contains("This machine supports"), "{text}");
}

/// Terminals that are open on this machine.
fn terminals() -> u32 {
    let text = fs::read_to_string("/proc/sys/kernel/pty/nr").unwrap();
    text.trim().parse().unwrap()
}

#[test]
#[ignore = "measures: make test-full"]
fn scenarios_leave_nothing() {
    let _turn = alone();
    let home = Home::new();
    let before = terminals();
    let rows = [
        "multiuser/program-development@2",
        "multiuser/editing@4",
        "multiuser/shell@2",
        "multiuser/compile@2",
        "multiuser/response/compute",
        "daq/yewcom/page1@17",
        "daq/yewcom/page5",
    ];
    let run = home.json(&format!("run {} --quick --dir {DISC}", rows.join(" ")));
    for id in rows {
        measured(&run, id);
    }
    // 17 lines of 960 characters a second and 3,000 characters carry 19,584 screens an hour
    let lines = result(&run, "daq/yewcom/page1@17")["estimate"].as_f64();
    let share = lines.unwrap() / 19_584.0;
    assert!((0.9..1.01).contains(&share), "{share}");
    assert_eq!(processes(&home), 0);
    common::eventually("terminals are closed", || terminals() <= before);
}

#[test]
#[ignore = "measures: make test-full"]
fn curves_have_peak_and_law() {
    let _turn = alone();
    let home = Home::new();
    let run = home.json(&format!(
        "run multiuser/editing --quick --dir {DISC} --param target_ns=100000000 --param samples=2"
    ));
    let row = result(&run, "multiuser/editing");
    let series = common::list(&row["series"]);
    let rates = series.iter().map(|point| point["estimate"].as_f64());
    let rates: Vec<f64> = rates.map(Option::unwrap).collect();
    assert_eq!(rates.len(), 9);
    let highest = rates.iter().copied().fold(0.0, f64::max);
    assert_eq!(row["estimate"].as_f64(), Some(highest));
    let data = note_data(row, "scaling");
    let drop = data["drop"].as_f64().unwrap();
    assert!((drop - (1.0 - rates[8] / highest)).abs() < 1e-9, "{data}");
    // how much users wait for each other is the editor's and the machine's; that a law was fitted is ours
    assert!(data["law"]["one"].as_f64().unwrap() > 0.0, "{data}");
    assert!(rates[1] > rates[0], "{rates:?}");
}
