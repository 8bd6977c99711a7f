//! The executions of a command, from the launches of a run.

use gritstone_model::{Event, Id, Launch, Metric, Outcome, Param, RunData, START_UP_ERROR, Sample};

/// The executions of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// The command, or its given name.
    pub command: String,
    /// Seconds of each execution.
    pub times: Vec<f64>,
    /// User time per execution, s.
    pub user: f64,
    /// System time per execution, s.
    pub system: f64,
    /// Peak memory of each, bytes; empty if unknown.
    pub memory: Vec<u64>,
    /// Exit status of each; negative for a signal.
    pub statuses: Vec<i32>,
    /// Exit status of each execution that failed and has no time.
    pub left_out: Vec<i32>,
    /// Smallest meaningful mean, s, since the start-up time of a shell was subtracted.
    pub floor: f64,
    /// Values of its parameters.
    pub parameters: Vec<(String, String)>,
}

impl Timing {
    /// From the launches of a run of one command.
    pub fn new(command: &str, parameters: &[(String, String)], run: &RunData) -> Self {
        Self {
            parameters: parameters.to_vec(),
            ..Self::from_launches(command, run.launches.iter())
        }
    }

    /// From the launches of one benchmark, an operation as an execution.
    pub fn for_benchmark(id: &Id, run: &RunData) -> Self {
        let single_copy = |launch: &&Launch| launch.id == *id && launch.copies == 1;
        Self::from_launches(id.as_str(), run.launches.iter().filter(single_copy))
    }

    fn from_launches<'a>(command: &str, launches: impl Iterator<Item = &'a Launch>) -> Self {
        let mut timing = Self { command: command.to_owned(), ..Self::default() };
        for launch in launches.filter(|launch| launch.outcome == Outcome::Measured) {
            timing.add(launch);
        }
        let executions = timing.times.len().max(1) as f64;
        timing.user /= executions;
        timing.system /= executions;
        timing
    }

    fn add(&mut self, launch: &Launch) {
        // wall, user and system time of the shell, ns
        let (mut status, mut memory, mut start_up) = (0, None, [0.0; 3]);
        for event in &launch.events {
            match event {
                Event::Param(param) => match param {
                    Param::Status(nonzero) => status = *nonzero,
                    Param::LeftOut(failed) => {
                        memory = None;
                        self.left_out.push(*failed);
                    }
                    Param::PeakMemory(kib) => memory = Some(*kib),
                    Param::Number(Metric::StartUp, ns) => {
                        start_up[0] = ns.get();
                        self.floor = self.floor.max(START_UP_ERROR * start_up[0] / 1e9);
                    }
                    Param::Number(Metric::StartUpError, ns) => {
                        self.floor = self.floor.max(ns.get() / 1e9);
                    }
                    Param::Number(Metric::StartUpUser, ns) => start_up[1] = ns.get(),
                    Param::Number(Metric::StartUpSystem, ns) => start_up[2] = ns.get(),
                    _ => {}
                },
                // events before a sample describe it, or a warm-up
                Event::Warm { .. } => (status, memory) = (0, None),
                Event::Sample(sample) if sample.n > 0 => {
                    self.sample(sample, start_up);
                    self.statuses.push(std::mem::take(&mut status));
                    self.memory.extend(memory.take().map(|kb| kb.saturating_mul(1024)));
                }
                _ => {}
            }
        }
    }

    fn sample(&mut self, sample: &Sample, [wall, user, system]: [f64; 3]) {
        let less = |ns: u64, start_up: f64| (ns as f64 - start_up).max(0.0) / sample.n as f64 / 1e9;
        self.times.push(less(sample.wall, wall));
        self.user += less(sample.usage.user, user);
        self.system += less(sample.usage.system, system);
    }
}
