//! What every PDF must be: tagged, with its fonts inside and its links working; and that terminal, HTML and PDF say the same.
//!
//! The tests look at the files with the tools of poppler (Debian: poppler-utils), as a reader's program would.

#[path = "../../report/tests/sample/mod.rs"]
mod sample;

use gritstone_model::{Flag, Note, RunView};
use gritstone_report::document::{Block, Document, Text};
use gritstone_report::{Brief, brief, clean, compare, html, terminal};
use sample::machines::references;
use std::path::Path;
use std::process::Command;

fn brief_of(runs: &[RunView], references: &[RunView]) -> Document {
    let against: Vec<_> = runs.iter().map(|_| sample::against_reference()).collect();
    brief(&Brief {
        ratings: None,
        runs,
        references,
        against: &against,
        families: &sample::entries::families(),
        benchmarks: &sample::entries::benchmarks(&runs[0]),
    })
}

/// To typeset without optimization takes a second a page: these have a row of each kind, and no more.
fn short(mut run: RunView) -> RunView {
    let rows = [
        "byte/pipe",
        "byte/fcall-overhead",
        "byte/disk-write",
        "byte/multi/",
        "byte/cc",
        "iocall",
    ];
    run.results
        .retain(|r| rows.iter().any(|row| r.id.as_str().starts_with(row)));
    run
}

fn one() -> Document {
    brief_of(&[short(sample::run_with_variants())], &references()[..4])
}

fn three() -> Document {
    let mut runs = [(); 3].map(|()| short(sample::run()));
    for (run, name) in runs.iter_mut().zip(["first", "second", "second"]) {
        run.label = Some(name.to_owned());
    }
    brief_of(&runs, &[])
}

/// A file of a PDF for the tools to look at.
struct File {
    dir: tempfile::TempDir,
}

impl File {
    fn of(document: &Document) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let page = gritstone_pdf::render(document).unwrap();
        std::fs::write(dir.path().join("page.pdf"), page).unwrap();
        Self { dir }
    }

    fn tool(&self, program: &str, arguments: &[&str]) -> String {
        let path = self.dir.path().join("page.pdf");
        run(program, arguments, &path)
    }

    /// The text in the order of the content, without the feet of the pages.
    fn text(&self, document: &Document) -> String {
        let running: String = clean(&document.title).chars().take(60).collect();
        let text = self.tool("pdftotext", &["-raw", "-enc", "UTF-8"]);
        let foot = |line: &&str| {
            let end = line.rsplit(' ').next().unwrap_or_default();
            line.starts_with(&running) && line.contains(" / ") && end.parse::<u32>().is_ok()
        };
        let lines = text.split(['\n', '\u{c}']).filter(|line| !foot(line));
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn run(program: &str, arguments: &[&str], path: &Path) -> String {
    let mut command = Command::new(program);
    command.args(arguments).arg(path);
    if program == "pdftotext" {
        command.arg("-");
    }
    let output = command
        .output()
        .unwrap_or_else(|e| panic!("{program}: {e}; install poppler-utils"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {error}");
    // the poppler of Debian 12 does not know all types that these attributes may have
    let known = |l: &&str| l.contains("Suspects object") || l.contains("BorderColor value");
    let complaints = error.lines().filter(|l| !known(l));
    assert_eq!(complaints.count(), 0, "{program} complains: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// Without white space (where lines are broken differs), and without the backticks around what is to be typed, which a page does not show.
fn tight(text: &str) -> String {
    let shown = |c: &char| !c.is_whitespace() && *c != '`';
    text.chars().filter(shown).collect()
}

/// Everything that a document says, in its order, each text with its marks; heads of tables apart.
fn said(document: &Document) -> (Vec<String>, Vec<String>) {
    let marked = |text: &Text| {
        let marks: String = document.marks(text).into_iter().map(|(_, m)| m).collect();
        format!("{}{marks}", text.text)
    };
    let (mut texts, mut heads) = (vec![document.title.clone()], vec![]);
    texts.extend(document.subtitle.clone());
    for block in &document.blocks {
        match block {
            Block::Heading(_, text) => texts.push(text.clone()),
            Block::Paragraph(text) => texts.push(marked(text)),
            Block::List(items) => texts.extend(items.iter().map(marked)),
            Block::Terms(terms) => {
                for (term, text) in terms {
                    texts.extend([term.clone(), marked(text)]);
                }
            }
            Block::Table(table) => {
                texts.push(marked(&table.caption));
                for column in &table.columns {
                    heads.push(column.head.clone());
                    heads.extend(column.group.clone());
                }
                texts.extend(
                    table
                        .rows
                        .iter()
                        .flat_map(|row| row.cells.iter().map(marked)),
                );
            }
            Block::Figure(figure) => texts.push(marked(&figure.caption)),
            Block::Footnotes => {
                let notes = document.notes().into_iter();
                texts.extend(notes.map(|(_, note)| note.text.clone()));
            }
        }
    }
    (texts, heads)
}

#[test]
fn terminal_html_and_pdf_say_the_same() {
    for document in [one(), three(), compare(&sample::compare())] {
        let (texts, heads) = said(&document);
        assert!(texts.len() > 50, "{}", texts.len());
        let pages = [
            ("terminal", terminal::render(&document, 100_000, false)),
            ("HTML", text_of_html(&html::render(&document))),
            ("PDF", File::of(&document).text(&document)),
        ];
        for (name, page) in pages {
            let page = tight(&page);
            let mut at = 0;
            for text in &texts {
                let wanted = tight(text);
                let found = page[at..].find(&wanted);
                let found = found.unwrap_or_else(|| {
                    let here: String = page[at..].chars().take(300).collect();
                    panic!("{name} lacks {text:?} after ...{here}")
                });
                at += found + wanted.len();
            }
            // over a narrow column a head stands word below word
            for word in heads.iter().flat_map(|head| head.split_whitespace()) {
                assert!(
                    page.contains(&tight(word)),
                    "{name} lacks {word:?} of a head"
                );
            }
        }
    }
}

/// What a reader sees: the text outside of tags, of the style sheet and of the drawings.
fn text_of_html(page: &str) -> String {
    let mut text = String::new();
    let body = page.split_once("<body>").unwrap().1;
    let mut drawings = body.split("<svg ");
    let mut rest = drawings.next().unwrap().to_owned();
    for drawing in drawings {
        rest.push_str(drawing.split_once("</svg>").unwrap().1);
    }
    for piece in rest.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, words)| words));
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    entities
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}

#[test]
fn a_pdf_is_tagged_and_has_its_fonts_inside() {
    let document = one();
    let file = File::of(&document);
    let info = file.tool("pdfinfo", &[]);
    let fact = |name: &str| {
        let line = info
            .lines()
            .find(|l| l.starts_with(name))
            .unwrap_or_default();
        line.split_once(':')
            .map_or("", |(_, value)| value.trim())
            .to_owned()
    };
    assert_eq!(fact("Tagged"), "yes");
    assert_eq!(fact("Title"), document.title);
    assert_eq!(fact("JavaScript"), "no");
    assert_eq!(fact("Encrypted"), "no");
    let fonts = file.tool("pdffonts", &[]);
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
fn a_pdf_has_headings_heads_of_tables_figures_and_links_in_its_structure() {
    let file = File::of(&one());
    let structure = file.tool("pdfinfo", &["-struct"]);
    let count = |tag: &str| {
        let lines = structure.lines().map(str::trim);
        lines
            .filter(|l| l.split([' ', ':']).next() == Some(tag))
            .count()
    };
    for tag in [
        "H1", "H2", "Table", "Caption", "TH", "TD", "Figure", "Link", "L", "LI",
    ] {
        assert!(count(tag) > 0, "no {tag} in the structure");
    }
    // copies of a row, the curve, the bars
    assert_eq!(count("Figure"), 3);
    // every mark is a link; one that leads nowhere would be refused when it is written
    assert!(count("Link") > 20);
}

#[test]
fn the_same_document_gives_the_same_bytes() {
    let document = compare(&sample::compare());
    let [a, b] = [(); 2].map(|()| gritstone_pdf::render(&document).unwrap());
    assert!(a == b);
    assert!(gritstone_pdf::render(&Document::default()).is_ok());
}

const EVIL: &str = "<script>alert('x')</script>&amp;\"]]>--><!-- #set page(width: 1pt) #[]$*_@<>&\"\\ = - + / // `raw` <label> @ref";
const RIGHT_TO_LEFT: &str = "מחשב \u{202E}حاسوب";

/// A run in which every text that comes from outside is as bad as it can be.
fn hostile(label: &str) -> RunView {
    let mut run = short(sample::run());
    run.results.truncate(6);
    run.label = Some(label.to_owned());
    let machine = &mut run.machine;
    for text in [
        &mut run.id,
        &mut machine.name,
        &mut machine.system,
        &mut machine.configuration,
        &mut run.started,
    ] {
        *text = EVIL.to_owned();
    }
    machine.document = Some(EVIL.to_owned());
    machine.facts = [(EVIL.to_owned(), RIGHT_TO_LEFT.to_owned())].into();
    for result in &mut run.results {
        result.title = EVIL.to_owned();
        result.names = vec![EVIL.to_owned()];
        result.notes.push(stated(Some(Flag::Interference), EVIL));
        if let Some(program) = &mut result.program {
            (program.hash, program.compiler, program.flags) =
                (EVIL.into(), EVIL.into(), EVIL.into());
        }
    }
    run
}

#[test]
fn hostile_names_are_text() {
    let long = "x".repeat(10_000);
    let runs = [EVIL, &long, RIGHT_TO_LEFT, ""].map(hostile);
    let document = brief_of(&runs, &[hostile("reference")]);
    let file = File::of(&document);
    let text = tight(&file.text(&document));
    assert!(text.matches(&tight(EVIL)).count() > 100);
    assert!(text.contains(&long));
    inside(&file);
}

#[test]
fn nothing_stands_outside_of_the_paper() {
    for document in [one(), three()] {
        inside(&File::of(&document));
    }
}

/// A4 is 595 by 842 points; the margins are 17 mm and more.
fn inside(file: &File) {
    let boxes = file.tool("pdftotext", &["-bbox"]);
    let value = |line: &str, name: &str| -> f64 {
        let at = line.split_once(&format!("{name}=\"")).unwrap().1;
        at.split_once('"').unwrap().0.parse().unwrap()
    };
    let words: Vec<&str> = boxes.lines().filter(|l| l.contains("<word ")).collect();
    assert!(words.len() > 1000);
    for word in words {
        let (left, right) = (value(word, "xMin"), value(word, "xMax"));
        let (top, bottom) = (value(word, "yMin"), value(word, "yMax"));
        let within = left > 40.0 && right < 555.0 && top > 30.0 && bottom < 825.0;
        assert!(within, "{word}");
    }
}

/// A note in the workload's own words.
fn stated(flag: Option<Flag>, text: impl Into<String>) -> Note {
    Note::new(gritstone_model::Finding::Stated {
        by: gritstone_model::Author::Workload,
        flag,
        text: text.into(),
    })
}
