//! Search for programs.

use gritstone_model::Need;
use nix::unistd::{AccessFlags, access};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The first executable of `names`, in the order of the names and then of the directories of `path` (a value of
/// `PATH`). Absolute names are taken as they are; a component with `*` is a version, of which the highest counts.
/// Relative directories, also the empty one, are skipped: their content depends on the working directory, which
/// differs for measured processes.
pub fn find<S: AsRef<str>>(names: &[S], path: &OsStr) -> Option<PathBuf> {
    names.iter().find_map(|name| locate(name.as_ref(), path))
}

/// The program that meets a need.
pub fn meeting(need: &Need, path: &OsStr) -> Option<PathBuf> {
    if need.any.is_empty() { find(&[&need.name], path) } else { find(&need.any, path) }
}

fn locate(name: &str, path: &OsStr) -> Option<PathBuf> {
    if name.starts_with('/') {
        let versions = match name.split_once('*') {
            None => vec![PathBuf::from(name)],
            Some((before, after)) => versions(before, after),
        };
        return versions.into_iter().find_map(executable);
    }
    if name.is_empty() || name.contains('/') {
        return None;
    }
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .find_map(|directory| executable(directory.join(name)))
}

/// Paths with something without `/` between `before` and `after`, the highest version first.
fn versions(before: &str, after: &str) -> Vec<PathBuf> {
    let (folder, start) = before.rsplit_once('/').unwrap_or(("", before));
    let end = after.split('/').next().unwrap_or_default();
    let rest = &after[end.len()..];
    let entries = std::fs::read_dir(format!("{folder}/"));
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)))
        .collect();
    names.sort_by_cached_key(|name| std::cmp::Reverse(numbers(name)));
    let path = |name: String| PathBuf::from(format!("{folder}/{name}{rest}"));
    names.into_iter().map(path).collect()
}

/// The numbers in a name, by which versions are compared: 9.6 < 15.
fn numbers(name: &str) -> Vec<u64> {
    let digits = name.split(|c: char| !c.is_ascii_digit());
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

/// A file that we may execute: not on a `noexec` mount.
fn executable(file: PathBuf) -> Option<PathBuf> {
    (is_file(&file) && access(&file, AccessFlags::X_OK).is_ok()).then_some(file)
}

fn is_file(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn program(directory: &Path, name: &str, mode: u32) -> PathBuf {
        fs::create_dir_all(directory).unwrap();
        let file = directory.join(name);
        fs::write(&file, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn first_executable_is_found() {
        let tree = tempfile::tempdir_in(".").unwrap();
        let absolute = tree.path().canonicalize().unwrap();
        let (a, b) = (absolute.join("a"), absolute.join("b"));
        program(&a, "plain", 0o644);
        let (plain, vi) = (program(&b, "plain", 0o755), program(&b, "vi", 0o755));
        fs::create_dir_all(a.join("vi")).unwrap();
        let path = std::env::join_paths([&a, &b]).unwrap();
        let relative = Path::new(tree.path().file_name().unwrap()).join("b");
        for (names, path, expected) in [
            (&["plain"][..], &*path, Some(&plain)),
            (&["vim", "vi"], &path, Some(&vi)),
            (&["vim"], &path, None),
            (&[vi.to_str().unwrap()], OsStr::new(""), Some(&vi)),
            (&[], &path, None),
            (&[""], &path, None),
            // relative directories are skipped
            (&["vi"], OsStr::new("::"), None),
            (&["vi"], relative.as_os_str(), None),
            (&[relative.join("vi").to_str().unwrap()], OsStr::new("/"), None),
        ] {
            assert_eq!(find(names, path).as_ref(), expected, "{names:?}");
        }
        // the highest version that has the program
        let versions = absolute.join("server");
        for (version, mode) in [("9.6", 0o755), ("15", 0o755), ("16", 0o644), ("x", 0o755)] {
            program(&versions.join(version).join("bin"), "serve", mode);
        }
        let any = format!("{}/*/bin/serve", versions.display());
        let highest = versions.join("15/bin/serve");
        assert_eq!(find(&[&any], OsStr::new("")), Some(highest));
        let none = format!("{}/9*/serve", versions.display());
        assert_eq!(find(&[none], OsStr::new("")), None);
        let mut need =
            Need { name: "nano".to_owned(), any: vec![], package: "vi".to_owned(), version: None };
        assert_eq!(meeting(&need, &path), None);
        need.any = vec!["vim".to_owned(), "vi".to_owned()];
        assert_eq!(meeting(&need, &path), Some(vi));
    }
}
