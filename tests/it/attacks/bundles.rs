//! Bundles of an attacker who knows the victim's machine, and files of other programs: imports are data.

use crate::common::{
    DISC, Home, SHORT, alone, end_at_once, eventually, needs_root, start, stored_launches,
};
use crate::disks::Loop;
use gritstone_exchange::read_bundle;
use gritstone_model::{Compilers, RunData, Work};
use gritstone_store::new_id;
use serde_json::Value;
use std::fs;

/// A run measured here, exported by the victim: machine, system, programs and entries are theirs.
fn handed_on(home: &Home, benchmark: &str, dir: &str) -> RunData {
    home.ok(&format!("run {benchmark} --dir {dir} {SHORT}"));
    let bundle = home.ok("export");
    read_bundle(bundle.as_bytes()).unwrap()
}

/// The same run as if it had been cut off, and begun in a year that makes it the newest.
fn in_2027(mut run: RunData) -> RunData {
    run.info.elapsed_s = None;
    run.info.started = "2027-06-01T00:00:00Z".to_owned();
    run.info.id = new_id(run.info.started.parse().unwrap(), 1);
    run.launches.truncate(1);
    run
}

/// Imports the run, and tries to resume it in all ways; each is refused.
fn resume(home: &Home, run: &RunData) {
    home.import(std::slice::from_ref(run));
    let id = &run.info.id;
    home.ok(&["show", id]);
    home.refuses("run --resume", "no run of this user");
    home.refuses(&format!("run --resume={id}"), "was imported");
}

#[test]
fn imported_compilers_execute_nothing() {
    let home = Home::new();
    let dir = home.path().to_str().unwrap();
    let mut run = in_2027(handed_on(&home, "byte/loop", dir));
    let mark = home.path().join("executed");
    run.info.settings.compilers = Some(Compilers {
        cc: Some("gcc".to_owned()),
        cflags: Some(format!("-wrapper sh,-c,id>{}", mark.display())),
        ..Compilers::default()
    });
    resume(&home, &run);
    assert!(!mark.exists(), "{:?}", fs::read_to_string(mark));
}

#[test]
fn imported_directories_are_not_written_as_root() {
    needs_root();
    let _turn = alone();
    let home = Home::new();
    let measured = tempfile::tempdir_in(DISC).unwrap();
    let dir = measured.path().to_str().unwrap();
    let mut run = in_2027(handed_on(&home, "disk/raw-write", dir));
    let folder = tempfile::tempdir_in(DISC).unwrap();
    let image = folder.path().join("image");
    let before = b"what must not be lost\n".repeat(1 << 19);
    fs::write(&image, &before).unwrap();
    let device = Loop::over(&image);
    let name = device.path().display().to_string();
    let named = ["device", "overwrite"].map(|key| (key.to_owned(), name.clone()));
    run.info.settings.params.extend(named.clone());
    for benchmark in &mut run.benchmarks {
        if let Work::Kernel(work) = &mut benchmark.work {
            work.params.extend(named.clone());
        }
    }
    resume(&home, &run);
    drop(device);
    let after = fs::read(&image).unwrap();
    assert!(after == before, "the device was written to");

    // nor does its directory say where root writes
    let elsewhere = tempfile::tempdir_in(DISC).unwrap();
    let mut run = in_2027(run);
    run.info.id = new_id(run.info.started.parse().unwrap(), 2);
    run.info.settings.dir = elsewhere.path().to_str().unwrap().to_owned();
    let modified = || fs::metadata(elsewhere.path()).unwrap().modified().unwrap();
    let earlier = modified();
    resume(&home, &run);
    assert_eq!(modified(), earlier);
}

#[test]
fn future_imports_hide_no_run() {
    let home = Home::new();
    let dir = home.path().to_str().unwrap();
    let run = in_2027(handed_on(&home, "byte/loop", dir));
    let line = format!("run byte/loop --dir {dir} --budget 60s --precision 1%");
    let mut child = start(&home, &line, &[]);
    eventually("a launch is kept", || {
        let (_, out, _) = home.run("show --format json");
        let view: Value = serde_json::from_str(&out).unwrap_or_default();
        view["elapsed_s"].is_null() && stored_launches(&home) > 0
    });
    end_at_once(&mut child);
    let interrupted = home.json("show")["id"].clone();
    home.import(&[run]);
    let (_, out, error) = home.run("run --resume --format json");
    let view: Value = serde_json::from_str(&out).unwrap_or_default();
    assert_eq!(view["id"], interrupted, "{error}");
}

#[test]
fn a_thousand_alike_names_show() {
    let home = Home::new();
    let show = |name: &dyn Fn(usize) -> String| {
        let results: Vec<String> = (0..1_000)
            .map(|n| format!(r#"{{"command":"{}","times":[1.0,1.1]}}"#, name(n)))
            .collect();
        let file = home.path().join("h.json");
        fs::write(&file, format!(r#"{{"results":[{}]}}"#, results.join(","))).unwrap();
        let start = std::time::Instant::now();
        home.ok(&["show", file.to_str().unwrap()]);
        start.elapsed()
    };
    let others = show(&|n| format!("{n}"));
    let alike = show(&|n| format!("{}{n}", "x".repeat(80)));
    // it was 50 times as long
    assert!(alike < 4 * others, "{alike:?} where others take {others:?}");
}
