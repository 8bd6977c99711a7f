//! The files of a static site, which link to each other by relative paths: on any host, below any folder, and from a disk.

use super::frame::{encoded, path};
use crate::tree::About;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Bytes of a file name; a longer one is truncated, with a checksum.
const MAX_NAME: usize = 120;

/// The file of each page, by the path that the page has on a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<String, String>);

impl Files {
    /// Adds the page of a target.
    pub fn insert(&mut self, about: &About) {
        self.0.insert(path(about), file(about));
    }

    /// Adds the page of a fixed path.
    pub fn insert_path(&mut self, path: &str, file: &str) {
        self.0.insert(path.to_owned(), file.to_owned());
    }

    pub fn file(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// The link from one page to another one.
    pub(super) fn link(&self, from: &str, to: &str) -> Option<String> {
        let (from, to) = (self.file(from)?, self.file(to)?);
        Some("../".repeat(from.matches('/').count()) + &encoded(to))
    }
}

fn file(about: &About) -> String {
    match about {
        About::Run(id) => format!("runs/{}.html", name(id)),
        About::Trial(id) => format!("trials/{}.html", name(id)),
        About::System(id) => format!("systems/{}.html", name(id)),
        About::Event(id) => format!("changes/{}.html", name(id)),
        About::Benchmark(id) => {
            let parts: Vec<String> = id.split('/').map(name).collect();
            format!("benchmarks/{}.html", parts.join("/"))
        }
        About::Fleet => "fleet.html".to_owned(),
        About::Changes => "changes.html".to_owned(),
        About::Web(address) => address.clone(),
        About::Pair([base, other]) => format!("compare/{}/{}.html", name(base), name(other)),
    }
}

/// A file name without characters that URLs must escape, and without `..`.
fn name(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'-' | b'_' | b'@' => out.push(char::from(byte)),
            b'.' if !out.is_empty() => out.push('.'),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => {
                let _ = write!(out, "~{byte:02X}");
            }
        }
    }
    if out.len() > MAX_NAME {
        // FNV-1a
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        out.truncate(MAX_NAME);
        let _ = write!(out, "~{hash:016X}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_site() {
        let run = |id: &str| file(&About::Run(id.to_owned()));
        assert_eq!(run("../../etc/x"), "runs/~2E.~2F..~2Fetc~2Fx.html");
        assert_eq!(run("a b"), "runs/a~20b.html");
        assert_ne!(run("a~20b"), run("a b"));
        let long = ["x".repeat(10_000) + "1", "x".repeat(10_000) + "2"];
        let [one, two] = long.map(|id| run(&id));
        assert!(one != two && one.len() < 200);
    }

    #[test]
    fn links_are_relative() {
        let mut files = Files::default();
        files.insert_path("/overview", "index.html");
        let deep = About::Benchmark("fs/rand-read/8k@cold".to_owned());
        files.insert(&deep);
        let deep = path(&deep);
        let link = files.link("/overview", &deep).unwrap();
        assert_eq!(link, "benchmarks/fs/rand-read/8k@cold.html");
        assert_eq!(files.link(&deep, "/overview").unwrap(), "../../../index.html");
        assert_eq!(files.link(&deep, "/runs/a"), None);
    }
}
