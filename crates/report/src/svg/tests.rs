//! Made-up lines whose drawing is known.

use super::*;

fn plot(lines: Vec<Line>) -> Plot {
    Plot {
        id: "f1".into(),
        title: "t".into(),
        description: "d".into(),
        x_label: "processes".into(),
        y_label: "real time".into(),
        y_unit: "s".into(),
        log_y: true,
        lines,
        ..Plot::default()
    }
}

fn line(name: &str, ys: &[f64]) -> Line {
    let point = |(i, y): (usize, &f64)| Point {
        x: (i + 1) as f64,
        y: Some(*y),
        interval: None,
    };
    Line {
        name: name.into(),
        strong: false,
        loose: false,
        points: ys.iter().enumerate().map(point).collect(),
    }
}

#[test]
fn a_line_that_ends_early_has_a_letter_at_its_end_and_at_its_name() {
    let svg = plot(vec![line("long", &[1.0, 2.0, 3.0]), line("short", &[3.0])]).render();
    assert!(
        svg.contains(">a</text>") && svg.contains(">a: short</text>"),
        "{svg}"
    );
    assert!(svg.contains(">long</text>"));
}

#[test]
fn values_without_a_place_break_the_line() {
    let mut broken = line("broken", &[1.0, 2.0, 3.0, 4.0, 5.0]);
    broken.points[1].y = None;
    broken.points[3].y = Some(0.0);
    let svg = plot(vec![broken]).render();
    let path = svg.split("class=\"stroke\" d=\"").nth(1).unwrap();
    let path = &path[..path.find('"').unwrap()];
    assert_eq!(
        (path.matches('M').count(), path.matches('L').count()),
        (3, 0),
        "{path}"
    );
}

#[test]
fn intervals_are_bars_on_few_points_and_a_band_on_many() {
    let mut few = line("few", &[1.0; 6]);
    few.points[0].interval = Some([0.9, 1.1]);
    let svg = plot(vec![few]).render();
    assert_eq!(
        (svg.matches("h8M").count(), svg.matches("band").count()),
        (1, 0)
    );
    let mut many = line("many", &[1.0; 20]);
    for point in &mut many.points {
        point.interval = Some([0.9, 1.1]);
    }
    let svg = plot(vec![many]).render();
    assert_eq!(
        (svg.matches("h8M").count(), svg.matches("band").count()),
        (0, 1)
    );
}

#[test]
fn hostile_names_are_text_and_nothing_at_all_is_still_a_drawing() {
    let svg = plot(vec![line("<script>\"&'\u{1b}", &[1.0])]).render();
    assert!(
        svg.contains("&lt;script&gt;&quot;&amp;&#39;\u{FFFD}"),
        "{svg}"
    );
    for odd in [
        vec![],
        vec![line("none", &[])],
        vec![line("nan", &[f64::NAN, f64::INFINITY, -1.0])],
    ] {
        let svg = plot(odd).render();
        assert!(
            svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"),
            "{svg}"
        );
    }
}

mod bars {
    use crate::svg::bars::{Bar, Bars, Group};

    fn bar(ratio: f64, interval: Option<[f64; 2]>) -> Option<Bar> {
        let text = format!("{ratio}");
        Some(Bar {
            ratio,
            interval,
            text,
        })
    }

    fn drawing(names: &[&str], groups: Vec<Vec<Option<Bar>>>) -> String {
        let group = |(i, bars)| Group {
            name: format!("row {i}"),
            bars,
        };
        let bars = Bars {
            id: "f1".into(),
            x_label: "Ratio".into(),
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            groups: groups.into_iter().enumerate().map(group).collect(),
            ..Bars::default()
        };
        bars.render()
    }

    #[test]
    fn bars_have_their_number_and_names_only_where_there_are_several() {
        let one = drawing(
            &["only"],
            vec![vec![bar(2.5, Some([2.0, 3.0]))], vec![bar(0.5, None)]],
        );
        assert!(one.contains(">2.5</text>") && one.contains(">0.5</text>"));
        assert!(!one.contains("only"));
        // one interval, one thin line
        assert_eq!(one.matches("stroke-width=\"1.2\"").count(), 1);
        let two = drawing(&["a", "b"], vec![vec![bar(2.0, None), None]]);
        assert!(two.contains(">a</text>") && two.contains(">b</text>"));
    }

    #[test]
    fn bars_begin_at_one_and_lie_inside() {
        let far = |ratio| drawing(&["a"], vec![vec![bar(ratio, None)]]);
        for ratio in [1e-9, 0.99, 1.0, 1.01, 1e9] {
            let svg = far(ratio);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        let ends = |svg: &str| {
            let body = svg.split("class=\"fill\" d=\"M").nth(1).unwrap();
            let start: f64 = body.split(' ').next().unwrap().parse().unwrap();
            let width: f64 = body
                .split('h')
                .nth(1)
                .unwrap()
                .split('v')
                .next()
                .unwrap()
                .parse()
                .unwrap();
            (start, start + width)
        };
        // twice as fast and half as fast are bars of one length on either side of 1
        let both = drawing(&["a"], vec![vec![bar(4.0, None)], vec![bar(0.25, None)]]);
        let (up, rest) = (ends(&both), both.split_once("row 1").unwrap().1);
        let down = ends(rest);
        assert!(
            (up.0 - down.1).abs() < 0.2 && ((up.1 - up.0) - (down.1 - down.0)).abs() < 0.2,
            "{up:?} {down:?}"
        );
    }
}
