//! Footnotes: a claim or a condition that did not hold, attached to a figure for good.
//!
//! Must not know: the rules by which a footnote is given.

use serde::{Deserialize, Serialize};

/// The kinds, in the order in which their marks are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FootnoteKind {
    /// `*`: a claim of work failed; the figure is never used in a rating.
    Trivialised,
    /// `†`: wider than asked, or the launches fall into separate modes.
    Unrepeatable,
    /// `‡`: others used the machine, steal, throttling, quota, clock.
    Disturbed,
    /// `§`: not run, with the reason and what mends it.
    #[serde(rename = "not run")]
    NotRun,
    /// `‖`: other version, other work, other unit, a stand-in for the published device.
    #[serde(rename = "not comparable")]
    NotComparable,
    /// A remark of the source document on a published figure; printed with the document's own mark.
    Published,
    /// What the scan or the document leaves doubtful in a published figure; printed as `?`.
    Doubtful,
    /// A plain remark that casts no doubt, such as an assumption about lost text; printed as `¶`.
    Note,
    /// The row is of a catalogue of the user's own; printed as `◊`.
    #[serde(rename = "not ours")]
    Foreign,
}

impl FootnoteKind {
    /// The mark that stands beside a figure.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::Trivialised => "*",
            Self::Unrepeatable => "†",
            Self::Disturbed => "‡",
            Self::NotRun => "§",
            Self::NotComparable => "‖",
            Self::Published => "#",
            Self::Doubtful => "?",
            Self::Note => "¶",
            Self::Foreign => "◊",
        }
    }
}

/// One footnote: its kind, a sentence that a person understands, and the figure it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Footnote {
    /// Which of the kinds.
    pub kind: FootnoteKind,
    /// A whole sentence, with the number that broke the rule.
    pub why: String,
    /// Which figure of the result it belongs to when it is not the estimate: `real_s`, `process_s`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

impl Footnote {
    /// A footnote on the estimate.
    #[must_use]
    pub fn new(kind: FootnoteKind, why: impl Into<String>) -> Self {
        Self {
            kind,
            why: why.into(),
            of: None,
        }
    }

    /// The same footnote on another figure of the result.
    #[must_use]
    pub fn of(mut self, figure: &str) -> Self {
        self.of = Some(figure.to_owned());
        self
    }
}
