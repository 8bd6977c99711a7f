//! One run or machine against another: what `gritstone compare` prints.

use crate::document::{Block, Column, Document, Row, Style, Table, Text};
use crate::number;
use crate::words::{self, Sense};
use crate::{copies, findings, sums};
use gritstone_model::{CompareRow, CompareView, Difference, Verdict};

/// A longer name does not head a column.
const LONGEST_HEAD: usize = 16;
/// Digits of a figure beside a ratio.
const FIGURE_DIGITS: i32 = 4;

/// A comparison: what it comes to in a sentence and by family, what the sides differ in, and a row for each benchmark with
/// ratio, verdict, both figures and footnotes. Against a reference machine it says how many of them the other is.
#[must_use]
pub fn compare(view: &CompareView) -> Document {
    let mut document = Document::new(format!("{} against {}", view.other_name, view.base_name));
    let mut terms = vec![
        (
            "base".to_owned(),
            format!("{} ({})", view.base_name, view.base).into(),
        ),
        (
            "other".to_owned(),
            format!("{} ({})", view.other_name, view.other).into(),
        ),
    ];
    if let Some(source) = &view.between_run {
        let said = findings::variance(source);
        terms.push(("variance between runs".to_owned(), said.into()));
    }
    document.push(Block::Terms(terms));
    document.paragraph(summary(view));
    if let Some(sentence) = how_many(view) {
        document.paragraph(sentence);
    }
    document.table(sums::table(view));
    differences(&mut document, view);
    if view.rows.is_empty() {
        document.paragraph("There is nothing to compare: neither side has a row.");
    }
    let table = rows_table(&mut document, view);
    document.table(table);
    copies::compared(&mut document, view);
    document.push(Block::Footnotes);
    document
}

fn differences(document: &mut Document, view: &CompareView) {
    if view.differ_in.is_empty() {
        document.paragraph("These two differ in nothing that is recorded.");
        return;
    }
    let names: Vec<&str> = view.differ_in.iter().map(|d| d.what.as_str()).collect();
    document.paragraph(format!("These two differ in: {}.", words::join(&names)));
    let row = |d: &Difference| {
        Row::new(vec![
            d.what.clone().into(),
            d.base.clone().into(),
            d.other.clone().into(),
        ])
    };
    document.table(Table {
        caption: "What is not the same".into(),
        columns: vec![
            Column::key("Fact", Style::Text),
            Column::new(&view.base_name, Style::Text),
            Column::new(&view.other_name, Style::Text),
        ],
        rows: view.differ_in.iter().map(row).collect(),
    });
}

/// The counts of the verdicts: "Of 19 rows 12 are faster, 3 slower, ...".
fn summary(view: &CompareView) -> String {
    let of = |wanted: &str| {
        view.rows
            .iter()
            .filter(|row| verdict(row) == wanted)
            .count()
    };
    let without = view.rows.iter().filter(|row| row.ratio.is_none()).count();
    let margin = number::percent_asked(view.margin);
    let mut said: Vec<String> = [
        ("faster", "faster".to_owned()),
        ("smaller", "smaller".to_owned()),
        ("slower", "slower".to_owned()),
        ("larger", "larger".to_owned()),
        ("same", format!("the same within {margin}")),
        ("inconclusive", "inconclusive".to_owned()),
    ]
    .into_iter()
    .filter_map(|(verdict, text)| match of(verdict) {
        0 => None,
        n => Some(format!("{} {text}", number::count(n))),
    })
    .collect();
    if without > 0 {
        said.push(format!("{} without a ratio", number::count(without)));
    }
    format!(
        "Of {}, seen from {}: {}.",
        words::plural(view.rows.len(), "row"),
        view.other_name,
        if said.is_empty() {
            "none can be compared".to_owned()
        } else {
            words::join(&said)
        }
    )
}

/// The verdict in the word that suits what was compared: a size is smaller, not faster.
pub(crate) fn verdict(row: &CompareRow) -> &'static str {
    let sense = Sense::of_unit(&row.unit);
    row.verdict.map_or("", |verdict| in_a_word(verdict, sense))
}

/// The same of a verdict alone.
pub(crate) fn in_a_word(verdict: Verdict, sense: Sense) -> &'static str {
    match verdict {
        Verdict::Faster => sense.better(),
        Verdict::Slower => sense.worse(),
        other => other.as_str(),
    }
}

/// The ratio in words.
pub(crate) fn ratio(row: &CompareRow) -> Option<String> {
    row.ratio
        .map(|r| words::ratio(r, row.interval, Sense::of_unit(&row.unit)))
}

/// "VAX-11/780" of "VAX-11/780, 4.1 BSD" or "VAX-11/780 (4.1 BSD)".
pub(crate) fn short_name(name: &str) -> &str {
    let end = [", ", " (", "; "]
        .iter()
        .filter_map(|cut| name.find(cut))
        .min();
    name[..end.unwrap_or(name.len())].trim()
}

pub(crate) fn is_reference(side: &str) -> bool {
    side.starts_with("ref:")
}

/// With a reference machine as the base: how many of it the other is, at least and at most.
pub(crate) fn how_many(view: &CompareView) -> Option<String> {
    if !is_reference(&view.base) {
        return None;
    }
    let timed = |row: &&CompareRow| Sense::of_unit(&row.unit) == Sense::Speed;
    let mut rated: Vec<(f64, &CompareRow)> = view
        .rows
        .iter()
        .filter(timed)
        .filter(|row| !row.in_doubt())
        .filter_map(|row| Some((row.ratio?, row)))
        .collect();
    rated.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((low, least), (high, most)) = (*rated.first()?, *rated.last()?);
    let (other, base) = (&view.other_name, short_name(&view.base_name));
    let number = |ratio| words::bare_ratio(ratio, None).0;
    if rated.len() == 1 {
        return Some(format!(
            "{other} is {} {base}s, by {}.",
            number(low),
            least.title
        ));
    }
    Some(format!(
        "{other} is {} to {} {base}s, by what is done: fewest by {}, most by {}.",
        number(low),
        number(high),
        least.title,
        most.title
    ))
}

fn rows_table(document: &mut Document, view: &CompareView) -> Table {
    let reference = is_reference(&view.base);
    let caption = match reference {
        true => format!(
            "What differs most first; above 1, {} is better",
            view.other_name
        ),
        false => format!(
            "Row by row, what differs most first, seen from {}",
            view.other_name
        ),
    };
    let ratio_columns = if reference {
        let base = short_name(&view.base_name);
        vec![
            Column::new(format!("How many {base}s"), Style::Number),
            Column::new("Interval", Style::Number),
        ]
    } else {
        vec![Column::new("Ratio", Style::Text)]
    };
    let [base, other] = heads(view);
    let mut columns = vec![
        Column::key("Benchmark", Style::Code),
        Column::new("What", Style::Text),
    ];
    columns.extend(ratio_columns);
    columns.extend([
        Column::new("Verdict", Style::Text),
        Column::new("Smallest change seen", Style::Number),
        Column::new("compared", Style::Text).of("Figures"),
        Column::new(base, Style::Number).of("Figures"),
        Column::new(other, Style::Number).of("Figures"),
    ]);
    Table {
        caption: caption.into(),
        columns,
        rows: view
            .rows
            .iter()
            .map(|row| table_row(document, row, reference))
            .collect(),
    }
    .without_empty_columns()
}

fn table_row(document: &mut Document, row: &CompareRow, reference: bool) -> Row {
    let notes: Vec<_> = row.notes.iter().map(|f| document.note(f)).collect();
    let cell = |text: Option<String>| {
        text.filter(|t| !t.is_empty())
            .map_or_else(Text::missing, Text::new)
    };
    let mut cells = vec![row.id.to_string().into(), row.title.clone().into()];
    if reference {
        let (ratio, interval) = match row.ratio {
            Some(r) => words::bare_ratio(r, row.interval),
            None => (String::new(), String::new()),
        };
        cells.extend([cell(Some(ratio)).with(notes), cell(Some(interval))]);
    } else {
        cells.push(cell(ratio(row)).with(notes));
    }
    let figure = |value: Option<f64>| cell(value.map(|v| side(v, &row.unit)));
    cells.extend([
        cell(Some(verdict(row).to_owned())),
        cell(row.smallest.map(number::percent)),
        findings::subject(row.compared).into(),
        figure(row.base),
        figure(row.other),
    ]);
    Row::new(cells)
}

pub(crate) fn side(value: f64, unit: &str) -> String {
    if unit == "bytes" {
        return number::figure(value, None, unit).with_unit();
    }
    number::at_most(value, unit, FIGURE_DIGITS)
}

/// Heads of the two columns of figures: names where they tell the sides apart and are short.
pub(crate) fn heads(view: &CompareView) -> [String; 2] {
    let names = [&view.base_name, &view.other_name].map(|name| short_name(name).to_owned());
    if names[0] != names[1]
        && names
            .iter()
            .all(|name| name.chars().count() <= LONGEST_HEAD)
    {
        return names;
    }
    ["base", "other"].map(str::to_owned)
}
