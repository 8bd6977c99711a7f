//! The structure of a document, by which it is read aloud: what is drawn belongs to a part, and parts to others.
//!
//! A part joins the part that it is of when the first of it is drawn, so that the structure has the order of the pages, and
//! parts of which nothing is drawn are not in it.

use krilla::tagging::{
    Identifier, ListNumbering, Node, TableHeaderScope, Tag, TagGroup, TagKind, TagTree,
};
use std::num::{NonZeroU16, NonZeroU32};

/// A part of one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part(usize);

/// What a part is.
#[derive(Clone, Debug)]
pub(crate) enum Role {
    Group,
    /// Its level and its words.
    Heading(u16, String),
    Paragraph,
    List,
    Item,
    Bullet,
    Body,
    Contents,
    Entry,
    Table,
    Caption,
    Heads,
    Rows,
    Row,
    /// Head of a column that takes so many columns and rows.
    Head(u32, u32),
    RowHead,
    Cell,
    /// In words.
    Figure(String),
    Link,
}

struct Joined {
    role: Role,
    of: Option<Part>,
    joined: bool,
    children: Vec<Child>,
}

enum Child {
    Part(Part),
    Drawn(Identifier),
}

/// The parts of a document.
#[derive(Default)]
pub(crate) struct Tree {
    parts: Vec<Joined>,
    top: Vec<Part>,
}

impl Tree {
    /// A part of the document itself.
    pub(crate) fn top(&mut self, role: Role) -> Part {
        self.add(None, role)
    }

    /// A part of another.
    pub(crate) fn within(&mut self, of: Part, role: Role) -> Part {
        self.add(Some(of), role)
    }

    fn add(&mut self, of: Option<Part>, role: Role) -> Part {
        self.parts.push(Joined {
            role,
            of,
            joined: false,
            children: vec![],
        });
        Part(self.parts.len() - 1)
    }

    /// What was drawn belongs to a part.
    pub(crate) fn drawn(&mut self, part: Part, what: Identifier) {
        self.join(part);
        self.parts[part.0].children.push(Child::Drawn(what));
    }

    fn join(&mut self, part: Part) {
        if std::mem::replace(&mut self.parts[part.0].joined, true) {
            return;
        }
        match self.parts[part.0].of {
            Some(of) => {
                self.join(of);
                self.parts[of.0].children.push(Child::Part(part));
            }
            None => self.top.push(part),
        }
    }

    pub(crate) fn finish(mut self) -> TagTree {
        let top = std::mem::take(&mut self.top);
        let children: Vec<Node> = top.into_iter().map(|part| self.group(part)).collect();
        TagTree::from(children).with_lang(Some("en".to_owned()))
    }

    fn group(&mut self, part: Part) -> Node {
        let joined = &mut self.parts[part.0];
        let tag = tag(std::mem::replace(&mut joined.role, Role::Group));
        let children = std::mem::take(&mut joined.children);
        let mut nodes = Vec::with_capacity(children.len());
        for child in children {
            nodes.push(match child {
                Child::Part(part) => self.group(part),
                Child::Drawn(what) => what.into(),
            });
        }
        TagGroup::with_children(tag, nodes).into()
    }
}

fn tag(role: Role) -> TagKind {
    match role {
        Role::Group => Tag::Div.into(),
        Role::Heading(level, words) => {
            let level = NonZeroU16::new(level).unwrap_or(NonZeroU16::MIN);
            Tag::Hn(level, Some(words)).into()
        }
        Role::Paragraph => Tag::P.into(),
        Role::List => Tag::L(ListNumbering::Disc).into(),
        Role::Item => Tag::LI.into(),
        Role::Bullet => Tag::Lbl.into(),
        Role::Body => Tag::LBody.into(),
        Role::Contents => Tag::TOC.into(),
        Role::Entry => Tag::TOCI.into(),
        Role::Table => Tag::Table.into(),
        Role::Caption => Tag::Caption.into(),
        Role::Heads => Tag::THead.into(),
        Role::Rows => Tag::TBody.into(),
        Role::Row => Tag::TR.into(),
        Role::Head(columns, rows) => {
            let several = |n: u32| NonZeroU32::new(n).filter(|n| n.get() > 1);
            Tag::TH(TableHeaderScope::Column)
                .with_col_span(several(columns))
                .with_row_span(several(rows))
                .into()
        }
        Role::RowHead => Tag::TH(TableHeaderScope::Row).into(),
        Role::Cell => Tag::TD.into(),
        Role::Figure(words) => Tag::Figure(Some(words)).into(),
        Role::Link => Tag::Link.into(),
    }
}
