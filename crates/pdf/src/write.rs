//! Writes pages as a PDF; each item is tagged with its part of the structure.

use crate::Error;
use crate::fonts::{Face, Type};
use crate::page::{Anchor, Ink, Item, PAGE, SIDE};
use crate::setter::Setter;
use crate::tags::Child;
use gritstone_document::{clean, shortened};
use krilla::SerializeSettings;
use krilla::annotation::{Annotation, LinkAnnotation, Target};
use krilla::color::rgb;
use krilla::configure::{Accessibility, ConfigurationBuilder};
use krilla::destination::XyzDestination;
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::metadata::Metadata;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::{Page, PageSettings};
use krilla::paint::Fill;
use krilla::surface::Surface;
use krilla::tagging::{Artifact, ArtifactType, ContentTag, SpanTag};
use krilla_svg::{SurfaceExt, SvgSettings};
use std::iter::{Enumerate, Peekable};
use std::slice::Iter;

const FOOT: Type = Type::new(Face::Regular, 7.5).soft();
/// Baseline of the footer, pt from the top of the page.
const FOOT_AT: f32 = PAGE[1] - 36.0;
/// Maximum length of the running title, characters.
const RUNNING: usize = 70;

pub(crate) fn pdf(mut set: Setter) -> Result<Vec<u8>, Error> {
    let mut pages = std::mem::take(&mut set.pages.pages);
    if pages.is_empty() {
        pages.push(vec![]);
    }
    let title = match clean(&set.document.title).into_owned() {
        none if none.is_empty() => "Gritstone".to_owned(),
        title => title,
    };
    let running = shortened(&title, RUNNING);
    let count = pages.len();
    // the validator refuses what PDF/UA-1 does not allow
    let configuration = ConfigurationBuilder::new()
        .with_accessibility_validator(Accessibility::UA1)
        .finish()
        .map_err(|e| Error(format!("{e:?}")))?;
    let mut file = krilla::Document::new_with(SerializeSettings {
        configuration,
        ..SerializeSettings::default()
    });
    for (number, items) in (1..).zip(pages) {
        let size = PageSettings::from_wh(PAGE[0], PAGE[1]).expect("a size above 0");
        let feet = [running.clone(), format!("{number} / {count}")];
        set.page(&mut file.start_page_with(size), items, &feet);
    }
    let mut outline = Outline::new();
    let mut headings = set.headings.iter().enumerate().peekable();
    for node in set.nodes(&mut headings, 0) {
        outline.push_child(node);
    }
    file.set_outline(outline);
    file.set_metadata(Metadata::new().title(title).language("en".to_owned()));
    file.set_tag_tree(set.tree.finish());
    let file = file.finish().map_err(|e| Error(format!("{e:?}")))?;
    Ok(without_suspects(file))
}

/// Blanks a default value that poppler before 23 reports as a syntax error; no position changes.
fn without_suspects(mut file: Vec<u8>) -> Vec<u8> {
    const MARKED: &[u8] = b"/MarkInfo<</Marked true";
    const DEFAULT: &[u8] = b"/Suspects false";
    let length = MARKED.len() + DEFAULT.len();
    let is_default = |bytes: &[u8]| bytes.starts_with(MARKED) && bytes.ends_with(DEFAULT);
    if let Some(start) = file.windows(length).rposition(is_default) {
        file[start + MARKED.len()..start + length].fill(b' ');
    }
    file
}

impl Setter<'_> {
    fn page(&mut self, page: &mut Page, items: Vec<Item>, [left, right]: &[String; 2]) {
        let is_bar = |item: &Item| matches!(item.ink, Ink::Bar(..));
        let (bars, items): (Vec<Item>, Vec<Item>) = items.into_iter().partition(is_bar);
        let mut surface = page.surface();
        surface.start_tagged(ornament(ArtifactType::Layout));
        bars.iter().for_each(|bar| self.paint(&mut surface, bar));
        surface.end_tagged();
        // consecutive items of one part form one marked-content sequence
        for piece in items.chunk_by(|a, b| a.part == b.part) {
            let drawn = surface.start_tagged(match (piece[0].part, &piece[0].ink) {
                (None, _) => ornament(ArtifactType::PaginationOther),
                (_, Ink::Figure(..)) => ContentTag::Other,
                _ => ContentTag::Span(SpanTag::empty()),
            });
            piece.iter().for_each(|item| self.paint(&mut surface, item));
            surface.end_tagged();
            if let Some(part) = piece[0].part {
                self.tree.append(part, Child::Drawn(drawn));
            }
        }
        surface.start_tagged(ornament(ArtifactType::Footer));
        self.text(&mut surface, SIDE, FOOT_AT, FOOT, left);
        let x = PAGE[0] - SIDE - self.fonts.width(FOOT, right);
        self.text(&mut surface, x, FOOT_AT, FOOT, right);
        surface.end_tagged();
        surface.finish();
        items.iter().for_each(|item| self.link(page, item));
    }

    /// Links draw nothing.
    fn paint(&self, surface: &mut Surface, item: &Item) {
        let Item { x, y, .. } = *item;
        match &item.ink {
            Ink::Text(set, text) => self.text(surface, x, y, *set, text),
            Ink::PageOf(set, to) => {
                let page = self.pages.anchors.get(to).map_or(0, |(page, _)| page + 1);
                let text = format!(" {page}");
                let x = x - self.fonts.width(*set, &text);
                self.text(surface, x, y, *set, &text);
            }
            Ink::Bar([width, height], color) => {
                let mut path = PathBuilder::new();
                let place = Rect::from_xywh(x, y, *width, *height);
                place.into_iter().for_each(|place| path.push_rect(place));
                if let Some(path) = path.finish() {
                    surface.set_fill(Some(fill(*color)));
                    surface.draw_path(&path);
                }
            }
            Ink::Figure([width, height], drawing) => {
                let size = Size::from_wh(*width, *height).expect("a size above 0");
                surface.push_transform(&Transform::from_translate(x, y));
                surface.draw_svg(drawing, size, SvgSettings::default());
                surface.pop();
            }
            Ink::Link(..) => {}
        }
    }

    fn text(&self, surface: &mut Surface, mut x: f32, y: f32, set: Type, text: &str) {
        surface.set_fill(Some(fill(set.color)));
        for run in self.fonts.runs(set.face, text) {
            let font = self.fonts.font(set.face);
            let words = &text[run.range.clone()];
            let point = Point::from_xy(x, y);
            surface.draw_glyphs(point, &run.glyphs, font, words, set.size, false);
            x += run.width() * set.size;
        }
    }

    fn link(&mut self, page: &mut Page, item: &Item) {
        let (Ink::Link([width, height], to, words), Some(part)) = (&item.ink, item.part) else {
            return;
        };
        let place = Rect::from_xywh(item.x, item.y, *width, *height);
        if let Some((place, target)) = place.zip(self.destination(*to)) {
            let link = LinkAnnotation::new(place, Target::Destination(target.into()));
            let link = Annotation::new_link(link, Some(words.clone()));
            let drawn = page.add_tagged_annotation(link);
            self.tree.append(part, Child::Drawn(drawn));
        }
    }

    /// Just above the target.
    fn destination(&self, to: Anchor) -> Option<XyzDestination> {
        let (page, y) = self.pages.anchors.get(&to)?;
        let above = Point::from_xy(SIDE, (y - 8.0).max(0.0));
        Some(XyzDestination::new(*page, above))
    }

    /// The next headings below this level with their descendants, for the outline.
    fn nodes(
        &self,
        headings: &mut Peekable<Enumerate<Iter<(u8, String)>>>,
        above: u8,
    ) -> Vec<OutlineNode> {
        let mut nodes = vec![];
        while let Some((index, (level, words))) = headings.next_if(|(_, (level, _))| *level > above)
        {
            let below = self.nodes(headings, *level);
            if let Some(to) = self.destination(Anchor(index)) {
                let mut node = OutlineNode::new(words.clone(), to);
                below.into_iter().for_each(|child| node.push_child(child));
                nodes.push(node);
            }
        }
        nodes
    }
}

fn ornament(kind: ArtifactType) -> ContentTag<'static> {
    ContentTag::Artifact(Artifact::with_kind(kind))
}

fn fill([red, green, blue]: [u8; 3]) -> Fill {
    Fill { paint: rgb::Color::new(red, green, blue).into(), ..Fill::default() }
}
