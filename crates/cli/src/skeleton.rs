//! `gritstone init FAMILY/NAME`: a benchmark of one's own to begin with, an entry and a program that run as they are.

use crate::args::InitArgs;
use crate::failure::Exit;
use crate::{output, own};
use anyhow::{Context, Result, ensure};
use gritstone_model::Id;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const FAMILY: &str = include_str!("skeleton/family.toml");
const ENTRY: &str = include_str!("skeleton/entry.toml");
const KERNEL: &str = include_str!("skeleton/kernel.c");

/// Writes the entry and its program, and says what to do next.
pub fn new(args: &InitArgs) -> Result<Exit> {
    let id = Id::parse(&args.name)?;
    let (family, name) = args
        .name
        .split_once('/')
        .filter(|(_, name)| !name.contains(['/', '@']))
        .with_context(|| format!("'{id}' is no FAMILY/NAME, such as mine/sum"))?;
    let folder = args
        .catalogue
        .clone()
        .unwrap_or_else(|| PathBuf::from(family));
    let fill = |text: &str| text.replace("FAMILY", family).replace("NAME", name);
    let (entries, program) = (format!("{family}.toml"), format!("{family}/{name}.c"));
    let before = fs::read_to_string(folder.join(&entries)).ok();
    if before.is_some() {
        // a second benchmark is added to what is sound, or not at all
        let old = own::read(&folder)?;
        let known = old.catalogue.benchmarks.iter().any(|row| row.id == id);
        ensure!(
            !known,
            "'{id}' is in {} already",
            folder.join(&entries).display()
        );
    }
    let kernel = fill(KERNEL);
    write(
        &folder.join(&program),
        &kernel,
        OpenOptions::new().write(true).create_new(true),
    )?;
    let text = match before {
        Some(_) => fill(ENTRY),
        None => format!("{}{}", fill(FAMILY), fill(ENTRY)),
    };
    write(
        &folder.join(&entries),
        &text,
        OpenOptions::new().append(true).create(true),
    )?;
    // a name that a catalog cannot have is told now
    if let Err(why) = own::read(&folder) {
        let _ = fs::remove_file(folder.join(&program));
        let _ = match before {
            Some(text) => fs::write(folder.join(&entries), text),
            None => fs::remove_file(folder.join(&entries)),
        };
        return Err(why);
    }
    output::plain(&next(&folder, &entries, &program, &id))?;
    Ok(Exit::Done)
}

fn write(path: &Path, text: &str, how: &OpenOptions) -> Result<()> {
    let written = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| how.open(path)?.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn next(folder: &Path, entries: &str, program: &str, id: &Id) -> String {
    let folder = folder.display();
    format!(
        "\
{folder}/{entries}   the entry: what is measured, and why
{folder}/{program}   its program: the work, and only the work

  gritstone run {id} --catalog {folder} --quick
  gritstone audit {id} --catalog {folder}
"
    )
}
