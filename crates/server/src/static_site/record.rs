//! Record of a site, beside its pages: hashes of their inputs, by which the next call finds outdated pages.

use anyhow::{Context as _, Result, bail, ensure};
use gritstone_model::hexadecimal;
use gritstone_runs::output_file;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const NAME: &str = ".gritstone-site.json";
const SCHEMA: &str = "gritstone/site/1";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Made {
    /// Hash of the inputs of the page.
    pub(super) inputs: String,
    /// Hash of the page.
    pub(super) content: String,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    schema: String,
    files: BTreeMap<String, Made>,
}

pub(super) struct Record {
    root: PathBuf,
    files: BTreeMap<String, Made>,
}

impl Record {
    /// Opens the record of a directory; creates both if missing.
    ///
    /// # Errors
    /// When the directory has files that are not of a site.
    pub(super) fn open(root: &Path) -> Result<Self> {
        fs::create_dir_all(root).with_context(|| format!("cannot make {}", root.display()))?;
        let mut record = Self { root: root.to_owned(), files: BTreeMap::new() };
        let path = root.join(NAME);
        match fs::read(&path) {
            Ok(text) => {
                let stored: Stored = serde_json::from_slice(&text)
                    .with_context(|| format!("{} is damaged", path.display()))?;
                ensure!(
                    stored.schema == SCHEMA,
                    "{} is of another version of Gritstone: empty the directory",
                    path.display()
                );
                ensure!(
                    stored.files.keys().all(|file| is_below(file)),
                    "{} names files elsewhere",
                    path.display()
                );
                record.files = stored.files;
            }
            Err(why) if why.kind() == ErrorKind::NotFound => {
                if fs::read_dir(root)?.next().is_some() {
                    bail!(
                        "{} has files that are not of a site of Gritstone: name an empty directory",
                        root.display()
                    );
                }
                // so that an interrupted site can be continued
                record.save()?;
            }
            Err(why) => {
                return Err(why).with_context(|| format!("cannot read {}", path.display()));
            }
        }
        Ok(record)
    }

    /// Whether the file exists and was made of these inputs.
    pub(super) fn is_current(&self, file: &str, inputs: &str) -> bool {
        let known = self.files.get(file);
        known.is_some_and(|known| known.inputs == inputs) && self.root.join(file).is_file()
    }

    /// Writes a page if its content changed; returns whether it did.
    pub(super) fn write(&self, file: &str, text: &str, inputs: &str) -> Result<(Made, bool)> {
        let page = Made { inputs: inputs.to_owned(), content: hexadecimal(Sha256::digest(text)) };
        let path = self.root.join(file);
        let known = self.files.get(file);
        let is_same = known.is_some_and(|known| known.content == page.content) && path.is_file();
        if !is_same {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make {}", folder.display()))?;
            }
            output_file::write(&path, text.as_bytes())?;
        }
        Ok((page, !is_same))
    }

    /// Replaces the record by these files, and removes all others; returns their number.
    pub(super) fn finish(
        mut self,
        files: BTreeMap<String, Made>,
        all: &BTreeSet<&str>,
    ) -> Result<usize> {
        let before = self.files.clone();
        self.files.extend(files);
        let old: Vec<String> = self.files.keys().cloned().collect();
        let old: Vec<String> =
            old.into_iter().filter(|file| !all.contains(file.as_str())).collect();
        for file in &old {
            let path = self.root.join(file);
            match fs::remove_file(&path) {
                Err(why) if why.kind() != ErrorKind::NotFound => {
                    return Err(why).with_context(|| format!("cannot remove {}", path.display()));
                }
                _ => {}
            }
            // removes directories that became empty
            for folder in Path::new(file).ancestors().skip(1) {
                if folder == Path::new("") || fs::remove_dir(self.root.join(folder)).is_err() {
                    break;
                }
            }
            self.files.remove(file);
        }
        if self.files != before {
            self.save()?;
        }
        Ok(old.len())
    }

    fn save(&self) -> Result<()> {
        let stored = Stored { schema: SCHEMA.to_owned(), files: self.files.clone() };
        let text = serde_json::to_string_pretty(&stored)? + "\n";
        output_file::write(&self.root.join(NAME), text.as_bytes())
    }
}

fn is_below(file: &str) -> bool {
    let mut parts = Path::new(file).components();
    !file.is_empty() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
}
