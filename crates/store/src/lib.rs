//! Runs, append-only, raw samples kept.
