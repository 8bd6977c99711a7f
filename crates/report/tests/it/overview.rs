//! The overview of a store, as text.

use gritstone_document::{Document, Tile, Tone, terminal};
use gritstone_model::*;
use gritstone_report::overview;
use gritstone_testkit::change_event;

/// A change of a benchmark on a system, of January or of a day of February.
fn event(number: usize, benchmark: &str, day: Option<usize>, state: ChangeState) -> ChangeEvent {
    let run = format!("20260201-000000-{number:08}");
    ChangeEvent {
        started: day
            .map_or("2026-01-01T00:00:00Z".to_owned(), |day| format!("2026-02-{day:02}T00:00:00Z")),
        machine: format!("m{}", number % 2),
        triage: Triage { state, ..Triage::default() },
        ..change_event(&run, &[benchmark])
    }
}

fn document(events: Vec<ChangeEvent>) -> Document {
    overview(&OverviewView {
        schema: SCHEMA_OVERVIEW.to_owned(),
        stored: 100,
        recent: Recent { days: 7, since: "2026-02-01T00:00:00Z".to_owned() },
        events: Some(events),
        trends: vec![],
        runs: vec![],
        systems: vec![],
    })
}

fn slower(document: &Document) -> Tile {
    blocks!(document.blocks, Tiles).next().unwrap()[0].clone()
}

fn tables(document: &Document) -> Vec<(String, usize)> {
    let tables = blocks!(document.blocks, Table);
    tables.map(|table| (table.caption.text.clone(), table.rows.len())).collect()
}

#[test]
fn counts_cover_all_events() {
    use ChangeState::{Assigned, Fixed, New};
    let recent =
        (0..60).map(|number| event(number, ["a/one", "a/two"][number % 2], Some(1), Fixed));
    let open = (60..130).map(|number| event(number, "a/one", None, New));
    let done = (130..140).map(|number| event(number, "a/one", None, Fixed));
    let mut events: Vec<ChangeEvent> = recent.chain(open).chain(done).collect();
    let all = document(events.clone());
    let tile = slower(&all);
    assert_eq!(tile.name, "Slower, 7 days before the newest run");
    // benchmarks, not changes
    assert_eq!((tile.value.as_str(), tile.detail.as_str()), ("2", "on 2 systems"));
    assert_eq!(tile.tone, None, "all of them are fixed");
    let tables = tables(&all);
    assert_eq!(tables[0].1, 50);
    assert!(tables[0].0.ends_with(": the newest 50 of 60"), "{tables:?}");
    assert_eq!(tables[1].1, 50);
    assert!(tables[1].0.ends_with(": the newest 50 of 70"), "{tables:?}");
    events[59].triage.state = Assigned;
    assert_eq!(slower(&document(events)).tone, Some(Tone::Bad));
}

#[test]
fn imported_changes_are_imported_again() {
    let text = |benchmark: &str, machine: &str| {
        let mut event = event(1, benchmark, Some(1), ChangeState::New);
        machine.clone_into(&mut event.machine);
        let document = gritstone_report::change(&event);
        terminal::render(&document, terminal::Look::plain(110))
    };
    let imported = text("pyperf/a", "pyperf-box");
    assert!(imported.contains("gritstone import") && !imported.contains("gritstone ab"));
    assert!(text("byte/pipe", "a3f09c52").contains("gritstone ab byte/pipe"));
}
