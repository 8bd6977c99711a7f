//! Where a run comes from.

/// Where a run comes from. What was imported is data: it is shown and compared, and nothing in it is ever executed, compiled, opened or
/// written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Here(Owner),
    /// It came in a file.
    Imported,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub uid: u32,
    /// A hash of the machine that stands in no document that leaves it.
    pub machine: String,
}
