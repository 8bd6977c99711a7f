//! Runs that were made up, summarized and compared: every figure has a known answer, every footnote is planted alone.

mod ab;
mod audit;
mod between;
mod compare;
mod copies;
mod counters;
mod crowd;
mod derived;
mod differ;
mod figures;
mod footnotes;
mod history;
mod hostile;
mod latencies;
mod machines;
mod made_up;
mod printed;
mod published;
mod rating;
mod ratings;
mod scaling;
mod selftest;
mod size;
mod smallest;
mod snapshots;
mod sums;
