//! Bundles of nodes: which are missing in the store, and import of one.

use super::host::Node;
use super::plan::Plan;
use anyhow::{Result, ensure};
use gritstone_runs::context::Context;
use std::collections::BTreeSet;
use std::path::Path;

/// Nodes without a complete run in the store.
pub fn missing(context: &Context, plan: &Plan) -> Result<Vec<Node>> {
    let members = match context.reader()? {
        Some(store) => store.members()?,
        None => vec![],
    };
    let complete =
        members.iter().filter(|member| member.ended && member.member.fleet == plan.fleet);
    let measured: BTreeSet<&str> = complete.map(|member| member.member.node.as_str()).collect();
    let missing = plan.nodes.iter().filter(|node| !measured.contains(node.node.as_str()));
    Ok(missing.cloned().collect())
}

/// Imports a bundle, which must be complete, of this fleet and of this node.
pub fn import(context: &Context, plan: &Plan, bundle: &Path, node: &str) -> Result<()> {
    let run = gritstone_runs::files::read(bundle)?.run;
    let member = run.info.settings.fleet.clone().unwrap_or_default();
    ensure!(
        member.fleet == plan.fleet && member.node == node,
        "its bundle is of node {} of fleet {}",
        member.node,
        member.fleet
    );
    let mut store = context.writer()?;
    store.import(&run)?;
    context.computed(&store, &run)?;
    Ok(())
}
