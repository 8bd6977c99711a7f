//! Scores by environment: what `gritstone score` prints, and what precedes the tables of a run and a brief.

use crate::table::{self, Cell, Columns, noted};
use crate::{findings, profile, words};
use gritstone_document::number;
use gritstone_document::{Block, Column, Document, Style, Text};
use gritstone_model::{
    LeftOutRow, PublishedRating, RatedMachine, Rating, Ratings, RatingsView, Withheld,
};

const HEADS: [&str; 2] = ["Score", "Interval"];
/// Kind of the environments in table 1.1 of hp-1987.
const PROGRAMS: &str = "programs and users";
/// Why the printed MIPS are not a baseline.
const NOT_COMPARABLE: &str = "MIPS (≠): hp-1987, table 1.1, instructions per second relative to the 840S, as traced; a score here is of time or throughput.";

/// The ratings as a document of their own.
#[must_use]
pub fn ratings(view: &RatingsView) -> Document {
    let mut document = Document::new(format!("Scores against {}", view.base_name));
    document.subtitle = Some(format!(
        "{} is 1; more is better. {} confidence intervals.",
        view.base,
        number::percent_option(view.confidence)
    ));
    match &view.profile {
        Some(profile) => profile::append(&mut document, view, profile),
        None => append_ratings(&mut document, view),
    }
    document.push(Block::Footnotes);
    document
}

/// Appends the score lines of each machine, and their tables.
fn append_ratings(document: &mut Document, view: &RatingsView) {
    for machine in &view.machines {
        for line in rating_lines(document, view, machine) {
            document.paragraph(line);
        }
    }
    for machine in &view.machines {
        for scale in Scale::of(machine) {
            match scale {
                Scale::Programs(programs) => by_program(document, view, machine, programs),
                Scale::Benchmarks => by_environment(document, view, machine),
            }
        }
    }
}

/// Basis of a score.
#[derive(Clone, Copy)]
pub(crate) enum Scale<'a> {
    /// Whole programs and several users.
    Programs(&'a Ratings),
    /// Small benchmarks.
    Benchmarks,
}

impl<'a> Scale<'a> {
    /// Available scores first. If whole programs have a score and no small benchmark was measured, only that one.
    pub(crate) fn of(machine: &'a RatedMachine) -> Vec<Self> {
        match &machine.programs {
            None => vec![Self::Benchmarks],
            Some(programs) if programs.overall.rating.is_none() => {
                vec![Self::Benchmarks, Self::Programs(programs)]
            }
            Some(programs) if machine.one_cpu.overall.rows.is_empty() => {
                vec![Self::Programs(programs)]
            }
            Some(programs) => vec![Self::Programs(programs), Self::Benchmarks],
        }
    }
}

/// The score lines of a machine, each with its composition; their footnotes go to `document`.
#[must_use]
pub fn rating_lines(
    document: &mut Document,
    view: &RatingsView,
    machine: &RatedMachine,
) -> Vec<Text> {
    let line = |scale| match scale {
        Scale::Programs(programs) => programs_line(document, view, machine, programs),
        Scale::Benchmarks => rating_line(document, view, machine),
    };
    Scale::of(machine).into_iter().map(line).collect()
}

/// The score by whole programs.
fn programs_line(
    document: &mut Document,
    view: &RatingsView,
    machine: &RatedMachine,
    programs: &Ratings,
) -> Text {
    let overall = &programs.overall;
    let made_of = match overall.withheld {
        Some(_) => "It takes all environments: `gritstone run app/ratings`.".to_owned(),
        None => composition(view, programs),
    };
    let line = format!(
        "{} against {}, {PROGRAMS}: {}. {made_of}",
        machine.name,
        view.base_name,
        words::score(overall),
    );
    let line = line + words::unfinished(machine);
    Text::new(line).with(
        overall
            .notes
            .iter()
            .map(|note| findings::footnote(document, note)),
    )
}

/// The score by single benchmarks.
fn rating_line(document: &mut Document, view: &RatingsView, machine: &RatedMachine) -> Text {
    let one = &machine.one_cpu;
    let line = format!(
        "{} against {}: {}. {}",
        machine.name,
        view.base_name,
        words::score(&one.overall),
        composition(view, one),
    );
    let line = line.trim_end().to_owned() + words::unfinished(machine);
    let notes = one.overall.notes.iter();
    Text::new(line).with(notes.map(|note| findings::footnote(document, note)))
}

/// Composition of the overall score.
fn composition(view: &RatingsView, ratings: &Ratings) -> String {
    let overall = &ratings.overall;
    if let Some(why) = &overall.withheld {
        return format!(
            "{}; `gritstone score RUN BENCHMARK...` scores by named benchmarks.",
            reason(why)
        );
    }
    if overall.rating.is_none() {
        return String::new();
    }
    let all = words::plural(overall.of, "benchmark");
    let rows = format!("{} of {all}", number::count(overall.rows.len()));
    if !view.by.is_empty() {
        return format!("{rows}, named by {}.", words::join(&view.by));
    }
    let rated = ratings.environments.iter().filter(|e| e.rating.is_some());
    let names: Vec<&str> = rated.map(|e| e.environment.as_str()).collect();
    match names.as_slice() {
        [one] => format!("{rows}, all of {one}."),
        several => format!(
            "{rows}: geometric mean of {}, equally weighted.",
            words::join(several)
        ),
    }
}

/// Why a score by environments is not computed, without the benchmarks.
fn reason(why: &Withheld) -> &'static str {
    match why {
        Withheld::Missing(_) => "Benchmarks of the run are missing",
        Withheld::Invalid(_) => "Benchmarks are invalid",
        Withheld::TooMany(_) => "Benchmarks have more than 1,000 launches",
        Withheld::NotPositive(_) => "Values are not above 0",
        Withheld::Empty
        | Withheld::NoBaseline
        | Withheld::NotComparable
        | Withheld::Uncovered(_) => "Benchmarks of the base are missing",
    }
}

/// The environments of the document, with its printed values.
fn by_program(
    document: &mut Document,
    view: &RatingsView,
    machine: &RatedMachine,
    programs: &Ratings,
) {
    let environment = |rating: &&Rating| rating.environment.clone();
    let columns = Columns::<&Rating>::key("Environment", Style::Text, environment)
        .strong(|rating| std::ptr::eq(*rating, &programs.overall));
    let mut columns = rated(columns).under("MIPS (≠)");
    let mut machines: Vec<&PublishedRating> = vec![];
    for printed in programs.environments.iter().flat_map(|e| &e.published) {
        if !machines.iter().any(|known| known.id == printed.id) {
            machines.push(printed);
        }
    }
    for PublishedRating { id, name, .. } in &machines {
        let model = name.rsplit(' ').next().unwrap_or(name);
        columns = columns.number(model, move |rating| {
            let printed = rating.published.iter().find(|printed| printed.id == *id)?;
            Some(number::fixed(printed.rating, 2))
        });
    }
    let caption = format!("{} against {}, {PROGRAMS}", machine.name, view.base_name);
    columns.table(document, caption, lines(programs));
    let not_comparable = (!machines.is_empty()).then(|| NOT_COMPARABLE.to_owned());
    document.list(notes(programs).into_iter().chain(not_comparable));
}

fn by_environment(document: &mut Document, view: &RatingsView, machine: &RatedMachine) {
    let lines = lines(&machine.one_cpu);
    let overall = lines.last().filter(|_| lines.len() > 1).copied();
    let environment = |rating: &&Rating| rating.environment.clone();
    let columns = Columns::<&Rating>::key("Environment", Style::Text, environment)
        .strong(|rating| overall.is_some_and(|overall| std::ptr::eq(*rating, overall)));
    let caption = format!("{} against {}", machine.name, view.base_name);
    rated(columns).table(document, caption, lines);
    document.list(notes(&machine.one_cpu));
}

/// The environments, and the overall score if there are several.
fn lines(ratings: &Ratings) -> Vec<&Rating> {
    let overall = Some(&ratings.overall).filter(|_| ratings.environments.len() != 1);
    ratings.environments.iter().chain(overall).collect()
}

fn rated<'a>(columns: Columns<'a, &'a Rating>) -> Columns<'a, &'a Rating> {
    columns
        .pair(HEADS, |rating: &&Rating| score(rating))
        .column(Column::new("Benchmarks", Style::Number).rank(1), |rating| {
            let all = number::count(rating.of);
            format!("{} of {all}", number::count(rating.rows.len()))
        })
}

fn score(rating: &Rating) -> [Cell; 2] {
    match (rating.rating, &rating.withheld) {
        (None, Some(_)) => [noted("not computed", &rating.notes), None.into()],
        (value, _) => table::bare_ratio(value, rating.interval, &rating.notes),
    }
}

/// Two systems, environment by environment.
pub(crate) fn side_by_side(document: &mut Document, view: &RatingsView) {
    let [a, b] = view.machines.as_slice() else {
        return;
    };
    let scales = [
        (Some(&a.one_cpu), Some(&b.one_cpu), ""),
        (a.programs.as_ref(), b.programs.as_ref(), PROGRAMS),
    ];
    for (of_a, of_b, what) in scales {
        let (Some(of_a), Some(of_b)) = (of_a, of_b) else {
            continue;
        };
        let rows: Vec<(&Rating, &Rating)> = lines(of_a).into_iter().zip(lines(of_b)).collect();
        let is_scored = |of: &Rating| of.rating.is_some();
        if !rows.iter().any(|(a, b)| is_scored(a) && is_scored(b)) {
            continue;
        }
        let caption = match what {
            "" => format!("{} is 1; more is better", view.base_name),
            what => format!("{what}: {} is 1; more is better", view.base_name),
        };
        let environment = |(of, _): &(&Rating, &Rating)| of.environment.clone();
        Columns::key("Environment", Style::Text, environment)
            .strong(|(of, _)| std::ptr::eq(*of, &of_a.overall))
            .under(format!("A: {}", a.name))
            .pair(HEADS, |(of, _)| score(of))
            .under(format!("B: {}", b.name))
            .pair(HEADS, |(_, of)| score(of))
            .table(document, caption, rows);
        for (name, of) in [(&a.name, of_a), (&b.name, of_b)] {
            let notes = notes(of).into_iter();
            document.list(notes.map(|note| format!("{name}: {note}")));
        }
    }
}

/// Reasons for missing scores, and left-out benchmarks.
fn notes(ratings: &Ratings) -> Vec<String> {
    let mut notes = Vec::new();
    for rating in &ratings.environments {
        let mut note = |reason| notes.push(format!("{}: {reason}.", rating.environment));
        if let Some(why) = &rating.withheld {
            note(format!("not computed: {}", findings::withheld(why)));
        }
        for (invalid, why) in [(true, "invalid"), (false, "not measured")] {
            let of = |row: &&LeftOutRow| row.invalid == invalid;
            let rows: Vec<&str> = rating
                .left_out
                .iter()
                .filter(of)
                .map(|row| row.id.as_str())
                .collect();
            if !rows.is_empty() {
                note(format!("left out, {why}: {}", rows.join(", ")));
            }
        }
    }
    notes
}
