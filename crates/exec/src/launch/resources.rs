//! Resources of single launches: what a workload joins, and arguments that report what is missing.

use super::Executor;
use crate::cgroup::{CPU_PERCENT, Group, memory_limit};
use crate::resource::Unavailable;
use crate::scratch_fs::{Volume, needs_scratch_fs};
use crate::{page_size, swap, tracefs};
use gritstone_model::{Benchmark, KernelWork};
use std::ffi::OsString;

impl Executor {
    /// The group that a workload joins, if any, and arguments that report why there is none. An error is the failure
    /// of the launch.
    pub(super) fn join_group(
        &self,
        work: &KernelWork,
    ) -> Result<(Option<&Group>, Vec<OsString>), String> {
        let mut arguments: Vec<OsString> = self.unswapped(work).into_iter().collect();
        if let Some(percent) = work.params.get(CPU_PERCENT) {
            return self.throttled(percent, arguments);
        }
        let Some(bytes) = memory_limit(work, page_size())? else {
            return Ok((None, arguments));
        };
        let group = match self.acquired.confinement.as_deref() {
            Ok(group) => group,
            Err(why) => {
                arguments.push(format!("unconfined={why}").into());
                return Ok((None, arguments));
            }
        };
        let may_swap = work.asks(swap::PARAM) && self.acquired.swap.is_ok();
        group
            .allow(bytes, may_swap)
            .map_err(|why| format!("cannot limit {} to {bytes} bytes: {why}", group.0.display()))?;
        arguments.push("confined=yes".into());
        Ok((Some(group), arguments))
    }

    fn throttled(
        &self,
        percent: &str,
        mut arguments: Vec<OsString>,
    ) -> Result<(Option<&Group>, Vec<OsString>), String> {
        let group = match self.acquired.throttle.as_deref() {
            Ok(group) => group,
            Err(why) => {
                arguments.push(format!("unthrottled={why}").into());
                return Ok((None, arguments));
            }
        };
        let number = percent.parse().ok().filter(|number| (1..=1_000_000).contains(number));
        let number = number.ok_or_else(|| {
            format!("{CPU_PERCENT} = {percent} is not a percentage of a CPU from 1 to 1000000")
        })?;
        group
            .throttle(number)
            .map_err(|why| format!("cannot limit {} to {number}%: {why}", group.0.display()))?;
        Ok((Some(group), arguments))
    }

    /// The scratch file system or the reason for its absence, for a benchmark that needs one.
    pub(super) fn volume_for(
        &self,
        benchmark: &Benchmark,
    ) -> Option<Result<&Volume, &Unavailable>> {
        needs_scratch_fs(benchmark).then_some(self.acquired.volume.as_deref())
    }

    /// Argument for a workload that needs swap and cannot have it.
    pub(super) fn unswapped(&self, work: &KernelWork) -> Option<OsString> {
        let swap = self.acquired.swap.as_ref();
        let why = swap.err().filter(|_| work.asks(swap::PARAM))?;
        Some(format!("unswapped={why}").into())
    }

    /// Argument for a workload that the trace times.
    pub(super) fn trace_argument(&self, work: &KernelWork) -> Option<OsString> {
        if !work.asks(tracefs::PARAM) {
            return None;
        }
        let mut arguments = OsString::new();
        match &self.acquired.tracing {
            Ok(instance) => {
                arguments.push("trace=");
                arguments.push(instance.path());
            }
            Err(why) => arguments.push(format!("untraced={why}")),
        }
        Some(arguments)
    }
}
