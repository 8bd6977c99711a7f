//! The binary, used as a person uses it. One program: each module is a part that can be called by name.

#[path = "../common/mod.rs"]
mod common;

mod ab;
mod app;
mod attacks;
mod audit;
mod bare;
mod bench;
mod binary;
mod browser;
mod ci;
mod compilers;
mod conditions;
mod config;
mod copies;
mod cross;
mod db;
mod disks;
mod documents;
mod ends;
mod exchange;
mod fleet;
mod fs;
mod ipc;
mod licenses;
mod load;
mod multiuser;
mod net;
mod own;
mod paging;
mod past;
mod push;
mod ratings;
mod rt;
mod schemas;
mod selftest;
mod serve;
mod shapes;
mod simulators;
mod steady;
mod surroundings;
mod team;
mod terminal;
mod today;
mod trace;
