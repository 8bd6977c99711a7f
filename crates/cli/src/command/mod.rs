//! One module per command.

pub mod ab;
pub mod audit;
pub mod bench;
pub mod changes;
pub mod doctor;
pub mod dry_run;
pub mod export;
pub mod fleet;
pub mod history;
pub mod init;
pub mod job;
pub mod list;
pub mod parameters;
pub mod prune;
pub mod push;
pub mod report;
pub mod resume;
pub mod run;
pub mod score;
pub mod serve;
pub mod show;
pub mod token;
