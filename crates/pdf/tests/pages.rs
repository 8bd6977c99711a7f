//! Every PDF is tagged, has embedded fonts and working links; HTML and PDF have the same content.
//!
//! The tests look at the files with the tools of poppler (Debian: poppler-utils), as a reader's program would.

#[path = "../../report/tests/sample/mod.rs"]
mod sample;

use gritstone_document::{Block, Document, ResultLine, Tile};
use gritstone_document::{clean, html};
use gritstone_model::RunView;
use gritstone_report::{Pair, data_sheet, pair};
use sample::{briefs, machines::references};
use std::process::Command;

/// Typesetting without optimization takes a second a page: this keeps one row of each kind.
fn short(mut run: RunView) -> RunView {
    let rows =
        ["byte/pipe", "byte/fcall-overhead", "byte/disk-write", "byte/multi/", "byte/cc", "iocall"];
    run.results.retain(|r| rows.iter().any(|row| r.id.as_str().starts_with(row)));
    run
}

/// All of a report.
fn one() -> Document {
    briefs::document(&short(sample::run_with_variants()), &references()[..4])
}

fn two() -> Document {
    pair(&Pair {
        base: &short(sample::run()),
        other: &short(sample::run_with_variants()),
        compared: &sample::compare(),
        scores: None,
    })
}

fn sheet() -> Document {
    let run = sample::run_with_variants();
    briefs::with_input(&run, &[], &sample::against_reference(), data_sheet)
}

/// What a tool says of a document's PDF.
fn tool(document: &Document, program: &str, arguments: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.pdf");
    std::fs::write(&path, gritstone_pdf::render(document).unwrap().bytes).unwrap();
    let mut command = Command::new(program);
    command.args(arguments).arg(path);
    if program == "pdftotext" {
        command.arg("-");
    }
    let output =
        command.output().unwrap_or_else(|e| panic!("{program}: {e}; install poppler-utils"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {error}");
    // the poppler of Debian 12 does not know all types that this attribute may have
    let known = |l: &&str| l.contains("BorderColor value");
    let complaints = error.lines().filter(|l| !known(l));
    assert_eq!(complaints.count(), 0, "{program} complains: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// The text in the order of the content, without the feet of the pages.
fn text(document: &Document) -> String {
    let running: String = clean(&document.title).chars().take(60).collect();
    let text = tool(document, "pdftotext", &["-raw", "-enc", "UTF-8"]);
    let foot = |line: &&str| line.starts_with(&running) && line.contains(" / ");
    let lines = text.split(['\n', '\u{c}']).filter(|line| !foot(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Without white space (line breaks differ), and without the backticks of code, which a page does not show.
fn tight(text: &str) -> String {
    let shown = |c: &char| !c.is_whitespace() && *c != '`';
    text.chars().filter(shown).collect()
}

/// The texts of a document in order; separately those that each medium orders differently, such as heads of tables.
fn document_texts(document: &Document) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut apart) = (vec![document.title.clone()], vec![]);
    texts.extend(document.subtitle.clone());
    for block in &document.blocks {
        match block {
            Block::Heading(_, text) => texts.push(text.clone()),
            Block::Paragraph(text) => texts.push(text.text.clone()),
            Block::List(items) => texts.extend(items.iter().map(|item| item.text.clone())),
            Block::Terms(terms) => {
                let terms = terms.iter();
                texts.extend(terms.flat_map(|(t, text)| [t.clone(), text.text.clone()]));
            }
            Block::Table(table) => {
                texts.push(table.caption.text.clone());
                let columns = table.columns.iter();
                apart.extend(
                    columns.flat_map(|c| [Some(c.head.clone()), c.group.clone()]).flatten(),
                );
                let cells = table.rows.iter().flat_map(|row| &row.cells);
                texts.extend(cells.map(|cell| cell.text.clone()));
            }
            Block::Figure(figure) => texts.push(figure.caption.text.clone()),
            Block::Tiles(tiles) => {
                let tile_texts =
                    |tile: &Tile| [&tile.name, &tile.value, &tile.detail].map(String::clone);
                apart.extend(tiles.iter().flat_map(tile_texts));
            }
            Block::Results(lines) => {
                let line_texts = |line: &ResultLine| {
                    [&line.id, &line.value, &line.unit, &line.half_width].map(String::clone)
                };
                apart.extend(lines.iter().flat_map(line_texts));
            }
            Block::Footnotes => {}
        }
    }
    (texts, apart)
}

#[test]
fn html_and_pdf_agree() {
    for document in [sheet(), one(), two()] {
        let (texts, apart) = document_texts(&document);
        assert!(texts.len() + apart.len() > 20, "{}", texts.len());
        let pages = [("HTML", text_of_html(&html::render(&document))), ("PDF", text(&document))];
        for (name, page) in pages {
            let page = tight(&page);
            let mut rest = page.as_str();
            for text in &texts {
                let wanted = tight(text);
                let Some((_, after)) = rest.split_once(&wanted) else {
                    let here: String = rest.chars().take(300).collect();
                    panic!("{name} lacks {text:?} after ...{here}");
                };
                rest = after;
            }
            // over a narrow column a head stands word below word
            for word in apart.iter().flat_map(|text| text.split_whitespace()) {
                assert!(page.contains(&tight(word)), "{name} lacks {word:?}");
            }
        }
        inside(&document);
    }
}

#[test]
fn data_sheet_is_one_page() {
    let facts = tool(&sheet(), "pdfinfo", &[]);
    let mut pages = facts.lines().filter_map(|line| line.strip_prefix("Pages:"));
    assert_eq!(pages.next().map(str::trim), Some("1"));
}

/// Visible text: outside of tags, of the style sheet and of the drawings.
fn text_of_html(page: &str) -> String {
    let body = page.split_once("<body>").unwrap().1;
    let drawings = body.split("<svg ");
    let text: String = drawings
        .map(|part| part.split_once("</svg>").map_or(part, |(_, rest)| rest))
        .flat_map(|part| part.split('<'))
        .map(|piece| piece.split_once('>').map_or(piece, |(_, words)| words))
        .collect();
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let shown = |text: String, (from, to): (&str, &str)| text.replace(from, to);
    entities.into_iter().fold(text, shown)
}

#[test]
fn pdf_is_tagged_with_fonts() {
    let document = one();
    let facts = tool(&document, "pdfinfo", &[]);
    let title = format!("Title: {}", document.title);
    for line in [&title, "Tagged: yes", "JavaScript: no", "Encrypted: no"] {
        assert!(tight(&facts).contains(&tight(line)), "{line}: {facts}");
    }
    let structure = tool(&document, "pdfinfo", &["-struct"]);
    let tags: Vec<&str> =
        structure.lines().filter_map(|line| line.trim().split([' ', ':']).next()).collect();
    let count = |tag: &str| tags.iter().filter(|t| **t == tag).count();
    for tag in ["H1", "H2", "Table", "Caption", "TH", "TD", "L", "LI"] {
        assert!(count(tag) > 0, "no {tag} in the structure");
    }
    // the overview, and at least the launches of each result with several
    assert!(count("Figure") > 1);
    // the sections are links; one that leads nowhere would be refused when it is written
    assert!(count("Link") >= 4);
    let fonts = tool(&document, "pdffonts", &[]);
    let fonts: Vec<&str> = fonts.lines().skip(2).collect();
    assert!(fonts.len() >= 3, "{fonts:?}");
    for font in fonts {
        let columns: Vec<&str> = font.split_whitespace().rev().collect();
        // from the right: object (two numbers), Unicode map, subset, embedded
        assert_eq!([columns[2], columns[4]], ["yes"; 2], "{font}");
        assert!(font.contains("Liberation"), "{font}");
    }
}

#[test]
fn replaced_characters_are_reported() {
    let mut document = Document::new("Label 東京");
    document.paragraph("µs ± 3, 🚀 and → a");
    let pdf = gritstone_pdf::render(&document).unwrap();
    assert_eq!(pdf.replaced, ["東京", "🚀"]);
}

#[test]
fn output_is_deterministic() {
    let document = two();
    let [a, b] = [(); 2].map(|()| gritstone_pdf::render(&document).unwrap());
    assert!(a == b);
    assert!(gritstone_pdf::render(&Document::default()).is_ok());
}

#[test]
fn contents_list_section_pages() {
    let document = one();
    let text = tool(&document, "pdftotext", &["-raw", "-enc", "UTF-8"]);
    let pages: Vec<&str> = text.split('\u{c}').collect();
    let mut sections = 0;
    for block in &document.blocks {
        let Block::Heading(1, title) = block else {
            continue;
        };
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(title.as_str()));
        let page: usize = lines.find_map(|rest| rest.trim().parse().ok()).unwrap();
        assert!(pages[page - 1].lines().any(|line| line == title), "{title} on page {page}");
        sections += 1;
    }
    assert!(sections > 3);
}

const EVIL: &str = "<script>alert('x')</script>&amp;\"]]>--><!-- #set page(width: 1pt) #[]$*_@<>&\"\\ = - + / // `raw` <label> @ref";

#[test]
fn hostile_names_are_text() {
    let long = "x".repeat(10_000);
    for label in [EVIL, &long, "מחשב \u{202E}حاسوب", ""] {
        let mut run = short(briefs::hostile(EVIL));
        run.results.truncate(6);
        run.label = Some(label.to_owned());
        let document = briefs::document(&run, &[briefs::hostile(EVIL)]);
        let text = tight(&text(&document));
        assert!(text.matches(&tight(EVIL)).count() > 20);
        assert!(label != long || text.contains(&long));
        inside(&document);
    }
}

/// A4 is 595 by 842 points; the margins are 17 mm and more.
fn inside(document: &Document) {
    let boxes = tool(document, "pdftotext", &["-bbox"]);
    let words: Vec<&str> = boxes.lines().filter(|l| l.contains("<word ")).collect();
    assert!(words.len() > 100, "{}", words.len());
    for word in words {
        let value = |name: &str| -> f64 {
            let rest = word.split_once(&format!("{name}=\"")).unwrap().1;
            rest.split_once('"').unwrap().0.parse().unwrap()
        };
        let within = value("xMin") > 40.0 && value("xMax") < 555.0;
        assert!(within && value("yMin") > 30.0 && value("yMax") < 825.0, "{word}");
    }
}
