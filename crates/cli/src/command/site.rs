//! `gritstone site`: the pages of the store as files.

use crate::ui::exit::Exit;
use crate::ui::output;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use gritstone_runs::context::Context;
use gritstone_server::static_site;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone site public
  gritstone site public --from results")]
pub struct SiteArgs {
    /// Directory of the site: a new one, an empty one, or that of an earlier call
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Read bundles from this folder and its subfolders instead of the store
    #[arg(long, value_name = "FOLDER")]
    pub from: Option<PathBuf>,
}

pub fn site(context: &Context, args: &SiteArgs) -> Result<Exit> {
    let written = match &args.from {
        None => static_site::write(&context.store_path()?, &args.directory)?,
        Some(folder) => {
            let scratch =
                tempfile::tempdir().context("cannot create a directory for the bundles")?;
            let store = scratch.path().join("store.db");
            static_site::import(folder, &store)?;
            static_site::write(&store, &args.directory)?
        }
    };
    output::remark(&format!(
        "{}: {} rendered, {} changed, {} removed",
        gritstone_report::plural(written.pages, "page"),
        written.rendered,
        written.written,
        written.removed
    ));
    let index = std::path::absolute(args.directory.join("index.html"))?;
    output::plain(&format!("{}\n", index.display()))?;
    ensure!(
        written.failed == 0,
        "{} could not be made, and say why",
        gritstone_report::plural(written.failed, "page")
    );
    Ok(Exit::Done)
}
