//! The text files of a repository, as one value that rules are asked about.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Kinds of file that rules look at.
const EXTENSIONS: &[&str] = &["rs", "toml", "c", "h", "f90", "py", "sh", "md"];

/// Paths from the root, with `/`, and texts.
#[derive(Debug, Default)]
pub struct Tree(BTreeMap<String, String>);

impl Tree {
    /// Reads a repository, without what is built (`target`) and what is hidden.
    pub fn read(root: &Path) -> Result<Self, String> {
        let mut tree = Self::default();
        tree.folder(root, "")?;
        Ok(tree)
    }

    fn folder(&mut self, folder: &Path, prefix: &str) -> Result<(), String> {
        let failed = |why: std::io::Error| format!("{}: {why}", folder.display());
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(failed)?;
            if name.starts_with('.') || kind.is_symlink() {
                continue;
            }
            if kind.is_dir() {
                if name != "target" {
                    self.folder(&entry.path(), &format!("{path}/"))?;
                }
            } else if name == "Makefile" || EXTENSIONS.iter().any(|e| extension(&name) == *e) {
                let bytes = fs::read(entry.path()).map_err(|why| format!("{path}: {why}"))?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.0.insert(path, text);
            }
        }
        Ok(())
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All files, in the order of their paths.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Whether there is such a file.
    pub fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// A tree that was made up.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        Self(files.iter().map(owned).collect())
    }
}

/// What follows the last dot of a path; nothing where there is none.
pub fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_hidden_or_binary_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "target/x.rs",
            ".git/x.rs",
            "a/b/x.rs",
            "a/Makefile",
            "a/picture.png",
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"text \xff").unwrap();
        }
        std::os::unix::fs::symlink("..", root.path().join("a/up")).unwrap();
        let tree = Tree::read(root.path()).unwrap();
        let paths: Vec<_> = tree.files().map(|(path, _)| path).collect();
        assert_eq!(paths, ["a/Makefile", "a/b/x.rs"]);
        assert!(tree.files().all(|(_, text)| text == "text \u{fffd}"));
        assert!(Tree::read(&root.path().join("none")).is_err());
    }
}
