//! The list of changes.

use gritstone_document::terminal;
use gritstone_model::{ChangeEvent, CommitRange};
use gritstone_testkit::change_event;

fn event() -> ChangeEvent {
    let [before, run, next] =
        ["20260501-120000-0a", "20260502-120000-0b", "20260503-120000-0c"].map(str::to_owned);
    ChangeEvent {
        may_begin: vec![run.clone(), next],
        before: Some(before),
        commits: Some(CommitRange {
            good: "aaaaaaaaaaaa".to_owned(),
            bad: "bbbbbbbbbbbb".to_owned(),
            link: None,
        }),
        ..change_event(&run, &["byte/pipe"])
    }
}

#[test]
fn narrow_lists_name_suspects() {
    let document = gritstone_report::changes(&[event()], 30, true);
    let text = terminal::render(&document, terminal::Look::plain(80));
    let suspects = "run 0b: one of 2 runs from 0b to 0c may have begun it; cpu microcode 0x1 → 0x2";
    assert!(text.replace("\n  ", " ").contains(suspects), "{text}");
    let table = text.lines().find(|line| line.contains("× slower")).unwrap();
    assert!(table.contains("0b") && table.contains("aaaaaaaaaa..bbbbbbbbbb"), "{text}");
}
