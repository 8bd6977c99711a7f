//! The wall clock.

use jiff::Timestamp;

/// Current time, RFC 3339, whole seconds.
pub fn now() -> String {
    rfc3339(Timestamp::now())
}

/// Whole seconds.
pub fn rfc3339(time: Timestamp) -> String {
    time.strftime("%FT%TZ").to_string()
}
