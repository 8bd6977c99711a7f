//! Results of one side in the unit and at the frequency of another.

use gritstone_model::{Measurement, Quantity, Unit};

/// Conversion factor; `None` for different quantities.
pub(crate) fn scale(from: &Unit, to: &Unit) -> Option<f64> {
    match (from.quantity(), to.quantity()) {
        (Quantity::Time { ns: from }, Quantity::Time { ns: to }) => Some(from / to),
        (Quantity::Rate { plain: a }, Quantity::Rate { plain: b })
            if counted(from) == counted(to) =>
        {
            Some(a / b)
        }
        (Quantity::Share, Quantity::Share) => Some(1.0),
        (Quantity::Exact, Quantity::Exact) if from == to => Some(1.0),
        _ => None,
    }
}

/// The counted thing of a rate, bytes without their multiple.
fn counted(unit: &Unit) -> &str {
    let text = unit.as_str();
    match text.split_once('/').map_or(text, |(thing, _)| thing) {
        // named rates: KFLOPS, MFLOPS
        named if named == text => text.trim_start_matches(['K', 'M', 'G']),
        "GB" | "MB" | "KB" | "B" | "bytes" => "bytes",
        thing => thing,
    }
}

/// Factor from the frequency of the other side to that of the base.
pub(crate) fn to_reference(other: &Measurement, unit: &Unit, ghz: Option<[f64; 2]>) -> f64 {
    let is_stated = other.cycles().is_some() || other.ghz().is_some();
    match (ghz.filter(|_| is_stated), unit.quantity()) {
        (Some([base, other]), Quantity::Time { .. }) => other / base,
        (Some([base, other]), Quantity::Rate { .. }) => base / other,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_a_kind_convert() {
        let scale = |from, to| scale(&Unit::parse(from).unwrap(), &Unit::parse(to).unwrap());
        assert_eq!(scale("us/call", "ns/call"), Some(1000.0));
        assert_eq!(scale("MB/s", "KB/s"), Some(1000.0));
        assert_eq!(scale("bytes/s", "MB/s"), Some(1e-6));
        assert_eq!(scale("bytes", "bytes"), Some(1.0));
        assert_eq!(scale("calls/s", "calls/s"), Some(1.0));
        assert_eq!(scale("runs/s", "runs/h"), Some(3600.0));
        assert_eq!(scale("MFLOPS", "KFLOPS"), Some(1000.0));
        for (from, to) in [
            ("MB/s", "ns"),
            ("MB/s", "calls/s"),
            ("bytes", "ratio"),
            ("bytes", "ns"),
            ("KWIPS", "KFLOPS"),
        ] {
            assert_eq!(scale(from, to), None, "{from} {to}");
        }
    }
}
