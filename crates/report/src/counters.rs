//! Counts per operation, and the differences that they explain, in words.

use crate::table::Columns;
use crate::words::{capital, join};
use gritstone_document::number;
use gritstone_document::{Document, Style};
use gritstone_model::{CompareRow, Counter, CounterChange, Explanation, Measurement};

/// Digits of a count.
const DIGITS: i32 = 4;
/// Factor from which a change is given as a multiple.
const MULTIPLE: f64 = 2.0;

/// A table of counts, for results with more than the kernel's software counters.
pub(crate) fn counters(document: &mut Document, results: &[&Measurement]) {
    use Counter::{ContextSwitches, PageFaults};
    let usual = |counter: &Counter| matches!(counter, ContextSwitches | PageFaults);
    let counted = |result: &&&Measurement| !result.counters().keys().all(usual);
    let mut columns =
        Columns::<&&Measurement>::key("Benchmark", Style::Code, |result| result.id.as_str());
    for counter in Counter::ALL {
        columns = columns.number(capital(name(counter)), move |result| {
            let count = result.counters().get(&counter)?;
            Some(number::at_most(*count, "", DIGITS))
        });
    }
    let counted: Vec<&&Measurement> = results.iter().filter(counted).collect();
    columns.table(document, "Counted for each operation", counted);
}

/// The rows of a comparison that counters explain.
pub(crate) fn explained(rows: &[CompareRow]) -> Vec<String> {
    let sentence = |row: &CompareRow| {
        let explanation = row.explanation.as_ref().map(explanation)?;
        Some(format!("{}: {explanation}", row.id))
    };
    rows.iter().filter_map(sentence).collect()
}

/// "Same instructions, 9% more cycles: cache misses +40%."
pub(crate) fn explanation(explanation: &Explanation) -> String {
    let moved = explanation.instructions.iter().chain(&explanation.cycles).map(moved);
    let mut text = capital(&moved.collect::<Vec<_>>().join(", "));
    if !explanation.causes.is_empty() {
        text.push_str(": ");
        text.push_str(&join(&explanation.causes.iter().map(cause).collect::<Vec<_>>()));
    }
    format!("{text}.")
}

fn moved(change: &CounterChange) -> String {
    let name = name(change.counter);
    let ratio = change.other / change.base;
    match ratio {
        _ if change.same => format!("same {name}"),
        MULTIPLE.. if ratio.is_finite() => {
            format!("{} times as many {name}", number::significant(ratio, 2))
        }
        1.0.. if ratio.is_finite() => format!("{} more {name}", number::percent(ratio - 1.0)),
        0.0..1.0 => format!("{} fewer {name}", number::percent(1.0 - ratio)),
        _ => from_to(change),
    }
}

fn cause(change: &CounterChange) -> String {
    let share = change.other / change.base - 1.0;
    let sign = if share < 0.0 { '−' } else { '+' };
    match share.is_finite() {
        true => format!("{} {sign}{}", name(change.counter), number::percent(share.abs())),
        false => from_to(change),
    }
}

/// For a change from zero.
fn from_to(change: &CounterChange) -> String {
    let [base, other] = [change.base, change.other].map(|x| number::at_most(x, "", DIGITS));
    format!("{} from {base} to {other}", name(change.counter))
}

fn name(counter: Counter) -> &'static str {
    match counter {
        Counter::Instructions => "instructions",
        Counter::UserInstructions => "user instructions",
        Counter::Cycles => "cycles",
        Counter::UserCycles => "user cycles",
        Counter::BranchMisses => "branch misses",
        Counter::CacheMisses => "cache misses",
        Counter::TlbMisses => "TLB misses",
        Counter::PageWalks => "page walks",
        Counter::ContextSwitches => "context switches",
        Counter::PageFaults => "page faults",
        Counter::EnergyUj => "energy uJ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(
        instructions: Option<[f64; 2]>,
        cycles: Option<[f64; 2]>,
        causes: &[(Counter, f64, f64)],
    ) -> String {
        let change = |counter, base: f64, other: f64| CounterChange {
            counter,
            base,
            other,
            same: (base - other).abs() < 0.005 * base,
        };
        let change_between =
            |counter, sides: Option<[f64; 2]>| sides.map(|[b, o]| change(counter, b, o));
        explanation(&Explanation {
            instructions: change_between(Counter::Instructions, instructions),
            cycles: change_between(Counter::Cycles, cycles),
            causes: causes.iter().map(|&(c, b, o)| change(c, b, o)).collect(),
        })
    }

    #[test]
    fn words_follow_numbers() {
        use Counter::{BranchMisses, CacheMisses, ContextSwitches};
        let same = Some([100.0, 100.1]);
        let more = Some([100.0, 109.0]);
        let cases = [
            (
                explained(same, more, &[(CacheMisses, 1.0, 1.4)]),
                "Same instructions, 9.0% more cycles: cache misses +40%.",
            ),
            (explained(same, None, &[]), "Same instructions."),
            (explained(same, same, &[]), "Same instructions, same cycles."),
            (
                explained(Some([100.0, 88.0]), Some([10.0, 31.0]), &[(BranchMisses, 2.0, 1.0)]),
                "12% fewer instructions, 3.1 times as many cycles: branch misses −50%.",
            ),
            (
                explained(None, more, &[(ContextSwitches, 0.0, 0.25)]),
                "9.0% more cycles: context switches from 0 to 0.25.",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(text, expected);
        }
    }
}
