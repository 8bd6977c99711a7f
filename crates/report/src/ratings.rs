//! Systems scored by environment: what `gritstone score` prints, what opens the tables of a run, and what a brief may open with.

use crate::compare::is_reference;
use crate::document::{Block, Column, Document, Style, Text};
use crate::table::{self, Cell, Columns, noted};
use crate::{findings, number, profile, words};
use gritstone_model::{
    ForMoney, LeftOutRow, Per, Price, PublishedRating, RatedMachine, Rating, Ratings, RatingsView,
};

/// What the environments of table 1.1 of hp-1987 are.
const PROGRAMS: &str = "programs and users";
/// Why what the document prints is no baseline.
const NOT_COMPARABLE: &str = "MIPS (≠): hp-1987, table 1.1, instructions per second relative to the 840S, as traced; a score here is of time or throughput.";
/// Why there is no rating of all CPUs.
const NO_COPIES: &str = "not measured (`gritstone run --copies N`, N the number of CPUs)";

/// The ratings as a document of their own.
#[must_use]
pub fn ratings(view: &RatingsView) -> Document {
    let mut document = Document::new(format!("Scores against {}", view.base_name));
    document.subtitle = Some(format!(
        "{} is 1; more is better. {} confidence intervals.",
        view.base,
        number::percent_asked(view.confidence)
    ));
    match &view.profile {
        Some(profile) => profile::append(&mut document, view, profile),
        None => append_ratings(&mut document, view),
    }
    document.push(Block::Footnotes);
    document
}

/// Appends the lines that people ask for, for each machine, and the tables behind them.
fn append_ratings(document: &mut Document, view: &RatingsView) {
    for machine in &view.machines {
        for line in rating_lines(document, view, machine) {
            document.paragraph(line);
        }
    }
    money(document, view);
    for machine in &view.machines {
        for scale in Scale::of(machine) {
            match scale {
                Scale::Programs(programs) => by_program(document, view, machine, programs),
                Scale::Benchmarks => by_environment(document, view, machine),
            }
        }
    }
}

/// What a machine is scored by.
#[derive(Clone, Copy)]
pub(crate) enum Scale<'a> {
    /// Whole programs and several users.
    Programs(&'a Ratings),
    /// Small benchmarks, on one CPU and on all.
    Benchmarks,
}

impl<'a> Scale<'a> {
    /// First what there is a score of. Where the programs have one, small benchmarks of which none was measured are left out.
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

/// What a machine is scored by, a line each, with what the score is made of, for this document.
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
        None => made_of(view, programs),
    };
    let line = format!(
        "{} against {}, {PROGRAMS}: {}. {made_of}",
        machine.name,
        view.base_name,
        in_words(overall),
    );
    Text::new(line).with(overall.notes.iter().map(|note| document.note(note)))
}

/// One CPU and all CPUs in a line.
fn rating_line(document: &mut Document, view: &RatingsView, machine: &RatedMachine) -> Text {
    let one = &machine.one_cpu;
    let copies = machine.copies.map(|n| format!(" ({n} copies)"));
    let copies = copies.unwrap_or_default();
    let all = match &machine.all_cpus {
        Some(all) => format!("; all CPUs{copies}: {}", in_words(&all.overall)),
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
    let notes = ratings.flat_map(|ratings| &ratings.overall.notes);
    Text::new(line.trim_end()).with(notes.map(|note| document.note(note)))
}

/// `6.93 [6.90 – 6.96]`, or why there is none.
pub(crate) fn in_words(rating: &Rating) -> String {
    match (rating.rating, &rating.withheld) {
        (Some(value), _) => match words::bare_ratio(value, rating.interval) {
            (value, interval) if interval.is_empty() => value,
            (value, interval) => format!("{value} {interval}"),
        },
        (None, Some(_)) => "not computed".to_owned(),
        (None, None) => "no score: the base has none of the benchmarks".to_owned(),
    }
}

/// What the rating over all environments is made of.
fn made_of(view: &RatingsView, ratings: &Ratings) -> String {
    let overall = &ratings.overall;
    if overall.withheld.is_some() {
        return "Benchmarks of the base are missing or in doubt; `gritstone score RUN BENCHMARK...` scores by named benchmarks.".to_owned();
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

/// What the rating of all CPUs is made of, where that is not what the other is made of.
fn all_made_of(machine: &RatedMachine) -> String {
    let Some(all) = machine.all_cpus.as_ref().map(|all| &all.overall) else {
        return String::new();
    };
    if all.rating.is_none() || all.rows == machine.one_cpu.overall.rows {
        return String::new();
    }
    let rows = words::plural(all.rows.len(), "benchmark");
    format!("All CPUs: {rows} of these, measured as copies.")
}

/// The environments of the document, with what it prints for its own machines.
fn by_program(
    document: &mut Document,
    view: &RatingsView,
    machine: &RatedMachine,
    programs: &Ratings,
) {
    let environment = |(rating, _): &Line| rating.environment.clone();
    let columns = Columns::<Line>::key("Environment", Style::Text, environment)
        .strong(|(rating, _)| std::ptr::eq(*rating, &programs.overall));
    let mut columns = rated(columns, "", |line| Some(line.0)).under("MIPS (≠)");
    let mut machines: Vec<&PublishedRating> = vec![];
    for printed in programs.environments.iter().flat_map(|e| &e.published) {
        if !machines.iter().any(|known| known.id == printed.id) {
            machines.push(printed);
        }
    }
    for PublishedRating { id, name, .. } in &machines {
        let model = name.rsplit(' ').next().unwrap_or(name);
        columns = columns.number(model, move |(rating, _)| {
            let printed = rating.published.iter().find(|printed| printed.id == *id)?;
            Some(number::fixed(printed.rating, 2))
        });
    }
    let caption = format!("{} against {}, {PROGRAMS}", machine.name, view.base_name);
    let rows = lines(programs).into_iter().map(|rating| (rating, None));
    columns.table(document, caption, rows);
    let not_comparable = (!machines.is_empty()).then(|| NOT_COMPARABLE.to_owned());
    document.list(notes(programs, "").into_iter().chain(not_comparable));
}

/// An environment on one CPU and on all, or the rating over all of them.
type Line<'a> = (&'a Rating, Option<&'a Rating>);

fn by_environment(document: &mut Document, view: &RatingsView, machine: &RatedMachine) {
    let one = lines(&machine.one_cpu);
    let all = machine.all_cpus.as_ref().map(lines).unwrap_or_default();
    let overall = one.last().filter(|_| one.len() > 1).copied();
    let environment = |(one, _): &Line| one.environment.clone();
    let columns = Columns::<Line>::key("Environment", Style::Text, environment)
        .strong(|(one, _)| overall.is_some_and(|overall| std::ptr::eq(*one, overall)));
    let columns = rated(columns, "One CPU", |line| Some(line.0));
    let columns = match &machine.all_cpus {
        Some(_) => rated(columns, "All CPUs", |line| line.1),
        None => columns,
    };
    let caption = format!("{} against {}", machine.name, view.base_name);
    let rows = one.iter().enumerate();
    let rows = rows.map(|(at, one)| (*one, all.get(at).copied()));
    columns.table(document, caption, rows);
    let all = machine.all_cpus.as_ref();
    let all = all.map(|all| notes(all, " (all CPUs)"));
    let one = notes(&machine.one_cpu, "");
    document.list(one.into_iter().chain(all.into_iter().flatten()));
}

/// The environments, and the rating over all where there are several.
fn lines(ratings: &Ratings) -> Vec<&Rating> {
    let overall = Some(&ratings.overall).filter(|_| ratings.environments.len() != 1);
    ratings.environments.iter().chain(overall).collect()
}

fn rated<'a>(
    columns: Columns<'a, Line<'a>>,
    cpus: &str,
    of: fn(&Line<'a>) -> Option<&'a Rating>,
) -> Columns<'a, Line<'a>> {
    let rating = move |line: &Line<'a>| {
        let Some(rating) = of(line) else {
            return table::bare_ratio(None, None, &[]);
        };
        match (rating.rating, &rating.withheld) {
            (None, Some(_)) => [noted("not computed", &rating.notes), None.into()],
            (value, _) => table::bare_ratio(value, rating.interval, &rating.notes),
        }
    };
    columns
        .under(cpus)
        .pair(["Score", "Interval"], rating)
        .column(
            Column::new("Benchmarks", Style::Number).rank(1),
            move |line| {
                let rating = of(line)?;
                let all = number::count(rating.of);
                Some(format!("{} of {all}", number::count(rating.rows.len())))
            },
        )
        .column(
            Column::new("Leave-one-out range", Style::Number).rank(2),
            move |line| {
                let rating = of(line)?;
                let [least, .., most] = rating.without.as_slice() else {
                    return None;
                };
                let show = |x| words::bare_ratio(x, rating.interval).0;
                Some(format!("{} – {}", show(least.rating), show(most.rating)))
            },
        )
}

/// Why scores are not computed, which benchmarks move one most, and what was left out.
fn notes(ratings: &Ratings, cpus: &str) -> Vec<String> {
    let mut notes = Vec::new();
    for rating in &ratings.environments {
        let mut note = |said| notes.push(format!("{}{cpus}: {said}.", rating.environment));
        if let Some(why) = &rating.withheld {
            note(format!("not computed: {}", findings::withheld(why)));
        }
        if let [lifted, .., lowered] = rating.without.as_slice() {
            let (lifted, lowered) = (&lifted.row, &lowered.row);
            note(format!("highest {lifted}, lowest {lowered}"));
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

/// Performance for the money, machine by machine, where someone named a price.
pub(crate) fn money(document: &mut Document, view: &RatingsView) {
    type Priced<'a> = (&'a RatedMachine, Price);
    let machines = view.machines.iter();
    let priced = machines.filter_map(|machine| Some((machine, machine.price?)));
    let unit = match priced.clone().next() {
        Some((_, Price { per: Per::Hour, .. })) => "Score per 1/h",
        _ => "Score per 1,000",
    };
    let cells = |money: Option<ForMoney>, price: Price| -> [Cell; 2] {
        let scale = match price.per {
            Per::Hour => 1.0,
            Per::Machine => 1000.0,
        };
        let interval = money.and_then(|money| money.interval);
        let interval = interval.map(|ends| ends.map(|x| x * scale));
        table::bare_ratio(money.map(|money| money.value * scale), interval, &[])
    };
    // benchmarks of a profile take as many CPUs as they take
    let (one, caption) = match view.profile {
        Some(_) => ("Score", "Price/performance"),
        None => ("One CPU", "Price/performance, over all environments"),
    };
    Columns::<Priced>::key("System", Style::Text, |(machine, _)| machine.name.as_str())
        .number("Price", |(_, price)| {
            // `0.42/h`, `1,999`
            let amount = number::at_most(price.amount, "", 6);
            match price.per {
                Per::Hour => format!("{amount}/h"),
                Per::Machine => amount,
            }
        })
        .under(unit)
        .pair([one, "interval"], move |&(machine, price)| {
            cells(machine.one_cpu.for_money, price)
        })
        .pair(["All CPUs", "interval"], move |&(machine, price)| {
            let all = machine.all_cpus.as_ref();
            cells(all.and_then(|all| all.for_money), price)
        })
        .pair(["Programs", "interval"], move |&(machine, price)| {
            let programs = machine.programs.as_ref();
            cells(programs.and_then(|programs| programs.for_money), price)
        })
        .table(document, caption, priced);
}
