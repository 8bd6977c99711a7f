//! The binary in a home of its own.
#![allow(dead_code, reason = "each test program uses a part of it")]

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub struct Home {
    pub folder: TempDir,
}

impl Home {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn store(&self) -> PathBuf {
        self.path().join("data/gritstone/gritstone.db")
    }

    /// `gritstone` with these arguments, in this home, with nothing else of the user's.
    pub fn gritstone(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path())
            .env("XDG_DATA_HOME", self.path().join("data"))
            .env("TMPDIR", self.path())
            .current_dir(self.path());
        command
    }

    /// Its standard output as JSON, after it ended well.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.gritstone(arguments).assert().success();
        serde_json::from_slice(&output.get_output().stdout).unwrap()
    }

    /// Exit code, standard output, standard error.
    pub fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        ended(&mut self.gritstone(arguments))
    }
}

/// Exit code, standard output, standard error.
pub fn ended(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

pub fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_gritstone"))
}

pub fn result<'a>(run: &'a Value, id: &str) -> &'a Value {
    run["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|result| result["id"] == id)
        .unwrap_or_else(|| panic!("no {id} in {run}"))
}

/// The footnote kinds of a result's estimate.
pub fn kinds(result: &Value) -> Vec<String> {
    result["footnotes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|note| note["of"].is_null())
        .map(|note| note["kind"].as_str().unwrap().to_owned())
        .collect()
}
