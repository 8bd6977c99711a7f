//! Starts, places, times out and cleans up after processes.
