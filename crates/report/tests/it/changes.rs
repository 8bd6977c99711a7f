//! The list of changes.

use gritstone_document::terminal;
use gritstone_model::ChangeEvent;
use serde_json::json;

fn event() -> ChangeEvent {
    let change = json!({
        "benchmark": "byte/pipe", "title": "Pipe", "machine": "0123456789ab",
        "name": "node-17 (Intel Xeon Platinum)", "kernel": "6.1", "before": "20260501-120000-0a",
        "unit": "ns/call", "better": "lower", "value_before": 100.0, "value_since": 110.0,
        "run": "20260502-120000-0b", "started": "2026-05-02T12:00:00Z", "at": 1, "ratio": 0.9,
        "interval": [0.89, 0.91], "between": [1, 2], "runs": 10,
    });
    serde_json::from_value(json!({
        "id": "20260502-120000-0b-worse", "run": "20260502-120000-0b",
        "started": "2026-05-02T12:00:00Z", "machine": "0123456789ab",
        "name": "node-17 (Intel Xeon Platinum)", "worse": true,
        "may_begin": ["20260502-120000-0b", "20260503-120000-0c"], "before": "20260501-120000-0a",
        "differ_in": [{ "what": "cpu.microcode", "base": "0x1", "other": "0x2" }],
        "commits": { "good": "aaaaaaaaaaaa", "bad": "bbbbbbbbbbbb", "link": null },
        "triage": { "state": "new", "assignee": null, "log": [] }, "changes": [change],
    }))
    .unwrap()
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
