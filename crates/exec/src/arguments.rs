//! Arguments and environment of programs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

pub(crate) fn assigned(key: &str, path: impl AsRef<OsStr>) -> OsString {
    let mut argument = OsString::from(format!("{key}="));
    argument.push(path);
    argument
}

pub(crate) fn cpus_argument(cpus: &[u32]) -> OsString {
    format!("cpus={}", cpu_list(cpus)).into()
}

pub(crate) fn cpu_list(cpus: &[u32]) -> String {
    let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
    list.join(",")
}

/// HOME and TMPDIR are `directory`.
pub(crate) fn environment_in(
    environment: &BTreeMap<String, String>,
    directory: &Path,
) -> BTreeMap<String, OsString> {
    environment
        .iter()
        .map(|(key, value)| (key.clone(), OsString::from(value)))
        .chain(["HOME", "TMPDIR"].map(|key| (key.to_owned(), directory.into())))
        .collect()
}
