//! Flags as a document shows them, and notes as its footnotes.

use super::message;
use gritstone_document::footnote::{Detail, FlagStyle, Shown, Summary};
use gritstone_document::number::{percent, plural};
use gritstone_document::{Document, NoteId, Tone};
use gritstone_model::{Finding, Flag, Interference, Note};

const fn summary(what: &'static str, shown: Shown, remedy: &'static str) -> Option<Summary> {
    Some(Summary { what, shown, remedy })
}

const NOISY: &str =
    "noisy: the interval is wider than the target, or the launches fall into several modes";

/// In the order of [`Flag`].
static FLAG_STYLES: [FlagStyle; 8] = [
    FlagStyle {
        rank: 0,
        letter: "!",
        tone: Tone::Bad,
        meaning: "work check failed: result invalid, in no score",
        summary: summary("invalid", Shown::First, "gritstone audit"),
    },
    FlagStyle {
        rank: 1,
        letter: "~",
        tone: Tone::Doubt,
        meaning: NOISY,
        summary: summary("noisy", Shown::Largest, "--budget, doctor"),
    },
    FlagStyle {
        rank: 2,
        letter: "m",
        tone: Tone::Doubt,
        meaning: NOISY,
        summary: summary("with several modes", Shown::Names, "show RUN BENCHMARK"),
    },
    FlagStyle {
        rank: 3,
        letter: "i",
        tone: Tone::Doubt,
        meaning: "interference: other work, steal, throttling or SMT contention",
        summary: summary("with interference", Shown::Kinds, "gritstone doctor"),
    },
    FlagStyle {
        rank: 4,
        letter: "-",
        tone: Tone::Faint,
        meaning: "no result; its note says why",
        summary: summary("without a value", Shown::Reasons, "add -vv"),
    },
    FlagStyle {
        rank: 5,
        letter: "≠",
        tone: Tone::Doubt,
        meaning: "not comparable: other work, another version, another unit or a stand-in",
        summary: summary("not comparable", Shown::Names, "add -vv"),
    },
    FlagStyle {
        rank: 6,
        letter: "?",
        tone: Tone::Faint,
        meaning: "doubtful: in the document or its scan, or because failed commands count",
        summary: summary("doubtful", Shown::Names, "add -vv"),
    },
    FlagStyle {
        rank: 7,
        letter: "c",
        tone: Tone::Faint,
        meaning: "custom benchmark",
        summary: None,
    },
];

/// How a flag is shown.
pub fn flag_style(flag: Flag) -> &'static FlagStyle {
    &FLAG_STYLES[flag as usize]
}

/// The letter of a flag in a table of a terminal.
pub fn letter(flag: Flag) -> &'static str {
    flag_style(flag).letter
}

/// What a flag means.
pub fn meaning(flag: Flag) -> &'static str {
    flag_style(flag).meaning
}

/// Adds the footnote of a note.
pub fn footnote(document: &mut Document, note: &Note) -> NoteId {
    let flag = note.flag().map(flag_style);
    document.footnote(flag, message(note), details(&note.finding))
}

/// Details of a finding in the summary of its flag.
pub(crate) fn details(finding: &Finding) -> Vec<Detail> {
    match finding {
        Finding::WideInterval { half, .. } => {
            vec![Detail { kind: "half", size: *half, text: format!("±{}", percent(*half)) }]
        }
        Finding::Interfered { causes, .. } => causes.iter().map(cause).collect(),
        _ => vec![],
    }
}

fn cause(cause: &Interference) -> Detail {
    let (kind, size, text) = match *cause {
        Interference::Others(x) => ("others", x, format!("other processes {}", percent(x))),
        Interference::Steal(x) => ("steal", x, format!("steal {}", percent(x))),
        Interference::Throttled(x) => ("throttled", x, format!("throttled {}", percent(x))),
        Interference::MemoryLimit(n) => {
            ("memory limit", n as f64, format!("memory limit {}", plural(n as usize, "time")))
        }
        Interference::Smt => ("smt", 0.0, "busy SMT sibling".to_owned()),
        Interference::OtherRun(_) => ("other run", 0.0, "another run".to_owned()),
    };
    Detail { kind, size, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_follow_flag_order() {
        assert!(Flag::ALL.is_sorted());
        assert!(Flag::ALL.map(flag_style).is_sorted());
    }
}
