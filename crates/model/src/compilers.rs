//! Compilers against each other: what they made, how long it took them, and how fast it is.

use crate::{CompareView, RunView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Schema of [`CompilersView`].
pub const SCHEMA_COMPILERS: &str = "gritstone/compilers/2";

/// One compiler with one set of flags.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompilerView {
    /// As the user called it: "gcc -O2".
    pub name: String,
    /// What it says that it is, and what the compiler of Fortran beside it says.
    pub version: String,
    /// The run in which its figures are kept.
    pub run: String,
    /// Seconds to compile the programs' own sources, one after another; not the runtime, not linking.
    pub compile_s: f64,
    /// Text, data and bss that became of them, before linking; null where the linker is left to make the code.
    pub bytes: Option<u64>,
    /// Programs that it made.
    pub programs: usize,
    /// Programs that it refused, and what it said.
    pub refused: BTreeMap<String, String>,
}

/// Several compilers, interleaved, against the first of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompilersView {
    /// [`SCHEMA_COMPILERS`].
    pub schema: String,
    /// The compilers, the base first.
    pub compilers: Vec<CompilerView>,
    /// The figures of the base.
    pub base: RunView,
    /// Every other against the base, in the same order.
    pub comparisons: Vec<CompareView>,
}
