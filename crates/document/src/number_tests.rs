//! Numbers with known printed forms.

use super::*;
use proptest::prelude::*;

#[test]
fn large_counts_are_in_millions() {
    for (value, interval, text) in [
        (412.3, None, "412"),
        (999_999.0, Some([999_900.0, 1_000_098.0]), "1,000,000"),
        (905_731_000.0, Some([904e6, 907e6]), "905.7 M"),
        (1.1e10, None, "11.0 G"),
        (0.0, None, "0.00"),
    ] {
        assert_eq!(count_of(value, interval, 3), text);
    }
}

#[test]
fn digits_follow_the_interval() {
    // estimate, low, high, unit -> as printed
    #[rustfmt::skip] // a row each
    let table = [
        // half-width 0.42: tenths are the first uncertain digit, hundredths are printed too
        (112.3456, 111.93, 112.77, "ns/call", "112.3", "111.9 to 112.8", "ns/call"),
        (112.3456, 108.1, 116.5, "ns/call", "112.3", "108.1 to 116.5", "ns/call"),
        (112.3456, 70.0, 154.0, "ns/call", "112", "70 to 154", "ns/call"),
        (112.3456, 112.3456, 112.3456, "ns/call", "112", "112 to 112", "ns/call"),
        // even tens are uncertain
        (25_432_123.0, 25_312_000.0, 25_552_000.0, "calls/s", "25.43", "25.31 to 25.55", "Mcalls/s"),
        // a half-width of 0.0996 is 0.10 with two digits
        (5.0, 4.9004, 5.0996, "s", "5.00", "4.90 to 5.10", "s"),
        // wider than itself: still one digit of the estimate, never 0
        (0.4, -12.0, 13.0, "ns/call", "0.4", "-12.0 to 13.0", "ns/call"),
        (-3.21, -4.4, -2.0, "ns/call", "-3.2", "-4.4 to -2.0", "ns/call"),
        // units follow the size
        (25_432.0, 25_300.0, 25_560.0, "ns/call", "25.43", "25.30 to 25.56", "µs/call"),
        (1_500_000.0, 1_400_000.0, 1_600_000.0, "ns", "1.50", "1.40 to 1.60", "ms"),
        (0.00294, 0.00293, 0.00295, "s", "2.940", "2.930 to 2.950", "ms"),
        (0.294, 0.293, 0.295, "s", "0.2940", "0.2930 to 0.2950", "s"),
        (12_345.0, 12_300.0, 12_390.0, "MB/s", "12.35", "12.30 to 12.39", "GB/s"),
        (0.02, 0.01, 0.03, "ns/call", "0.020", "0.010 to 0.030", "ns/call"),
        (9_999.0, 9_990.0, 10_008.0, "us", "10,000", "9,990 to 10,010", "µs"),
        // too narrow to be believed: four digits
        (1.0, 0.999_999_999, 1.000_000_001, "s", "1.000", "1.000 to 1.000", "s"),
    ];
    for (estimate, low, high, unit, text, interval, as_unit) in table {
        let shown = figure(estimate, Some([low, high]), unit);
        let [estimate, is, unit] = [&shown.estimate, &shown.interval, &shown.unit];
        assert_eq!((estimate.as_str(), is.as_str(), unit.as_str()), (text, interval, as_unit));
    }
}

#[test]
fn exact_numbers_have_three_digits() {
    let table = [
        (112.3456, "ns/call", "112 ns/call"),
        (9.996, "ns/call", "10.0 ns/call"),
        (12_345.0, "bytes", "12,345 bytes"),
        (8_900_123.0, "calls/s", "8.90 Mcalls/s"),
        (4.8, "s", "4.80 s"),
        (0.000_048, "s", "48.0 µs"),
        (0.0, "s", "0.00 s"),
        (1.68, "ratio", "1.68 ratio"),
        (f64::NAN, "s", "– s"),
        (f64::INFINITY, "ns", "– s"),
        (1e300, "s", "1.00e300 s"),
        (1.5e-300, "calls/s", "1.50e-300 calls/s"),
    ];
    for (value, unit, text) in table {
        assert_eq!(figure(value, None, unit).with_unit(), text);
    }
}

#[test]
fn published_numbers_keep_their_decimals() {
    let published = [(8.0, 1), (0.25, 1), (25_000.0, 0)];
    let texts = ["8.0", "0.25", "25,000"];
    assert_eq!(published.map(|(value, decimals)| printed(value, decimals)), texts);
    assert_eq!([70.5, 7.0].map(printed_decimals), [1, 0]);
}

#[test]
fn trailing_zeros_are_dropped() {
    let table = [
        (4.8, "s", "4.8 s"),
        (100.0, "s", "100 s"),
        (0.001, "s", "1 ms"),
        (0.00294123, "s", "2.941 ms"),
        (12_345.6, "calls/s", "12,350 calls/s"),
        (0.0, "", "0"),
        (6.0, "", "6"),
        (1e20, "", "1.00e20"),
    ];
    for (value, unit, text) in table {
        assert_eq!(at_most(value, unit, 4), text, "{value} {unit}");
    }
}

#[test]
fn shares_and_counts() {
    let shares = [0.0042, 0.034, 0.123, 1.5, 0.0, -0.004].map(percent);
    assert_eq!(shares, ["0.42%", "3.4%", "12%", "150%", "0.0%", "-0.40%"]);
    assert_eq!([0.01, 0.999].map(percent_option), ["1%", "99.9%"]);
    assert_eq!([25_000, 999].map(count), ["25,000", "999"]);
    let decimals = [(-1234.5, 1), (-0.04, 1), (-123_456.0, 0), (1250.0, -2)];
    let texts = ["-1,234.5", "0.0", "-123,456", "1,300"];
    assert_eq!(decimals.map(|(value, decimals)| fixed(value, decimals)), texts);
}

proptest! {
    /// What is printed is within one unit of the second uncertain digit of what was measured.
    #[test]
    fn rounding_error_is_small(
        estimate in 1e-3..1e9f64,
        // of narrower ones, the number of digits ends; two digits of the half-width may be 0.5% more than it
        share in 1e-2..0.5f64,
    ) {
        let half = estimate * share;
        let bounds = [estimate - half, estimate + half];
        let text = fixed(estimate, decimals(estimate, bounds)).replace(',', "");
        let back: f64 = text.parse().unwrap();
        prop_assert!((back - estimate).abs() <= half * 0.05 * 1.006, "{estimate} ± {half}: {text}");
        prop_assert!(text.trim_start_matches(['0', '.']).replace('.', "").len() <= 15);
    }

    /// Nothing that is not 0 is printed as 0.
    #[test]
    fn never_zero(estimate in 1e-9..1e9f64, half in 0.0..1e12f64) {
        let shown = figure(estimate, Some([estimate - half, estimate + half]), "ns");
        prop_assert!(shown.estimate.bytes().any(|b| (b'1'..=b'9').contains(&b)), "{shown:?}");
    }
}
