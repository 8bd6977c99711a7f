//! Thresholds of notes, each with its reason.

use std::ops::RangeInclusive;

/// Exponent of n up to which growth of time counts as linear. Removed loops have 0, quadratic work 2; start-up inside a region and leaving
/// a cache cost a few tenths.
pub const LINEAR_EXPONENT: RangeInclusive<f64> = 0.7..=1.3;
/// Fewest regions at one n: a single one may have been interrupted.
pub const LINEAR_REGIONS: usize = 2;
/// Confidence with which the median of the launches' exponents must be outside: work that fits the cache at the smaller n and not at the
/// larger one scatters by some tenths, so that the median alone is sometimes outside.
pub const LINEAR_CONFIDENCE: f64 = 0.95;
/// Last doublings of n whose median exponent must be too large as well. Calibration aims at 1.5 ms or more and a time slice is 3 or 4 ms:
/// at most two steps exceed a slice.
pub const LINEAR_STEPS: usize = 5;
/// Fewest launches for a median of growth.
pub const LINEAR_LAUNCHES: usize = 3;

/// Difference of system calls per operation from the claim that an audit allows. They are counted, not sampled; the tolerance is for calls
/// that a library makes once in a few hundred operations, such as allocating memory.
pub const ENTRIES_PER_OP: f64 = 0.01;
/// Share of the claimed voluntary switches that some sample must reach. A peer that is preempted at the right moment saves a switch now and
/// then; one that spins or batches saves nearly all, in all samples.
pub const SWITCHES_SHARE: f64 = 0.9;
/// Share above the claimed page faults that is allowed: merging and splitting of pages by the system varies by this much.
pub const FAULTS_SHARE: f64 = 0.05;
/// Faults allowed for each sample beside the claim: the first touch of a stack page or of a page of results.
pub const FAULTS_PER_SAMPLE: f64 = 4.0;

/// Ratio of actual to target width from which an interval is flagged as noisy.
pub const NOISY: f64 = 2.0;
/// Share of launches with interference from which the result is flagged: the lower quartile of the launches and the upper end of its
/// interval tolerate half of them.
pub const DISTURBED_SHARE: f64 = 0.5;
/// CPU time of others on the CPUs of a launch, relative to the time of these, that counts as interference. Housekeeping of an idle system
/// stays below 2%.
pub const OTHERS_SHARE: f64 = 0.05;
/// Steal or throttling relative to the time of the launch's CPUs that counts as interference: it comes in slices of milliseconds, each
/// within one sample. Below 1% are the moments in which Gritstone itself uses a part of a quota of one CPU.
pub const STOPPED_SHARE: f64 = 0.01;

/// Relative slowdown of the additions of the SMT probe at which a sample has weight 1/e: when another thread of the core was busy for a
/// part of it. Without one they scatter by 0.1%; beside a busy thread they take 1.5 times as long, beside a similar one twice as long.
pub const CONTENDED_SHARE: f64 = 0.05;

/// Largest share of start-up in the time of a process that still counts as the reference workload.
pub const START_SHARE: f64 = 0.1;
/// Scheduler ticks of work below which user and system time are too coarse: of 100 ticks, each is one percent.
pub const TICKS: u64 = 100;
