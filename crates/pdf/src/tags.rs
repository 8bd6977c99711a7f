//! Structure tree for screen readers.
//!
//! A part joins its parent when its first content is drawn, so that the tree has page order. Parts without content are
//! left out, except empty table cells.

use krilla::tagging::{Identifier, Tag, TagGroup, TagKind, TagTree};
use std::collections::BTreeMap;

/// Index of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part(usize);

struct Branch {
    tag: TagKind,
    parent: Part,
    joined: bool,
    children: Vec<Child>,
}

/// Child of a part.
#[derive(Clone, Copy)]
pub(crate) enum Child {
    Part(Part),
    Drawn(Identifier),
}

pub(crate) struct Tree(Vec<Branch>);

impl Tree {
    pub(crate) const TOP: Part = Part(0);

    pub(crate) fn new() -> Self {
        let mut tree = Self(vec![]);
        tree.add(Self::TOP, Tag::Div);
        tree.0[0].joined = true;
        tree
    }

    pub(crate) fn add(&mut self, parent: Part, tag: impl Into<TagKind>) -> Part {
        self.0.push(Branch { tag: tag.into(), parent, joined: false, children: vec![] });
        Part(self.0.len() - 1)
    }

    pub(crate) fn append(&mut self, part: Part, child: Child) {
        let branch = &mut self.0[part.0];
        let parent = branch.parent;
        if !std::mem::replace(&mut branch.joined, true) {
            self.append(parent, Child::Part(part));
        }
        self.0[part.0].children.push(child);
    }

    pub(crate) fn finish(&self) -> TagTree {
        let mut cells: BTreeMap<usize, Vec<Child>> = BTreeMap::new();
        for (index, branch) in self.0.iter().enumerate() {
            if matches!(self.0[branch.parent.0].tag, TagKind::TR(_)) {
                let row = cells.entry(branch.parent.0).or_default();
                row.push(Child::Part(Part(index)));
            }
        }
        let top = self.group(Self::TOP, &cells);
        TagTree::from(top.children).with_lang(Some("en".to_owned()))
    }

    fn group(&self, part: Part, cells: &BTreeMap<usize, Vec<Child>>) -> TagGroup {
        let Branch { tag, children, .. } = &self.0[part.0];
        let mut group = TagGroup::new(tag.clone());
        for child in cells.get(&part.0).unwrap_or(children) {
            match *child {
                Child::Part(part) => group.push(self.group(part, cells)),
                Child::Drawn(what) => group.push(what),
            }
        }
        group
    }
}
