//! Facts reported by a workload or the executor: key and value in the protocol and in stores.

use crate::benchmark::LOAD;
use crate::names::names;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Display;

/// Only typed variants influence results. Values round-trip exactly: one that would be written differently is read as [`Param::Other`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "KeyValue", into = "KeyValue")]
pub enum Param {
    /// The following events belong to this copy, from 1.
    Copy(u32),
    /// The following samples are of transfers between these CPUs.
    CpuPair(u32, u32),
    /// Exit status of the next execution of a command, if not 0; negative for a signal.
    Status(i32),
    /// Exit status of a failed execution, which gave no sample.
    LeftOut(i32),
    /// Peak memory of the next execution, KiB.
    PeakMemory(u64),
    Number(Metric, Number),
    /// Rate of a background load program.
    LoadRate(Box<ProgramRate>),
    /// A symbol that a program defines.
    Symbol(String),
    /// Standard input of a command.
    Input(String),
    /// Medium of the files of a launch: page cache, file system, device.
    Medium(String),
    /// How the page cache was avoided.
    Uncached(String),
    /// Process of another run that measured on this machine; 0 if unknown.
    OtherRun(u32),
    /// Build of the launch, if the side has several that differ by the layout of their code.
    Layout(u32),
    Remark(String),
    /// Replacement for a program that is missing here.
    StandIn(String),
    Other {
        key: String,
        value: String,
    },
}

/// Least relative error of the start-up time of a shell.
pub const START_UP_ERROR: f64 = 0.05;

names! {
    /// Metrics that a launch reports as a number.
    pub enum Metric {
        /// Clock resolution, ns.
        ClockStep = "clock_resolution_ns",
        /// Tick of the scheduler, ns.
        Tick = "tick_ns",
        /// Start-up time of an idle shell, ns.
        StartUp = "start_up_ns",
        /// Half-width of its interval, ns.
        StartUpError = "start_up_error_ns",
        /// CPU time of that shell, ns.
        StartUpUser = "start_up_user_ns",
        StartUpSystem = "start_up_system_ns",
        /// CPU time per operation, ns.
        ClientCpu = "client_cpu_ns",
        ServerCpu = "server_cpu_ns",
        NearCpu = "near_cpu_ns",
        FarCpu = "far_cpu_ns",
        /// CPU time of the client (near) and server (far) side as a share of one CPU.
        NearCpuShare = "near_cpu_share",
        FarCpuShare = "far_cpu_share",
        /// Elapsed time in which the CPU time of both sides was measured, ns.
        EndsWall = "ends_wall_ns",
        /// Share of lost datagrams.
        LostShare = "lost_share",
        /// Pages swapped in and out, per operation.
        PageIns = "page_ins",
        PageOuts = "page_outs",
        UsersCarried = "users_carried",
        UsersTooMany = "users_too_many",
        /// Bytes.
        TextSize = "size.text",
        DataSize = "size.data",
        BssSize = "size.bss",
    }
}

/// A number with its original digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRate {
    pub program: String,
    pub per_hour: Number,
    /// The counted unit: "transactions of 16 users".
    pub work: String,
}

impl Number {
    fn parse(text: &str) -> Option<Self> {
        text.parse::<f64>().ok()?;
        Some(Self(text.to_owned()))
    }

    pub fn get(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    pub fn integer(&self) -> Option<u64> {
        self.0.parse().ok()
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Self {
        Self(number.to_string())
    }
}

impl Param {
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        let (key, value) = (key.into(), value.into());
        let typed = match key.as_str() {
            "symbol" => return Self::Symbol(value),
            "input" => return Self::Input(value),
            "measured" => return Self::Medium(value),
            "uncached" => return Self::Uncached(value),
            "remark" => return Self::Remark(value),
            "stand_in" => return Self::StandIn(value),
            "copy" => canonical(&value).map(Self::Copy),
            "status" => canonical(&value).map(Self::Status),
            "left_out" => canonical(&value).map(Self::LeftOut),
            "peak_kb" => canonical(&value).map(Self::PeakMemory),
            "other_run" => canonical(&value).map(Self::OtherRun),
            "layout" => canonical(&value).map(Self::Layout),
            "pair" => cpu_pair(&value),
            program if program.starts_with(LOAD) => load_rate(program, &value),
            name => {
                let metric = Metric::ALL.into_iter().find(|metric| metric.as_str() == name);
                metric.and_then(|metric| Some(Self::Number(metric, Number::parse(&value)?)))
            }
        };
        typed.unwrap_or(Self::Other { key, value })
    }

    pub fn key(&self) -> &str {
        match self {
            Self::Copy(_) => "copy",
            Self::CpuPair(..) => "pair",
            Self::Status(_) => "status",
            Self::LeftOut(_) => "left_out",
            Self::PeakMemory(_) => "peak_kb",
            Self::OtherRun(_) => "other_run",
            Self::Layout(_) => "layout",
            Self::Number(metric, _) => metric.as_str(),
            Self::LoadRate(rate) => &rate.program,
            Self::Symbol(_) => "symbol",
            Self::Input(_) => "input",
            Self::Medium(_) => "measured",
            Self::Uncached(_) => "uncached",
            Self::Remark(_) => "remark",
            Self::StandIn(_) => "stand_in",
            Self::Other { key, .. } => key,
        }
    }

    pub fn value(&self) -> Cow<'_, str> {
        match self {
            Self::Copy(number) | Self::OtherRun(number) | Self::Layout(number) => {
                number.to_string().into()
            }
            Self::CpuPair(a, b) => format!("{a}-{b}").into(),
            Self::Status(status) | Self::LeftOut(status) => status.to_string().into(),
            Self::PeakMemory(kib) => kib.to_string().into(),
            Self::Number(_, number) => number.0.as_str().into(),
            Self::LoadRate(rate) => format!("{} {}", rate.per_hour.0, rate.work).into(),
            Self::Symbol(text)
            | Self::Input(text)
            | Self::Medium(text)
            | Self::Uncached(text)
            | Self::Remark(text)
            | Self::StandIn(text)
            | Self::Other { value: text, .. } => text.into(),
        }
    }
}

fn canonical<T: std::str::FromStr + Display>(text: &str) -> Option<T> {
    let number: T = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

fn cpu_pair(text: &str) -> Option<Param> {
    let (a, b) = text.split_once('-')?;
    Some(Param::CpuPair(canonical(a)?, canonical(b)?))
}

fn load_rate(program: &str, text: &str) -> Option<Param> {
    let (per_hour, work) = text.split_once(' ')?;
    Some(Param::LoadRate(Box::new(ProgramRate {
        program: program.to_owned(),
        per_hour: Number::parse(per_hour)?,
        work: work.to_owned(),
    })))
}

#[derive(Serialize, Deserialize)]
struct KeyValue {
    key: String,
    value: String,
}

impl From<KeyValue> for Param {
    fn from(KeyValue { key, value }: KeyValue) -> Self {
        Self::new(key, value)
    }
}

impl From<Param> for KeyValue {
    fn from(param: Param) -> Self {
        Self { key: param.key().to_owned(), value: param.value().into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_are_written_as_read() {
        for (key, value, typed) in [
            ("copy", "2", Some(Param::Copy(2))),
            ("copy", "02", None),
            ("pair", "0-12", Some(Param::CpuPair(0, 12))),
            ("pair", "0-x", None),
            ("status", "-1", Some(Param::Status(-1))),
            ("status", "+1", None),
            ("left_out", "7", Some(Param::LeftOut(7))),
            ("peak_kb", "1024", Some(Param::PeakMemory(1024))),
            ("other_run", "4711", Some(Param::OtherRun(4711))),
            ("layout", "3", Some(Param::Layout(3))),
            ("remark", " a\n", Some(Param::Remark(" a\n".to_owned()))),
            ("page_ins", "many", None),
            ("load/users", "many transactions", None),
            ("seed", "7", None),
        ] {
            let param = Param::new(key, value);
            assert_eq!((param.key(), &*param.value()), (key, value));
            let other = || Param::Other { key: key.to_owned(), value: value.to_owned() };
            assert_eq!(param, typed.unwrap_or_else(other));
            let json = serde_json::to_string(&param).unwrap();
            assert_eq!(serde_json::from_str::<Param>(&json).unwrap(), param);
        }
        let Param::LoadRate(rate) = Param::new("load/users", "10.50 writes of 4 KiB") else {
            panic!("not a rate");
        };
        assert_eq!((rate.per_hour.get(), &*rate.work), (10.5, "writes of 4 KiB"));
        for metric in Metric::ALL {
            let param = Param::new(metric.as_str(), "0.250");
            assert!(matches!(&param, Param::Number(m, n) if *m == metric && n.get() == 0.25));
            assert_eq!((param.key(), &*param.value()), (metric.as_str(), "0.250"));
        }
    }
}
