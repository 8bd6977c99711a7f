//! The wall clock.

use jiff::Timestamp;

/// Current time, RFC 3339, whole seconds.
pub fn now() -> String {
    rfc3339(Timestamp::now())
}

/// RFC 3339, whole seconds.
pub fn rfc3339(time: Timestamp) -> String {
    time.strftime("%FT%TZ").to_string()
}

/// When the time of a run that goes on is spent; `None` without a limit, or after it.
pub fn end_of_budget(started: &str, budget_s: Option<f64>) -> Option<String> {
    let started: Timestamp = started.parse().ok()?;
    let budget = jiff::SignedDuration::try_from_secs_f64(budget_s?).ok()?;
    let end = started.checked_add(budget).ok()?;
    (end > Timestamp::now()).then(|| rfc3339(end))
}

/// The time `days` days before `time`, RFC 3339 in UTC; `None` if `time` is invalid.
pub fn days_before(time: &str, days: i64) -> Option<String> {
    let time: Timestamp = time.parse().ok()?;
    let before = time.checked_sub(jiff::SignedDuration::from_hours(24 * days));
    before.ok().map(rfc3339)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spent_budgets_have_no_end() {
        let started = rfc3339(Timestamp::now() - jiff::SignedDuration::from_secs(60));
        let end = end_of_budget(&started, Some(300.0)).unwrap();
        let length = end.parse::<Timestamp>().unwrap() - started.parse::<Timestamp>().unwrap();
        assert_eq!(length.total(jiff::Unit::Second).unwrap(), 300.0);
        assert_eq!(end_of_budget(&started, Some(30.0)), None);
        assert_eq!(end_of_budget(&started, None), None);
        assert_eq!(end_of_budget("yesterday", Some(300.0)), None);
    }
}
