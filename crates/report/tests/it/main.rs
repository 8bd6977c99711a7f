//! Documents from made-up views, as text, HTML and drawings. One program: each module is a part that can be called by name.

#[path = "../sample/mod.rs"]
mod sample;

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
