//! `gritstone init --ci`: a workflow for pull requests and gritstone-pr.toml, after a look at the project.

use crate::ui::output;
use anyhow::{Context as _, Result, ensure};
use clap::ValueEnum;
use gritstone_pr::project::FILE;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Directories below the root that are searched for benchmarks of Go.
const MAX_DEPTH: usize = 4;

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
    let found = look(root).with_context(|| {
        format!(
            "no benchmarks of Criterion, Go, Google Benchmark or pytest-benchmark in {}: write {FILE} by hand (docs/continuous-integration.md)",
            root.display()
        )
    })?;
    let (path, workflow) = service.workflow();
    for file in [path, FILE] {
        ensure!(fs::symlink_metadata(root.join(file)).is_err(), "{file} is there already");
    }
    write(&root.join(FILE), &project(&found))?;
    write(&root.join(path), workflow)?;
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

fn look(root: &Path) -> Option<Found> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let criterion = criterion_benches(root);
    if !criterion.is_empty() {
        // other harnesses reject the options of Criterion
        let named = criterion.iter().flat_map(|name| ["--bench".to_owned(), name.clone()]);
        return Some(Found {
            harness: "criterion",
            build: Some("cargo bench --no-run".to_owned()),
            command: words("cargo bench").into_iter().chain(named).collect(),
        });
    }
    if root.join("go.mod").exists()
        && let Some(package) = go_package(root, Path::new("."), 0)
    {
        // in the folder of the package, as `go test` executes it
        let up = "../".repeat(package.components().count() - 1);
        return Some(Found {
            harness: "go",
            build: Some(format!("go test -c -o gritstone.test '{}'", package.display())),
            command: match up.as_str() {
                "" => words("./gritstone.test"),
                up => words(&format!("env -C {} {up}gritstone.test", package.display())),
            },
        });
    }
    if let Some(target) = cmake_target(root) {
        return Some(Found {
            harness: "google-benchmark",
            build: Some(
                "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build --parallel"
                    .to_owned(),
            ),
            command: vec![format!("build/{target}")],
        });
    }
    if !mentions(root, "pyproject.toml", "pytest-benchmark") {
        return None;
    }
    // a package below src is imported from where it is installed: once for each revision
    let (build, python) = match root.join("src").is_dir() {
        true => (Some(VENV.to_owned()), "venv/bin/python"),
        false => (None, "python3"),
    };
    Some(Found {
        harness: "pytest-benchmark",
        build,
        command: words(&format!("{python} -m pytest")),
    })
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn mentions(root: &Path, file: &str, word: &str) -> bool {
    text(&root.join(file)).is_some_and(|text| text.contains(word))
}

/// Names of benchmarks without the harness of the compiler, where the manifest mentions Criterion.
fn criterion_benches(root: &Path) -> Vec<String> {
    let manifest = text(&root.join("Cargo.toml")).filter(|text| text.contains("criterion"));
    let manifest = manifest.and_then(|text| text.parse::<toml::Table>().ok());
    let benches = manifest.as_ref().and_then(|table| table.get("bench")?.as_array());
    let without_harness =
        |bench: &&toml::Value| bench.get("harness").and_then(toml::Value::as_bool) == Some(false);
    let name = |bench: &toml::Value| Some(bench.get("name")?.as_str()?.to_owned());
    benches.into_iter().flatten().filter(without_harness).filter_map(name).collect()
}

/// The first package with benchmarks, as `go test` names it.
fn go_package(root: &Path, below: &Path, depth: usize) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(root.join(below)).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let is_test = |path: &&PathBuf| path.to_string_lossy().ends_with("_test.go");
    let has_benchmark =
        |path: &PathBuf| text(path).is_some_and(|text| text.contains("\nfunc Benchmark"));
    if entries.iter().filter(is_test).any(has_benchmark) {
        return Some(below.to_owned());
    }
    let folders =
        entries.iter().filter(|path| depth < MAX_DEPTH && path.is_dir() && !path.is_symlink());
    let plain = |name: &&str| {
        name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
            && !name.starts_with('.')
    };
    let names = folders.filter_map(|path| path.file_name()?.to_str()).filter(plain);
    names.into_iter().find_map(|name| go_package(root, &below.join(name), depth + 1))
}

/// The first target that is linked with Google Benchmark.
fn cmake_target(root: &Path) -> Option<String> {
    let text = text(&root.join("CMakeLists.txt"))?;
    let calls = text.split("target_link_libraries(").skip(1);
    let mut calls = calls.filter_map(|call| call.split(')').next());
    let call = calls.find(|call| call.contains("benchmark::benchmark"))?;
    let name = call.split_whitespace().next()?;
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    plain.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Option<Found> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            write(&root.path().join(path), text).unwrap();
        }
        look(root.path())
    }

    #[test]
    fn projects_are_recognized_by_benchmarks() {
        let harness = |files: &[(&str, &str)]| {
            found(files).map(|found| (found.harness, found.command.join(" ")))
        };
        let expected = |harness, command: &str| Some((harness, command.to_owned()));
        assert_eq!(
            harness(&[(
                "Cargo.toml",
                "[dev-dependencies]\ncriterion = '0.5'\n[[bench]]\nname = 'a'\nharness = false\n[[bench]]\nname = 'b'\n"
            )]),
            expected("criterion", "cargo bench --bench a")
        );
        let cmake =
            "add_executable(b b.cc)\ntarget_link_libraries(b\n  PRIVATE benchmark::benchmark_main)";
        assert_eq!(harness(&[("CMakeLists.txt", cmake)]), expected("google-benchmark", "build/b"));
        let python = "[project.optional-dependencies]\ntest = ['pytest-benchmark']";
        assert_eq!(
            harness(&[("pyproject.toml", python)]),
            expected("pytest-benchmark", "python3 -m pytest")
        );
        let installed = [("pyproject.toml", python), ("src/x/__init__.py", "")];
        assert_eq!(harness(&installed), expected("pytest-benchmark", "venv/bin/python -m pytest"));
        let go = found(&[
            ("go.mod", "module x"),
            ("a/b/x_test.go", "package b\nfunc BenchmarkX(b *testing.B) {}"),
        ])
        .unwrap();
        assert_eq!(go.build.as_deref(), Some("go test -c -o gritstone.test './a/b'"));
        assert_eq!(go.command.join(" "), "env -C ./a/b ../../gritstone.test");
        assert_eq!(
            found(&[
                ("go.mod", "module x"),
                ("x_test.go", "package x\nfunc TestX(t *testing.T) {}")
            ]),
            None
        );
        assert_eq!(
            found(&[("CMakeLists.txt", "target_link_libraries($(evil) benchmark::benchmark)")]),
            None
        );
        assert_eq!(found(&[]), None);
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
            assert_eq!(project.command, ["python3", "-m", "pytest"]);
            assert!(
                init_ci(root.path(), service).unwrap_err().to_string().contains("is there already")
            );
        }
    }
}
