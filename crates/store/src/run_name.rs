//! Names of runs: new identifiers, and resolution of names.

use crate::error::{Fault, ResolveError};
use gritstone_model::{LAST, check_label, check_run_id};
use jiff::Timestamp;

/// Identifier of a run that starts at `now`: sorts by time, to the second; unique if `random` is.
///
/// ```
/// let now = "2026-11-21T09:30:12Z".parse().unwrap();
/// assert_eq!(gritstone_store::new_id(now, 0x4f2a_19c3), "20261121-093012-4f2a19c3");
/// ```
pub fn new_id(now: Timestamp, random: u32) -> String {
    format!("{}-{random:08x}", now.strftime("%Y%m%d-%H%M%S"))
}

/// Refuses identifiers and labels that could not be resolved, and starts that do not sort.
pub(crate) fn check(id: &str, label: Option<&str>, started: &str) -> Result<(), Fault> {
    check_run_id(id).map_err(Fault::unfit)?;
    label.map_or(Ok(()), check_label).map_err(Fault::unfit)?;
    // listings sort by these 19 characters
    let sorts = |time: Timestamp| {
        let second = started.get(..19);
        started.ends_with('Z') && second.is_some_and(|s| time.to_string().starts_with(s))
    };
    match started.parse() {
        Ok(time) if sorts(time) => Ok(()),
        _ => Err(Fault::unfit(format!(
            "'{started}' is not a time in UTC such as 2026-11-21T09:30:12Z"
        ))),
    }
}

/// The trial whose first side has this label: sides have letters, or numbers with leading zeros.
pub fn trial_of(label: &str) -> Option<&str> {
    let (trial, side) = label.rsplit_once('-')?;
    let number = side.len() > 1 && side.trim_start_matches('0') == "1";
    (side == "a" || number).then_some(trial)
}

/// A resolved name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub id: String,
    /// Number of runs with the label; this is the newest.
    pub labeled: usize,
    /// The name is only part of the identifier.
    pub by_part: bool,
}

impl Named {
    /// A name of exactly one run.
    pub(crate) fn alone(id: &str) -> Self {
        let id = id.to_owned();
        Self { id, labeled: 1, by_part: false }
    }
}

/// How many runs back `last` and `last~2` go; `None` for other names.
pub(crate) fn back(name: &str) -> Option<usize> {
    let back = name.strip_prefix("last~").filter(|back| digits(back));
    match name {
        LAST => Some(0),
        // a number too large for usize exceeds every store
        _ => back.map(|back| back.parse().unwrap_or(usize::MAX)),
    }
}

/// Runs of this machine.
pub(crate) struct LocalRuns {
    /// Those that `last` counts, newest first.
    pub(crate) runs: Vec<String>,
    /// The newest side of a trial.
    pub(crate) trial: Option<String>,
}

/// The run `back` runs before the newest of `local`; `all` are used for suggestions.
pub(crate) fn last(
    name: &str,
    back: usize,
    local: &LocalRuns,
    all: &[(String, Option<String>)],
) -> Result<Named, ResolveError> {
    match (local.runs.get(back), local.runs.len(), all.last()) {
        (Some(id), ..) => Ok(Named::alone(id)),
        (None, 0, None) => Err(ResolveError::NoneYet),
        (None, 0, Some((id, _))) => Err(match &local.trial {
            Some(trial) => ResolveError::OnlyTrials(trial.clone()),
            None => ResolveError::NoneHere(id.clone()),
        }),
        (None, runs, _) => Err(ResolveError::TooFar(name.to_owned(), runs)),
    }
}

/// Resolves `name` among `runs` (identifier and label, newest last): identifier, then label (its newest run), then part
/// of one identifier. A label that listings show as the identifier of another run is ambiguous.
pub(crate) fn pick(name: &str, runs: &[(String, Option<String>)]) -> Result<Named, ResolveError> {
    if runs.is_empty() {
        return Err(ResolveError::NoneYet);
    }
    if name.is_empty() {
        return Err(ResolveError::Empty);
    }
    if runs.iter().any(|(id, _)| id == name) {
        return Ok(Named::alone(name));
    }
    let labeled = runs.iter().filter(|(_, label)| label.as_deref() == Some(name));
    let labeled: Vec<&String> = labeled.map(|(id, _)| id).collect();
    if let Some(newest) = labeled.last() {
        let is_shown_as = |id: &String| id.rsplit_once('-').is_some_and(|(_, hash)| hash == name);
        let shown = runs.iter().map(|(id, _)| id);
        let shown = shown.filter(|id| is_shown_as(id) && !labeled.contains(id));
        let candidates: Vec<String> = shown.chain([*newest]).cloned().collect();
        return match candidates.len() {
            1 => Ok(Named { labeled: labeled.len(), ..Named::alone(newest) }),
            _ => Err(ResolveError::Ambiguous(name.to_owned(), candidates)),
        };
    }
    let has = |id: &&String| id.contains(name);
    let candidates: Vec<&String> = runs.iter().map(|(id, _)| id).filter(has).collect();
    match candidates[..] {
        [] => {
            let mut labels = runs.iter().filter_map(|(_, label)| label.as_deref());
            if labels.any(|label| trial_of(label) == Some(name)) {
                return Err(ResolveError::Trial(name.to_owned()));
            }
            let nearest = nearest(name, runs);
            Err(ResolveError::Unknown(name.to_owned(), nearest))
        }
        [id] => Ok(Named { by_part: true, ..Named::alone(id) }),
        _ => {
            let candidates = candidates.into_iter().cloned().collect();
            Err(ResolveError::Ambiguous(name.to_owned(), candidates))
        }
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The name with the smallest edit distance from `name`, at most a third of its length; the newest of equally near
/// ones.
fn nearest(name: &str, runs: &[(String, Option<String>)]) -> Option<String> {
    let names = runs.iter().rev().flat_map(|(id, label)| label.iter().chain([id]));
    names
        .map(String::as_str)
        .chain([LAST])
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(slips, known)| *slips <= known.chars().count().max(3) / 3)
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, known)| known.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_resolve_or_explain() {
        let [a, b, c, d] = [
            "20261120-080000-00000001",
            "20261120-080000-00000002",
            "20261121-093012-4f2a19c3",
            "20261122-000000-ffffffff",
        ];
        let labels = [(a, "before"), (b, "cut-a"), (c, "before"), (d, "20261120")];
        let runs = labels.map(|(id, label)| (id.to_owned(), Some(label.to_owned())));
        for (name, found) in [
            (b, b),
            ("20261121", c),
            ("4f2a", c),
            // the newest of two runs with the label
            ("before", c),
            // whole labels precede prefixes of identifiers
            ("20261120", d),
            ("20261120-", &format!("'20261120-' may be any of {a}, {b}")),
            ("befroe", "no run is called 'befroe'; did you mean 'before'?"),
            ("lats", "no run is called 'lats'; did you mean 'last'?"),
            (
                "20261121-093012-4f2a19c4",
                &format!("no run is called '20261121-093012-4f2a19c4'; did you mean '{c}'?"),
            ),
            (
                "cut",
                "no run is called 'cut'; if it is a test of `bench` or `ab`, `gritstone ab --of cut` shows it",
            ),
            ("something else", "no run is called 'something else'; `gritstone runs` lists them"),
        ] {
            let picked = pick(name, &runs).map(|named| named.id);
            let picked = picked.unwrap_or_else(|error| error.to_string());
            assert_eq!(picked, found, "{name}");
        }
        let error = |name| pick(name, &runs).unwrap_err();
        assert!(matches!(error(""), ResolveError::Empty));
        for name in ["after", "last~", "last~-1", "last~x"] {
            assert!(matches!(error(name), ResolveError::Unknown(..)), "{name}");
        }
        assert_eq!(pick("before", &runs).unwrap().labeled, 2);
        for (name, by_part) in [("4f2a", true), ("20261120", false), (c, false)] {
            assert_eq!(pick(name, &runs).unwrap().by_part, by_part, "{name}");
        }
        assert!(matches!(pick("x", &[]), Err(ResolveError::NoneYet)));

        let local = LocalRuns { runs: [d, a].map(str::to_owned).into(), trial: None };
        let last = |name: &str| match last(name, back(name).unwrap(), &local, &runs) {
            Ok(named) => named.id,
            Err(error) => error.to_string(),
        };
        assert_eq!(["last", "last~0", "last~1"].map(last), [d, d, a]);
        assert_eq!(last("last~2"), "'last~2' goes back too far: the first run is last~1");
        let far = "last~99999999999999999999999";
        assert!(last(far).contains("too far"));
        assert_eq!(["last~", "last~-1", "last~x", "lasting"].map(back), [None; 4]);
        let without = |trial: Option<&str>| {
            let local = LocalRuns { runs: vec![], trial: trial.map(str::to_owned) };
            super::last("last", 0, &local, &runs).unwrap_err().to_string()
        };
        let (none, trials) = (without(None), without(Some(b)));
        assert!(none.contains(d), "{none}");
        assert!(trials.contains("only tests") && trials.contains(b), "{trials}");
    }

    #[test]
    fn labels_hide_no_identifier() {
        let [a, b] = ["20261120-080000-842e88e2", "20261121-093012-4f2a19c3"];
        let labeled = |label: &str| {
            [(a, None), (b, Some(label))]
                .map(|(id, label)| (id.to_owned(), label.map(str::to_owned)))
        };
        let picked = |name: &str, label: &str| match pick(name, &labeled(label)) {
            Ok(named) => named.id,
            Err(error) => error.to_string(),
        };
        assert_eq!(picked("842e88e2", "842e88e2"), format!("'842e88e2' may be any of {a}, {b}"));
        assert_eq!(picked(a, "842e88e2"), a);
        // part of an identifier that no listing shows, and the run's identifier
        for label in ["842e", "4f2a19c3"] {
            assert_eq!(picked(label, label), b);
        }
    }

    #[test]
    fn identifiers_sort_by_time() {
        let id = |time: &str, random| new_id(time.parse().unwrap(), random);
        assert_eq!(id("2026-11-21T09:30:12.9Z", 1), "20261121-093012-00000001");
        assert!(id("2026-11-21T09:30:12Z", u32::MAX) < id("2026-11-21T09:30:13Z", 0));
    }

    #[test]
    fn unresolvable_names_are_refused() {
        let (id, time) = ("20261121-093012-4f2a19c3", "2026-11-21T09:30:12.25Z");
        check(id, Some("before"), time).unwrap();
        check(id, None, "2026-11-21T09:30:12Z").unwrap();
        let ids = ["", "-x"].map(|id| (id, None, time));
        let labels = ["", "20261121-"].map(|label| (id, Some(label), time));
        let times = [
            "",
            "yesterday",
            "2026-11-21T09:30:12+01:00",
            "2026-11-21 09:30:12Z",
            "2026-11-21T09:30Z",
            "20261121T093012Z",
        ];
        let times = times.map(|time| (id, None, time));
        for (id, label, time) in ids.into_iter().chain(labels).chain(times) {
            assert!(check(id, label, time).is_err(), "{id} {label:?} {time}");
        }
    }
}
