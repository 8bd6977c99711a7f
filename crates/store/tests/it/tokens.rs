//! Tokens, and what is done by them.

use crate::common::{self, Raw};
use gritstone_model::{ChangeState, Id, RunData, TriageEntry};
use gritstone_store::{
    ChangeEntry, EntryContent, NewTriageEntry, Scope, Store, StoreError, UploadOutcome, Who,
};

const NOW: &str = "2026-11-25T12:00:00Z";

#[test]
fn tokens_are_valid_until_revoked() {
    let (_folder, _, mut store) = common::with(&[]);
    let scopes = [Scope::Read, Scope::Write];
    store.add_token("a", "one", &scopes, NOW).unwrap();
    store.add_token("b", "two", &[Scope::Admin], NOW).unwrap();
    let found = store.token("one").unwrap().unwrap();
    assert_eq!((found.name.as_str(), found.scopes.as_slice()), ("a", &scopes[..]));
    for none in ["", "three", "a", "on", "ONE", "' OR '1'='1"] {
        assert_eq!(store.token(none).unwrap(), None, "{none}");
    }
    store.revoke_token("a", NOW).unwrap();
    assert_eq!(store.token("one").unwrap(), None);
    assert!(store.token("two").unwrap().is_some());
    let all = store.tokens().unwrap();
    let revoked: Vec<bool> = all.iter().map(|token| token.revoked.is_some()).collect();
    assert_eq!(revoked, [true, false]);
    // neither its name nor its secret is given again
    for (name, secret) in [("a", "new"), ("c", "one"), ("", "x"), ("x y", "x"), ("x/y", "x")] {
        store.add_token(name, secret, &scopes, NOW).unwrap_err();
    }
    store.revoke_token("a", NOW).unwrap_err();
    store.revoke_token("none", NOW).unwrap_err();
}

#[test]
fn repeated_uploads_are_idempotent() {
    let (_folder, path, mut store) = common::with(&[]);
    store.add_token("node", "secret", &[Scope::Write], NOW).unwrap();
    let token = store.token("secret").unwrap().unwrap();
    let run = common::run(2, 2);
    assert_eq!(store.receive(&token, &run, NOW).unwrap(), UploadOutcome::Created);
    assert_eq!(store.receive(&token, &run, NOW).unwrap(), UploadOutcome::Unchanged);
    store.label(&run.info.id, "another").unwrap();
    assert_eq!(store.receive(&token, &run, NOW).unwrap(), UploadOutcome::Unchanged);
    let mut other = run.clone();
    other.launches.pop();
    assert_eq!(store.receive(&token, &other, NOW).unwrap(), UploadOutcome::Conflict);
    assert_eq!(store.runs().unwrap().len(), 1);
    store.remove_by(&token, &run.info.id, NOW).unwrap();
    let again = store.remove_by(&token, &run.info.id, NOW);
    assert!(matches!(again, Err(StoreError::NoSuchRun(_))));
    // who did it, and nothing that was not done
    let mut raw = Raw::open(&path);
    let done: Vec<[String; 2]> = raw.texts("SELECT done, run FROM done_by_token ORDER BY number");
    let id = || run.info.id.clone();
    assert_eq!(done, [["send".to_owned(), id()], ["remove".to_owned(), id()]]);
}

#[test]
fn removed_runs_are_not_received() {
    let [labeled, measured, last] = [3, 4, 5].map(|number| common::run(number, 1));
    let (_folder, _, mut store) = common::with(std::slice::from_ref(&measured));
    store.add_token("a", "secret", &[Scope::Write], NOW).unwrap();
    let token = store.token("secret").unwrap().unwrap();
    assert_eq!(store.receive(&token, &labeled, NOW).unwrap(), UploadOutcome::Created);
    for run in [&labeled, &measured] {
        store.remove(&run.info.id).unwrap();
    }
    let refused = |store: &mut Store, run: &RunData| {
        let received = store.receive(&token, run, NOW);
        matches!(received, Err(StoreError::Removed(_)))
    };
    let mut relabeled = labeled.clone();
    relabeled.info.label = Some("another".to_owned());
    for run in [&labeled, &relabeled, &measured] {
        assert!(refused(&mut store, run));
    }
    assert_eq!(store.receive(&token, &last, NOW).unwrap(), UploadOutcome::Created);
    let removed = store.removed().unwrap();
    assert_eq!(removed, [&labeled, &measured].map(|run| run.info.id.clone()).into());
    // the owner of the store takes it again
    store.import_once(&relabeled).unwrap();
    assert!(!store.removed().unwrap().contains(&labeled.info.id));
    assert_eq!(store.receive(&token, &relabeled, NOW).unwrap(), UploadOutcome::Unchanged);
}

#[test]
fn older_removals_hold_as_a_file() {
    let run = common::run(3, 1);
    let (_folder, path, mut store) = common::with(&[]);
    store.add_token("a", "secret", &[Scope::Write], NOW).unwrap();
    let token = store.token("secret").unwrap().unwrap();
    store.receive(&token, &run, NOW).unwrap();
    store.remove(&run.info.id).unwrap();
    // as it was before entries had identifiers
    Raw::open(&path)
        .execute("DROP TRIGGER ledger_is_not_changed; UPDATE ledger SET sealed = substr(sealed, 1, 64) WHERE entry = 'remove'")
        .unwrap();
    for label in [run.info.label.clone(), Some("another".to_owned())] {
        let mut sent = run.clone();
        sent.info.label = label;
        let received = store.receive(&token, &sent, NOW);
        assert!(matches!(received, Err(StoreError::Removed(_))));
    }
}

#[test]
fn old_stores_gain_tokens_as_a_file() {
    let (_folder, path, store) = common::with(&[common::run(1, 1)]);
    drop(store);
    let trigger = include_str!("../../schema/sqlite/0002.sql");
    let (_, trigger) = trigger.split_once("DROP TRIGGER launch_is_not_removed;").unwrap();
    let before = "DROP TABLE kept_result; DROP TABLE kept_run; DROP TRIGGER launch_is_not_removed; DROP TABLE change_entry; DROP TABLE done_by_token; DROP TABLE revoked_token; DROP TABLE token; PRAGMA user_version = 2";
    Raw::open(&path).execute(&format!("{before}; {trigger}")).unwrap();
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.recurring().unwrap(), []);
    assert_eq!(store.results(&common::info(1).id, "1").unwrap(), None);
    assert_eq!(store.tokens().unwrap(), []);
    assert_eq!(store.token("secret").unwrap(), None);
    assert_eq!(store.change_entries().unwrap(), []);
    assert_eq!(store.runs().unwrap().len(), 1);
    drop(store);
    let mut store = Store::open(&path).unwrap();
    store.add_token("a", "secret", &[Scope::Read], NOW).unwrap();
    assert!(store.token("secret").unwrap().is_some());
    assert_eq!(store.runs().unwrap().len(), 1);
}

#[test]
fn triage_keeps_its_author() {
    let (_folder, path, mut store) = common::with(&[]);
    store.add_token("a", "one", &[Scope::Write], NOW).unwrap();
    let token = store.token("one").unwrap().unwrap();
    let new = |state, assignee, note| NewTriageEntry { state, assignee, note, benchmarks: &[] };
    let long = "x".repeat(1001);
    for note in ["", " ", "two\nlines", "\u{1b}[31m", &long] {
        let entry = new(ChangeState::Acknowledged, None, note);
        let refused = store.triage("r-worse", Who::User("ana"), &entry, NOW);
        assert!(matches!(refused, Err(StoreError::Unfit(_))), "{note:?}");
    }
    for assignee in [None, Some(""), Some("a\nb"), Some(&*long)] {
        let entry = new(ChangeState::Assigned, assignee, "");
        let refused = store.triage("r-worse", Who::User("ana"), &entry, NOW);
        assert!(matches!(refused, Err(StoreError::Unfit(_))), "{assignee:?}");
    }
    assert_eq!(store.change_entries().unwrap(), []);
    let by = [Who::User("ana"), Who::Token(&token), Who::User("ana")];
    let entries = [
        new(ChangeState::Acknowledged, None, "first"),
        new(ChangeState::Assigned, Some(" ben "), ""),
        new(ChangeState::Fixed, None, " second "),
    ];
    for (who, entry) in by.into_iter().zip(&entries) {
        store.triage("r-worse", who, entry, NOW).unwrap();
    }
    let loops = Id::parse("byte/loop").unwrap();
    let notified = [("r-worse".to_owned(), vec![loops]), ("q-better".to_owned(), vec![])];
    store.notified(&notified, "mail", NOW).unwrap();
    let entry = |state, who: &str, assignee: Option<&str>, note: &str| ChangeEntry {
        event: "r-worse".to_owned(),
        content: EntryContent::Triage(TriageEntry {
            state,
            who: who.to_owned(),
            at: NOW.to_owned(),
            assignee: assignee.map(str::to_owned),
            note: note.to_owned(),
            benchmarks: vec![],
        }),
    };
    let mut wanted = vec![
        entry(ChangeState::Acknowledged, "ana", None, "first"),
        entry(ChangeState::Assigned, "a", Some("ben"), ""),
        entry(ChangeState::Fixed, "ana", None, "second"),
    ];
    wanted.extend(notified.map(|(event, benchmarks)| {
        let content = EntryContent::Notified { channel: "mail".to_owned(), benchmarks };
        ChangeEntry { event, content }
    }));
    assert_eq!(store.change_entries().unwrap(), wanted);
    drop(store);
    // append-only
    let mut other = Raw::open(&path);
    for statement in ["UPDATE change_entry SET note = 'x'", "DELETE FROM change_entry"] {
        let error = other.execute(statement).unwrap_err();
        assert!(error.starts_with("append-only: "), "{statement}: {error}");
    }
}
