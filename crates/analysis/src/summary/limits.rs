//! The thresholds of the footnotes, each with its reason, and nothing else.

use std::ops::RangeInclusive;

/// Growth of time with n, as the exponent of n, that still counts as linear. A loop that the compiler removed gives 0
/// and work that piles up gives 2; start-up inside a region and a cache that is left on the way cost a few tenths.
pub const LINEAR_EXPONENT: RangeInclusive<f64> = 0.7..=1.3;
/// Fewest regions at one n: a single one may have been interrupted.
pub const LINEAR_REGIONS: usize = 2;
/// Confidence with which the median of the launches' exponents must be outside: work that fits the cache at the smaller n and not at the
/// larger one scatters by some tenths, so that its median alone is outside now and then.
pub const LINEAR_CONFIDENCE: f64 = 0.95;
/// Doublings of n, the last ones, whose median exponent must be too large as well where the last alone is: calibration aims at 5 ms, a turn of the CPU takes 3 or 4, so that
/// two of them at most are longer than one.
pub const LINEAR_STEPS: usize = 5;
/// Fewest launches for a median of growth.
pub const LINEAR_LAUNCHES: usize = 3;

/// Difference of kernel entries an operation from the claim that an audit allows. They are counted, not sampled; the rest
/// is for calls that a library makes once in a few hundred operations, such as asking for more memory.
pub const ENTRIES_PER_OP: f64 = 0.01;
/// Share of the claimed voluntary switches that must have happened in some sample. A peer that was preempted at the right moment saves
/// a switch now and then; one that spins or batches saves nearly all, in all samples.
pub const SWITCHES_SHARE: f64 = 0.9;
/// Share above the claimed page faults that is allowed: merging and splitting of pages by the system varies by this much.
pub const FAULTS_SHARE: f64 = 0.05;
/// Faults allowed for each sample beside the claim: the first touch of a stack page or of a page of results.
pub const FAULTS_PER_SAMPLE: f64 = 4.0;

/// How many times as wide as asked an interval is flagged as noisy: below, its width says enough.
pub const NOISY: f64 = 2.0;
/// Share of the launches that may be disturbed before the result is flagged: the lower quartile of the launches and the upper end of
/// its interval bear half of them.
pub const DISTURBED_SHARE: f64 = 0.5;
/// CPU time of others on the CPUs of a launch, as a share of the time of these, that disturbs it. Housekeeping of an idle system stays
/// below 2%.
pub const OTHERS_SHARE: f64 = 0.05;
/// Time stolen by the hypervisor, or throttled by a quota, as a share of the time of the launch's CPUs, that disturbs it: it comes in
/// slices of milliseconds, and each falls whole into one sample. Below 1% are the moments in which Gritstone itself has a part of a
/// quota of one CPU.
pub const STOPPED_SHARE: f64 = 0.01;

/// How much longer than alone the additions of the SMT probe take, as a share, where a sample weighs 1/e: when another thread of the
/// core was busy for a part of it. Alone they scatter by 0.1%; beside a busy thread they take half as long again, and twice as long
/// beside its like.
pub const CONTENDED_SHARE: f64 = 0.05;

/// Largest share of start-up in the time of a process that still counts as the reference workload.
pub const START_SHARE: f64 = 0.1;
/// Scheduler ticks of work below which user and system time are too coarse: 100 ticks are one percent each.
pub const TICKS: u64 = 100;
