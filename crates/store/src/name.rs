//! Names of runs: how one is made, and which run one stands for.

use crate::error::{Fault, ResolveError};
use jiff::Timestamp;

/// The newest run.
const LAST: &str = "last";

/// The identifier of a run that starts at `now`: sortable by time, to the second, and unique as far as `random` is.
///
/// ```
/// let now = "2026-11-21T09:30:12Z".parse().unwrap();
/// assert_eq!(gritstone_store::new_id(now, 0x4f2a_19c3), "20261121-093012-4f2a19c3");
/// ```
#[must_use]
pub fn new_id(now: Timestamp, random: u32) -> String {
    format!("{}-{random:08x}", now.strftime("%Y%m%d-%H%M%S"))
}

/// Refuses what could not be asked for again, or not be sorted.
pub(crate) fn check(id: &str, label: Option<&str>, started: &str) -> Result<(), Fault> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if id.is_empty() || !id.chars().all(plain) || reserved(id) {
        return Err(Fault::unfit(format!(
            "'{id}' is no identifier of a run (letters, digits and -)"
        )));
    }
    match label {
        Some(label) if label.trim().is_empty() => {
            return Err(Fault::unfit(
                "the label is empty; leave it away or give one",
            ));
        }
        Some(label) if reserved(label) => {
            return Err(Fault::unfit(format!(
                "the label '{label}' already means something else; choose another"
            )));
        }
        _ => {}
    }
    // the listing sorts by these 19 letters
    let sorts = |time: Timestamp| {
        let second = started.get(..19);
        started.ends_with('Z') && second.is_some_and(|s| time.to_string().starts_with(s))
    };
    match started.parse() {
        Ok(time) if sorts(time) => Ok(()),
        _ => Err(Fault::unfit(format!(
            "'{started}' is no time in UTC such as 2026-11-21T09:30:12Z"
        ))),
    }
}

/// `last`, `last~2`, and the reference machines: no run can be called so.
fn reserved(name: &str) -> bool {
    name == LAST || name.starts_with("last~") || name.starts_with("ref:")
}

/// Which of `runs` (identifier and label, newest last) has `name`: `last`, `last~N`, an identifier, a label (the
/// newest run that has it), or the beginning of one identifier, in this order.
pub(crate) fn pick(name: &str, runs: &[(String, Option<String>)]) -> Result<String, ResolveError> {
    let Some((newest, _)) = runs.last() else {
        return Err(ResolveError::NoneYet);
    };
    if name == LAST {
        return Ok(newest.clone());
    }
    if let Some(back) = name.strip_prefix("last~").filter(|back| digits(back)) {
        // a number too large for usize goes back too far all the same
        let back = back.parse().unwrap_or(usize::MAX);
        return match runs.iter().rev().nth(back) {
            Some((id, _)) => Ok(id.clone()),
            None => Err(ResolveError::TooFar(name.to_owned(), runs.len())),
        };
    }
    let exact = runs.iter().find(|(id, _)| id == name);
    let labeled = || {
        runs.iter()
            .rev()
            .find(|(_, label)| label.as_deref() == Some(name))
    };
    if let Some((id, _)) = exact.or_else(labeled) {
        return Ok(id.clone());
    }
    let begins = |id: &&String| !name.is_empty() && id.starts_with(name);
    let candidates: Vec<&String> = runs.iter().map(|(id, _)| id).filter(begins).collect();
    match candidates[..] {
        [] => {
            let nearest = nearest(name, runs);
            Err(ResolveError::Unknown(name.to_owned(), nearest))
        }
        [id] => Ok(id.clone()),
        _ => {
            let candidates = candidates.into_iter().cloned().collect();
            Err(ResolveError::Ambiguous(name.to_owned(), candidates))
        }
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The name that the fewest slips of the finger turn into `name`, as long as they are at most a third of it; of
/// equally near ones the newest.
fn nearest(name: &str, runs: &[(String, Option<String>)]) -> Option<String> {
    let names = runs
        .iter()
        .rev()
        .flat_map(|(id, label)| label.iter().chain([id]));
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

    /// What a name stands for, or what is said of it.
    #[test]
    fn a_name_stands_for_one_run_or_it_says_why_not() {
        let [a, b, c, d] = [
            "20261120-080000-00000001",
            "20261120-080000-00000002",
            "20261121-093012-4f2a19c3",
            "20261122-000000-ffffffff",
        ];
        let labels = [(a, "before"), (b, ""), (c, "before"), (d, "20261120")];
        let label = |label: &str| Some(label.to_owned()).filter(|label| !label.is_empty());
        let runs = labels.map(|(id, name)| (id.to_owned(), label(name)));
        for (name, found) in [
            ("last", d),
            ("last~0", d),
            ("last~3", a),
            (b, b),
            ("20261121", c),
            // of two that have the label, the newest
            ("before", c),
            // whole labels go before beginnings of identifiers
            ("20261120", d),
            (
                "last~4",
                "'last~4' goes back too far: there are only 4 runs, and the first is last~3",
            ),
            ("20261120-", &format!("'20261120-' may be any of {a}, {b}")),
            (
                "befroe",
                "no run is called 'befroe'; did you mean 'before'?",
            ),
            ("lats", "no run is called 'lats'; did you mean 'last'?"),
            (
                "20261121-093012-4f2a19c4",
                &format!("no run is called '20261121-093012-4f2a19c4'; did you mean '{c}'?"),
            ),
            ("something else", "no run is called 'something else'"),
        ] {
            let picked = pick(name, &runs).unwrap_or_else(|error| error.to_string());
            assert_eq!(picked, found, "{name}");
        }
        let error = |name| pick(name, &runs).unwrap_err();
        for name in ["", "after", "last~", "last~-1", "last~x"] {
            assert!(matches!(error(name), ResolveError::Unknown(..)), "{name}");
        }
        let far = error("last~99999999999999999999999");
        assert!(matches!(far, ResolveError::TooFar(..)), "{far:?}");
        assert!(matches!(pick("last", &[]), Err(ResolveError::NoneYet)));
    }

    #[test]
    fn identifiers_sort_by_time() {
        let id = |time: &str, random| new_id(time.parse().unwrap(), random);
        assert_eq!(id("2026-11-21T09:30:12.9Z", 1), "20261121-093012-00000001");
        assert!(id("2026-11-21T09:30:12Z", u32::MAX) < id("2026-11-21T09:30:13Z", 0));
    }

    #[test]
    fn names_that_could_not_be_asked_for_are_refused() {
        let (id, time) = ("20261121-093012-4f2a19c3", "2026-11-21T09:30:12.25Z");
        check(id, Some("before"), time).unwrap();
        check(id, None, "2026-11-21T09:30:12Z").unwrap();
        let ids = ["", "last", "a b", "../x", "ref:vax", "ä"].map(|id| (id, None, time));
        let labels = ["", " ", "last", "last~1", "ref:vax"].map(|label| (id, Some(label), time));
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
