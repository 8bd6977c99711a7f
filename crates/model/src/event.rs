//! What a kernel says on descriptor 3, as values. Integer nanoseconds throughout.

use crate::Counts;
use serde::{Deserialize, Serialize};

/// What the kernel of the system charged to the process between two readings of `getrusage(2)`.
/// User and system time are ticks on many kernels: single values mean little, sums over 100 ticks do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// User time, ns.
    pub user: u64,
    /// System time, ns.
    pub system: u64,
    /// CPU clock of the process (`CLOCK_PROCESS_CPUTIME_ID`), ns: exact where user and system are ticks.
    pub cpu: u64,
    /// Voluntary context switches.
    pub vcsw: u64,
    /// Involuntary context switches.
    pub icsw: u64,
    /// Minor page faults.
    pub minflt: u64,
    /// Major page faults.
    pub majflt: u64,
    /// Blocks read.
    pub inblock: u64,
    /// Blocks written.
    pub oublock: u64,
    /// At least so many moves to another CPU.
    pub migrations: u64,
}

/// n operations timed together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Operations.
    pub n: u64,
    /// Wall time of the n operations, ns.
    pub wall: u64,
    /// Cycle probe beside the sample: femtoseconds a core cycle; 0 where there was none.
    pub pace: u64,
    /// Cycle probe of additions that need not wait for each other: femtoseconds an addition; 0 where there was none. Longer, as a
    /// share of `pace`, where another thread of the same core was busy.
    #[serde(default)]
    pub wide: u64,
    /// Resource use of the n operations.
    pub usage: Usage,
}

/// The published work (n operations) done again and again as one batch each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Operations in each batch.
    pub n: u64,
    /// Wall time of each batch, ns.
    pub walls: Vec<u64>,
    /// Cycle probe beside the batches, femtoseconds a cycle.
    pub pace: u64,
    /// The cycle probe of additions that need not wait for each other, beside the batches.
    #[serde(default)]
    pub wide: u64,
    /// Resource use of all batches together.
    pub usage: Usage,
}

/// Latencies of single operations: a log-linear histogram.
/// Bucket `i` below 128 holds the value `i` ns; above, each power of two is cut into 64 buckets:
/// bucket `i` begins at `(64 + i % 64) << (i / 64 - 1)` ns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Events recorded.
    pub count: u64,
    /// Smallest, ns.
    pub min: u64,
    /// Largest, ns.
    pub max: u64,
    /// Sum, ns.
    pub sum: u64,
    /// (bucket, events) for every bucket that is not empty, in order.
    pub buckets: Vec<(u32, u64)>,
    /// Which responses they are, where users wait for them: apart from the operations of the estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<Box<ResponsesOf>>,
}

/// Responses by the number of users and the kind of transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResponsesOf {
    /// How many.
    pub users: u64,
    /// Kind of transaction.
    pub kind: String,
}

impl Histogram {
    /// Smallest value of a bucket, ns.
    #[must_use]
    pub fn floor(bucket: u32) -> u64 {
        if bucket < 128 {
            u64::from(bucket)
        } else {
            (64 + u64::from(bucket % 64)) << (bucket / 64 - 1).min(57)
        }
    }
}

/// A check value of one timed region against what it must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Operations that were to be done.
    pub n: u64,
    /// Outcome.
    pub got: u64,
    /// Closed form, or independent computation.
    pub expected: u64,
}

/// One line of a kernel. There are dozens in a launch, most of them short, so those that are not are boxed: a run that is shown is
/// in memory whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// First line: the version of the protocol and the kernel's name.
    Hello {
        /// Version of the protocol.
        protocol: u32,
        /// `family/name` of the program.
        kernel: String,
    },
    /// Something that was found or chosen: clock cost, resolution, file system, seed.
    Param {
        /// Name.
        key: String,
        /// Value, one line.
        value: String,
    },
    /// A timed region of calibration: it is not a figure, but shows that time grows with n.
    Warm {
        /// Operations.
        n: u64,
        /// Wall time, ns.
        wall: u64,
    },
    /// n operations timed together.
    Sample(Box<Sample>),
    /// The published work as batches.
    Batch(Box<Batch>),
    /// One whole process that does the published work, as time(1) sees it.
    Process(Box<Sample>),
    /// Latencies of single operations.
    Latency(Box<Histogram>),
    /// What was counted while n operations were done, apart from those that were timed.
    Counters {
        /// Operations.
        n: u64,
        /// How much of each.
        counts: Counts<u64>,
    },
    /// A check value.
    Check(Check),
    /// Cannot run here.
    Skip {
        /// Reason and what mends it.
        why: String,
    },
    /// A call failed.
    Fail {
        /// `errno`, 0 where there is none.
        errno: i32,
        /// Name of the call.
        call: String,
        /// What it means.
        why: String,
    },
    /// Last line: everything was said.
    Bye,
}

/// What a runtime has a word for that others act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// n operations take no time, however large n is.
    NoGrowth,
    /// Another of several copies ended.
    OtherCopy,
    /// A command ended with a status that is not 0.
    Status,
}

impl Event {
    /// Which of them it tells.
    #[must_use]
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Self::Fail { call, .. } if call == "calibrate" => Some(Cause::NoGrowth),
            Self::Fail { call, .. } if call == "copies" => Some(Cause::OtherCopy),
            Self::Param { key, .. } if key == "status" => Some(Cause::Status),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_lines_are_short_and_none_takes_the_room_of_the_longest() {
        assert!(size_of::<Event>() <= size_of::<Sample>() / 2);
    }
}
