//! Finding programs.

use gritstone_model::Need;
use nix::unistd::{AccessFlags, access};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The first of `names` that can be executed, in the order of the names and then of the directories of `path` (a value of
/// `PATH`). An absolute name is taken as it is. Directories that are not absolute, the empty one too, are left out: what they
/// hold depends on where one stands, and measured processes stand elsewhere.
#[must_use]
pub fn find<S: AsRef<str>>(names: &[S], path: &OsStr) -> Option<PathBuf> {
    names.iter().find_map(|name| locate(name.as_ref(), path))
}

/// The program that meets a need.
#[must_use]
pub fn meeting(need: &Need, path: &OsStr) -> Option<PathBuf> {
    if need.any.is_empty() {
        find(&[&need.name], path)
    } else {
        find(&need.any, path)
    }
}

fn locate(name: &str, path: &OsStr) -> Option<PathBuf> {
    if name.starts_with('/') {
        return executable(PathBuf::from(name));
    }
    if name.is_empty() || name.contains('/') {
        return None;
    }
    std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .find_map(|directory| executable(directory.join(name)))
}

/// A file that the kernel would let us execute: also not on a file system mounted `noexec`.
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
    fn the_first_executable_of_the_path() {
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
            // what is not absolute is left out
            (&["vi"], OsStr::new("::"), None),
            (&["vi"], relative.as_os_str(), None),
            (
                &[relative.join("vi").to_str().unwrap()],
                OsStr::new("/"),
                None,
            ),
        ] {
            assert_eq!(find(names, path).as_ref(), expected, "{names:?}");
        }
        let mut need = Need {
            name: "nano".to_owned(),
            any: vec![],
            package: "vi".to_owned(),
            version: None,
        };
        assert_eq!(meeting(&need, &path), None);
        need.any = vec!["vim".to_owned(), "vi".to_owned()];
        assert_eq!(meeting(&need, &path), Some(vi));
    }
}
