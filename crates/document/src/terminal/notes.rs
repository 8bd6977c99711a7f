//! Notes below a document: summarized by cause, or in full with the names of their rows.

use super::table::shortened;
use super::wrap::{width_of, wrap};
use super::{BOLD, MAX_PROSE_WIDTH, Page};
use crate::footnote::Footnote;
use crate::footnote::{FlagStyle, NAMES, Shown, Summary, listed};
use crate::number;
use crate::tree::NoteId;
use gritstone_model::grouped;
use std::collections::BTreeMap;

/// Maximum causes listed; others are counted.
const CAUSES: usize = 6;
/// Lines of a reason in the summary.
const REASON_LINES: usize = 3;

impl Page<'_> {
    /// Lines of all notes.
    pub(super) fn notes(&self) -> Vec<String> {
        let rows = self.document.rows_of_notes();
        match self.look.notes {
            true => self.in_full(&rows),
            false => self.by_cause(&rows),
        }
    }

    fn by_cause(&self, rows: &BTreeMap<NoteId, Vec<&str>>) -> Vec<String> {
        let mut causes: BTreeMap<&FlagStyle, Vec<(&str, &Footnote)>> = BTreeMap::new();
        for (id, note) in self.document.notes() {
            if let Some(flag) = note.flag {
                let names = rows.get(&id).into_iter().flatten();
                let named = names.map(|name| (*name, note));
                causes.entry(flag).or_default().extend(named);
            }
        }
        causes.retain(|flag, notes| flag.summary.is_some() && !notes.is_empty());
        if causes.is_empty() {
            return vec![];
        }
        let mut lines = vec![self.styled(BOLD, "Warnings")];
        let room = match causes.len() > CAUSES {
            true => CAUSES - 1,
            false => CAUSES,
        };
        for (flag, notes) in causes.iter().take(room) {
            match &flag.summary {
                Some(summary) if summary.shown == Shown::Reasons => {
                    lines.extend(self.reasons(flag, notes));
                }
                Some(summary) => lines.push(self.warning(flag, summary, notes)),
                None => {}
            }
        }
        if causes.len() > room {
            let more = causes.len() - room;
            lines.push(format!("  and {more} more causes: add -vv to see all notes"));
        }
        lines
    }

    /// For each note its number of rows, their first names and its text, which may be cut.
    fn reasons(&self, flag: &FlagStyle, notes: &[(&str, &Footnote)]) -> Vec<String> {
        let reasons = grouped(notes.iter().map(|(name, note)| (note.text.as_str(), *name)));
        let (what, remedy) = flag.summary.as_ref().map_or(("", ""), |s| (s.what, s.remedy));
        let width = self.look.width.min(MAX_PROSE_WIDTH) - 4;
        let mut lines = vec![];
        for (why, names) in reasons.iter().take(CAUSES) {
            let count = number::plural(names.len(), "result");
            let text = format!("{count} {what} ({}): {why}", listed(names, NAMES));
            let wrapped = wrap(&self.clean(&text), width);
            let cut = wrapped.len() > REASON_LINES;
            for (i, line) in wrapped.iter().take(REASON_LINES).enumerate() {
                let before = if i == 0 { self.flag(flag) } else { " ".to_owned() };
                lines.push(format!("  {before} {line}"));
            }
            if cut && !self.document.without_advice {
                lines.push(self.clean(&format!("    … → {remedy}")).into_owned());
            }
        }
        if reasons.len() > CAUSES {
            lines.push(format!("    and {} more reasons: {remedy}", reasons.len() - CAUSES));
        }
        lines
    }

    /// A summary line: letter, count, as many details as fit, advice.
    fn warning(&self, flag: &FlagStyle, summary: &Summary, notes: &[(&str, &Footnote)]) -> String {
        let (what, details) = summary.warning(notes);
        let [what, remedy] = [&what, summary.remedy].map(|text| self.clean(text));
        let arrow = self.clean(" → ");
        let taken = 4 + width_of(&what) + width_of(&arrow) + width_of(&remedy);
        let room = self.look.width.saturating_sub(taken + 2);
        let detail = match self.fitting(&details, room) {
            detail if detail.is_empty() => detail,
            detail => format!(": {detail}"),
        };
        let advice = match self.look.width >= taken && !self.document.without_advice {
            true => format!("{arrow}{remedy}"),
            false => String::new(),
        };
        format!("  {} {what}{detail}{advice}", self.flag(flag))
    }

    /// As many whole details as fit and the number of others; a single one is shortened.
    fn fitting(&self, details: &[String], room: usize) -> String {
        let text = |n: usize| self.clean(&listed(details, n)).into_owned();
        let fits = |n: &usize| width_of(&text(*n)) <= room;
        match (details, (1..=details.len()).rev().find(fits)) {
            (_, Some(n)) => text(n),
            ([one], None) if room >= 8 => shortened(self, &self.clean(one), room),
            _ => String::new(),
        }
    }

    fn in_full(&self, rows: &BTreeMap<NoteId, Vec<&str>>) -> Vec<String> {
        let notes = self.document.notes();
        if notes.is_empty() {
            return vec![];
        }
        let mut lines = vec![self.styled(BOLD, "Notes")];
        for (id, note) in notes {
            let names = rows.get(&id).map_or(&[][..], Vec::as_slice);
            let letter = note.flag.map_or(" ".to_owned(), |flag| self.flag(flag));
            let text = self.clean(&note.with_names(names)).into_owned();
            for (i, line) in
                wrap(&text, self.look.width.min(MAX_PROSE_WIDTH) - 4).iter().enumerate()
            {
                let before = if i == 0 { &letter } else { " " };
                lines.push(format!("  {before} {line}"));
            }
        }
        lines
    }
}
