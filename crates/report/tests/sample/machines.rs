//! Machines of byte-1984, tables 1 and 3, as views: enough of them for realistic tables and figures.

use super::stated;
use gritstone_model::{
    Data, Estimate, Flag, Measurement, Printed, PublishedView, RunView, Subject,
};
pub use gritstone_testkit::{id, view};

/// Machine, system, then the times by row, `-` where there is none: real, user and system time, or real time alone.
/// pipe; syscall; fcall; sieve; disk write; disk read; shell; loop; multitasking with 1 to 6 processes.
const TABLE: &str = "\
VAX-11/780|4.1 BSD|3.2 0.1 1.2|4.8 1.4 4.0|1.0|1.7 1.5 0.1|2.0|8.0|3.3 0.3 1.3|2.6 2.5 0.1|4.3 5.5 7.8 9.0 11.0 13.8
Masscomp|Sys III+|5.7 0.0 2.8|6.3 0.4 5.8|0.9|2.8 2.5 0.1|1.7|-|3.5 0.4 1.4|6.6 6.3 0.1|4.2 5.5 9.1 11.8 14.5 17.8
Sun-2/120|4.2 BSD|7.6 0.1 3.7|6.8 1.1 5.6|0.8|5.1 2.8 0.4|1.8|4.9|3.5 0.3 2.0|7.4 7.0 0.1|3.6 6.2 8.7 11.8 14.4 18.0
VAX-11/750|4.1 BSD|4.6 0.2 2.1|7.0 0.9 6.2|1.7|2.4 2.7 0.1|3.0|8.0|3.8 0.4 1.5|5.1 4.9 0.1|4.3 5.5 8.8 10.3 13.3 15.0
PDP-11/70|2.8 BSD|8.1 0.0 3.4|8.0 0.2 7.5|1.0|2.3 1.6 0.1|4.0|9.5|4.0 0.2 1.7|7.9 7.1 0.2|5.0 7.8 9.3 11.8 14.3 16.7
Altos 986|XENIX|6.0 0.1 2.8|11.0 0.8 10.3|0.4|3.3 3.0 0.0|3.5|7.3|7.0 0.4 1.6|13.3 13.0 0.1|6.3 7.3 9.3 19.3 27.2 36.0
IBM PC XT|PC/IX|16.6 0.1 7.6|39.8 2.9 35.6|4.7|8.2 7.8 0.3|11.6|20.7|8.5 1.1 3.2|32.2 31.5 0.3|10.6 23.4 42.8 74.1 84.2 130.7
PDP-11/23|VENIX|30.0 0.1 9.5|24.0 3.2 20.4|3.3|5.5 5.1 0.1|8.0|33.7|12.0 0.7 4.8|26.0 25.2 0.1|14.0 32.8 - - - -
IBM PC XT|VENIX/86|18.0 0.1 7.3|20.5 2.3 17.8|2.8|9.0 8.2 0.3|7.0|25.6|13.0 0.8 4.2|32.7 31.4 0.3|15.0 23.5 39.0 - - -
SCI-1000|Sys III+|9.3 0.0 3.1|26.2 0.7 24.2|1.2|4.4 3.6 0.1|4.3|9.1|13.6 0.5 1.9|14.5 13.6 0.2|15.1 28.6 51.8 77.4 94.8 117.2
Omnibyte|Idris|32.0 0.1 30.4|21.3 2.5 18.4|1.7|7.0 5.4 0.4|12.3|-|17.6 0.3 16.1|17.0 16.1 0.4|- - - - - -
TRS-80 16B|XENIX|8.0 0.1 3.4|15.0 1.5 12.7|1.4|6.0 4.8 0.3|8.0|22.0|18.0 0.4 2.6|14.0 12.5 0.5|20.0 24.5 33.0 56.5 70.5 99.3
PDP-11/23|V7|23.0 0.1 10.7|36.5 0.9 33.7|3.6|5.8 5.3 0.1|22.0|32.7|20.4 0.8 8.5|27.4 25.9 0.3|22.3 37.3 52.3 74.8 91.0 125.0
DEC Pro/350|VENIX|26.0 0.5 13.8|33.3 5.8 26.5|3.5|6.3 5.1 0.1|7.7|28.0|27.0 0.8 4.7|26.7 25.3 0.1|26.0 41.0 82.3 - - -
Apple Lisa|Sys III+|8.1 0.0 3.0|10.5 0.2 9.1|1.3|6.1 5.3 0.1|20.8|44.5|37.6 0.4 3.2|14.0 12.0 0.2|38.1 74.8 114.5 154.2 194.6 228.6";

const ROWS: &str = "byte/pipe byte/syscall byte/fcall-empty byte/sieve byte/disk-write \
                    byte/disk-read byte/shell byte/loop";

/// A result with nothing in it.
pub fn empty(name: &str, unit: &str) -> Measurement {
    let empty = serde_json::json!({
        "id": name, "title": name, "kind": "kernel", "version": 1, "unit": unit, "better": "lower",
        "outcome": "measured", "launches": 0, "samples": 0, "notes": [],
    });
    serde_json::from_value(empty).unwrap()
}

fn printed(name: &str, times: &str) -> Measurement {
    let value = |text: &str| (text != "-").then(|| text.parse::<f64>().unwrap());
    let times: Vec<Option<f64>> = times.split(' ').map(value).collect();
    let time = |i: usize| times.get(i).copied().flatten().map(Estimate::exact);
    Measurement {
        data: Data::Printed(Printed::default()),
        version: 0,
        published: Some(PublishedView {
            figure: Subject::Real,
            real: time(0),
            user: time(1),
            system: time(2),
            ..PublishedView::default()
        }),
        ..empty(name, "s")
    }
}

/// The machines in the order of the table.
pub fn references() -> Vec<RunView> {
    TABLE.lines().map(machine).collect()
}

fn machine(line: &str) -> RunView {
    let cells: Vec<&str> = line.split('|').collect();
    let (name, system) = (cells[0], cells[1]);
    let short = format!("{name}-{system}").to_lowercase().replace([' ', '/', '+'], "-");
    let mut view = view(&format!("ref:{short}"), name, system);
    view.machine.document = Some("byte-1984".to_owned());
    view.machine.year = Some(1984);
    view.machine.configuration = "4-megabyte RAM, two 256-megabyte disk drives".to_owned();
    view.results =
        ROWS.split(' ').zip(&cells[2..10]).map(|(row, times)| printed(row, times)).collect();
    for (i, time) in cells[10].split(' ').enumerate() {
        view.results.push(printed(&format!("byte/multi/{}", i + 1), time));
    }
    if name == "Omnibyte" {
        let published = |why: &str| stated(None, why);
        view.results[0]
            .notes
            .push(published("The program had to be changed a little to run under Idris."));
        view.results[5]
            .notes
            .push(published("There is no rand() in this system, so this could not be run."));
        view.results[8]
            .notes
            .push(published("The shell's wait did not work, so this could not be run."));
    }
    if system == "VENIX/86" {
        let why = "The optimizer crashed the system: compiled without it.";
        for result in &mut view.results {
            result.notes.push(stated(None, why));
        }
    }
    if name == "DEC Pro/350" {
        let why = "The scan leaves the first digit in doubt.";
        view.results[10].notes.push(stated(Some(Flag::Doubtful), why).about(Subject::Real));
    }
    view
}
