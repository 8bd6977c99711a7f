//! `gritstone init FAMILY/NAME`: writes a custom benchmark, an entry and a program, that runs as it is.

use crate::command::init_ci::{Service, init_ci};
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use anyhow::{Context, Result, ensure};
use clap::Args;
use gritstone_model::{Id, escape_catalog_places, fill_places};
use gritstone_pr::git::Repository;
use gritstone_runs::custom_catalog;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone init mine/sum             writes ./mine/mine.toml and a program
  gritstone run --catalog mine
  gritstone init --ci github          writes a job for pull requests")]
pub struct InitArgs {
    /// Its name, e.g. mine/sum
    #[arg(value_name = "FAMILY/NAME", required_unless_present = "ci")]
    pub name: Option<String>,
    /// Directory of the catalog, created if missing [default: ./FAMILY]
    #[arg(long, value_name = "DIR", add = SetBy::UserFile)]
    pub catalog: Option<PathBuf>,
    /// Time this shell command, instead of generating a program in C
    #[arg(long, value_name = "CMD", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub command: Option<String>,
    /// Write a job that compares pull requests with their base, and gritstone-pr.toml, for the project here
    #[arg(long, value_enum, value_name = "SERVICE", conflicts_with_all = ["name", "catalog", "command"])]
    pub ci: Option<Service>,
}

const FAMILY: &str = include_str!("init/family.toml");
const ENTRY: &str = include_str!("init/entry.toml");
const COMMAND: &str = include_str!("init/command.toml");
const KERNEL: &str = include_str!("init/kernel.c");

pub fn init(args: &InitArgs) -> Result<Exit> {
    if let Some(service) = args.ci {
        let here = Path::new(".");
        // services and `pr` read the files in the root
        let root = Repository::around(here).map_or(here.to_owned(), |around| around.root);
        init_ci(&root, service)?;
        return Ok(Exit::Done);
    }
    let id = args.name.as_deref().context("give FAMILY/NAME")?;
    let id = Id::parse(id)?;
    let (family, name) = id
        .as_str()
        .split_once('/')
        .filter(|(_, name)| !name.contains(['/', '@']))
        .with_context(|| format!("'{id}' is not FAMILY/NAME, such as mine/sum"))?;
    let folder = args.catalog.clone().unwrap_or_else(|| PathBuf::from(family));
    let (entries, program) = (format!("{family}.toml"), format!("{family}/{name}.c"));
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let command = args.command.as_deref();
    let fill = |text: &str| {
        fill_places(text, |place| match place {
            "FAMILY" => Some(family.to_owned()),
            "NAME" => Some(name.to_owned()),
            "TITLE" => command.map(quoted),
            "ARGV" => command.map(|command| quoted(&escape_catalog_places(command))),
            _ => None,
        })
    };
    let entry = fill(command.map_or(ENTRY, |_| COMMAND));
    let path = folder.join(&entries);
    let before = fs::read_to_string(&path).ok();
    if before.is_some() {
        // a benchmark is only added to a valid catalog
        let old = custom_catalog::read(&folder)?;
        let known = old.catalogue.benchmarks.iter().any(|benchmark| benchmark.id == id);
        ensure!(!known, "'{id}' is in {} already", path.display());
    }
    let mut new = NewFiles::default();
    if command.is_none() {
        new.create(&folder.join(&program), &fill(KERNEL))?;
    }
    match &before {
        None => new.create(&path, &(fill(FAMILY) + &entry))?,
        Some(_) => write(&path, &entry, OpenOptions::new().append(true))?,
    }
    // reports an invalid name
    if let Err(why) = custom_catalog::read(&folder) {
        if let Some(before) = before {
            write(&path, &before, OpenOptions::new().truncate(true))?;
        }
        return Err(why);
    }
    new.keep();
    let program = Some(program).filter(|_| command.is_none());
    output::plain(&next(&folder, &entries, program.as_deref(), &id))?;
    Ok(Exit::Done)
}

/// New files and directories, removed on drop unless they are kept.
#[derive(Default)]
struct NewFiles {
    files: Vec<PathBuf>,
    /// Parents first.
    directories: Vec<PathBuf>,
}

impl NewFiles {
    fn create(&mut self, path: &Path, text: &str) -> Result<()> {
        let parents = path.ancestors().skip(1);
        let missing =
            parents.take_while(|parent| !parent.as_os_str().is_empty() && !parent.exists());
        let missing: Vec<&Path> = missing.collect();
        for directory in missing.into_iter().rev() {
            fs::create_dir(directory)
                .with_context(|| format!("cannot create {}", directory.display()))?;
            self.directories.push(directory.to_owned());
        }
        write(path, text, OpenOptions::new().create_new(true))?;
        self.files.push(path.to_owned());
        Ok(())
    }

    fn keep(mut self) {
        self.files.clear();
        self.directories.clear();
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for directory in self.directories.iter().rev() {
            let _ = fs::remove_dir(directory);
        }
    }
}

fn write(path: &Path, text: &str, how: &mut OpenOptions) -> Result<()> {
    let written = how.write(true).open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn next(folder: &Path, entries: &str, program: Option<&str>, id: &Id) -> String {
    let folder = folder.display();
    let program = program.map_or(String::new(), |program| {
        format!("{folder}/{program}   its program: the work, and only the work\n")
    });
    format!(
        "\
{folder}/{entries}   the entry: what is measured, and why
{program}
  gritstone run {id} --catalog {folder} --quick
  gritstone audit {id} --catalog {folder}
"
    )
}
