//! The wall clock.

/// Current time, RFC 3339, whole seconds.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%FT%TZ").to_string()
}
