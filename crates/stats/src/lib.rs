//! From samples to estimate, interval and comparison.
