//! Documents from made-up views, as text, HTML and drawings. One program: each module is a part that can be called by name.

#[path = "../sample/mod.rs"]
mod sample;

/// The contents of the blocks of one kind.
macro_rules! blocks {
    ($blocks:expr, $kind:ident) => {
        $blocks.iter().filter_map(|block| match block {
            gritstone_document::Block::$kind(content) => Some(content),
            _ => None,
        })
    };
}

mod ab;
mod audit;
mod brief;
mod changes;
mod check;
mod classic;
mod compare;
mod findings;
mod fleet;
mod footnotes;
mod history;
mod overview;
mod page;
mod pairs;
mod responses;
mod scores;
mod show;
