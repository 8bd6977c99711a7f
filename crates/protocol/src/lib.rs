//! Bytes from a kernel to events.
