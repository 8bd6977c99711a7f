//! The report in a browser, and as PDF.

use crate::common::server::Server;
use crate::common::{DISC, Home, at_hour, begin, eventually, program, recorded, succeeds};
use crate::push::token;
use crate::serve::{calls, changed};
use gritstone_model::RunData;
use gritstone_store::Store;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

#[test]
#[ignore = "takes Chromium and packages of npm: scripts/test-full browser"]
fn reports_are_accessible() {
    let home = Home::with(&["run", "copies"]);
    let reports: [&[&str]; 2] = [&["run"], &["run", "copies"]];
    let pages = reports.map(|runs| {
        let name = format!("{}.html", runs.join("-"));
        home.ok(&[&["report", "-o", &name], runs].concat());
        home.path().join(name)
    });
    look_at(pages);
}

#[test]
#[ignore = "takes Chromium and packages of npm: scripts/test-full browser"]
fn served_pages_are_accessible() {
    let home = changed();
    let run = recorded("run");
    home.import(&[at_hour(&run, 100, "before"), at_hour(&run, 101, "after")]);
    let server = Server::start(&home);
    eventually("it is known what changed", || server.page("/").contains("Trends"));
    let [before, after] = ["before", "after"].map(|label| {
        let run = server.json(&format!("/runs/{label}.json"));
        run["id"].as_str().unwrap().to_owned()
    });
    let machine = &run.info.machine.id;
    let changes = server.json("/changes.json");
    let event = changes["events"][0]["id"].as_str().unwrap();
    let token = token(&home, "writer", "write");
    // systems of a fleet, one of which is slow
    for number in 0..12 {
        let slow = if number == 3 { 3.0 } else { 1.0 };
        let scatter = 1.0 + 0.001 * f64::from(number * 7 % 5);
        let mut run = at_hour(&calls(slow * scatter), 200 + number, "node");
        run.info.machine.id = format!("node-{number}");
        run.info.machine.name = format!("node-{number}");
        home.import(&[run]);
    }
    eventually("the systems are compared", || server.page("/fleet").contains("node-3"));
    let live = measured(&home);
    let paths = [
        format!("/runs/{after}"),
        format!("/compare?base={before}&run={after}"),
        "/compare?base=ref:vax-11-780-4.1bsd&run=after".to_owned(),
        "/benchmarks/byte/syscall".to_owned(),
        format!("/systems/{machine}"),
        format!("/changes/{event}"),
        format!("/compare?base={before}&run={after}&run=night-1&run=night-24"),
        format!("/runs/{}", live.info.id),
        "/search?q=night".to_owned(),
        "/search?q=nothing-of-the-kind".to_owned(),
    ];
    let full_url = |path: &str| format!("http://{}{path}", server.address);
    let url = full_url(&format!("/runs/{}", live.info.id));
    let measuring = std::thread::spawn(move || {
        measure(&home, &live);
        // whose store is there as long as the browser looks
        home
    });
    let change = full_url(&format!("/changes/{event}"));
    let environment = [("LIVE", &*url), ("CHANGE", &change), ("TOKEN", &token)];
    let paths = server.pages().into_iter().chain(paths);
    look_at_with(paths.map(|path| full_url(&path)), &environment);
    drop(measuring.join().unwrap());
}

#[test]
#[ignore = "takes Chromium and packages of npm: scripts/test-full browser"]
fn sites_open_from_files() {
    let home = changed();
    home.ok("site public");
    let site = home.path().join("public");
    let pages = ["index.html", "changes.html", "benchmarks/byte/syscall.html"];
    look_at(pages.map(|page| site.join(page)));
}

/// A run that has begun.
fn measured(home: &Home) -> RunData {
    // what an earlier look has left
    for name in ["open", "counted"] {
        let _ = fs::remove_file(Path::new(DISC).join("browser").join(name));
    }
    let run = at_hour(&calls(1.0), 300, "live");
    begin(home, &run);
    run
}

/// Measures it while the browser looks.
fn measure(home: &Home, run: &RunData) {
    let folder = Path::new(DISC).join("browser");
    let waits = |name: &str| {
        let start = Instant::now();
        while !folder.join(name).exists() {
            assert!(start.elapsed() < Duration::from_secs(900), "no {name}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    waits("open");
    let mut store = Store::open(&home.store()).unwrap();
    for launch in &run.launches {
        let _ = store.append(&run.info.id, launch).unwrap();
    }
    waits("counted");
    store.finish(&run.info.id, 60.0).unwrap();
}

/// Opens pages in Chromium: files or URLs.
fn look_at(pages: impl IntoIterator<Item = impl AsRef<OsStr>>) {
    look_at_with(pages, &[]);
}

fn look_at_with(pages: impl IntoIterator<Item = impl AsRef<OsStr>>, environment: &[(&str, &str)]) {
    // npm removes what another test may use
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(installed_check);
    let folder = &*FOLDER;
    program(&["chromium"]);
    let node = program(&["node"]);
    succeeds(
        Command::new(node)
            .arg("check.js")
            .args(pages)
            .envs(environment.iter().copied())
            .current_dir(folder),
    );
}

/// The folder of the check of pages, with its packages.
fn installed_check() -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser");
    let folder = Path::new(DISC).join("browser");
    fs::create_dir_all(&folder).unwrap();
    for name in ["package.json", "package-lock.json", "check.js"] {
        fs::copy(from.join(name), folder.join(name)).unwrap();
    }
    let npm = "ci --silent --no-audit --no-fund --ignore-scripts".split(' ');
    succeeds(Command::new(program(&["npm"])).args(npm).current_dir(&folder));
    folder
}

/// veraPDF, from Maven Central, has the machine-checkable part of PDF/UA-1.
#[test]
#[ignore = "takes Maven and Java: scripts/test-full browser"]
fn pdf_reports_are_pdf_ua() {
    let home = Home::with(&["run", "copies"]);
    let reports: [&[&str]; 3] = [&["run"], &["run", "--full"], &["run", "copies"]];
    let files = reports.map(|runs| {
        let name = format!("{}.pdf", runs.join("-"));
        let (code, _, error) = home.run(&[&["report", "-o", &name], runs].concat());
        assert_eq!(code, 0, "{error}");
        home.path().join(name)
    });
    let pom = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/verapdf/pom.xml");
    let folder = Path::new(DISC).join("verapdf");
    succeeds(
        Command::new(program(&["mvn"]))
            .args(["-q", "-B", "dependency:copy-dependencies", "-f"])
            .arg(pom)
            .arg(format!("-DoutputDirectory={}", folder.display())),
    );
    succeeds(
        Command::new(program(&["java"]))
            .arg("-cp")
            .arg(folder.join("*"))
            .arg("org.verapdf.apps.GreenfieldCliWrapper")
            .args(["-f", "ua1", "--format", "text", "-v"])
            .args(files),
    );
}
