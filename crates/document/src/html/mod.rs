//! Renders a document as one HTML file, which loads nothing and is readable without its few lines of script, on a
//! phone, on paper and without color.
//!
//! The markup is well-formed XML too, so that a strict parser can check that every element is closed. A table scrolls
//! in its own box, and names its rows and columns for screen readers. Notes are listed in the document; numbers carry
//! no reference marks.

mod files;
mod frame;
mod scripts;

use crate::code_spans::pieces;
use crate::footnote::FlagStyle;
use crate::footnote::Tone;
use crate::sanitize::escape;
use crate::tree::{
    About, Block, Column, Document, Figure, ResultLine, Row, Style, Table, Text, Tile,
};
pub use files::Files;
pub use frame::{Choice, Form, Frame, TriageForm, encoded, path};
pub use scripts::{CHARTS_PATH, charts, script};
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
const LIVE: &str = include_str!("live.js");
/// Filter and sort controls of the results; shown by the script.
const BAR: &str = "<div class=\"bar\" role=\"search\" hidden=\"hidden\"><label>Filter <input type=\"search\" placeholder=\"pipe, memory, noisy\"/></label> \
                   <label>Order <select><option value=\"\">by category</option><option value=\"name\">by name</option>\
                   <option value=\"wide\">widest interval first</option></select></label> <output></output></div>\n";
/// Minimum number of sections of a page with a table of contents.
const CONTENTS_FROM: usize = 4;
/// Longest row name that is not wrapped, in characters.
const SHORT_NAME: usize = 16;
/// Length of a text from which it gets the full width below its term.
const LONG_TERM: usize = 64;
/// Columns, and columns of words, from which the rows of a table are records: their cells are one below the other on a phone.
const RECORD_FROM: usize = 6;
const RECORD_OF_WORDS_FROM: usize = 4;
/// Longest word without break opportunities.
const LONGEST_WORD: usize = 24;

/// Where links to other pages lead.
#[derive(Clone, Copy)]
enum Links<'a> {
    Server,
    /// From the page of this path.
    Files(&'a Files, &'a str),
}

impl Links<'_> {
    /// `None` where there is no such page.
    fn to(self, path: &str) -> Option<String> {
        match self {
            Self::Server => Some(path.to_owned()),
            Self::Files(files, from) => files.link(from, path),
        }
    }
}

/// A page under construction.
#[derive(Default)]
struct Page<'a> {
    out: String,
    links: Option<Links<'a>>,
    sections: usize,
    searchable: bool,
    has_charts: bool,
    tables: usize,
}

/// Renders a page for a file.
pub fn render(document: &Document) -> String {
    page(document, None)
}

/// Renders a page of a server, with links to other pages.
pub fn served(document: &Document, frame: &Frame) -> String {
    page(document, Some((frame, Links::Server)))
}

/// Renders the page of a path on a server as a file, with links to other files.
pub fn filed(document: &Document, frame: &Frame, files: &Files, path: &str) -> String {
    page(document, Some((frame, Links::Files(files, path))))
}

/// Contents of the elements `style` and `script` of served pages, for the content security policy: the style, then the
/// scripts.
pub fn inline() -> (String, [String; 2]) {
    let scripts = [SCRIPT, LIVE].map(|script| format!("\n{script}"));
    (style(true), scripts)
}

fn style(served: bool) -> String {
    format!("\n{STYLE}{}", if served { frame::STYLE } else { "" })
}

fn page(document: &Document, frame: Option<(&Frame, Links)>) -> String {
    let title = escape(&document.title);
    let style = style(frame.is_some());
    let mut page = Page {
        out: format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta name=\"color-scheme\" content=\"light dark\"/>\n\
             <title>{title}</title>\n<style>{style}</style>\n"
        ),
        links: frame.map(|(_, links)| links),
        ..Page::default()
    };
    if let Some((_, Links::Server)) = frame {
        page.out.push_str(
            "<link rel=\"alternate\" type=\"application/atom+xml\" title=\"Changes\" href=\"/changes.atom\"/>\n",
        );
    }
    page.out.push_str("</head>\n<body>\n");
    if let Some((frame, links)) = frame {
        frame.above(&mut page.out, links);
    }
    let _ = write!(page.out, "<main>\n<header>\n<h1>{title}</h1>\n");
    if let Some(subtitle) = &document.subtitle {
        page.element("p class=\"subtitle\"", &escape(subtitle));
    }
    page.out.push_str("</header>\n");
    if let Some((frame, links)) = frame {
        frame.live(&mut page.out);
        frame.form(&mut page.out);
        if links.to(scripts::TRIAGE_PATH).is_some() {
            frame.triage(&mut page.out);
        }
        frame.comparisons(&mut page.out, links);
    }
    page.contents(document);
    for block in &document.blocks {
        page.top(document, block);
    }
    if page.sections > 0 {
        page.out.push_str("</section>\n");
    }
    page.out.push_str("</main>\n");
    let live = frame.is_some_and(|(frame, _)| frame.live.is_some());
    // results may arrive while the page is open
    if page.searchable || live {
        page.element("script", &format!("\n{SCRIPT}"));
    }
    if live {
        page.element("script", &format!("\n{LIVE}"));
    }
    if let Some((frame, links)) = frame {
        let has_triage = frame.triage.is_some();
        scripts::load(&mut page.out, links, page.has_charts, has_triage);
    }
    page.out.push_str("</body>\n</html>\n");
    page.out
}

impl Page<'_> {
    /// Writes an element on a line of its own.
    fn element(&mut self, open: &str, content: &str) {
        let (name, _) = open.split_once(' ').unwrap_or((open, ""));
        let _ = writeln!(self.out, "<{open}>{content}</{name}>");
    }

    /// Writes a block at top level.
    fn top(&mut self, document: &Document, block: &Block) {
        match block {
            Block::Heading(1, text) => {
                if self.sections > 0 {
                    self.out.push_str("</section>\n");
                }
                self.sections += 1;
                let section = format!("<section id=\"section-{}\">\n", self.sections);
                self.out.push_str(&section);
                self.element("h2", &escape(text));
            }
            Block::Footnotes => {
                let notes = document.notes().into_iter();
                let rows = document.rows_of_notes();
                let names = |id| rows.get(&id).map_or(&[][..], Vec::as_slice);
                let notes: Vec<Text> =
                    notes.map(|(id, note)| note.with_names(names(id)).into()).collect();
                self.list(&notes);
            }
            block => self.block(block),
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(level, text) => {
                self.element(&format!("h{}", (*level).clamp(2, 3) + 1), &escape(text));
            }
            Block::Paragraph(text) => {
                let text = self.linked(text, words(&text.text));
                self.element("p", &text);
            }
            Block::List(items) => self.list(items),
            Block::Terms(terms) => self.terms(terms),
            Block::Table(table) => self.table(table),
            Block::Figure(figure) => self.figure(figure),
            Block::Tiles(tiles) => self.tiles(tiles),
            Block::Results(lines) => self.results(lines),
            Block::Footnotes => {}
        }
    }

    /// Wraps the markup of a text in a link to its target, where pages have links.
    fn linked(&self, text: &Text, written: String) -> String {
        let to = |about: &About| match about {
            About::Web(address) => address.starts_with("https://").then(|| address.clone()),
            about => self.links?.to(&path(about)),
        };
        let about = text.about.as_ref().filter(|_| !text.is_missing());
        match about.and_then(to) {
            Some(to) => format!("<a href=\"{}\">{written}</a>", escape(&to)),
            None => written,
        }
    }

    fn list(&mut self, items: &[Text]) {
        if items.is_empty() {
            return;
        }
        self.out.push_str("<ul>\n");
        for item in items {
            let item = self.linked(item, words(&item.text));
            self.element("li", &item);
        }
        self.out.push_str("</ul>\n");
    }

    /// Writes the table of contents, for at least `CONTENTS_FROM` sections.
    fn contents(&mut self, document: &Document) {
        let section = |block: &Block| match block {
            Block::Heading(1, text) => Some(escape(text)),
            _ => None,
        };
        let sections: Vec<String> = document.blocks.iter().filter_map(section).collect();
        if sections.len() < CONTENTS_FROM {
            return;
        }
        self.out.push_str("<nav aria-label=\"Contents\">\n<ul>\n");
        for (number, text) in (1..).zip(sections) {
            self.element("li", &format!("<a href=\"#section-{number}\">{text}</a>"));
        }
        self.out.push_str("</ul>\n</nav>\n");
    }

    fn terms(&mut self, terms: &[(String, Text)]) {
        self.out.push_str("<dl>\n");
        for (term, text) in terms {
            let open = match text.text.chars().count() > LONG_TERM {
                true => "div class=\"wide\"",
                false => "div",
            };
            let term = escape(term).replace('_', "_<wbr/>");
            let text = self.linked(text, words(&text.text));
            self.element(open, &format!("<dt>{term}</dt><dd>{text}</dd>"));
        }
        self.out.push_str("</dl>\n");
    }

    fn tiles(&mut self, tiles: &[Tile]) {
        self.out.push_str("<ul class=\"tiles\">\n");
        for tile in tiles {
            let [name, value, origin] =
                [&tile.name, &tile.value, &tile.detail].map(|text| escape(text));
            let open = match tile.tone {
                Some(tone) => format!("li class=\"{}\"", word(tone)),
                None => "li".to_owned(),
            };
            self.element(
                &open,
                &format!("<span>{name}</span> <b>{value}</b> <small>{origin}</small>"),
            );
        }
        self.out.push_str("</ul>\n");
    }

    fn results(&mut self, lines: &[ResultLine]) {
        if !self.searchable {
            self.searchable = true;
            // before the heading of the current section
            let start = self.out.rfind("<section").unwrap_or(self.out.len());
            self.out.insert_str(start, BAR);
        }
        self.out.push_str(
            "<div class=\"results\">\n<div class=\"line head\" aria-hidden=\"true\"><span>Benchmark</span><span class=\"n\">Estimate</span>\
             <span>Unit</span><span class=\"n\">±</span><span>Flags</span><span>95% CI within ±25%</span><span>Launches</span></div>\n",
        );
        for line in lines {
            let (id, wide) = (anchor(&line.id), line.precision.unwrap_or(-1.0));
            let _ = write!(
                self.out,
                "<details id=\"{id}\" data-wide=\"{wide:.4}\"><summary class=\"line\">"
            );
            self.summary(line);
            self.out.push_str("</summary>\n<div class=\"more\">\n");
            if let Some(link) = line.link.as_ref().filter(|_| self.links.is_some()) {
                let link = self.linked(link, escape(&link.text));
                self.element("p", &link);
            }
            line.details.iter().for_each(|block| self.block(block));
            self.out.push_str("</div></details>\n");
        }
        self.out.push_str("</div>\n");
    }

    fn summary(&mut self, line: &ResultLine) {
        let [id, title, unit, half] =
            [&line.id, &line.title, &line.unit, &line.half_width].map(|t| escape(t));
        let value = aligned(&line.value);
        let interval = match line.interval.as_str() {
            "" => String::new(),
            interval => format!("<span class=\"aside\">95% CI {}</span>", escape(interval)),
        };
        let letter = |flag: &&FlagStyle| {
            format!("<abbr title=\"{}\">{}</abbr>", escape(flag.meaning), flag.letter)
        };
        let flags: Vec<String> = line.flags.iter().map(letter).collect();
        let _ = write!(
            self.out,
            "<span class=\"name\"><code>{id}</code> <small>{title}</small></span> {value} <span class=\"unit\">{unit}</span> \
             <span class=\"n half\">{half}</span> <span class=\"flags\">{}</span> <span class=\"ci\">{}{interval}</span> <span class=\"run\">{}</span>",
            flags.join(" "),
            line.whisker,
            line.sparkline
        );
    }

    fn figure(&mut self, figure: &Figure) {
        self.out.push_str("<figure>\n");
        self.element("figcaption", &words(&figure.caption.text));
        let drawings = figure.svgs.concat();
        // scrollable on a narrow screen, also by keyboard
        let plots = format!(
            "div class=\"plots\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"",
            escape(&figure.caption.text)
        );
        self.element(&plots, &drawings);
        let alternative = escape(&figure.alternative);
        let folded = format!("<summary>Text description</summary><p>{alternative}</p>");
        self.element("details", &folded);
        if let Some((chart, links)) = figure.chart.as_ref().zip(self.links) {
            let data = scripts::data(chart, links);
            self.element("script type=\"application/json\" class=\"chart-data\"", &data);
            self.has_charts = true;
        }
        self.out.push_str("</figure>\n");
    }

    fn table(&mut self, table: &Table) {
        self.tables += 1;
        let caption = match table.caption.text.as_str() {
            "" => format!("Table {}", self.tables),
            text => text.to_owned(),
        };
        let label = escape(&format!("Table {}: {caption}", self.tables));
        let _ = writeln!(
            self.out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n<table{}>",
            if is_record(&table.columns) { " class=\"records\"" } else { "" }
        );
        self.element("caption", &format!("<span>{}</span>", words(&caption)));
        self.heads(&table.columns);
        for row in &table.rows {
            self.row(&table.columns, row);
        }
        self.out.push_str("</tbody>\n</table>\n</div>\n");
    }

    fn heads(&mut self, columns: &[Column]) {
        let grouped = columns.iter().any(|c| c.group.is_some());
        let head = |column: &Column, rows: &str| {
            let (class, head) = (class(column.style), escape(&column.head));
            format!("<th scope=\"col\"{rows} class=\"{class}\">{head}</th>")
        };
        self.out.push_str("<thead>\n");
        if grouped {
            let run = |run: &[Column]| match &run[0].group {
                Some(group) => format!(
                    "<th scope=\"colgroup\" class=\"g\" colspan=\"{}\"><span>{}</span></th>",
                    run.len(),
                    escape(group)
                ),
                None => head(&run[0], " rowspan=\"2\""),
            };
            let runs = columns.chunk_by(|a, b| a.group.is_some() && a.group == b.group);
            self.element("tr", &runs.map(run).collect::<String>());
        }
        let lower = columns.iter().filter(|c| !grouped || c.group.is_some());
        self.element("tr", &lower.map(|column| head(column, "")).collect::<String>());
        self.out.push_str("</thead>\n<tbody>\n");
    }

    fn row(&mut self, columns: &[Column], row: &Row) {
        let mut cells = String::new();
        let is_record = is_record(columns);
        for (i, (column, text)) in columns.iter().zip(&row.cells).enumerate() {
            let cell = match column.style {
                Style::Number => escape(&text.text),
                Style::Code => format!("<code>{}</code>", escape(&text.text)),
                Style::Text => breakable(&text.text),
            };
            let cell = self.linked(text, cell);
            let class = |style| match text.tone.filter(|_| self.links.is_some()) {
                Some(tone) => format!("{} {}", class(style), word(tone)),
                None => class(style).to_owned(),
            };
            // short names are not broken at hyphens
            let short = text.text.chars().count() <= SHORT_NAME;
            let _ = match (i == 0 && column.key, class(column.style)) {
                (true, _) if short => write!(cells, "<th scope=\"row\" class=\"k\">{cell}</th>"),
                (true, class) => write!(cells, "<th scope=\"row\" class=\"{class}\">{cell}</th>"),
                (false, class) if is_record => {
                    let head = escape(&column.head);
                    let class = match text.is_missing() {
                        true => class + " absent",
                        false => class,
                    };
                    write!(cells, "<td class=\"{class}\" data-head=\"{head}\">{cell}</td>")
                }
                (false, class) => write!(cells, "<td class=\"{class}\">{cell}</td>"),
            };
        }
        let open = if row.strong { "tr class=\"strong\"" } else { "tr" };
        self.element(open, &cells);
    }
}

fn is_record(columns: &[Column]) -> bool {
    let words = columns.iter().filter(|column| column.style != Style::Number);
    let is_wide = columns.len() >= RECORD_FROM || words.count() >= RECORD_OF_WORDS_FROM;
    is_wide && columns.iter().all(|column| column.group.is_none())
}

/// Element identifier of a benchmark, as a link target.
fn anchor(id: &str) -> String {
    id.replace(['/', '@', '.'], "-")
}

/// Aligns a number by its decimal point; words are unchanged.
fn aligned(value: &str) -> String {
    let (whole, rest) = value.split_at(value.find('.').unwrap_or(value.len()));
    match value.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        true => format!(
            "<span class=\"v\"><span>{}</span><span>{}</span></span>",
            escape(whole),
            escape(rest)
        ),
        false => format!("<span class=\"none\">{}</span>", escape(value)),
    }
}

/// Escapes text, and marks up its code spans.
fn words(text: &str) -> String {
    let set = |(typed, piece)| match typed {
        false => escape(piece),
        true => format!("<code>{}</code>", escape(piece)),
    };
    pieces(text).map(set).collect()
}

/// Escapes text; words longer than a column get break opportunities.
fn breakable(text: &str) -> String {
    let word = |word: &str| {
        let letters: Vec<char> = word.chars().collect();
        let size = match letters.len() > LONGEST_WORD {
            true => LONGEST_WORD / 2,
            false => LONGEST_WORD,
        };
        let pieces = letters.chunks(size).map(|piece| piece.iter().collect());
        let pieces = pieces.map(|piece: String| escape(&piece));
        pieces.collect::<Vec<_>>().join("<wbr/>")
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn word(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Doubt => "doubt",
        Tone::Faint => "faint",
    }
}

fn class(style: Style) -> &'static str {
    match style {
        Style::Number => "n",
        Style::Text => "t",
        Style::Code => "c",
    }
}

#[cfg(test)]
mod tests {
    use super::{aligned, words};

    #[test]
    fn code_spans_are_marked_up() {
        assert_eq!(words("say `a < b` and `c`"), "say <code>a &lt; b</code> and <code>c</code>");
    }

    #[test]
    fn numbers_align_at_points() {
        let cut = |text| aligned(text).contains("<span>1,234</span><span>.5</span>");
        assert!(cut("1,234.5"));
        assert!(aligned("12").contains("<span>12</span><span></span>"));
        assert!(aligned("timed out").contains("none"));
    }
}
