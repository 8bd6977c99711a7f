//! Bundles of nodes in the store: which are missing, and how one is taken in.

use super::host::Node;
use super::plan::Plan;
use anyhow::{Result, ensure};
use gritstone_runs::context::Context;
use std::collections::BTreeSet;
use std::path::Path;

/// The nodes without a whole run in the store.
pub fn missing(context: &Context, plan: &Plan) -> Result<Vec<Node>> {
    let members = match context.reader()? {
        Some(store) => store.members()?,
        None => vec![],
    };
    let own = members
        .iter()
        .filter(|of| of.ended && of.member.fleet == plan.fleet);
    let there: BTreeSet<&str> = own.map(|of| of.member.node.as_str()).collect();
    let missing = plan
        .nodes
        .iter()
        .filter(|node| !there.contains(node.node.as_str()));
    Ok(missing.cloned().collect())
}

/// Takes in a bundle: whole, of this fleet, of this node.
pub fn take(context: &Context, plan: &Plan, bundle: &Path, node: &str) -> Result<()> {
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
