//! What every page must be: well-formed, self-contained, linked within itself, legible.

use crate::sample;
use crate::sample::machines::references;
use gritstone_model::{Flag, RunView};
use gritstone_report::{Brief, Document, brief, compare, html, show};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Elements with their attributes, and all text outside of the style sheet; fails on anything that is not well-formed.
struct Page {
    elements: Vec<(String, Vec<(String, String)>)>,
    text: String,
}

fn parse(page: &str) -> Page {
    let mut reader = Reader::from_str(page);
    let mut parsed = Page {
        elements: vec![],
        text: String::new(),
    };
    let mut open: Vec<String> = vec![];
    loop {
        match reader
            .read_event()
            .unwrap_or_else(|e| panic!("{e} at {}", reader.buffer_position()))
        {
            Event::Eof => break,
            Event::Start(start) => {
                parsed.elements.push(element(&start));
                open.push(String::from_utf8(start.name().as_ref().to_vec()).unwrap());
            }
            Event::Empty(start) => parsed.elements.push(element(&start)),
            Event::End(_) => {
                open.pop().unwrap();
            }
            Event::Text(text) if open.last().map(String::as_str) != Some("style") => {
                parsed.text.push_str(&text.decode().unwrap());
            }
            Event::GeneralRef(entity) => parsed.text.push(match &*entity.decode().unwrap() {
                "amp" => '&',
                "lt" => '<',
                "gt" => '>',
                "quot" => '"',
                "#39" => '\'',
                other => panic!("an entity that HTML may not know: {other}"),
            }),
            _ => {}
        }
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    parsed
}

fn element(start: &BytesStart) -> (String, Vec<(String, String)>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let attributes = start.attributes().map(|a| {
        let a = a.unwrap();
        (text(a.key.as_ref()), text(&a.value))
    });
    (text(start.name().as_ref()), attributes.collect())
}

impl Page {
    fn attributes<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let all = self.elements.iter().flat_map(|(_, attributes)| attributes);
        all.filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    fn count(&self, element: &str) -> usize {
        self.elements
            .iter()
            .filter(|(name, _)| name == element)
            .count()
    }
}

fn brief_of(run: &RunView, references: &[RunView]) -> Document {
    brief(&Brief {
        ratings: None,
        runs: std::slice::from_ref(run),
        references,
        against: &[sample::against_reference()],
        families: &sample::entries::families(),
        benchmarks: &sample::entries::benchmarks(run),
    })
}

fn pages() -> Vec<String> {
    let mut pages: Vec<String> = references()
        .iter()
        .map(|r| html::render(&show(r)))
        .collect();
    pages.push(html::render(&show(&sample::run())));
    pages.push(html::render(&compare(&sample::compare())));
    pages.push(html::render(&compare(&sample::against_reference())));
    pages.push(html::render(&brief_of(
        &sample::run_with_variants(),
        &references(),
    )));
    pages.push(html::render(&brief_of(&hostile(), &[hostile()])));
    pages.push(html::render(&Document::default()));
    pages
}

const EVIL: &str =
    "<script>alert('x')</script>&amp;\"]]>--><!-- \u{202E}\u{0}\u{1b}[2J $#set \u{FFFE}עברית 東京";

/// A run in which every text that comes from outside is as bad as it can be.
fn hostile() -> RunView {
    let mut run = sample::run();
    for text in [
        &mut run.id,
        &mut run.machine.name,
        &mut run.machine.system,
        &mut run.machine.configuration,
        &mut run.started,
    ] {
        *text = EVIL.to_owned();
    }
    run.machine.document = Some(EVIL.to_owned());
    run.label = Some(EVIL.repeat(200));
    run.machine.facts = [(EVIL.to_owned(), EVIL.to_owned())].into();
    for result in &mut run.results {
        result.title = EVIL.to_owned();
        result.measured = Some(EVIL.to_owned());
        result.names = vec![EVIL.to_owned()];
        result.series_label = Some(EVIL.to_owned());
        result
            .notes
            .push(sample::stated(Some(Flag::Interference), EVIL));
        if let Some(published) = &mut result.published {
            published.work = EVIL.to_owned();
        }
        if let Some(program) = &mut result.program {
            (program.hash, program.compiler, program.flags) =
                (EVIL.to_owned(), EVIL.to_owned(), EVIL.to_owned());
        }
    }
    run
}

#[test]
fn pages_are_well_formed_and_fetch_nothing() {
    for page in pages() {
        let parsed = parse(&page);
        for forbidden in ["script", "link", "img", "iframe", "object", "base", "form"] {
            assert_eq!(parsed.count(forbidden), 0, "<{forbidden}>");
        }
        for reference in parsed.attributes("href").chain(parsed.attributes("src")) {
            assert!(reference.starts_with('#'), "{reference}");
        }
        for attribute in parsed
            .elements
            .iter()
            .flat_map(|(_, a)| a)
            .map(|(key, _)| key)
        {
            assert!(!attribute.starts_with("on"), "{attribute}");
        }
        assert!(!page.contains("url(") && !page.contains("@import"));
        let outside = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("://"), "a page that names an address");
    }
}

/// The parser of a browser mends what is wrong and says so.
#[test]
fn pages_are_html_that_needs_no_mending() {
    use html5ever::tendril::TendrilSink;
    for page in pages() {
        let parsed =
            html5ever::parse_document(markup5ever_rcdom::RcDom::default(), Default::default())
                .one(page.as_str());
        assert_eq!(*parsed.errors.borrow(), [""; 0]);
        // a caption is the first or the last that a figure has; the parser does not know that
        assert_eq!(
            page.matches("<figure>").count(),
            page.matches("<figure>\n<figcaption>").count()
        );
    }
}

#[test]
fn links_lead_somewhere_and_identifiers_are_unique() {
    for page in pages() {
        let parsed = parse(&page);
        let mut ids: Vec<&str> = parsed.attributes("id").collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
        for link in parsed.attributes("href").map(|h| &h[1..]) {
            assert!(ids.contains(&link), "#{link} leads nowhere");
        }
        for names in parsed.attributes("aria-labelledby") {
            assert!(names.split(' ').all(|id| ids.contains(&id)), "{names}");
        }
    }
}

#[test]
fn headings_go_down_one_step_at_a_time_and_tables_name_their_cells() {
    for page in pages() {
        let parsed = parse(&page);
        let level = |name: &str| name.strip_prefix('h').and_then(|n| n.parse::<usize>().ok());
        let levels: Vec<usize> = parsed
            .elements
            .iter()
            .filter_map(|(name, _)| level(name))
            .collect();
        assert_eq!(levels.iter().filter(|l| **l == 1).count(), 1);
        assert!(levels.windows(2).all(|w| w[1] <= w[0] + 1), "{levels:?}");
        for (name, attributes) in &parsed.elements {
            let has = |key: &str| attributes.iter().any(|(k, v)| k == key && !v.is_empty());
            match name.as_str() {
                "th" => assert!(has("scope")),
                "svg" => assert!(has("role") && has("aria-labelledby")),
                "html" => assert!(has("lang")),
                _ => {}
            }
        }
    }
}

#[test]
fn text_is_legible_in_light_and_dark() {
    let css = include_str!("../../src/html/style.css");
    let roots: Vec<&str> = css
        .split(":root {")
        .skip(1)
        .map(|s| &s[..s.find('}').unwrap()])
        .collect();
    assert_eq!(roots.len(), 2, "light and dark");
    for root in roots {
        let color = |name: &str| {
            let at = root.find(&format!("--{name}: #")).unwrap() + name.len() + 5;
            let digits = &root[at..at + root[at..].find(';').unwrap()];
            luminance(digits)
        };
        for (text, ground) in [
            ("ink", "paper"),
            ("soft", "paper"),
            ("link", "paper"),
            ("ink", "tint"),
        ] {
            let (a, b) = (color(text), color(ground));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(
                contrast >= 4.5,
                "--{text} on --{ground}: {contrast:.2}, WCAG AA asks for 4.5"
            );
        }
    }
}

/// Relative luminance as WCAG defines it.
fn luminance(digits: &str) -> f64 {
    let wide: String = if digits.len() == 3 {
        digits.chars().flat_map(|c| [c, c]).collect()
    } else {
        digits.to_owned()
    };
    let channel = |i: usize| {
        let value = f64::from(u8::from_str_radix(&wide[i..i + 2], 16).unwrap()) / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}
