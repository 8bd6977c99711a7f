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

/// The time `days` days before `time`, RFC 3339 in UTC; `None` if `time` is invalid.
pub fn days_before(time: &str, days: i64) -> Option<String> {
    let time: Timestamp = time.parse().ok()?;
    let before = time.checked_sub(jiff::SignedDuration::from_hours(24 * days));
    before.ok().map(rfc3339)
}
