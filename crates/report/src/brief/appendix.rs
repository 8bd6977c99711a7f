//! The appendices: what each benchmark does, the system, and how far each figure can be trusted.

use super::{Across, Brief, cell};
use crate::columns::{Col, Strays, table};
use crate::document::{Block, Column, Document, Row, Style, Table, Text};
use crate::{findings, number, show, words};
use gritstone_model::{
    Benchmark, Claims, Flag, Machine, Measurement, Placement, Program, RunView, Term, Work,
};

/// Hexadecimal digits that tell programs apart; the JSON has all of them.
const HASH_SHOWN: usize = 16;

/// Appendix A: what one operation of each is, why anyone would want to know, where it comes from, what is proved.
pub(super) fn benchmarks(document: &mut Document, input: &Brief, rows: &[Across]) {
    let entries: Vec<&Benchmark> = rows.iter().filter_map(|r| input.benchmark(r.id)).collect();
    if entries.is_empty() {
        return;
    }
    document.heading(1, "Appendix A: what each benchmark does");
    for entry in entries {
        document.heading(2, format!("{}: {}", entry.id, entry.title));
        document.paragraph(sentences(&[
            ("", &entry.why),
            ("One operation:", &entry.operation),
        ]));
        document.paragraph(particulars(entry));
    }
}

/// Where it comes from, how it is done, what is proved.
fn particulars(entry: &Benchmark) -> String {
    let sources: Vec<String> = entry
        .sources
        .iter()
        .map(|s| format!("{}, {}", s.document, s.place))
        .collect();
    let needs: Vec<&str> = entry.needs.iter().map(|n| n.name.as_str()).collect();
    let done = done_by(entry);
    sentences(&[
        ("From", &sources.join("; ")),
        (
            "Published work:",
            entry.published.as_ref().map_or("", |p| &p.work),
        ),
        ("", &done),
        ("Needs", &words::join(&needs)),
        ("Tested on every run:", &claims(&entry.claims)),
        (
            "Not comparable:",
            entry.not_comparable.as_deref().unwrap_or_default(),
        ),
        ("", entry.remark.as_deref().unwrap_or_default()),
    ])
}

/// Sentences from heads and what they head; those that head nothing are left out.
fn sentences(parts: &[(&str, &str)]) -> String {
    let said: Vec<String> = parts
        .iter()
        .map(|(head, text)| (head, text.trim().trim_end_matches('.')))
        .filter(|(_, text)| !text.is_empty())
        .map(|(head, text)| format!("{head} {text}.").trim_start().to_owned())
        .collect();
    said.join(" ")
}

/// Who does the work and where, or what it is computed from.
fn done_by(entry: &Benchmark) -> String {
    let on = placement(entry.placement);
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
        Work::Derived { terms, share_of } => match share_of {
            None => format!("Computed from other rows: {}.", sum(terms)),
            Some(whole) => format!(
                "Computed from other rows: the rate of {} as a share of that of {whole}.",
                sum(terms)
            ),
        },
        Work::Rating {
            over,
            baseline,
            weights,
        } => {
            let weight = |at: usize| match weights.get(at) {
                Some(weight) => format!("{} times ", number::printed(*weight, 4)),
                None => String::new(),
            };
            let rows = (0..).zip(over).map(|(at, id)| weight(at) + id.as_str());
            let mean = match weights.is_empty() {
                true => "geometric",
                false => "weighted arithmetic",
            };
            format!(
                "The {mean} mean of {} relative to {baseline}.",
                words::join(&rows.collect::<Vec<_>>())
            )
        }
    }
}

/// `byte/fcall-empty - byte/fcall-assign`, `kernel/csw - 2 x kernel/signocsw`.
fn sum(terms: &[Term]) -> String {
    let mut out = String::new();
    for term in terms {
        let sign = match (out.is_empty(), term.times < 0.0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        let times = match term.times.abs() {
            1.0 => String::new(),
            times => format!("{} x ", number::printed(times, 0)),
        };
        out.push_str(&format!("{sign}{times}{}", term.id));
    }
    out
}

fn placement(placement: Placement) -> &'static str {
    match placement {
        Placement::OneCpu => "one CPU",
        Placement::Cross => "two CPUs, one process on each",
        Placement::All => "all CPUs, wherever the scheduler puts it",
    }
}

fn claims(claims: &Claims) -> String {
    let mut said = Vec::new();
    if claims.check {
        said.push("a check value is right".to_owned());
    }
    if claims.linear {
        said.push("time grows in proportion to the work".to_owned());
    }
    let mut number = |value: Option<f64>, text: &str| {
        if let Some(value) = value {
            said.push(format!("{text} {}", number::at_most(value, "", 4)));
        }
    };
    number(
        claims.syscalls_per_op,
        "entries into the kernel for each operation:",
    );
    number(
        claims.switches_per_op,
        "voluntary switches for each operation: at least",
    );
    number(
        claims.faults_per_op,
        "page faults for each operation: at most",
    );
    number(
        claims.major_faults_per_op,
        "major page faults for each operation: at least",
    );
    number(
        claims.min_ns_per_op,
        "nanoseconds for each operation: at least",
    );
    said.join("; ")
}

/// Appendix B: each machine, what was asked for, the programs.
pub(super) fn system(document: &mut Document, input: &Brief) {
    document.heading(1, "Appendix B: the system");
    let all: Vec<Vec<Row>> = input.runs.iter().map(|r| programs(&r.results)).collect();
    for (at, run) in input.runs.iter().enumerate() {
        if input.several() {
            document.heading(2, input.name(at));
        }
        document.push(Block::Terms(facts(&run.machine)));
        let level = if input.several() { 3 } else { 2 };
        if let Some(settings) = &run.settings {
            document.heading(level, "Settings");
            document.push(Block::Terms(show::settings(settings)));
        }
        let programs = &all[at];
        if !programs.is_empty() {
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
}

fn facts(machine: &Machine) -> Vec<(String, Text)> {
    let mut facts: Vec<(String, Text)> = vec![
        ("machine".into(), machine.name.clone().into()),
        ("system".into(), machine.system.clone().into()),
        ("configuration".into(), machine.configuration.clone().into()),
        ("identity".into(), machine.id.clone().into()),
    ];
    facts.extend(
        machine
            .facts
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().into())),
    );
    facts.retain(|(_, text)| !text.text.is_empty());
    facts
}

/// One row a program, with the benchmarks that it did.
fn programs(results: &[Measurement]) -> Vec<Row> {
    let mut programs: Vec<(&Program, Vec<&str>)> = Vec::new();
    for result in results {
        let Some(program) = &result.program else {
            continue;
        };
        match programs.iter_mut().find(|(p, _)| *p == program) {
            Some((_, ids)) => ids.push(result.id.as_str()),
            None => programs.push((program, vec![result.id.as_str()])),
        }
    }
    programs
        .into_iter()
        .map(|(program, ids)| {
            let hash = program.hash.chars().take(HASH_SHOWN).collect();
            Row::new(vec![
                cell(Some(hash)),
                cell(Some(program.compiler.clone())),
                cell(Some(program.flags.clone())),
                ids.join(", ").into(),
            ])
        })
        .collect()
}

/// Appendix C: under which conditions, precision, launches, drift, and all footnotes with what their marks mean.
pub(super) fn quality(document: &mut Document, input: &Brief) {
    document.heading(1, "Appendix C: conditions, precision and footnotes");
    for (at, run) in input.runs.iter().enumerate() {
        let said = conditions(run);
        document.paragraph(match input.several() {
            true => format!("{}: {said}", input.name(at)),
            false => said,
        });
    }
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
    document.paragraph(
        "The half-width is that of the interval, the deviation that of the values of the launches, and the drift the change from \
         the first launch to the last, each as a share of the figure.",
    );
    for (at, run) in input.runs.iter().enumerate() {
        let results: Vec<&Measurement> = run.results.iter().collect();
        let caption = match input.several() {
            true => format!("Precision reached, {}", input.name(at)),
            false => "Precision reached".to_owned(),
        };
        let made = table(
            document,
            caption,
            &results,
            &cols,
            Strays::PublishedElsewhere,
        );
        document.table(made);
    }
    let meanings = meanings(document);
    if meanings.is_empty() {
        document.paragraph("There are no footnotes.");
        return;
    }
    document.heading(2, "Marks");
    document.push(Block::Terms(meanings));
    document.heading(2, "Footnotes");
    document.push(Block::Footnotes);
}

/// What went on while it was measured, as far as the figures tell.
fn conditions(run: &RunView) -> String {
    let measured: Vec<&Measurement> = run.results.iter().filter(|r| r.launches > 0).collect();
    let disturbed = measured
        .iter()
        .filter(|r| r.flags().contains(&Flag::Interference));
    let mut said = vec![format!(
        "With interference: {} of {} measured",
        number::count(disturbed.count()),
        words::plural(measured.len(), "row")
    )];
    let speeds = measured.iter().filter_map(|r| r.ghz);
    let (low, high) = speeds.fold((f64::MAX, f64::MIN), |(low, high), g| {
        (low.min(g), high.max(g))
    });
    if low <= high {
        let [low, high] = [low, high].map(|g| number::fixed(g, 2));
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

/// What the marks mean that this document has.
fn meanings(document: &Document) -> Vec<(String, Text)> {
    let notes = document.notes();
    let mark = |flag| {
        (
            findings::mark(flag).to_owned(),
            findings::meaning(flag).into(),
        )
    };
    let mut marks: Vec<(String, Text)> = notes.iter().map(|(_, note)| mark(note.flag)).collect();
    marks.dedup();
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_read_as_sums() {
        let term = |id: &str, times| Term {
            id: gritstone_model::Id::parse(id).unwrap(),
            times,
        };
        assert_eq!(
            sum(&[term("a/b", 1.0), term("a/c", -2.0), term("d", 0.5)]),
            "a/b - 2 x a/c + 0.5 x d"
        );
        assert_eq!(sum(&[term("a", -1.0)]), "-a");
    }
}
