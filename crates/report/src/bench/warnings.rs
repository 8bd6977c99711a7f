//! Warnings on the times of commands.

use super::statistics::{TimeStatistics, outliers};
use super::{Ranking, Timing};
use crate::findings;
use crate::words;
use gritstone_document::clean;
use gritstone_document::number;
use gritstone_model::{AbFigure, Flag};

/// A command that may take less than this share of its shell's start-up is too short to be measured.
const HARDLY: f64 = 0.5;

pub(super) fn remarks(figures: &[AbFigure], ranking: &Ranking) -> Vec<String> {
    let mut warnings: Vec<String> = ranking.commands.iter().flat_map(command_warnings).collect();
    if ranking.commands.len() > 1 {
        let names = ranking.commands.iter().flat_map(|timing| {
            let name = clean(&timing.command).into_owned();
            std::iter::repeat_n(name, command_warnings(timing).len())
        });
        for (text, name) in warnings.iter_mut().zip(names) {
            *text = format!("{name}: {text}");
        }
    }
    if ranking.setup_varies {
        let what = "The setup names a parameter: it ran before each launch of its command.";
        warnings.push(what.to_owned());
    }
    if let Some(start) = ranking.start_up_s {
        let least = |f: &AbFigure| f.interval.map(|[low, _]| low).or(f.estimate);
        let short =
            |f: &AbFigure| f.at_most || least(f).is_some_and(|ms| ms / 1e3 < HARDLY * start);
        let more = match figures.iter().any(short) {
            true => ", and may be more than a command takes: use -N",
            false => "",
        };
        let start = number::seconds(start, None);
        warnings.push(format!("A shell takes {start} to start, which is subtracted{more}."));
    }
    if let Some((command, seconds)) = &ranking.subtracted {
        warnings.push(format!(
            "{} takes {}, which is subtracted.",
            clean(command),
            number::seconds(*seconds, None)
        ));
    }
    // pairs determine the certainty; each disturbance is reported once, for the first command that has it
    let mut notes = figures.iter().flat_map(|figure| &figure.notes);
    let disturbed = notes.find(|note| note.flag() == Some(Flag::Interference));
    warnings.extend(disturbed.map(findings::message));
    warnings
}

fn command_warnings(timing: &Timing) -> Vec<String> {
    let mut warnings = vec![];
    let failed: Vec<i32> = (timing.statuses.iter().copied().filter(|s| *s != 0)).collect();
    let all = timing.times.len();
    if !failed.is_empty() {
        warnings.push(format!(
            "{} of {} failed ({}), and {} timed all the same.",
            failed.len(),
            words::plural(all, "run"),
            statuses(&failed),
            if failed.len() == 1 { "is" } else { "are" }
        ));
    }
    if !timing.left_out.is_empty() {
        warnings.push(format!(
            "{} failed ({}), and {} left out.",
            words::plural(timing.left_out.len(), "more run"),
            statuses(&timing.left_out),
            if timing.left_out.len() == 1 { "is" } else { "are" }
        ));
    }
    warnings.extend(far_executions(&timing.times));
    warnings
}

/// `exit status 1, signal 9`.
fn statuses(all: &[i32]) -> String {
    let mut distinct = all.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let word = |status: &i32| match *status {
        signal if signal < 0 => format!("signal {}", -signal),
        status => format!("exit status {status}"),
    };
    distinct.iter().map(word).collect::<Vec<_>>().join(", ")
}

fn far_executions(times: &[f64]) -> Vec<String> {
    let far = outliers(times);
    let Some(all) = TimeStatistics::new(times).filter(|_| !far.is_empty()) else {
        return vec![];
    };
    let seconds = |s: f64| number::seconds(s, None);
    let slow_first = far[0] == 0 && times[0] >= all.max;
    let first = format!(
        "The first run took {}, much longer than the others: warm up with -w, or time cold starts with -p.",
        seconds(times[0])
    );
    let outliers = format!(
        "{} of {} {} ({} to {} in all): the mean is moved, the estimate hardly.",
        far.len(),
        words::plural(times.len(), "run"),
        if far.len() == 1 { "is an outlier" } else { "are outliers" },
        seconds(all.min),
        seconds(all.max),
    );
    match (slow_first, far.len()) {
        (true, 1) => vec![first],
        (true, _) => vec![first, outliers],
        (false, _) => vec![outliers],
    }
}
