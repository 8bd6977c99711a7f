//! One module per command.

pub mod ab;
pub mod audit;
pub mod bench;
pub mod bisect;
pub mod changes;
pub mod check;
pub mod compare;
pub mod completions;
pub mod config;
pub mod doctor;
pub mod export;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod history;
pub mod import;
pub mod info;
pub mod init;
mod init_ci;
pub mod list;
pub mod man;
pub mod overview;
pub mod pr;
#[cfg(feature = "server")]
pub mod push;
pub mod report;
pub mod run;
pub mod runs;
pub mod score;
#[cfg(feature = "server")]
pub mod serve;
pub mod show;
#[cfg(feature = "server")]
pub mod site;
pub mod systems;
#[cfg(feature = "server")]
pub mod token;
