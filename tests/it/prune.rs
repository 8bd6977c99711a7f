//! `gritstone runs prune`: old runs lose their raw samples, and all reports stay the same.

use crate::changes::sides;
use crate::common::postgres::Server as Database;
use crate::common::server::Server;
use crate::common::{Home, at_hour, eventually, list, recorded, short_run};
use crate::push::token;
use crate::serve::changed;
use crate::team::served;
use gritstone_model::{Outcome, RunData, TrialSide};
use serde_json::Value;
use std::fs;

/// Reading commands.
const COMMANDS: [&str; 12] = [
    "show night-24",
    "show night-24 byte/sieve",
    "compare night-2 night-24",
    "history byte/sieve",
    "history byte",
    "check night-24",
    "check night-24 --against night-2",
    "changes",
    "score night-24",
    "runs --all",
    "systems",
    "fleet report night-24 night-2",
];

fn json_of(home: &Home, store: &str, words: &str) -> Value {
    let mut words: Vec<&str> = words.split(' ').collect();
    words.extend(["--store", store, "--format", "json"]);
    let (code, out, error) = home.run(&words);
    assert!([0, 1, 4].contains(&code), "{words:?}: {error}");
    without(serde_json::from_str(&out).unwrap_or_else(|_| panic!("{words:?}: {out}{error}")))
}

/// A value without the fact that samples were pruned, wherever it is.
fn without(mut value: Value) -> Value {
    match &mut value {
        Value::Object(map) => {
            map.remove("pruned");
            for (_, item) in map.iter_mut() {
                *item = without(item.take());
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|item| *item = without(item.take())),
        _ => {}
    }
    value
}

/// Reads of a store with a change and an A/B test are the same before and after pruning.
fn pruned(home: &Home, store: &str) {
    let ok = |words: &str| {
        let words: Vec<&str> = words.split(' ').chain(["--store", store]).collect();
        home.ok(&words)
    };
    let changes = json_of(home, store, "changes");
    assert_eq!(list(&changes["events"]).len(), 1);
    let test = "ab --of layout";
    let read = || COMMANDS.map(|words| json_of(home, store, words));
    let (before, of_test) = (read(), json_of(home, store, test));
    assert_eq!(ok("runs prune --keep-samples 30000w"), "pruned: 0 runs, 0 launches, 0 B\n");
    let dry = ok("runs prune --keep-samples 1d --dry-run");
    assert!(dry.starts_with("to prune: 26 runs, "), "{dry}");
    assert_eq!(read(), before);

    let done = ok("runs prune --keep-samples 1d");
    assert_eq!(done.replace("pruned:", "to prune:"), dry);
    for ((now, before), words) in read().iter().zip(&before).zip(COMMANDS) {
        assert_eq!(now, before, "{words}");
    }
    assert_eq!(json_of(home, store, test), of_test);
    assert_eq!(ok("runs prune --keep-samples 1d"), "pruned: 0 runs, 0 launches, 0 B\n");
    // the fact, and the sentence
    let view: Value = serde_json::from_str(&ok("show night-24 --format json")).unwrap();
    let date = view["pruned"].as_str().unwrap();
    for words in ["show night-24", "show night-24 byte/sieve"] {
        assert!(ok(words).contains("raw samples pruned on "), "{words}");
    }
    let runs: Value = serde_json::from_str(&ok("runs --all --format json")).unwrap();
    assert!(list(&runs["runs"]).iter().all(|run| run["pruned"] == date));
    ok("report night-24 --output brief.html");
    let page = fs::read_to_string(home.path().join("brief.html")).unwrap();
    assert!(page.contains("raw samples pruned on "), "no word of it");
    // what needs samples
    let refused = |words: &str| {
        let words: Vec<&str> = words.split(' ').chain(["--store", store]).collect();
        let error = home.refuses(&words, &format!("were pruned on {date}"));
        assert!(error.contains("gritstone show"), "{error}");
    };
    for format in ["jsonl", "csv", "hyperfine"] {
        refused(&format!("export night-24 --format {format}"));
    }
    // a label that it is given since
    ok("runs label night-24 baseline");
    assert!(ok("show baseline").contains("baseline"));
    let history = json_of(home, store, "history byte/sieve");
    assert!(history.to_string().contains("baseline"), "{history}");
    assert!(ok("runs remove baseline").is_empty());
}

#[test]
#[ignore = "long: make test-full"]
fn pruning_changes_no_result() {
    let home = changed();
    home.import(&sides("layout", 110, 1.2));
    let store = home.store().display().to_string();
    let size = || fs::metadata(home.store()).unwrap().len();
    let before = size();
    pruned(&home, &store);
    assert!(size() < before, "{} of {before}", size());
    home.refuses("runs prune", "--keep-samples");
    for wrong in ["90", "-1d", "0d", "soon", "1y"] {
        home.refuses(&format!("runs prune --keep-samples={wrong}"), "such as 90d");
    }
}

#[test]
#[ignore = "long: make test-full"]
fn pruning_on_servers_changes_nothing() {
    let (home, database) = (changed(), Database::start());
    let url = database.url(&database.database(), "owner");
    home.import(&sides("layout", 110, 1.2));
    let (server, address, [option, token]) = served(&home, &url);
    let push = ["push", "--to", &address, &option, &token];
    assert_eq!(home.ok(&push).lines().count(), 26);
    eventually("the server caches the results", || {
        let changes = json_of(&home, &url, "changes");
        server.page("/changes");
        list(&changes["events"]).len() == 1
    });
    pruned(&Home::new(), &url);
}

#[test]
fn pruned_runs_are_not_sent() {
    let home = Home::new();
    let runs = [1, 2].map(short_run);
    home.import(&runs[..1]);
    home.ok("runs prune --keep-samples 1d");
    let far = Home::new();
    let token = token(&far, "all", "read,write");
    let server = Server::start(&far);
    let to = format!("http://{}", server.address);
    let with = |words: &[&str]| {
        let mut command = home.gritstone(&[words, &[to.as_str()]].concat());
        crate::common::ended(command.env("GRITSTONE_TOKEN", &token))
    };
    let (code, out, error) = with(&["push", "--to"]);
    assert_eq!((code, out.as_str()), (0, ""), "{error}");
    assert!(error.contains("raw samples were pruned: 1 run"), "{error}");
    let (code, _, error) = with(&["push", "hour-1", "--to"]);
    assert!(code == 2 && error.contains("were pruned on"), "{error}");
    home.import(&runs[1..]);
    assert_eq!(with(&["push", "--to"]).1.lines().count(), 1);
    // there it is pruned as well, and known when it is sent again
    far.ok("runs prune --keep-samples 1d");
    let id = &runs[1].info.id;
    let (code, out, error) = with(&["push", "hour-2", "--to"]);
    assert_eq!((code, out.trim()), (0, id.as_str()), "{error}");
    home.ok("runs remove hour-2");
    let (code, out, error) = with(&["pull", "--from"]);
    assert_eq!((code, out.as_str()), (0, ""), "{error}");
    assert!(error.contains("raw samples were pruned: 1 run"), "{error}");
    let (code, _, error) = with(&["pull", id, "--from"]);
    assert!(code != 0 && error.contains("410"), "{error}");
    // its page has its results, and the fact
    assert!(server.page(&format!("/runs/{id}")).contains("raw samples pruned on"));
    let runs = far.json("runs --all");
    assert!(list(&runs["runs"])[0]["pruned"].is_string(), "{runs}");
    assert!(far.ok("runs").contains("import, pruned"));
}

#[test]
fn unreadable_results_are_errors() {
    let home = Home::new();
    let mut run = recorded("copies");
    run.launches.truncate(4);
    home.import(&[at_hour(&run, 1, "old")]);
    home.ok("runs prune --keep-samples 1d");
    // as a later version may write it: kept and sealed in another form
    let again = at_hour(&run, 2, "other");
    let mut store = gritstone_store::Store::open(&home.store()).unwrap();
    store.import(&again).unwrap();
    let results =
        gritstone_store::Results { view: r#"{"form":"another"}"#.to_owned(), ..Default::default() };
    let (id, launches) = (&again.info.id, again.launches.len());
    store.prune(id, "9 0.9.0", launches, &results, "2026-11-25T12:00:00Z").unwrap();
    drop(store);
    let error = home.refuses("show other", "kept by Gritstone 9 0.9.0");
    assert!(error.contains("newer one"), "{error}");
    home.ok("show old");
}

#[test]
fn unfinished_runs_keep_samples() {
    let home = Home::new();
    let mut run = recorded("copies");
    run.launches.truncate(4);
    let side = |hour: u32, name: &str, ended: bool| {
        let mut side = at_hour(&run, hour, &format!("test-{name}"));
        side.info.settings.trial = Some(TrialSide {
            trial: "test".to_owned(),
            side: name.to_owned(),
            ..TrialSide::default()
        });
        side.info.elapsed_s = side.info.elapsed_s.filter(|_| ended);
        side
    };
    let mut open = at_hour(&run, 1, "open");
    open.info.elapsed_s = None;
    // pruned, it would count as one that has measured something
    let mut nothing = at_hour(&run, 5, "nothing");
    for launch in &mut nothing.launches {
        launch.outcome = Outcome::Failed("it ended with status 1".to_owned());
    }
    home.import(&[open, side(2, "a", true), side(3, "b", false), nothing]);
    let prune = |keep: &str| home.ok(&["runs", "prune", "--keep-samples", keep]);
    let none = "pruned: 0 runs, 0 launches, 0 B\n";
    assert_eq!(prune("1h"), none);
    home.import(&[at_hour(&run, 4, "ended")]);
    // since 1970
    assert_eq!(prune("100000d"), none);
    let store = home.store().display().to_string();
    let read = || ["show ended", "compare test-a ended"].map(|words| json_of(&home, &store, words));
    let before = read();
    assert!(prune("1h").starts_with("pruned: 1 run, 4 launches, "));
    assert_eq!(read(), before);
    for label in ["open", "test-a", "test-b", "nothing"] {
        home.ok(&["export", label]);
    }
    home.refuses("export ended", "were pruned on");
}

#[test]
fn trials_are_pruned_whole() {
    let home = Home::new();
    let [a, b]: [RunData; 2] = sides("test", 2, 1.2).try_into().unwrap();
    // the store has the sides in another order than their names
    home.import(&[at_hour(&b, 1, "test-b")]);
    let prune = || home.ok("runs prune --keep-samples 1h");
    assert_eq!(prune(), "pruned: 0 runs, 0 launches, 0 B\n");
    home.import(&[a]);
    let store = home.store().display().to_string();
    let trial = || json_of(&home, &store, "ab --of test");
    let before = trial();
    assert_eq!(before["sides"][0]["side"], "a");
    assert!(prune().starts_with("pruned: 2 runs, "));
    assert_eq!(trial(), before);
}
