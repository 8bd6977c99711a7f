//! Documents that show commands with their output: the commands print exactly that.

use crate::common::{Home, binary, succeeds};
use gritstone_model::{Launch, RunData};
use serde_json::Value;
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// A store with the run of a measured system, and a copy an hour later in which one benchmark takes a tenth longer.
fn home() -> Home {
    let packed = "../../references/measured/amd-epyc-kvm-2026.jsonl.zst";
    let packed = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(packed)).unwrap();
    let bundle = String::from_utf8(zstd::decode_all(packed.as_slice()).unwrap()).unwrap();
    let run = gritstone_exchange::read_bundle(bundle.as_bytes()).unwrap();
    let named = |mut run: RunData, id: &str, started: &str, label: &str| {
        run.info.id = id.to_owned();
        run.info.started = started.to_owned();
        run.info.label = Some(label.to_owned());
        run
    };
    let mut slower = run.clone();
    let sieve = |launch: &&mut Launch| launch.id.as_str() == "byte/sieve";
    for launch in slower.launches.iter_mut().filter(sieve) {
        gritstone_testkit::samples(launch).for_each(|sample| sample.wall += sample.wall / 10);
    }
    let home = Home::new();
    home.import(&[
        named(run, "20261125-020000-c7b33930", "2026-11-25T02:00:00Z", "before"),
        named(slower, "20261125-030000-7d1f20aa", "2026-11-25T03:00:00Z", "after"),
    ]);
    home
}

/// Lines between `$ gritstone ...` and the end of its block, for each block of a document.
#[test]
fn documented_outputs_are_current() {
    let home = home();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/output.md");
    let document = fs::read_to_string(&path).unwrap();
    let mut written = String::new();
    let mut lines = document.lines();
    let mut commands = 0;
    while let Some(line) = lines.next() {
        written += line;
        written.push('\n');
        let Some(words) = line.strip_prefix("$ gritstone ") else {
            continue;
        };
        commands += 1;
        let (_, output, error) = home.run(words);
        assert!(!output.is_empty(), "{words}: {error}");
        written += output.trim_end();
        written += "\n```\n";
        lines.by_ref().find(|line| *line == "```").unwrap();
    }
    assert!(commands > 5);
    if env::var_os("GRITSTONE_WRITE_REFERENCE").is_some() {
        fs::write(&path, &written).unwrap();
    }
    let document = fs::read_to_string(&path).unwrap();
    assert!(
        document == written,
        "docs/reference/output.md is out of date: GRITSTONE_WRITE_REFERENCE=1 cargo test --workspace outputs"
    );
}

#[test]
fn classic_reports_have_every_chapter() {
    let home = home();
    home.refuses("report before after --classic -o both.html", "takes one run");
    home.ok("report before --classic -o classic.html -o classic.pdf");
    let page = fs::read_to_string(home.path().join("classic.html")).unwrap();
    let last = "9. Effect of the network on real-time response";
    for printed in
        ["Table 4.2 of hp-1987", last, "Figure 9.2 of hp-1987", "Description of the tests"]
    {
        assert!(page.contains(printed), "{printed}");
    }
    let pdf = fs::read(home.path().join("classic.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
}

#[test]
fn unlike_runs_have_a_report() {
    let home = Home::with(&["run", "copies"]);
    home.ok("report run copies -o pair.html -o pair.pdf");
    let page = fs::read_to_string(home.path().join("pair.html")).unwrap();
    assert!(
        page.contains("without a counterpart")
            && !page.contains("<desc id=\"families-desc\">.</desc>")
    );
}

#[test]
fn packages_have_the_same_tagline() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tagline = "ystem benchmarks that you can act on";
    for (file, times) in [
        ("README.md", 1),
        ("crates/cli/Cargo.toml", 2),
        ("crates/cli/src/cli.rs", 1),
        ("crates/cli/src/command/overview.rs", 1),
        ("Containerfile", 1),
        ("flake.nix", 1),
        ("packaging/PKGBUILD.in", 1),
        ("packaging/gritstone.rb.in", 1),
        ("packaging/nix/package.nix", 1),
        ("scripts/dist", 1),
    ] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        assert_eq!(text.matches(tagline).count(), times, "{file}");
    }
}

/// Markdown files of a folder and those below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension() {
            _ if path.is_dir() => all.extend(pages(&path)),
            Some(extension) if extension == "md" => all.push(path),
            _ => {}
        }
    }
    all
}

#[test]
fn documented_selectors_are_known() {
    let home = Home::new();
    let listed: Value = home.json("list");
    let family = |benchmark: &Value| {
        let id = benchmark["id"].as_str().unwrap();
        id.split_once('/').map(|(family, _)| family.to_owned())
    };
    let all = listed["benchmarks"].as_array().unwrap();
    let families: BTreeSet<String> = all.iter().filter_map(family).collect();
    let mut selectors = BTreeSet::new();
    for page in pages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")) {
        let text = fs::read_to_string(page).unwrap();
        let lines = text.lines().map(|line| line.trim_start_matches(['$', ' ']));
        let commands = lines.filter(|line| line.starts_with("gritstone "));
        for word in commands.flat_map(str::split_whitespace) {
            let word = word.trim_matches('\'');
            let family = word.split_once('/').map_or("", |(family, _)| family);
            if families.contains(family) {
                selectors.insert(word.to_owned());
            }
        }
    }
    assert!(selectors.len() > 10, "{selectors:?}");
    for selector in selectors {
        home.ok(&format!("list {selector}"));
    }
}

/// A way that exists wherever the repository lies, and no address that nobody reads.
#[test]
fn reports_of_vulnerabilities_are_private() {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../SECURITY.md");
    let policy = fs::read_to_string(policy).unwrap();
    let advisory = concat!("(", env!("CARGO_PKG_REPOSITORY"), "/security/advisories/new)");
    assert!(policy.contains(advisory) && !policy.contains("Maintainer"), "{policy}");
}

/// The commands in the blocks of README.md except installations; runs are planned, not measured.
#[test]
fn readme_examples_run() {
    let home = home();
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let path = env::var("PATH").unwrap();
    let path = format!("{}:{path}", binary().parent().unwrap().display());
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let mut executed = 0;
    for line in readme.lines() {
        let line = match line.strip_prefix("$ ") {
            Some(line) => line.to_owned(),
            None if line.starts_with("gritstone run ") => format!("{line} --dry-run"),
            None if line.starts_with("gritstone ") => line.to_owned(),
            None => continue,
        };
        let mut shell = home.command("sh");
        succeeds(shell.args(["-c", &line]).env("PATH", &path).current_dir(&empty));
        executed += 1;
    }
    assert!(executed >= 5, "{executed}");
}
