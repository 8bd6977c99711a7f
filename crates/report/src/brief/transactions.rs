//! The ten transactions of FASTTRACK on the systems of the document and on the engines of this run: figure 6.1 of hp-1987.

use super::timeline::scale;
use super::{Brief, name};
use gritstone_document::Figure;
use gritstone_document::number;
use gritstone_document::svg;
use gritstone_document::svg::plot::{Line, Plot, Point};
use gritstone_model::{Flag, Id, RunView, Unit};

const TRANSACTIONS: u32 = 10;
/// Prefix of the document's benchmarks, and the engines of a run, by variant.
const ENGINES: [(&str, &str); 3] =
    [("SQLite", ""), ("PostgreSQL", "@postgresql"), ("MariaDB", "@mariadb")];
const UNIT: &str = "ms/transaction";

/// A line for each system that printed all of them, and one for each engine of the run; `None` if the run has none.
pub(crate) fn figure(input: &Brief) -> Option<Figure> {
    let unit = Unit::parse(UNIT).ok()?;
    let measured = ENGINES.iter().filter_map(|(engine, variant)| {
        let points = points(input.run, variant, &unit)?;
        Some(line(format!("{}, {engine}", name(input.run)), true, points))
    });
    let measured: Vec<Line> = measured.collect();
    let printed = input.parts.references.iter().filter_map(|view| {
        let points = points(view, "", &unit)?;
        Some(line(view.machine.name.clone(), false, points))
    });
    let lines: Vec<Line> = printed.chain(measured.iter().cloned()).collect();
    if measured.is_empty() {
        return None;
    }
    let sentences: Vec<String> = lines.iter().map(sentence).collect();
    let plot = Plot {
        x_label: "Transaction".to_owned(),
        y_label: "Mean elapsed time".to_owned(),
        y_unit: "ms".to_owned(),
        x_names: (1..=TRANSACTIONS).map(|n| (f64::from(n), n.to_string())).collect(),
        log_y: true,
        lines,
        ..Plot::default()
    };
    let caption = "FASTTRACK: mean elapsed time by transaction, as figure 6.1 of hp-1987, and this run, whose tables are others";
    Some(svg::figure(vec![plot.draw()], "fasttrack", caption.to_owned(), sentences.join(" ")))
}

fn line(name: String, strong: bool, points: Vec<Point>) -> Line {
    Line { name, strong, loose: true, points, ..Line::default() }
}

/// All ten values, or none.
fn points(view: &RunView, variant: &str, unit: &Unit) -> Option<Vec<Point>> {
    let point = |n: u32| {
        let result = view.get(&Id::parse(&format!("db/fasttrack/{n}{variant}")).ok()?)?;
        if result.is_flagged(Flag::Invalid) {
            return None;
        }
        Some(Point {
            x: f64::from(n),
            y: Some(result.value()? * scale(&result.unit, unit)?),
            interval: None,
        })
    };
    (1..=TRANSACTIONS).map(point).collect()
}

fn sentence(line: &Line) -> String {
    let times = line.points.iter().filter_map(|point| Some(number::at_most(point.y?, "ms", 3)));
    format!("{}: {}.", line.name, times.collect::<Vec<_>>().join(", "))
}
