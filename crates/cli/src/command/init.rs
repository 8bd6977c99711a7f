//! `gritstone init FAMILY/NAME`: writes a custom benchmark, an entry and a program, that runs as it is.

use crate::command::init_ci::{Service, init_ci};
use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::settable::SetBy;
use anyhow::{Context, Result, ensure};
use clap::Args;
use gritstone_model::Id;
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
    #[arg(long = "catalog", value_name = "DIR", add = SetBy::UserFile)]
    pub catalogue: Option<PathBuf>,
    /// Time this shell command, instead of generating a program in C
    #[arg(long, value_name = "CMD", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub command: Option<String>,
    /// Write a job that compares pull requests with their base, and gritstone-pr.toml, for the project here
    #[arg(long, value_enum, value_name = "SERVICE", conflicts_with_all = ["name", "catalogue", "command"])]
    pub ci: Option<Service>,
}

const FAMILY: &str = include_str!("init/family.toml");
const ENTRY: &str = include_str!("init/entry.toml");
const COMMAND: &str = include_str!("init/command.toml");
const KERNEL: &str = include_str!("init/kernel.c");

pub fn init(args: &InitArgs) -> Result<Exit> {
    if let Some(service) = args.ci {
        init_ci(Path::new("."), service)?;
        return Ok(Exit::Done);
    }
    let id = args.name.as_deref().context("give FAMILY/NAME")?;
    let id = Id::parse(id)?;
    let (family, name) = id
        .as_str()
        .split_once('/')
        .filter(|(_, name)| !name.contains(['/', '@']))
        .with_context(|| format!("'{id}' is not FAMILY/NAME, such as mine/sum"))?;
    let folder = args
        .catalogue
        .clone()
        .unwrap_or_else(|| PathBuf::from(family));
    let fill = |text: &str| text.replace("FAMILY", family).replace("NAME", name);
    let (entries, program) = (format!("{family}.toml"), format!("{family}/{name}.c"));
    // last, since the command may contain FAMILY or NAME
    let entry = match &args.command {
        None => fill(ENTRY),
        Some(command) => {
            fill(COMMAND).replace("COMMAND", &toml::Value::from(command.as_str()).to_string())
        }
    };
    let before = fs::read_to_string(folder.join(&entries)).ok();
    if before.is_some() {
        // a benchmark is only added to a valid catalog
        let old = custom_catalog::read(&folder)?;
        let known = old.catalogue.benchmarks.iter().any(|row| row.id == id);
        ensure!(
            !known,
            "'{id}' is in {} already",
            folder.join(&entries).display()
        );
    }
    if args.command.is_none() {
        let how = OpenOptions::new().write(true).create_new(true).clone();
        write(&folder.join(&program), &fill(KERNEL), &how)?;
    }
    let text = match before {
        Some(_) => entry,
        None => fill(FAMILY) + &entry,
    };
    write(
        &folder.join(&entries),
        &text,
        OpenOptions::new().append(true).create(true),
    )?;
    // reports an invalid name
    if let Err(why) = custom_catalog::read(&folder) {
        if args.command.is_none() {
            let _ = fs::remove_file(folder.join(&program));
        }
        let _ = match before {
            Some(text) => fs::write(folder.join(&entries), text),
            None => fs::remove_file(folder.join(&entries)),
        };
        return Err(why);
    }
    let program = Some(program).filter(|_| args.command.is_none());
    output::plain(&next(&folder, &entries, program.as_deref(), &id))?;
    Ok(Exit::Done)
}

fn write(path: &Path, text: &str, how: &OpenOptions) -> Result<()> {
    let written = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| how.open(path)?.write_all(text.as_bytes()));
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
