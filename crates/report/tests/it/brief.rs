//! Contents of the report.

use crate::sample::briefs::{self, with_input};
use crate::sample::machines::references;
use crate::sample::{self, stated};
use gritstone_document::{Block, ResultLine, Row, Table, Tile, Tone};
use gritstone_document::{Document, html, terminal};
use gritstone_model::{
    Better, CompareView, Data, Estimate, Finding, Flag, Id, PublishedView, Quantity, RunView,
    TrialSide, Verdict,
};
use gritstone_report::{Pair, data_sheet, pair, several};

fn headings(document: &Document) -> Vec<&str> {
    let mut headings = vec![];
    for block in &document.blocks {
        if let Block::Heading(1, text) = block {
            headings.push(text.as_str());
        }
    }
    headings
}

fn lines(document: &Document) -> Vec<&ResultLine> {
    blocks!(document.blocks, Results).flatten().collect()
}

fn tables<'a>(document: &'a Document, caption: &'a str) -> impl Iterator<Item = &'a Table> {
    blocks!(document.blocks, Table).filter(move |table| table.caption.text.contains(caption))
}

#[test]
fn sides_name_their_trial() {
    let mut run = sample::run();
    run.settings.as_mut().unwrap().trial = Some(TrialSide::default());
    let sheet = with_input(&run, &references(), &sample::against_reference(), data_sheet);
    let Some(Block::Terms(card)) = sheet.blocks.first() else { panic!("{:?}", sheet.blocks) };
    let command = format!("one side of a trial: `gritstone ab --of {}`", run.id);
    assert!(card.iter().any(|(_, text)| text.text == command), "{card:?}");
}

#[test]
fn data_sheet_is_complete() {
    let run = sample::run();
    let sheet = with_input(&run, &references(), &sample::against_reference(), data_sheet);
    let [
        Block::Terms(card),
        Block::Tiles(tiles),
        Block::List(absent),
        Block::Table(table),
        Block::Figure(figure),
    ] = sheet.blocks.as_slice()
    else {
        panic!("{:?}", sheet.blocks);
    };
    let reason = "1 skipped (byte/cc): There is no C compiler here: apt-get install gcc";
    assert_eq!(absent[0].text, reason);
    let card: Vec<&str> = card.iter().map(|(_, text)| text.text.as_str()).collect();
    assert!(card.contains(&"2 January 2026, 03:04 UTC, 9 min 43 s"), "{card:?}");
    assert!(card.contains(&"`gritstone run --budget 600s --precision 1% --tune`"), "{card:?}");
    let tile_text = |tile: &Tile| format!("{}: {} ({})", tile.name, tile.value, tile.detail);
    let texts: Vec<String> = tiles.iter().map(tile_text).collect();
    insta::assert_snapshot!(texts.join("\n"));
    assert_eq!(tiles[0].tone, Some(Tone::Bad));
    // a dot for each result with a value, by its ratio where the baseline has it
    let dots: usize = figure.svgs.iter().map(|svg| svg.matches("<circle").count()).sum();
    let measured = run.results.iter().filter(|r| r.value().is_some_and(|v| v > 0.0));
    assert_eq!(dots, measured.count());
    assert!(figure.alternative.starts_with("× VAX-11/780, more is better: byte/"));
    assert!(figure.alternative.contains("Time, less is better: "));
    // with the time, and not only the ratio
    assert!(figure.alternative.contains("byte/syscall 117.6 ns/call"));
    let row = |row: &Row| row.cells.iter().map(|cell| cell.text.clone()).collect();
    let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
    assert_eq!(rows.len(), dots);
    let call = rows.iter().find(|row| row[0] == "byte/syscall").unwrap();
    assert_eq!(call[2..5], ["117.6 ns/call", "[117.4 – 117.9]", "0.21%"]);
}

#[test]
fn results_have_details() {
    let run = sample::run();
    let document = briefs::document(&run, &references());
    let lines = lines(&document);
    assert_eq!(lines.len(), run.results.len());
    let line = lines.iter().find(|line| line.id == "byte/syscall").unwrap();
    let shown = [&line.value, &line.unit, &line.half_width];
    assert_eq!(shown, ["117.6", "ns/call", "±0.21%"]);
    assert_eq!(line.title, "System call");
    let page = html::render(&document);
    for id in ["byte-syscall", "byte-multi-1"] {
        assert!(page.contains(&format!("<details id=\"{id}\"")), "{id}");
    }
    assert!(page.contains("Reference systems"));
}

#[test]
fn command_repeats_the_run() {
    let mut run = sample::run();
    let settings = serde_json::json!({
        "selectors": ["byte/*", "vm/paging/random"], "seed": 1, "budget_s": null, "precision": 0.05, "quick": true,
        "reference": true, "dir": "/home/secret", "environment": {}, "params": { "users": "4" }, "copies": [2, 4],
        "compilers": { "cc": "clang", "cflags": "-O3 -flto" }, "allow": ["swap"],
    });
    run.settings = Some(serde_json::from_value(settings).unwrap());
    let page = html::render(&briefs::document(&run, &[]));
    let command = "gritstone run &#39;byte/*&#39; vm/paging/random --quick --precision 5% --reference --copies 2,4 --param users=4 \
                   --cc clang --cflags &#39;-O3 -flto&#39; --allow swap";
    let either = [command.to_owned(), command.replace("&#39;", "'")];
    assert!(either.iter().any(|command| page.contains(command)), "{page}");
}

#[test]
fn areas_are_ordered() {
    let mut run = sample::run();
    run.results.truncate(4);
    for (result, id) in run.results.iter_mut().zip(["mine/x", "fs/x", "cpu/x"]) {
        result.id = Id::parse(id).unwrap();
    }
    let document = briefs::document(&run, &[]);
    let areas = ["Processor", "UNIX system", "File system and disk", "Other benchmarks"];
    assert_eq!(headings(&document)[..4], areas);
}

#[test]
fn reports_name_no_host() {
    let mut run = sample::run();
    run.machine.name = "secret-host (AMD EPYC)".to_owned();
    run.machine.facts.insert("host.name".to_owned(), "secret-host".to_owned());
    let settings = run.settings.as_mut().unwrap();
    settings.dir = "/home/secret".to_owned();
    settings.environment.insert("TOKEN".to_owned(), "secret".to_owned());
    let page = html::render(&briefs::document(&run, &references()));
    assert!(page.contains("<title>Performance brief: AMD EPYC 7B13</title>"));
    assert!(!page.contains("secret"));
}

#[test]
fn history_section_comes_last() {
    let document = briefs::document(&sample::run(), &references());
    assert!(headings(&document).last().unwrap().starts_with("History"));
    let table = tables(&document, "As printed in byte-1984").next().unwrap();
    assert!(table.rows[0].strong);
    let pipe = table.columns.iter().position(|c| c.head == "byte/pipe, s").unwrap();
    let column: Vec<&str> = table.rows.iter().map(|row| row.cells[pipe].text.as_str()).collect();
    let number = |text: &&str| *text == "–" || text.replace(',', "").parse::<f64>().is_ok();
    assert!(column.len() > 5 && column.iter().all(number), "{column:?}");
}

#[test]
fn cpu_time_documents_compare_cpu() {
    let mut run = sample::run();
    run.results.truncate(1);
    let result = &mut run.results[0];
    result.id = Id::parse("vm/paging/sequential").unwrap();
    let published = result.published.as_mut().unwrap();
    (published.user, published.system) = (Some(Estimate::exact(0.25)), Some(Estimate::exact(0.5)));
    let mut systems = references();
    systems.truncate(1);
    let printed = &mut systems[0].results[0];
    printed.id = result.id.clone();
    printed.published = Some(PublishedView { cpu_s: Some(77.2), ..PublishedView::default() });
    let document = briefs::document(&run, &systems);
    let table = tables(&document, "As printed in").next().unwrap();
    assert_eq!(table.columns[2].head, "vm/paging/sequential, CPU s");
    let cells = table.rows.iter().map(|row| row.cells[2].text.as_str());
    assert_eq!(cells.collect::<Vec<_>>(), ["0.750", "77.2"]);
}

#[test]
fn derived_numbers_are_marked() {
    let mut systems = references();
    for result in systems.iter_mut().map(|system| &mut system.results[1]) {
        let from = "Twice the time of half of them.".to_owned();
        result.notes.push(Finding::Reckoned { from }.into());
    }
    let document = briefs::document(&sample::run(), &systems);
    let heads = |caption| {
        let mut found = tables(&document, caption);
        let columns = &found.next().unwrap().columns;
        let heads: Vec<&str> = columns.iter().map(|column| column.head.as_str()).collect();
        heads[2..].to_vec()
    };
    let printed = heads("As printed in byte-1984");
    assert!(!printed.contains(&"byte/syscall, s"), "{printed:?}");
    let reckoned = heads("Computed from results printed in byte-1984");
    assert_eq!(reckoned, ["byte/syscall, s"]);
}

#[test]
fn one_value_has_no_deviation() {
    let mut run = sample::run();
    run.results.truncate(1);
    let mut page = |launches| {
        let Data::Measured(measured) = &mut run.results[0].data else {
            panic!("not measured");
        };
        measured.sampled.launches = launches;
        let statistics = measured.sampled.statistics.get_or_insert_default();
        statistics.sd = Some(0.0);
        html::render(&briefs::document(&run, &references()))
    };
    assert!(page(2).contains("tandard deviation"));
    assert!(!page(1).contains("tandard deviation"));
}

#[test]
fn empty_runs_have_reports() {
    let mut run = sample::run();
    run.results.clear();
    let page = html::render(&briefs::document(&run, &references()));
    assert!(page.contains("Nothing was measured.") && !page.contains("History"));
}

#[test]
fn large_reports_stay_small() {
    let mut run = sample::run();
    let mut results = vec![];
    for index in 0..60 {
        let mut result = run.results[index % 15].clone();
        result.id = Id::parse(&format!("byte/b{index}")).unwrap();
        let values =
            (0..100u32).map(|i| result.value().unwrap_or(1.0) * (1.0 + f64::from(i % 7) / 100.0));
        result.measured_mut().sampled.values = values.collect();
        results.push(result);
    }
    run.results = results;
    let page = html::render(&briefs::document(&run, &references()));
    assert!(page.len() < 1_000_000, "{}", page.len());
}

#[test]
fn reports_draw_scaling_law() {
    let mut run = sample::run();
    run.results.truncate(1);
    for fitted in [true, false] {
        run.results[0].measured_mut().copies = Some(sample::copies(100.0, fitted));
        let page = html::render(&briefs::document(&run, &[]));
        assert!(page.contains("byte/pipe: all copies together"));
        assert_eq!(page.contains("scalability law: "), fitted);
    }
    // a benchmark without several copies that did anything has no curve
    let points = &mut run.results[0].measured_mut().copies.as_mut().unwrap().points;
    points.truncate(1);
    assert!(!html::render(&briefs::document(&run, &[])).contains("all copies together"));
}

/// Two runs of one machine with these verdicts.
fn two(verdicts: &[(Option<Verdict>, f64)]) -> (RunView, RunView, CompareView) {
    let (base, mut other) = (sample::run(), sample::run());
    other.id = "20260103T030405Z-77aa".to_owned();
    other.results[0].measured_mut().sampled.estimate = Some(Estimate::exact(2000.0));
    let mut view = sample::compare();
    let row = view.rows[0].clone();
    let rows = verdicts.iter().zip(&base.results);
    view.rows = rows
        .map(|((verdict, ratio), result)| {
            let mut row = row.clone();
            row.id = result.id.clone();
            row.unit = result.unit.to_string();
            row.better = match result.unit.quantity() {
                Quantity::Rate { .. } => Better::Higher,
                _ => Better::Lower,
            };
            row.verdict = *verdict;
            row.ratio = verdict.map(|_| *ratio);
            row.interval = verdict.map(|_| [ratio * 0.9, ratio * 1.1]);
            row.notes = vec![];
            row
        })
        .collect();
    (base, other, view)
}

#[test]
fn unlabeled_runs_show_their_identifiers() {
    let (base, mut other, compared) = two(&[(Some(Verdict::Faster), 1.5)]);
    other.label = Some("second".to_owned());
    let document = pair(&Pair { base: &base, other: &other, compared: &compared, scores: None });
    assert_eq!(document.title, format!("Performance brief: second against {}", base.id));
}

#[test]
fn several_runs_say_why() {
    let (base, other, mut compared) =
        two(&[(Some(Verdict::Slower), 0.5), (None, 1.0), (None, 1.0)]);
    let invalid = |n: u64| Finding::FewMajorFaults { per_op: n as f64, claimed: 12.0 };
    for (row, n) in compared.rows[1..].iter_mut().zip(1..) {
        row.notes = vec![invalid(n).into()];
    }
    let (mut a, mut b) = (other.clone(), other);
    (a.label, b.label) = (Some("new".to_owned()), Some("new".to_owned()));
    b.id = "20260104-030405-88bb".to_owned();
    let document = several(&base, &[(&a, &compared), (&b, &compared)]);
    let text = terminal::render(&document, terminal::Look::plain(200));
    let ids = format!("{} and {}", compared.rows[1].id, compared.rows[2].id);
    assert!(text.contains(&format!("2 invalid ({ids}); for example, ")), "{text}");
    assert!(text.contains("new (88bb)"), "{text}");
}

#[test]
fn comparisons_sort_by_verdict() {
    let (base, other, mut compared) = two(&[
        (Some(Verdict::Faster), 1.5),
        (Some(Verdict::Slower), 0.5),
        (Some(Verdict::Slower), 0.4),
        (Some(Verdict::Inconclusive), 1.0),
        (None, 1.0),
    ]);
    let why = stated(Some(Flag::NotComparable), "it is other work");
    compared.rows[4].notes = vec![why];
    let document = pair(&Pair { base: &base, other: &other, compared: &compared, scores: None });
    let title = format!(
        "Performance brief: AMD EPYC 7B13 ({}) against AMD EPYC 7B13 ({})",
        other.id, base.id
    );
    assert_eq!(document.title, title);
    let heads = headings(&document);
    assert!(heads[8].starts_with("Differences"), "{heads:?}");
    let sections = [
        "Regressions (2)",
        "Improvements (1)",
        "Unchanged within 1% (0)",
        "Inconclusive (1)",
        "Not compared (1)",
    ];
    assert_eq!(heads[0], "Benchmarks");
    assert_eq!(heads[1..6], sections);
    let text = terminal::render(&document, terminal::Look::plain(200));
    let line = text.lines().find(|line| line.starts_with("byte/pipe ")).unwrap();
    for cell in ["389.1 GB/s", "778.2 GB/s", "+50%", "[+35 – +65]", "faster"] {
        assert!(line.contains(cell), "{cell}: {line}");
    }
    assert!(text.contains("it is other work"));
    // where both sides are alike nothing is missing
    let (base, other, compared) = two(&[(Some(Verdict::Same), 1.0)]);
    let document = pair(&Pair { base: &base, other: &other, compared: &compared, scores: None });
    let text = terminal::render(&document, terminal::Look::plain(100));
    assert!(text.contains("Regressions (0)") && text.contains("Unchanged within 1% (1)"), "{text}");
}
