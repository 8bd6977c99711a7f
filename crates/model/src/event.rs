//! Events that a workload reports on descriptor 3. Integer nanoseconds throughout.

use crate::{Counts, Param};
use serde::{Deserialize, Serialize};

/// Difference of two readings of `getrusage(2)`. User and system time are ticks on many kernels: single values mean little, sums over
/// 100 ticks do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// ns.
    pub user: u64,
    /// ns.
    pub system: u64,
    /// CPU clock of the process (`CLOCK_PROCESS_CPUTIME_ID`), ns: exact even if user and system are ticks.
    pub cpu: u64,
    pub vcsw: u64,
    pub icsw: u64,
    pub minflt: u64,
    pub majflt: u64,
    pub inblock: u64,
    pub oublock: u64,
    /// Lower bound of the migrations between CPUs.
    pub migrations: u64,
}

/// n operations timed together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    pub n: u64,
    /// Wall time of the n operations, ns.
    pub wall: u64,
    /// Femtoseconds per core cycle; 0 without probe.
    #[serde(rename = "pace")]
    pub cycle_probe: u64,
    /// Femtoseconds per independent addition; 0 without probe. Longer, as a share of `cycle_probe`, if the sibling was busy.
    #[serde(default, rename = "wide")]
    pub smt_probe: u64,
    /// Resource usage of the n operations.
    pub usage: Usage,
}

/// Repetitions of the reference workload (n operations), each timed as one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Operations per batch.
    pub n: u64,
    /// Wall time of each batch, ns.
    pub walls: Vec<u64>,
    /// As in [`Sample`].
    #[serde(rename = "pace")]
    pub cycle_probe: u64,
    /// As in [`Sample`].
    #[serde(default, rename = "wide")]
    pub smt_probe: u64,
    /// Resource usage of all batches together.
    pub usage: Usage,
}

/// Log-linear histogram of the latencies of single operations.
/// Bucket `i` below 128 holds the value `i` ns; above, each power of two is cut into 64 buckets:
/// bucket `i` begins at `(64 + i % 64) << (i / 64 - 1)` ns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    pub count: u64,
    /// ns.
    pub min: u64,
    /// ns.
    pub max: u64,
    /// ns.
    pub sum: u64,
    /// (bucket, count) of each bucket that is not empty, in order.
    pub buckets: Vec<(u32, u64)>,
    /// Set for responses to users, which are not operations of the estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Box<ResponsesOf>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResponsesOf {
    pub users: u64,
    pub kind: String,
}

impl Histogram {
    /// Smallest value in a bucket, ns.
    pub fn floor(bucket: u32) -> u64 {
        if bucket < 128 {
            u64::from(bucket)
        } else {
            (64 + u64::from(bucket % 64)) << (bucket / 64 - 1).min(57)
        }
    }
}

/// Check value of one timed region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Requested operations.
    pub n: u64,
    pub got: u64,
    /// From a closed form or an independent computation.
    pub expected: u64,
}

/// One line of the protocol. A launch has dozens and a run in memory has all of them, so the long ones are boxed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    Hello {
        protocol: u32,
        /// `family/name` of the workload.
        kernel: String,
    },
    Param(Param),
    /// A timed region of the calibration: not a result, but shows that time grows with n.
    Warm {
        n: u64,
        /// ns.
        wall: u64,
    },
    Sample(Box<Sample>),
    Batch(Box<Batch>),
    /// A whole process of the reference workload, as time(1) sees it.
    Process(Box<Sample>),
    Latency(Box<Histogram>),
    /// Counters over n operations other than those of samples.
    Counters {
        n: u64,
        counts: Counts<u64>,
    },
    Check(Check),
    /// The workload cannot run here.
    Skip {
        why: String,
    },
    Fail {
        /// 0 without errno.
        errno: i32,
        call: String,
        why: String,
    },
    /// Last line of a complete launch.
    Bye,
}

/// Causes of failures that the harness handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Time does not grow with n.
    NoGrowth,
    OtherCopy,
    /// Nonzero exit status of a user command, or the signal that ended it.
    Status,
    /// A user command left a process running.
    Background,
    /// A user command printed more than the limit in memory.
    Output,
}

impl Event {
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Self::Fail { call, .. } if call == "calibrate" => Some(Cause::NoGrowth),
            Self::Fail { call, .. } if call == "copies" => Some(Cause::OtherCopy),
            Self::Fail { call, .. } if call == "status" => Some(Cause::Status),
            Self::Fail { call, .. } if call == "background" => Some(Cause::Background),
            Self::Fail { call, .. } if call == "output" => Some(Cause::Output),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_small() {
        assert!(size_of::<Event>() <= size_of::<Sample>() / 2);
    }
}
