//! Origin of a run.

/// Origin of a run. An imported run is data: it is shown and compared, but nothing in it is ever executed, compiled, opened or written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Here(Owner),
    /// Read from a file.
    Imported,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub uid: u32,
    /// A hash of the machine that no exported document has.
    pub machine: String,
}
