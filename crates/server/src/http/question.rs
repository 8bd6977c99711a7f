//! What a request asks for: a path and a query become a question, or nothing. No path names a file.

use hyper::body::Bytes;
use percent_encoding::percent_decode_str;
use std::fmt;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The store at a glance.
    Overview,
    /// A run.
    Run(String),
    /// How far a run has come, again and again until it has ended.
    Follow(String),
    /// Runs against another.
    Compare(Compared),
    /// A benchmark over the newest runs.
    Benchmark(History),
    /// A system.
    System(String),
    /// Whatever has these words.
    Search(String),
    /// What changed.
    Changes,
    /// Changes that belong together.
    Event(String),
    /// Every benchmark over all systems.
    Fleet,
    /// How far a fleet run has come, again and again until it has ended.
    FollowFleet,
    /// Newest results of every system, for a scraper.
    Metrics,
    /// Whether the store can be read.
    Health,
    /// The picture beside the name of a page.
    Icon,
    /// The description of all paths.
    Api,
    /// All runs.
    Runs,
    /// A run with all its launches, as it can be imported.
    Bundle(String),
    /// Whether the client may send something.
    MaySend(Sent),
    /// Keep this: a bundle, packed or not, or a note.
    Send(Sent, Bytes),
    /// Remove a run.
    Remove(String),
}

/// What is compared, and what is shown of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// The base.
    pub base: String,
    /// The others.
    pub runs: Vec<String>,
    /// Benchmarks of this family alone; empty for all.
    pub family: String,
    /// Benchmarks with this verdict alone; empty for all.
    pub verdict: String,
    /// Benchmarks that differ by so many percent at least; 0 for all.
    pub effect: u32,
}

/// Which history is shown, and how much of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The benchmark.
    pub id: String,
    /// So many newest runs at most.
    pub runs: usize,
    /// Of them those since this date; empty for all.
    pub from: String,
    /// Of them those until this date; empty for all.
    pub to: String,
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A run.
    Run,
    /// What is known of a change.
    Note(String),
}

/// By what a client may do more than others.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Key {
    /// Nothing.
    #[default]
    None,
    /// A token that the client sends by itself.
    Token(String),
    /// A token that a browser sends with everything: good for reading alone.
    Password(String),
}

// a secret is in no log
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Token(_) => "Token",
            Self::Password(_) => "Password",
        })
    }
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// For people.
    Page,
    /// For programs.
    Json,
    /// News: Atom.
    Feed,
}

/// A question, and in which form the answer is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// What is asked for.
    pub question: Question,
    /// In which form.
    pub form: Form,
    /// The path of the same as JSON, with its query.
    pub json: String,
    /// By what it is asked.
    pub key: Key,
}

impl Asked {
    /// A question of a program.
    #[must_use]
    pub fn by_program(question: Question) -> Self {
        Self {
            question,
            form: Form::Json,
            json: String::new(),
            key: Key::None,
        }
    }
}

/// Runs of a history unless the query says how many, and at most.
const RUNS: usize = 100;
const MOST_RUNS: usize = 1000;
/// Runs that are compared with a base at most.
const MOST_COMPARED: usize = 8;
/// Percent that benchmarks are asked to differ by at most.
const LARGEST: u32 = 1000;
/// Letters of a date at most: 2026-11-25.
const DATE: usize = 10;
/// Letters that are searched for at most.
const LONGEST: usize = 200;

/// What a path and a query ask for. `json` says whether the request prefers JSON, which a path in `.json` asks for as well.
#[must_use]
pub fn parse(path: &str, query: &str, json: bool) -> Option<Asked> {
    let (plain, json) = match path.strip_suffix(".json") {
        Some(plain) => (plain, true),
        None => (path, json),
    };
    let form = if json { Form::Json } else { Form::Page };
    let mut asked = Asked {
        question: question(plain, query)?,
        form,
        json: at(plain, query),
        key: Key::None,
    };
    match (path, &asked.question) {
        ("/changes.atom", _) => asked.form = Form::Feed,
        // in one form alone
        (
            _,
            Question::Metrics
            | Question::Health
            | Question::Icon
            | Question::Follow(_)
            | Question::FollowFleet,
        ) if path != plain => return None,
        (_, Question::Runs | Question::Bundle(_) | Question::Api) => asked.form = Form::Json,
        _ => {}
    }
    Some(asked)
}

/// The same as JSON.
fn at(plain: &str, query: &str) -> String {
    let plain = match plain {
        "/" => "/overview",
        "/changes.atom" => "/changes",
        plain => plain,
    };
    match query {
        "" => format!("{plain}.json"),
        query => format!("{plain}.json?{query}"),
    }
}

/// Below which changes are acknowledged.
const CHANGES_OF_API: &str = "/api/v1/changes/";
/// What a run is followed by.
const EVENTS: &str = "/events";
/// Where runs are sent to, and where all of them are listed.
const RUNS_OF_API: &str = "/api/v1/runs";

/// The run that a path of the API names.
fn of_api(path: &str) -> Option<String> {
    let id = path.strip_prefix(RUNS_OF_API)?.strip_prefix('/')?;
    decoded(id).filter(|id| !id.is_empty())
}

/// What is asked for with another method than GET.
#[must_use]
pub fn parse_change(method: &str, path: &str) -> Option<Question> {
    match method {
        "POST" if path == RUNS_OF_API => Some(Question::MaySend(Sent::Run)),
        "POST" => {
            let event = decoded(path.strip_prefix(CHANGES_OF_API)?)?;
            (!event.is_empty()).then_some(Question::MaySend(Sent::Note(event)))
        }
        "DELETE" => of_api(path).map(Question::Remove),
        _ => None,
    }
}

fn question(path: &str, query: &str) -> Option<Question> {
    match path {
        RUNS_OF_API => return Some(Question::Runs),
        "/api/v1/openapi" => return Some(Question::Api),
        path if path.starts_with(RUNS_OF_API) => return of_api(path).map(Question::Bundle),
        _ => {}
    }
    let query = Query::parse(query)?;
    let followed = path.strip_suffix(EVENTS);
    if let Some(run) = followed.and_then(|path| path.strip_prefix("/runs/")) {
        return decoded(run)
            .filter(|run| !run.is_empty())
            .map(Question::Follow);
    }
    let (first, rest) = path.strip_prefix('/')?.split_once('/').map_or_else(
        || (path.trim_start_matches('/'), None),
        |(first, rest)| (first, Some(rest)),
    );
    let rest = match rest {
        Some(rest) => Some(decoded(rest).filter(|rest| !rest.is_empty())?),
        None => None,
    };
    Some(match (first, rest) {
        ("" | "overview", None) => Question::Overview,
        ("runs", Some(id)) => Question::Run(id),
        ("compare", None) => Question::Compare(compared(&query)?),
        ("benchmarks", Some(id)) => {
            let runs = match query.get("runs") {
                None => RUNS,
                Some(runs) => runs.parse().ok().filter(|n| (1..=MOST_RUNS).contains(n))?,
            };
            let [from, to] = ["from", "to"].map(|name| query.get(name).unwrap_or_default());
            let date = |text: &str| {
                text.len() <= DATE && text.bytes().all(|b| b.is_ascii_digit() || b == b'-')
            };
            (date(&from) && date(&to)).then_some(())?;
            Question::Benchmark(History { id, runs, from, to })
        }
        ("systems", Some(id)) => Question::System(id),
        ("search", None) => {
            let words = query.get("q").unwrap_or_default();
            (words.chars().count() <= LONGEST).then_some(Question::Search(words))?
        }
        ("changes.atom" | "changes", None) => Question::Changes,
        ("changes", Some(id)) => Question::Event(id),
        ("fleet", None) => Question::Fleet,
        ("fleet", Some(events)) if events == "events" => Question::FollowFleet,
        ("metrics", None) => Question::Metrics,
        ("health", None) => Question::Health,
        ("favicon.ico", None) => Question::Icon,
        _ => return None,
    })
}

fn compared(query: &Query) -> Option<Compared> {
    // a form sends what was not chosen as nothing
    let runs = query.all("run").filter(|run| !run.is_empty());
    let runs: Vec<String> = runs.map(str::to_owned).collect();
    let effect = match query.get("effect").unwrap_or_default().as_str() {
        "" => 0,
        effect => effect.parse().ok().filter(|n| *n <= LARGEST)?,
    };
    (1..=MOST_COMPARED).contains(&runs.len()).then_some(())?;
    Some(Compared {
        base: query.get("base")?,
        runs,
        family: query.get("family").unwrap_or_default(),
        verdict: query.get("verdict").unwrap_or_default(),
        effect,
    })
}

/// Text without `%XX`; nothing where that is no text, or has a character that no name has.
fn decoded(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8().ok()?;
    (!text.contains(char::is_control)).then(|| text.into_owned())
}

/// The parameters of a query.
struct Query(Vec<(String, String)>);

impl Query {
    fn parse(text: &str) -> Option<Self> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            // as forms write them
            let [name, value] = [name, value].map(|text| decoded(&text.replace('+', " ")));
            Some((name?, value?))
        };
        pairs.map(pair).collect::<Option<_>>().map(Self)
    }

    /// The first of that name.
    fn get(&self, name: &str) -> Option<String> {
        self.all(name).next().map(str::to_owned)
    }

    /// All of that name.
    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let of_name = self.0.iter().filter(move |(known, _)| known == name);
        of_name.map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(path: &str, query: &str) -> Option<Question> {
        parse(path, query, false).map(|asked| asked.question)
    }

    #[test]
    fn each_page_has_a_path() {
        let run = Question::Run("20261123-185538-cfe385a0".to_owned());
        let compare = |runs: &[&str], effect| {
            Question::Compare(Compared {
                base: "a b".to_owned(),
                runs: runs.iter().map(ToString::to_string).collect(),
                family: "byte".to_owned(),
                verdict: String::new(),
                effect,
            })
        };
        let benchmark = |id: &str, runs, to: &str| {
            Question::Benchmark(History {
                id: id.to_owned(),
                runs,
                from: String::new(),
                to: to.to_owned(),
            })
        };
        let event = Question::Event("a-worse".to_owned());
        for (path, query, question) in [
            ("/", "", Question::Overview),
            ("/overview", "", Question::Overview),
            ("/runs/20261123-185538-cfe385a0", "", run),
            ("/compare", "base=a+b&run=c&family=byte", compare(&["c"], 0)),
            (
                "/compare",
                "base=a+b&run=c&run=&run=d&family=byte&effect=5",
                compare(&["c", "d"], 5),
            ),
            ("/runs/a%20b/events", "", Question::Follow("a b".to_owned())),
            ("/changes", "", Question::Changes),
            ("/changes/a-worse", "", event),
            ("/fleet", "", Question::Fleet),
            ("/fleet/events", "", Question::FollowFleet),
            (
                "/benchmarks/fs/rand-read/8k@cold",
                "",
                benchmark("fs/rand-read/8k@cold", 100, ""),
            ),
            (
                "/benchmarks/byte/pipe",
                "runs=7",
                benchmark("byte/pipe", 7, ""),
            ),
            (
                "/benchmarks/byte/pipe",
                "runs=7&from=&to=2026-11",
                benchmark("byte/pipe", 7, "2026-11"),
            ),
            ("/systems/a%20b", "", Question::System("a b".to_owned())),
            (
                "/search",
                "q=6.18%2B+gcc",
                Question::Search("6.18+ gcc".to_owned()),
            ),
            ("/search", "", Question::Search(String::new())),
            ("/changes.atom", "", Question::Changes),
            ("/metrics", "", Question::Metrics),
            ("/health", "", Question::Health),
        ] {
            assert_eq!(asked(path, query), Some(question), "{path}?{query}");
        }
    }

    #[test]
    fn the_form_is_that_of_the_path_or_of_the_request() {
        let form = |path, json| parse(path, "", json).map(|asked| asked.form);
        assert_eq!(form("/runs/a", false), Some(Form::Page));
        assert_eq!(form("/runs/a", true), Some(Form::Json));
        assert_eq!(form("/runs/a.json", false), Some(Form::Json));
        assert_eq!(form("/changes.atom", true), Some(Form::Feed));
        assert_eq!(form("/metrics.json", false), None);
        let json = |path, query| parse(path, query, false).map(|asked| asked.json);
        assert_eq!(json("/", "").unwrap(), "/overview.json");
        assert_eq!(json("/search", "q=a").unwrap(), "/search.json?q=a");
        assert_eq!(json("/changes.atom", "").unwrap(), "/changes.json");
    }

    #[test]
    fn what_names_no_page_is_none() {
        for (path, query) in [
            ("", ""),
            ("runs/a", ""),
            ("/runs", ""),
            ("/runs/", ""),
            ("/none", ""),
            ("/compare", "base=a"),
            ("/compare", "base=a&run="),
            ("/compare", "base=a&run=b&effect=-1"),
            ("/compare", "base=a&run=b&effect=1001"),
            (
                "/compare",
                "base=a&run=1&run=2&run=3&run=4&run=5&run=6&run=7&run=8&run=9",
            ),
            ("/runs//events", ""),
            ("/runs/a/events.json", ""),
            ("/fleet/events.json", ""),
            ("/fleet/a", ""),
            ("/changes/", ""),
            ("/benchmarks/byte/pipe", "runs=0"),
            ("/benchmarks/byte/pipe", "runs=1001"),
            ("/benchmarks/byte/pipe", "runs=x"),
            ("/benchmarks/byte/pipe", "from=x"),
            ("/benchmarks/byte/pipe", "to=2026-11-251"),
            ("/runs/a%00", ""),
            ("/runs/a%0d%0aSet-Cookie:x", ""),
            ("/runs/%ff", ""),
            ("/search", "q=%1b"),
        ] {
            assert_eq!(asked(path, query), None, "{path}?{query}");
        }
        assert_eq!(asked("/search", &format!("q={}", "x".repeat(201))), None);
    }

    proptest! {
        #[test]
        fn any_path_is_read_without_panic(path in "/?(runs|compare|benchmarks|search|[ -~]{0,9})(/|%|\\.|[ -~]|\\PC){0,40}", query in "([a-z]{1,8}=?[ -~]{0,20}&?){0,6}", json: bool) {
            // these end a path
            let path = path.replace(['?', '#'], "");
            if let Some(asked) = parse(&path, &query, json) {
                let again = match asked.json.split_once('?') {
                    Some((path, query)) => parse(path, query, false),
                    None => parse(&asked.json, "", false),
                };
                // but for what has no JSON
                if !matches!(asked.question, Question::Metrics | Question::Health | Question::Icon | Question::Follow(_) | Question::FollowFleet) {
                    prop_assert_eq!(again.unwrap().question, asked.question);
                }
            }
        }
    }
}
