//! `gritstone init --ci`: a workflow for pull requests and gritstone-pr.toml, after a look at the project.

use crate::ui::output;
use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use gritstone_pr::project::FILE;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Levels of directories below the root that are searched for benchmarks.
const MAX_DEPTH: usize = 4;
/// Products of builds, and sources of others.
const NOT_SEARCHED: [&str; 6] =
    ["build", "node_modules", "target", "third_party", "vendor", "venv"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Service {
    Github,
    Gitlab,
}

const GITHUB: &str = include_str!("init/github.yml");
const GITLAB: &str = include_str!("init/gitlab.yml");

/// Installs a Python package.
const VENV: &str = "python3 -m venv venv && venv/bin/pip install --quiet . pytest pytest-benchmark";

impl Service {
    fn workflow(self) -> (&'static str, &'static str) {
        match self {
            Self::Github => (".github/workflows/gritstone-pr.yml", GITHUB),
            Self::Gitlab => (".gitlab/gritstone-pr.yml", GITLAB),
        }
    }
}

/// Benchmarks found in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    harness: &'static str,
    build: Option<String>,
    command: Vec<String>,
}

/// Writes both files, neither of which may exist.
///
/// # Errors
/// When no benchmarks are found, or a file exists or cannot be written.
pub fn init_ci(root: &Path, service: Service) -> Result<()> {
    let found = detect(root).with_context(|| {
        format!(
            "no benchmarks of Criterion, Go, Google Benchmark or pytest-benchmark in {}: write {FILE} by hand (docs/continuous-integration.md)",
            root.display()
        )
    })?;
    let (path, workflow) = service.workflow();
    for file in [path, FILE] {
        ensure!(fs::symlink_metadata(root.join(file)).is_err(), "{file} is there already");
    }
    write(&root.join(path), workflow)?;
    write(&root.join(FILE), &project(&found))?;
    let next = match service {
        Service::Github => "",
        Service::Gitlab => {
            "\nInclude the second in .gitlab-ci.yml:\n  include: .gitlab/gritstone-pr.yml\n"
        }
    };
    output::plain(&format!(
        "{FILE}   what is built and measured: {}\n{path}   the job\n{next}\n  gritstone pr --trust\n",
        found.harness
    ))
}

fn project(found: &Found) -> String {
    let value = |text: &str| toml::Value::from(text).to_string();
    let mut text = format!(
        "# What `gritstone pr` builds and measures of each revision.\nharness = {}\n",
        value(found.harness)
    );
    if let Some(build) = &found.build {
        let _ = writeln!(text, "build = {}", value(build));
    }
    let command: Vec<String> = found.command.iter().map(|word| value(word)).collect();
    let _ = writeln!(
        text,
        "command = [{}]\nbudget = \"5m\"\nmax-slowdown = \"2%\"",
        command.join(", ")
    );
    text
}

fn write(path: &Path, text: &str) -> Result<()> {
    let created = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = created.and_then(|()| {
        OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
    });
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn detect(root: &Path) -> Option<Found> {
    let mut folders = vec![];
    add_folders(root, PathBuf::new(), &mut folders);
    // the root comes first: its benchmarks are the project's
    folders.iter().find_map(|folder| {
        criterion(root, folder)
            .or_else(|| go(root, folder))
            .or_else(|| google_benchmark(root, folder))
            .or_else(|| pytest_benchmark(root, folder))
    })
}

/// Of a package in the root, installed for each revision.
fn pytest_benchmark(root: &Path, folder: &Path) -> Option<Found> {
    let is_root = folder == Path::new("");
    (is_root && mentions(root, "pyproject.toml", "pytest-benchmark")).then(|| Found {
        harness: "pytest-benchmark",
        build: Some(VENV.to_owned()),
        command: words("venv/bin/python -m pytest"),
    })
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// Folders below the root whose names need no quotes, itself first.
fn add_folders(root: &Path, below: PathBuf, all: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(root.join(&below)).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter(|name| is_plain(name) && !NOT_SEARCHED.contains(&name.as_str())).collect();
    names.sort();
    let depth = below.components().count();
    all.push(below.clone());
    for name in names.iter().filter(|_| depth < MAX_DEPTH) {
        add_folders(root, below.join(name), all);
    }
}

/// Whether it needs no quotes in a shell and is not hidden.
fn is_plain(name: &str) -> bool {
    !name.starts_with('.') && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn mentions(root: &Path, file: &str, word: &str) -> bool {
    text(&root.join(file)).is_some_and(|text| text.contains(word))
}

/// The benchmarks of a package whose sources mention Criterion: other harnesses reject its options.
fn criterion(root: &Path, folder: &Path) -> Option<Found> {
    let package = root.join(folder);
    let manifest: toml::Table = text(&package.join("Cargo.toml"))?.parse().ok()?;
    let name = |table: &toml::Value| Some(table.get("name")?.as_str()?.to_owned());
    let is_criterion = |bench: &&toml::Value| {
        let path = bench.get("path").and_then(toml::Value::as_str).map(str::to_owned);
        let name = name(bench).unwrap_or_default();
        let usual = || vec![format!("benches/{name}.rs"), format!("benches/{name}/main.rs")];
        let paths = path.map_or_else(usual, |path| vec![path]);
        paths.iter().any(|path| mentions(&package, path, "criterion"))
    };
    let benches = manifest.get("bench")?.as_array()?.iter().filter(is_criterion);
    let benches: Vec<String> = benches.filter_map(name).collect();
    let mut command = words("cargo bench");
    if folder != Path::new("") {
        let manifest = folder.join("Cargo.toml");
        command.push(format!("--manifest-path={}", manifest.display()));
    }
    let build = format!("{} --no-run", command.join(" "));
    command.extend(benches.iter().flat_map(|name| ["--bench".to_owned(), name.clone()]));
    (!benches.is_empty()).then_some(Found { harness: "criterion", build: Some(build), command })
}

/// The first package with benchmarks of a module, as `go test` names it.
fn go(root: &Path, module: &Path) -> Option<Found> {
    let is_module = |folder: &Path| root.join(folder).join("go.mod").exists();
    if !is_module(module) {
        return None;
    }
    let mut folders = vec![];
    add_folders(&root.join(module), PathBuf::new(), &mut folders);
    let package = folders.iter().find(|package| {
        let mut inner = package.ancestors().filter(|folder| *folder != Path::new(""));
        inner.all(|folder| !is_module(&module.join(folder)))
            && has_go_benchmark(&root.join(module).join(package))
    })?;
    let (path, package) = (module.join(package), Path::new(".").join(package));
    let compile = format!("go test -c -o {{}}gritstone.test {}", package.display());
    let up = |folder: &Path| "../".repeat(folder.components().count());
    let build = match up(module).as_str() {
        "" => compile.replace("{}", ""),
        up => format!("cd {} && {}", module.display(), compile.replace("{}", up)),
    };
    Some(Found {
        harness: "go",
        build: Some(build),
        // in the folder of the package, as `go test` executes it
        command: match up(&path).as_str() {
            "" => words("./gritstone.test"),
            up => words(&format!("env -C {} {up}gritstone.test", path.display())),
        },
    })
}

fn has_go_benchmark(package: &Path) -> bool {
    let mut files = fs::read_dir(package).into_iter().flatten().flatten().map(|entry| entry.path());
    files.any(|path| {
        path.to_string_lossy().ends_with("_test.go")
            && text(&path).is_some_and(|text| text.contains("\nfunc Benchmark"))
    })
}

/// The first target that is linked with Google Benchmark, configured from the root if that has a project.
fn google_benchmark(root: &Path, folder: &Path) -> Option<Found> {
    let text = text(&root.join(folder).join("CMakeLists.txt"))?;
    let code: Vec<&str> = text.lines().filter_map(|line| line.split('#').next()).collect();
    let code = code.join("\n");
    let calls = code.split("target_link_libraries").skip(1);
    let mut calls = calls.filter_map(|call| call.trim_start().strip_prefix('(')?.split(')').next());
    let call = calls.find(|call| call.contains("benchmark::benchmark"))?;
    let target = call.split_whitespace().next().filter(|name| is_plain(name))?;
    let (source, below) = match root.join("CMakeLists.txt").exists() {
        true => (Path::new(""), folder),
        false => (folder, Path::new("")),
    };
    let source: PathBuf = Path::new(".").join(source).components().collect();
    Some(Found {
        harness: "google-benchmark",
        build: Some(format!(
            "cmake -S {} -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --parallel",
            source.display()
        )),
        command: vec![Path::new("build").join(below).join(target).display().to_string()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Option<Found> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            write(&root.path().join(path), text).unwrap();
        }
        detect(root.path())
    }

    #[test]
    fn projects_are_recognized_by_benchmarks() {
        let harness = |files: &[(&str, &str)]| {
            found(files).map(|found| (found.harness, found.command.join(" ")))
        };
        let expected = |harness, command: &str| Some((harness, command.to_owned()));
        let manifest =
            "package.name = 'x'\n[[bench]]\nname = 'a'\nharness = false\n[[bench]]\nname = 'b'\n";
        let benches = [("benches/a.rs", "use criterion::x;"), ("benches/b.rs", "use iai::x;")];
        let package = [("Cargo.toml", manifest), benches[0], benches[1]];
        assert_eq!(harness(&package), expected("criterion", "cargo bench --bench a"));
        let below = package.map(|(path, text)| (format!("crates/x/{path}"), text));
        let below = below.each_ref().map(|(path, text)| (path.as_str(), *text));
        let member = |path: &str| {
            expected(
                "criterion",
                &format!("cargo bench --manifest-path={path}/Cargo.toml --bench a"),
            )
        };
        assert_eq!(harness(&below), member("crates/x"));
        let cmake = "# target_link_libraries(old benchmark::benchmark)\nadd_executable(b b.cc)\ntarget_link_libraries (b\n  PRIVATE benchmark::benchmark_main)";
        for (path, source) in [("CMakeLists.txt", "."), ("bench/CMakeLists.txt", "./bench")] {
            let found = found(&[(path, cmake)]).unwrap();
            assert_eq!(
                (found.harness, found.command.join(" ").as_str()),
                ("google-benchmark", "build/b")
            );
            assert!(found.build.unwrap().starts_with(&format!("cmake -S {source} -B")));
        }
        let below =
            [("CMakeLists.txt", "add_subdirectory(bench)"), ("bench/CMakeLists.txt", cmake)];
        assert_eq!(harness(&below), expected("google-benchmark", "build/bench/b"));
        let evil = [("CMakeLists.txt", "target_link_libraries($(evil) benchmark::benchmark)")];
        assert_eq!(found(&evil), None);
        let python =
            [("pyproject.toml", "[project.optional-dependencies]\ntest = ['pytest-benchmark']")];
        let with_library = [
            python[0],
            ("third_party/b/CMakeLists.txt", cmake),
            ("x/Cargo.toml", manifest),
            ("x/benches/a/main.rs", "use criterion::x;"),
        ];
        assert_eq!(
            harness(&with_library),
            expected("pytest-benchmark", "venv/bin/python -m pytest")
        );
        assert_eq!(found(&with_library[1..2]), None);
        assert_eq!(harness(&with_library[2..]), member("x"));
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn modules_of_go_are_separate() {
        let benchmark = "package b\nfunc BenchmarkX(b *testing.B) {}";
        let lines = |files: &[(&str, &str)]| {
            found(files).map(|found| [found.build.unwrap(), found.command.join(" ")])
        };
        let module = [("go.mod", "module x"), ("a/b/x_test.go", benchmark)];
        let wanted = ["go test -c -o gritstone.test ./a/b", "env -C a/b ../../gritstone.test"];
        assert_eq!(lines(&module), Some(wanted.map(str::to_owned)));
        let inner =
            [("go.mod", "module x"), ("a/go.mod", "module a"), ("a/b/x_test.go", benchmark)];
        let wanted =
            ["cd a && go test -c -o ../gritstone.test ./b", "env -C a/b ../../gritstone.test"];
        assert_eq!(lines(&inner), Some(wanted.map(str::to_owned)));
        assert_eq!(lines(&inner[1..]), Some(wanted.map(str::to_owned)));
        let tests =
            [("go.mod", "module x"), ("x_test.go", "package x\nfunc TestX(t *testing.T) {}")];
        assert_eq!(lines(&tests), None);
    }

    #[test]
    fn written_file_is_read_back() {
        let root = tempfile::tempdir().unwrap();
        write(&root.path().join("pyproject.toml"), "pytest-benchmark").unwrap();
        for service in [Service::Github, Service::Gitlab] {
            let _ = fs::remove_file(root.path().join(FILE));
            init_ci(root.path(), service).unwrap();
            let project = gritstone_pr::project::Project::read(root.path()).unwrap();
            assert_eq!(project.harness.as_deref(), Some("pytest-benchmark"));
            assert_eq!(project.command, ["venv/bin/python", "-m", "pytest"]);
            assert!(
                init_ci(root.path(), service).unwrap_err().to_string().contains("is there already")
            );
        }
    }
}
