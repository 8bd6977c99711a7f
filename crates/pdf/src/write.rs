//! Pages as a PDF: every letter drawn once, and told to which part of the structure it belongs.

use crate::Error;
use crate::face::{Face, Fonts, Type};
use crate::page::{Anchor, Item, PAGE, SIDE};
use crate::set::{SOFT, Setter};
use crate::tree::{Part, Tree};
use gritstone_report::clean;
use krilla::annotation::{Annotation, LinkAnnotation, Target};
use krilla::color::rgb;
use krilla::destination::XyzDestination;
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::metadata::Metadata;
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::{Page, PageSettings};
use krilla::paint::Fill;
use krilla::surface::Surface;
use krilla::tagging::{Artifact, ArtifactType, ContentTag, SpanTag};
use krilla_svg::{SurfaceExt, SvgSettings};
use std::collections::HashMap;

const FOOT: Type = Type {
    face: Face::Regular,
    size: 7.5,
    color: SOFT,
};
/// Base line of the feet.
const FOOT_AT: f32 = PAGE[1] - 36.0;
/// A running title is cut here; the title itself stands on the first page.
const RUNNING: usize = 70;

/// The file.
pub(crate) fn pdf(set: Setter) -> Result<Vec<u8>, Error> {
    let title = clean(&set.document.title).into_owned();
    let mut pages = set.pages.pages;
    if pages.is_empty() {
        pages.push(vec![]);
    }
    let mut writer = Writer {
        fonts: set.fonts,
        figures: &set.figures,
        anchors: set.pages.anchors,
        tree: set.tree,
        running: shortened(&title),
        pages: pages.len(),
    };
    let mut file = krilla::Document::new();
    for (number, items) in pages.into_iter().enumerate() {
        let size = PageSettings::from_wh(PAGE[0], PAGE[1]).expect("a size above 0");
        writer.page(&mut file.start_page_with(size), number, &items)?;
    }
    file.set_outline(outline(&set.headings, &writer.anchors));
    let metadata = Metadata::new().title(title).language("en".to_owned());
    file.set_metadata(metadata);
    file.set_tag_tree(writer.tree.finish());
    file.finish().map_err(|e| Error(format!("{e:?}")))
}

struct Writer<'a> {
    fonts: &'a Fonts,
    figures: &'a [&'a str],
    anchors: HashMap<Anchor, (usize, f32)>,
    tree: Tree,
    running: String,
    pages: usize,
}

impl Writer<'_> {
    fn page(&mut self, page: &mut Page, number: usize, items: &[Item]) -> Result<(), Error> {
        let mut surface = page.surface();
        surface.start_tagged(ornament(ArtifactType::Layout));
        for item in items {
            rectangle(&mut surface, item);
        }
        surface.end_tagged();
        // what belongs to one part in a row is one piece of it
        for piece in items.chunk_by(|a, b| part(a) == part(b)) {
            self.piece(&mut surface, piece)?;
        }
        self.foot(&mut surface, number + 1);
        surface.finish();
        for item in items {
            self.link(page, item);
        }
        Ok(())
    }

    fn piece(&mut self, surface: &mut Surface, items: &[Item]) -> Result<(), Error> {
        let drawn = |item: &Item| !matches!(item, Item::Box { .. } | Item::Link { .. });
        if !items.iter().any(drawn) {
            return Ok(());
        }
        let part = items.first().and_then(part);
        let figure = matches!(items.first(), Some(Item::Figure { .. }));
        let drawn = surface.start_tagged(match part {
            None => ornament(ArtifactType::PaginationOther),
            Some(_) if figure => ContentTag::Other,
            Some(_) => ContentTag::Span(SpanTag::empty()),
        });
        for item in items {
            match item {
                Item::Text {
                    x, y, set, text, ..
                } => self.text(surface, *x, *y, *set, text),
                Item::PageOf {
                    right, y, set, to, ..
                } => {
                    let page = self.anchors.get(to).map_or(0, |(page, _)| page + 1);
                    let text = format!(" {page}");
                    let x = right - self.fonts.width(*set, &text);
                    self.text(surface, x, *y, *set, &text);
                }
                Item::Figure {
                    x,
                    y,
                    width,
                    height,
                    number,
                    ..
                } => self.figure(surface, [*x, *y, *width, *height], *number)?,
                Item::Box { .. } | Item::Link { .. } => {}
            }
        }
        surface.end_tagged();
        if let Some(part) = part {
            self.tree.drawn(part, drawn);
        }
        Ok(())
    }

    fn text(&self, surface: &mut Surface, mut x: f32, y: f32, set: Type, text: &str) {
        surface.set_fill(Some(fill(set.color)));
        for run in self.fonts.runs(set.face, text) {
            let font = self.fonts.font(set.face).clone();
            let words = &text[run.range.clone()];
            let at = Point::from_xy(x, y);
            surface.draw_glyphs(at, &run.glyphs, font, words, set.size, false);
            x += run.width() * set.size;
        }
    }

    fn figure(
        &self,
        surface: &mut Surface,
        [x, y, width, height]: [f32; 4],
        number: usize,
    ) -> Result<(), Error> {
        let options = usvg::Options {
            fontdb: self.fonts.database.clone(),
            ..usvg::Options::default()
        };
        let drawing = usvg::Tree::from_str(self.figures[number], &options)
            .map_err(|e| Error(format!("figure {}: {e}", number + 1)))?;
        let size = Size::from_wh(width, height).expect("a size above 0");
        surface.push_transform(&Transform::from_translate(x, y));
        surface.draw_svg(&drawing, size, SvgSettings::default());
        surface.pop();
        Ok(())
    }

    fn foot(&self, surface: &mut Surface, number: usize) {
        let page = format!("{number} / {}", self.pages);
        let x = PAGE[0] - SIDE - self.fonts.width(FOOT, &page);
        surface.start_tagged(ornament(ArtifactType::Footer));
        self.text(surface, SIDE, FOOT_AT, FOOT, &self.running);
        self.text(surface, x, FOOT_AT, FOOT, &page);
        surface.end_tagged();
    }

    fn link(&mut self, page: &mut Page, item: &Item) {
        let Item::Link {
            x,
            y,
            width,
            height,
            to,
            words,
            part,
        } = item
        else {
            return;
        };
        let Some(target) = destination(&self.anchors, *to) else {
            return;
        };
        let Some(place) = Rect::from_xywh(*x, *y, *width, *height) else {
            return;
        };
        let link = LinkAnnotation::new(place, Target::Destination(target.into()));
        let link = Annotation::new_link(link, Some(words.clone()));
        self.tree.drawn(*part, page.add_tagged_annotation(link));
    }
}

/// What an item belongs to; rules and links are not drawn where the letters are.
fn part(item: &Item) -> Option<Part> {
    match item {
        Item::Text { part, .. } => *part,
        Item::Figure { part, .. } | Item::Link { part, .. } | Item::PageOf { part, .. } => {
            Some(*part)
        }
        Item::Box { .. } => None,
    }
}

fn ornament(kind: ArtifactType) -> ContentTag<'static> {
    ContentTag::Artifact(Artifact::with_kind(kind))
}

fn rectangle(surface: &mut Surface, item: &Item) {
    let Item::Box {
        x,
        y,
        width,
        height,
        color,
    } = item
    else {
        return;
    };
    let mut path = PathBuilder::new();
    if let Some(place) = Rect::from_xywh(*x, *y, *width, *height) {
        path.push_rect(place);
    }
    if let Some(path) = path.finish() {
        surface.set_fill(Some(fill(*color)));
        surface.draw_path(&path);
    }
}

fn fill([red, green, blue]: [u8; 3]) -> Fill {
    Fill {
        paint: rgb::Color::new(red, green, blue).into(),
        opacity: NormalizedF32::ONE,
        rule: Default::default(),
    }
}

/// Just above what is led to.
fn destination(anchors: &HashMap<Anchor, (usize, f32)>, to: Anchor) -> Option<XyzDestination> {
    let (page, y) = anchors.get(&to)?;
    let above = Point::from_xy(SIDE, (y - 8.0).max(0.0));
    Some(XyzDestination::new(*page, above))
}

/// The headings as a tree, for the margin of a reader's program.
fn outline(headings: &[(u8, String)], anchors: &HashMap<Anchor, (usize, f32)>) -> Outline {
    let mut outline = Outline::new();
    for node in nodes(headings, 0, anchors) {
        outline.push_child(node);
    }
    outline
}

/// Headings from a number on, each with those below it.
fn nodes(
    headings: &[(u8, String)],
    from: usize,
    anchors: &HashMap<Anchor, (usize, f32)>,
) -> Vec<OutlineNode> {
    let mut made = vec![];
    let mut at = 0;
    while let Some((level, words)) = headings.get(at) {
        let below = headings[at + 1..].iter().take_while(|(l, _)| l > level);
        let end = at + 1 + below.count();
        if let Some(to) = destination(anchors, Anchor::Heading(from + at)) {
            let mut node = OutlineNode::new(words.clone(), to);
            for child in nodes(&headings[at + 1..end], from + at + 1, anchors) {
                node.push_child(child);
            }
            made.push(node);
        }
        at = end;
    }
    made
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= RUNNING {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(RUNNING - 1).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_title_has_an_end() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"ä".repeat(200)).chars().count(), RUNNING);
    }
}
