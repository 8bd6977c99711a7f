//! Benchmarks, host, selection and budget to steps and skips.
