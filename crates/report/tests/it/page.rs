//! Every page is well-formed, self-contained, linked within itself, legible.

use crate::sample::{self, briefs, machines::references};
use gritstone_document::{Document, html};
use gritstone_report::{Comparison, Detail, Pair, compare, pair, show};
use html5ever::tendril::TendrilSink;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Elements with their attributes; fails on anything that is not well-formed.
struct Page {
    elements: Vec<(String, Vec<(String, String)>)>,
}

fn parse(page: &str) -> Page {
    let mut reader = Reader::from_str(page);
    let mut elements = vec![];
    let mut open = 0;
    loop {
        let event = reader.read_event();
        match event.unwrap_or_else(|e| panic!("{e} at {}", reader.buffer_position())) {
            Event::Eof => break,
            Event::Start(start) => {
                elements.push(element(&start));
                open += 1;
            }
            Event::Empty(start) => elements.push(element(&start)),
            Event::End(_) => open -= 1,
            Event::GeneralRef(entity) => {
                let known =
                    ["amp", "lt", "gt", "quot", "#39"].contains(&&*entity.decode().unwrap());
                assert!(known, "an entity that HTML may not know: {entity:?}");
            }
            _ => {}
        }
    }
    assert_eq!(open, 0, "never closed");
    Page { elements }
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
        all.filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

const EVIL: &str =
    "<script>alert('x')</script>&amp;\"]]>--><!-- \u{202E}\u{0}\u{1b}[2J $#set \u{FFFE}עברית 東京";

fn pages() -> Vec<String> {
    let mut hostile = briefs::hostile(EVIL);
    hostile.label = Some(EVIL.repeat(200));
    let mut documents: Vec<Document> =
        references().iter().map(|system| show(system, Detail::Everything)).collect();
    documents.extend([
        show(&sample::run(), Detail::Everything),
        compare(&sample::compare(), Comparison::default()),
        compare(&sample::against_reference(), Comparison::default()),
        briefs::document(&sample::run_with_variants(), &references()),
        pair(&Pair {
            base: &sample::run(),
            other: &hostile,
            compared: &sample::compare(),
            scores: None,
        }),
        briefs::document(&hostile.clone(), &[hostile]),
        Document::default(),
    ]);
    documents.iter().map(html::render).collect()
}

#[test]
fn pages_are_self_contained() {
    for page in pages() {
        let parsed = parse(&page);
        let elements = || parsed.elements.iter();
        let forbidden = ["link", "img", "iframe", "object", "base", "form"];
        // the one script is ours, which puts words into the page as words alone
        let script = include_str!("../../../document/src/html/script.js");
        let scripts: Vec<&str> = page.split("<script>").skip(1).collect();
        assert!(scripts.len() <= 1 && scripts.iter().all(|s| s.trim_start().starts_with(script)));
        assert!(!script.contains("innerHTML"));
        for (name, attributes) in elements() {
            assert!(!forbidden.contains(&name.as_str()), "<{name}>");
            assert!(attributes.iter().all(|(key, _)| !key.starts_with("on")));
        }
        let outside = page.replace("http://www.w3.org/2000/svg", "");
        for address in ["://", "url(", "@import"] {
            assert!(!outside.contains(address), "a page that names an address");
        }
        let mut ids: Vec<&str> = parsed.attributes("id").collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
        for link in parsed.attributes("href").chain(parsed.attributes("src")) {
            let known = link.strip_prefix('#').is_some_and(|id| ids.contains(&id));
            assert!(known, "{link} leads nowhere");
        }
        for names in parsed.attributes("aria-labelledby") {
            assert!(names.split(' ').all(|id| ids.contains(&id)), "{names}");
        }
        // the parser of a browser mends what is wrong and says so
        let dom = markup5ever_rcdom::RcDom::default();
        let mended = html5ever::parse_document(dom, Default::default()).one(page.as_str());
        assert_eq!(*mended.errors.borrow(), [""; 0]);
    }
}

#[test]
fn headings_skip_no_level() {
    for page in pages() {
        let parsed = parse(&page);
        let level = |name: &str| name.strip_prefix('h').and_then(|n| n.parse::<usize>().ok());
        let levels = parsed.elements.iter().filter_map(|(name, _)| level(name));
        let levels: Vec<usize> = levels.collect();
        assert_eq!(levels.iter().filter(|l| **l == 1).count(), 1);
        assert!(levels.windows(2).all(|w| w[1] <= w[0] + 1), "{levels:?}");
        for (name, attributes) in &parsed.elements {
            let has = |key: &str| attributes.iter().any(|(k, v)| k == key && !v.is_empty());
            match name.as_str() {
                "th" => assert!(has("scope")),
                // what a small one shows stands beside it in words
                "svg" => assert!(has("aria-hidden") || has("role") && has("aria-labelledby")),
                "html" => assert!(has("lang")),
                _ => {}
            }
        }
        // the caption of a figure is the first that it has
        let captions = page.matches("<figure>\n<figcaption>").count();
        assert_eq!(page.matches("<figure>").count(), captions);
    }
}

#[test]
fn text_contrast_is_sufficient() {
    let css = include_str!("../../../document/src/html/style.css");
    let roots: Vec<&str> = css.split(":root {").skip(1).collect();
    assert_eq!(roots.len(), 2, "light and dark");
    for root in roots {
        let color = |name: &str| {
            let (_, digits) = root.split_once(&format!("--{name}: #")).unwrap();
            luminance(digits.split_once(';').unwrap().0)
        };
        for (text, ground) in [
            ("ink", "paper"),
            ("soft", "paper"),
            ("link", "paper"),
            ("ink", "tint"),
            ("soft", "tint"),
            ("link", "tint"),
            ("good", "paper"),
            ("doubt", "paper"),
            ("doubt", "tint"),
            ("bad", "paper"),
        ] {
            let (a, b) = (color(text), color(ground));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            // WCAG AA
            assert!(contrast >= 4.5, "--{text} on --{ground}: {contrast:.2}");
        }
    }
}

/// Relative luminance as WCAG defines it.
fn luminance(digits: &str) -> f64 {
    let size = digits.len() / 3;
    let channel = |i: usize| {
        let digits = digits[i * size..(i + 1) * size].repeat(2 / size);
        let value = f64::from(u8::from_str_radix(&digits, 16).unwrap()) / 255.0;
        match value <= 0.040_45 {
            true => value / 12.92,
            false => ((value + 0.055) / 1.055).powf(2.4),
        }
    };
    0.2126 * channel(0) + 0.7152 * channel(1) + 0.0722 * channel(2)
}
