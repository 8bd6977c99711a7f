//! Machines rated by environment: what `gritstone score` prints, what opens the tables of a run, and what a brief may open with.

use crate::compare::is_reference;
use crate::document::{Block, Column, Document, NoteId, Row, Style, Table, Text};
use crate::{findings, number, words};
use gritstone_model::{
    ForMoney, LeftOutRow, Per, Price, RatedMachine, Rating, Ratings, RatingsView,
};

/// Why there is no rating of all CPUs.
const NO_COPIES: &str =
    "not rated (`gritstone run --copies` with as many copies as CPUs does that)";

/// The ratings as a document of their own.
#[must_use]
pub fn ratings(view: &RatingsView) -> Document {
    let mut document = Document::new(format!("Ratings against {}", view.base_name));
    document.subtitle = Some(format!(
        "{} is 1; above 1 is better. Intervals are of {}.",
        view.base,
        number::percent_asked(view.confidence)
    ));
    append_ratings(&mut document, view);
    document.push(Block::Footnotes);
    document
}

/// Appends the line that people ask for, for each machine, and the tables behind it.
pub fn append_ratings(document: &mut Document, view: &RatingsView) {
    for machine in &view.machines {
        let line = rating_line(document, view, machine);
        document.paragraph(line);
    }
    let by_money = money(view);
    document.table(by_money);
    for machine in &view.machines {
        let table = by_environment(document, view, machine);
        document.table(table);
        let points: Vec<Text> = remarks(machine).into_iter().map(Text::new).collect();
        if !points.is_empty() {
            document.push(Block::List(points));
        }
    }
}

/// One CPU and all CPUs in a line, with what it is made of, for this document.
#[must_use]
pub fn rating_line(document: &mut Document, view: &RatingsView, machine: &RatedMachine) -> Text {
    let one = &machine.one_cpu;
    let all = match &machine.all_cpus {
        Some(all) => format!("; all CPUs{}: {}", copies(machine), in_words(&all.overall)),
        None if is_reference(&machine.id) => String::new(),
        None => format!("; all CPUs: {NO_COPIES}"),
    };
    let line = format!(
        "{} against {}, one CPU: {}{all}. {} {}",
        machine.name,
        view.base_name,
        in_words(&one.overall),
        made_of(view, one),
        all_made_of(machine),
    );
    let ratings = std::iter::once(one).chain(&machine.all_cpus);
    let footnotes = ratings.flat_map(|ratings| &ratings.overall.notes);
    Text::new(line.trim_end()).with(footnotes.map(|footnote| document.note(footnote)))
}

/// `6.93 (6.90 to 6.96)`, or why there is none.
fn in_words(rating: &Rating) -> String {
    let Some(value) = rating.rating else {
        return match &rating.withheld {
            Some(_) => "withheld".to_owned(),
            None => "not rated, since the base has none of the rows".to_owned(),
        };
    };
    match words::bare_ratio(value, rating.interval) {
        (value, interval) if interval.is_empty() => value,
        (value, interval) => format!("{value} ({interval})"),
    }
}

/// What the rating over all environments is made of.
fn made_of(view: &RatingsView, ratings: &Ratings) -> String {
    let overall = &ratings.overall;
    if overall.withheld.is_some() {
        return "Rows that the base has are missing or in doubt; `gritstone score --by` rates by rows that are named.".to_owned();
    }
    if overall.rating.is_none() {
        return String::new();
    }
    let rows = format!(
        "{} of {}",
        number::count(overall.rows.len()),
        words::plural(overall.of, "row")
    );
    if !view.by.is_empty() {
        return format!("Made of {rows} named by {}.", words::join(&view.by));
    }
    let names: Vec<&str> = ratings
        .environments
        .iter()
        .filter(|environment| environment.rating.is_some())
        .map(|environment| environment.environment.as_str())
        .collect();
    match names.as_slice() {
        [one] => format!("Made of {rows}, all of {one}."),
        several => format!(
            "Made of {rows}: the geometric mean of {}, of one weight each.",
            words::join(several)
        ),
    }
}

/// ` (8 copies)`.
fn copies(machine: &RatedMachine) -> String {
    let copies = machine.copies.map(|n| format!(" ({n} copies)"));
    copies.unwrap_or_default()
}

/// What the rating of all CPUs is made of, where that is not what the other is made of.
fn all_made_of(machine: &RatedMachine) -> String {
    let (one, all) = match &machine.all_cpus {
        Some(all) => (&machine.one_cpu.overall, &all.overall),
        None => return String::new(),
    };
    if let Some(why) = &all.withheld {
        return format!("All CPUs: withheld: {}.", findings::withheld(why));
    }
    if all.rating.is_none() || all.rows == one.rows {
        return String::new();
    }
    format!(
        "All CPUs by {} of these, those that are measured as copies.",
        words::plural(all.rows.len(), "row")
    )
}

fn by_environment(document: &mut Document, view: &RatingsView, machine: &RatedMachine) -> Table {
    let mut columns = vec![Column::key("Environment", Style::Text)];
    columns.extend(group_columns("One CPU"));
    if machine.all_cpus.is_some() {
        columns.extend(group_columns("All CPUs"));
    }
    let one = lines(&machine.one_cpu);
    let all = machine.all_cpus.as_ref().map(lines);
    let row = |(at, rating): (usize, &&Rating)| {
        let mut cells = vec![rating.environment.clone().into()];
        cells.extend(cells_of(document, rating));
        if let Some(all) = &all {
            cells.extend(cells_of(document, all[at]));
        }
        Row {
            cells,
            strong: one.len() > 1 && at + 1 == one.len(),
        }
    };
    Table {
        caption: format!("{} against {}", machine.name, view.base_name).into(),
        rows: one.iter().enumerate().map(row).collect(),
        columns,
    }
    .without_empty_columns()
}

/// The environments, and the rating over all where there are several.
fn lines(ratings: &Ratings) -> Vec<&Rating> {
    let overall = Some(&ratings.overall).filter(|_| ratings.environments.len() != 1);
    ratings.environments.iter().chain(overall).collect()
}

fn group_columns(group: &str) -> [Column; 4] {
    [
        Column::new("Rating", Style::Number).of(group),
        Column::new("Interval", Style::Number).of(group),
        Column::new("Rows", Style::Number).of(group),
        Column::new("Without one row", Style::Number).of(group),
    ]
}

fn cells_of(document: &mut Document, rating: &Rating) -> [Text; 4] {
    let notes: Vec<NoteId> = rating.notes.iter().map(|f| document.note(f)).collect();
    let (value, interval) = match rating.rating {
        Some(value) => words::bare_ratio(value, rating.interval),
        None if rating.withheld.is_some() => ("withheld".to_owned(), String::new()),
        None => (String::new(), String::new()),
    };
    let without = match rating.without.as_slice() {
        [least, .., most] => {
            let show = |x: f64| words::bare_ratio(x, rating.interval).0;
            format!("{} to {}", show(least.rating), show(most.rating))
        }
        _ => String::new(),
    };
    [
        cell(value).with(notes),
        cell(interval),
        format!(
            "{} of {}",
            number::count(rating.rows.len()),
            number::count(rating.of)
        )
        .into(),
        cell(without),
    ]
}

fn cell(text: String) -> Text {
    match text.is_empty() {
        true => Text::missing(),
        false => Text::new(text),
    }
}

/// Why ratings are withheld, which rows move one most, and what was left out.
fn remarks(machine: &RatedMachine) -> Vec<String> {
    let mut remarks = Vec::new();
    let of = |ratings: &Ratings, cpus: &str, remarks: &mut Vec<String>| {
        for rating in &ratings.environments {
            let name = format!("{}{cpus}", rating.environment);
            if let Some(why) = &rating.withheld {
                remarks.push(format!("{name}: withheld: {}.", findings::withheld(why)));
            }
            if let [lifted, .., lowered] = rating.without.as_slice() {
                remarks.push(format!(
                    "{name}: {} lifts it most, {} lowers it most.",
                    lifted.row, lowered.row
                ));
            }
            if !rating.left_out.is_empty() {
                let rows: Vec<String> = rating.left_out.iter().map(left_out).collect();
                remarks.push(format!("{name}: left out: {}.", rows.join(", ")));
            }
        }
    };
    of(&machine.one_cpu, "", &mut remarks);
    if let Some(all) = &machine.all_cpus {
        of(all, " (all CPUs)", &mut remarks);
    }
    remarks
}

fn left_out(row: &LeftOutRow) -> String {
    let why = if row.invalid {
        "invalid"
    } else {
        "not measured"
    };
    format!("{} ({why})", row.id)
}

/// Performance for the money, machine by machine; no rows where nobody named a price.
fn money(view: &RatingsView) -> Table {
    let prices = view.machines.iter().filter_map(|machine| machine.price);
    let unit = match prices.clone().next().map(|price| price.per) {
        Some(Per::Hour) => "Rating for 1 an hour",
        _ => "Rating for 1,000",
    };
    let pair = |money: Option<ForMoney>, price: Price| -> [Text; 2] {
        let Some(money) = money else {
            return [Text::missing(), Text::missing()];
        };
        let scale = match price.per {
            Per::Hour => 1.0,
            Per::Machine => 1000.0,
        };
        let interval = money.interval.map(|ends| ends.map(|x| x * scale));
        let (value, interval) = words::bare_ratio(money.value * scale, interval);
        [cell(value), cell(interval)]
    };
    let row = |machine: &RatedMachine| {
        let price = machine.price?;
        let mut cells = vec![machine.name.clone().into(), priced(price).into()];
        cells.extend(pair(machine.one_cpu.for_money, price));
        let all = machine.all_cpus.as_ref();
        cells.extend(pair(all.and_then(|all| all.for_money), price));
        Some(Row::new(cells))
    };
    let columns = ["One CPU", "All CPUs"].into_iter().flat_map(|cpus| {
        [
            Column::new(cpus, Style::Number).of(unit),
            Column::new("interval", Style::Number).of(unit),
        ]
    });
    let mut heads = vec![
        Column::key("Machine", Style::Text),
        Column::new("Price", Style::Number),
    ];
    heads.extend(columns);
    Table {
        caption: "Performance for the money, over all environments".into(),
        columns: heads,
        rows: view.machines.iter().filter_map(row).collect(),
    }
    .without_empty_columns()
}

/// `0.42 an hour`, `1,999`.
fn priced(price: Price) -> String {
    let amount = number::at_most(price.amount, "", 6);
    match price.per {
        Per::Hour => format!("{amount} an hour"),
        Per::Machine => amount,
    }
}
