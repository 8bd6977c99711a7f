//! Results with a value for each pair of CPUs, as a figure, as a table and in words.

use crate::words;
use gritstone_document::number;
use gritstone_document::svg::matrix::Matrix;
use gritstone_document::{Column, Figure, Row, Style, Table, Text};
use gritstone_model::{Measurement, Part, PartValue};
use std::collections::{BTreeMap, BTreeSet};

/// Most CPUs of a table.
const COLUMNS: usize = 16;

/// The values of pairs.
pub(crate) struct Pairs<'a> {
    result: &'a Measurement,
    cpus: Vec<u32>,
    values: BTreeMap<(u32, u32), f64>,
}

impl<'a> Pairs<'a> {
    /// The pairs of a result whose parts are all pairs of CPUs.
    pub(crate) fn new(result: &'a Measurement) -> Option<Self> {
        let pair = |part: &PartValue| match part.part {
            Part::Cpus(a, b) => Some(((a, b), part.value)),
            _ => None,
        };
        let values: BTreeMap<(u32, u32), f64> =
            result.parts().iter().map(pair).collect::<Option<_>>()?;
        let cpus: BTreeSet<u32> = values.keys().flat_map(|&(a, b)| [a, b]).collect();
        (!values.is_empty()).then(|| Self { result, cpus: cpus.into_iter().collect(), values })
    }

    fn value(&self, a: u32, b: u32) -> Option<f64> {
        self.values.get(&(a.min(b), a.max(b))).copied()
    }

    /// Every CPU against every other.
    fn rows(&self) -> impl Iterator<Item = Vec<Option<f64>>> {
        let across = |&down: &u32| self.cpus.iter().map(|&cpu| self.value(down, cpu)).collect();
        self.cpus.iter().map(across)
    }

    fn caption(&self) -> String {
        let unit = number::unit_text(self.result.unit.as_str());
        format!("{}, each pair of CPUs, {unit}", self.result.title)
    }

    /// "6 pairs of 4 CPUs, from 20.1 ns to 101 ns. CPU 0 and 1: 20.1; ..."; of more than a page can hold the nearest and the farthest.
    fn words(&self) -> String {
        let unit = self.result.unit.as_str();
        let mut ranked: Vec<(&(u32, u32), &f64)> = self.values.iter().collect();
        ranked.sort_by(|a, b| a.1.total_cmp(b.1));
        let (Some(least), Some(most)) = (ranked.first(), ranked.last()) else {
            return String::new();
        };
        let all = self.cpus.len() * (self.cpus.len() - 1) / 2;
        let missing_note = match all - self.values.len() {
            0 => String::new(),
            missing => format!(" Not measured: {}.", number::count(missing)),
        };
        let describe = |(&(a, b), value): (&(u32, u32), &f64)| {
            format!("{a} and {b}: {}", number::significant(*value, 3))
        };
        let pairs: Vec<String> = if self.cpus.len() > COLUMNS {
            let ends = ranked.iter().take(5).chain(ranked.iter().rev().take(5));
            ends.map(|&pair| describe(pair)).collect()
        } else {
            self.values.iter().map(describe).collect()
        };
        format!(
            "{} of {}, from {} to {}.{missing_note} {}.",
            words::plural(self.values.len(), "pair"),
            words::plural(self.cpus.len(), "CPU"),
            number::at_most(*least.1, unit, 3),
            number::at_most(*most.1, unit, 3),
            pairs.join("; ")
        )
    }

    /// The drawing; `id` is its name in the document.
    pub(crate) fn figure(&self, id: &str) -> Figure {
        let drawing = Matrix {
            label: "CPU".to_owned(),
            names: self.cpus.iter().map(u32::to_string).collect(),
            rows: self.rows().collect(),
        };
        let caption = format!("{}: {}, the darker, the longer", self.result.id, self.caption());
        drawing.draw().figure(id, caption, self.words())
    }

    /// The same as a table, if it fits.
    pub(crate) fn table(&self) -> Option<Table> {
        if self.cpus.len() > COLUMNS {
            return None;
        }
        let mut columns = vec![Column::key("CPU", Style::Number)];
        let mut rows = vec![];
        for (cpu, values) in self.cpus.iter().zip(self.rows()) {
            columns.push(Column::new(cpu.to_string(), Style::Number));
            let shown = |value| Text::new(number::significant(value, 3));
            let values = values.into_iter();
            let values = values.map(|value| value.map_or_else(Text::missing, shown));
            let cells = std::iter::once(cpu.to_string().into()).chain(values);
            rows.push(Row::new(cells.collect()));
        }
        let caption = format!("{}: {}", self.result.id, self.caption());
        Some(Table { caption: caption.into(), columns, rows })
    }

    /// The same as a sentence, if a table does not fit.
    pub(crate) fn sentence(&self) -> String {
        format!("{}: {}", self.result.id, self.words())
    }
}
