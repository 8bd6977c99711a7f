//! The appendices: what each benchmark does, the system, and how far each figure can be trusted.

use super::{Across, Brief, cell, grouped};
use crate::columns::{Col, Strays, table};
use crate::document::{Block, Column, Document, Row, Style, Table, Text};
use crate::{findings, number, show, words};
use gritstone_model::{
    Benchmark, Claims, Flag, Machine, Measurement, Placement, Program, RunView, Term, Work,
};

/// Hexadecimal digits that tell programs apart; the JSON has all of them.
const HASH_SHOWN: usize = 16;

/// Appendix A: what one operation of each is, why anyone would want to know, where it comes from, how it is done, what is
/// proved.
pub(super) fn benchmarks(document: &mut Document, input: &Brief, rows: &[Across]) {
    let entries: Vec<&Benchmark> = rows.iter().filter_map(|r| input.benchmark(r.id)).collect();
    if entries.is_empty() {
        return;
    }
    document.heading(1, "Appendix A: what each benchmark does");
    for entry in entries {
        document.heading(2, format!("{}: {}", entry.id, entry.title));
        let why = [
            ("", entry.why.as_str()),
            ("One operation:", &entry.operation),
        ];
        document.paragraph(sentences(&why));
        let sources = entry.sources.iter();
        let sources = sources.map(|s| format!("{}, {}", s.document, s.place));
        let needs: Vec<&str> = entry.needs.iter().map(|n| n.name.as_str()).collect();
        let work = entry.published.as_ref().map_or("", |p| &p.work);
        document.paragraph(sentences(&[
            ("From", &sources.collect::<Vec<_>>().join("; ")),
            ("Published work:", work),
            ("", &done_by(entry)),
            ("Needs", &words::join(&needs)),
            ("Tested on every run:", &claims(&entry.claims)),
            (
                "Not comparable:",
                entry.not_comparable.as_deref().unwrap_or_default(),
            ),
            ("", entry.remark.as_deref().unwrap_or_default()),
        ]));
    }
}

/// Sentences from heads and what they head; those that head nothing are left out.
fn sentences(parts: &[(&str, &str)]) -> String {
    let parts = parts
        .iter()
        .map(|(head, text)| (head, text.trim().trim_end_matches('.')));
    let said = parts.filter(|(_, text)| !text.is_empty());
    let said = said.map(|(head, text)| format!("{head} {text}.").trim_start().to_owned());
    said.collect::<Vec<_>>().join(" ")
}

/// Who does the work and where, or what it is computed from.
fn done_by(entry: &Benchmark) -> String {
    let on = match entry.placement {
        Placement::OneCpu => "one CPU",
        Placement::Cross => "two CPUs, one process on each",
        Placement::All => "all CPUs, wherever the scheduler puts it",
    };
    match &entry.work {
        Work::Kernel(kernel) => {
            let params = kernel.params.iter().map(|(k, v)| format!(", {k}={v}"));
            let params: String = params.collect();
            format!("Done by the program {}{params}, on {on}.", kernel.program)
        }
        Work::Command(command) => {
            format!("Done by the command {}, on {on}.", command.argv.join(" "))
        }
        Work::Scenario(command) => {
            let argv = command.argv.join(" ");
            format!("Done by several programs, started by {argv}, on {on}.")
        }
        Work::Derived { terms, share_of } => {
            let (sum, from) = (sum(terms), "Computed from other rows:");
            match share_of {
                None => format!("{from} {sum}."),
                Some(whole) => format!("{from} the rate of {sum} as a share of that of {whole}."),
            }
        }
        Work::Rating {
            over,
            baseline,
            weights,
        } => {
            let row = |(at, id)| match weights.get(at) {
                Some(weight) => format!("{} times {id}", number::printed(*weight, 4)),
                None => format!("{id}"),
            };
            let rows: Vec<String> = over.iter().enumerate().map(row).collect();
            let mean = match weights.is_empty() {
                true => "geometric",
                false => "weighted arithmetic",
            };
            let rows = words::join(&rows);
            format!("The {mean} mean of {rows} relative to {baseline}.")
        }
    }
}

/// `byte/fcall-empty - byte/fcall-assign`, `kernel/csw - 2 x kernel/signocsw`.
fn sum(terms: &[Term]) -> String {
    let mut out = String::new();
    for term in terms {
        out += match (out.is_empty(), term.times < 0.0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        if term.times.abs() != 1.0 {
            out += &format!("{} x ", number::printed(term.times.abs(), 0));
        }
        out += term.id.as_str();
    }
    out
}

fn claims(claims: &Claims) -> String {
    let plain = [
        (claims.check, "a check value is right"),
        (claims.linear, "time grows in proportion to the work"),
    ];
    let bounds = [
        (claims.syscalls_per_op, "entries into the kernel", ""),
        (claims.switches_per_op, "voluntary switches", " at least"),
        (claims.faults_per_op, "page faults", " at most"),
        (claims.major_faults_per_op, "major page faults", " at least"),
        (claims.min_ns_per_op, "nanoseconds", " at least"),
    ];
    let plain = plain.into_iter().filter(|(claimed, _)| *claimed);
    let bounds = bounds.into_iter().filter_map(|(value, what, bound)| {
        let value = number::at_most(value?, "", 4);
        Some(format!("{what} for each operation:{bound} {value}"))
    });
    let said = plain.map(|(_, text)| text.to_owned()).chain(bounds);
    said.collect::<Vec<_>>().join("; ")
}

/// Appendix B: each machine, what was asked for, the programs.
pub(super) fn system(document: &mut Document, input: &Brief) {
    document.heading(1, "Appendix B: the system");
    let all: Vec<Vec<Row>> = input.runs.iter().map(|r| programs(&r.results)).collect();
    let level = if input.several() { 3 } else { 2 };
    for (at, (run, programs)) in input.runs.iter().zip(&all).enumerate() {
        if input.several() {
            document.heading(2, input.name(at));
        }
        document.push(Block::Terms(facts(&run.machine)));
        if let Some(settings) = &run.settings {
            document.heading(level, "Settings");
            document.push(Block::Terms(show::settings(settings)));
        }
        if programs.is_empty() {
            continue;
        }
        document.heading(level, "Programs");
        if let Some(first) = all[..at].iter().position(|other| other == programs) {
            document.paragraph(format!("The same as those of {}.", input.name(first)));
            continue;
        }
        document.table(Table {
            caption: "What was run, by whom it was compiled, and how".into(),
            columns: vec![
                Column::key("SHA-256 begins", Style::Code),
                Column::new("Compiler or version", Style::Text),
                Column::new("Flags or command", Style::Text),
                Column::new("Benchmarks", Style::Text),
            ],
            rows: programs.clone(),
        });
    }
}

fn facts(machine: &Machine) -> Vec<(String, Text)> {
    let named = [
        ("machine", &machine.name),
        ("system", &machine.system),
        ("configuration", &machine.configuration),
        ("identity", &machine.id),
    ];
    let more = machine
        .facts
        .iter()
        .map(|(name, value)| (name.as_str(), value));
    let all = named
        .into_iter()
        .chain(more)
        .filter(|(_, value)| !value.is_empty());
    all.map(|(name, value)| (name.to_owned(), value.clone().into()))
        .collect()
}

/// One row a program, with the benchmarks that it did.
fn programs(results: &[Measurement]) -> Vec<Row> {
    let programs = results
        .iter()
        .filter_map(|result| Some((result.program.as_ref()?, result.id.as_str())));
    let row = |(program, ids): (&Program, Vec<&str>)| {
        let hash = program.hash.chars().take(HASH_SHOWN).collect();
        let texts = [hash, program.compiler.clone(), program.flags.clone()];
        let mut cells: Vec<Text> = texts.into_iter().map(|text| cell(Some(text))).collect();
        cells.push(ids.join(", ").into());
        Row::new(cells)
    };
    grouped(programs).into_iter().map(row).collect()
}

/// Appendix C: under which conditions, precision, launches, drift, and all footnotes with what their marks mean.
pub(super) fn quality(document: &mut Document, input: &Brief) {
    document.heading(1, "Appendix C: conditions, precision and footnotes");
    for (at, run) in input.runs.iter().enumerate() {
        document.paragraph(input.of(at, ": ", &conditions(run)));
    }
    document.paragraph(
        "The half-width is that of the interval, the deviation that of the values of the launches, and the drift the change from \
         the first launch to the last, each as a share of the figure.",
    );
    let cols = [
        Col::Id,
        Col::Precision,
        Col::Sd,
        Col::Drift,
        Col::Modes,
        Col::Launches,
        Col::Samples,
        Col::Ghz,
    ];
    for (at, run) in input.runs.iter().enumerate() {
        let results: Vec<&Measurement> = run.results.iter().collect();
        let caption = input.behind(at, "Precision reached");
        let strays = Strays::PublishedElsewhere;
        let made = table(document, caption, &results, &cols, strays);
        document.table(made);
    }
    let mut flags: Vec<Option<Flag>> = document.notes().iter().map(|(_, n)| n.flag).collect();
    flags.dedup();
    if flags.is_empty() {
        document.paragraph("There are no footnotes.");
        return;
    }
    document.heading(2, "Marks");
    let meaning = |flag| {
        let mark = findings::mark(flag).to_owned();
        (mark, findings::meaning(flag).into())
    };
    let mut meanings: Vec<(String, Text)> = flags.into_iter().map(meaning).collect();
    meanings.dedup();
    document.push(Block::Terms(meanings));
    document.heading(2, "Footnotes");
    document.push(Block::Footnotes);
}

/// What went on while it was measured, as far as the figures tell.
fn conditions(run: &RunView) -> String {
    let measured: Vec<&Measurement> = run.results.iter().filter(|r| r.launches > 0).collect();
    let disturbed = |r: &&&Measurement| r.flags().contains(&Flag::Interference);
    let mut said = vec![format!(
        "With interference: {} of {} measured",
        number::count(measured.iter().filter(disturbed).count()),
        words::plural(measured.len(), "row")
    )];
    let mut speeds: Vec<f64> = measured.iter().filter_map(|r| r.ghz).collect();
    speeds.sort_by(f64::total_cmp);
    if let (Some(low), Some(high)) = (speeds.first(), speeds.last()) {
        let [low, high] = [low, high].map(|g| number::fixed(*g, 2));
        said.push(match low == high {
            true => format!("the core ran at {low} GHz throughout"),
            false => format!("the core ran at {low} to {high} GHz"),
        });
    }
    let steadied = run.settings.as_ref().map_or(&[][..], |s| &s.steady);
    said.push(match steadied {
        [] => "nothing of the machine was steadied".to_owned(),
        steadied => format!("steadied meanwhile: {}", words::join(steadied)),
    });
    format!("{}.", said.join("; "))
}

#[cfg(test)]
mod tests {
    use super::Term;

    #[test]
    fn sums_read_as_sums() {
        let sum = |terms: &[(&str, f64)]| {
            let terms = terms.iter().map(|(id, times)| Term {
                id: gritstone_model::Id::parse(id).unwrap(),
                times: *times,
            });
            super::sum(&terms.collect::<Vec<_>>())
        };
        let three = [("a/b", 1.0), ("a/c", -2.0), ("d", 0.5)];
        assert_eq!(sum(&three), "a/b - 2 x a/c + 0.5 x d");
        assert_eq!(sum(&[("a", -1.0)]), "-a");
    }
}
