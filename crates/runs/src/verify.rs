//! Checks of a bundle that a user contributes to a gallery.

use crate::context::Context;
use crate::files::{FileOrigin, FileRun};
use anyhow::Result;
use gritstone_exchange as exchange;
use gritstone_model::{Flag, Id, Measurement, RunView};
use gritstone_references::MEASURED;

/// Largest factor between a result and that of each measured reference system.
const FARTHEST: f64 = 30.0;
/// Fault of a contribution.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error("not a bundle: gritstone export RUN --format jsonl")]
    Foreign,
    #[error("one side of a trial, not a run")]
    Trial,
    #[error("the run was interrupted: gritstone run --resume")]
    Interrupted,
    #[error("{0} failed its work check")]
    Invalid(Id),
    #[error("{id} is of version {version}, and version {known} is current")]
    Version { id: Id, version: u32, known: u32 },
    #[error(
        "{id} differs {times:.0}-fold from {reference}, and more than {FARTHEST}-fold from every reference system"
    )]
    Implausible { id: Id, times: f64, reference: String },
    #[error("names of hosts, users or addresses are in it: export it without --with-identity")]
    Private,
}

impl Context {
    /// All faults of a bundle after reading, which has checked its form, hashes and limits.
    ///
    /// # Errors
    /// When a reference system cannot be read.
    pub fn verify(&self, file: &FileRun) -> Result<Vec<Fault>> {
        let FileRun { run, origin } = file;
        if *origin == FileOrigin::Foreign {
            return Ok(vec![Fault::Foreign]);
        }
        let mut faults = vec![];
        if run.info.settings.trial.is_some() {
            faults.push(Fault::Trial);
        }
        if run.info.elapsed_s.is_none() {
            faults.push(Fault::Interrupted);
        }
        let view = self.summary(run);
        let invalid = view.results.iter().filter(|result| result.is_flagged(Flag::Invalid));
        faults.extend(invalid.map(|result| Fault::Invalid(result.id.clone())));
        faults.extend(self.other_versions(&view));
        faults.extend(self.implausible(&view)?);
        if exchange::anonymous_run(run, None).ok().as_ref() != Some(run) {
            faults.push(Fault::Private);
        }
        Ok(faults)
    }

    fn other_versions(&self, view: &RunView) -> Vec<Fault> {
        let known =
            |id: &Id| self.catalogue.benchmarks.iter().find(|benchmark| benchmark.id == *id);
        let results = view.results.iter();
        let other = results.filter_map(|result| {
            let known = known(&result.id)?.version;
            (known != result.version).then(|| Fault::Version {
                id: result.id.clone(),
                version: result.version,
                known,
            })
        });
        other.collect()
    }

    fn implausible(&self, view: &RunView) -> Result<Vec<Fault>> {
        let measured = self.references.machines.iter();
        let measured = measured.filter(|machine| machine.document.as_deref() == Some(MEASURED));
        let references = measured.map(|machine| self.view(&format!("ref:{}", machine.id)));
        let references: Vec<RunView> = references.collect::<Result<_>>()?;
        let mut faults = vec![];
        for result in &view.results {
            let distances = references.iter().filter_map(|reference| {
                let distance = distance(result, reference.get(&result.id)?)?;
                Some((distance, &reference.id))
            });
            let nearest = distances.min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((distance, reference)) = nearest.filter(|(far, _)| *far > FARTHEST) {
                faults.push(Fault::Implausible {
                    id: result.id.clone(),
                    times: distance,
                    reference: reference.clone(),
                });
            }
        }
        Ok(faults)
    }
}

/// The factor between two results in one unit.
fn distance(result: &Measurement, reference: &Measurement) -> Option<f64> {
    if result.unit != reference.unit || result.version != reference.version {
        return None;
    }
    let (one, other) = (result.estimate()?.value, reference.estimate()?.value);
    let ratio = one / other;
    (ratio > 0.0).then(|| ratio.max(1.0 / ratio))
}
