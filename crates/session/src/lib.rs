//! This host prepared, measured, and restored.

pub mod bounds;
pub mod compiler;
pub mod host_context;
pub mod instructions;
pub mod local_backend;
pub mod measuring;
pub mod measuring_slot;
pub mod observer;
pub mod param_overrides;
pub mod privileges;
pub mod resumption;
pub mod rlimits;
pub mod signals;
pub mod ssh;
pub mod trial;
pub mod trust;
pub mod tune;
pub mod undo;

/// Nothing could be measured, for this reason.
#[derive(Debug)]
pub struct NothingMeasured(pub String);

impl std::fmt::Display for NothingMeasured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NothingMeasured {}
