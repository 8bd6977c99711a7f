//! This host prepared, measured, and restored.

pub mod compiler;
pub mod custom_catalog;
pub mod host_context;
pub mod instructions;
pub mod local_backend;
pub mod measuring;
pub mod param_overrides;
pub mod privileges;
pub mod ssh;
pub mod trust;
pub mod tune;
pub mod undo;
