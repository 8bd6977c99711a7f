//! Runs, append-only, raw samples kept.
//!
//! A [`Store`] is one SQLite file, or a database of a PostgreSQL server that many machines share. A run begins with its head, the entries of the catalog as they were, and what
//! could not run; each launch is committed with all its events as it ends; the end of the run comes last, and a run
//! that was cut off has none. Nothing of these is ever changed, and nothing removed but whole runs and, where it is asked for, the
//! launches of runs that have ended, whose results are kept. Each row is under a seal that covers the one before it, so that
//! a launch, an end or a run that is changed, lost or in another's place is found when it is read. Results are computed from the launches;
//! a cache holds them, and may be emptied at any time.
//!
//! A run that was imported is marked so for good, and takes nothing more ([`gritstone_model::Origin`]).
//!
//! What a launch said is one text of JSON arrays in its row, and the view `line` has it line by line, in columns of integers, so that
//! `sqlite3` answers questions that nobody thought of; of one run at a time, by its number in the table `run`, lest it reads all:
//!
//! ```sql
//! SELECT launch.number, line.wall_ns * 1.0 / line.n AS ns_per_op
//! FROM line JOIN launch ON launch.run = line.run AND launch.number = line.launch
//! WHERE line.run = 1 AND launch.benchmark = 'byte/pipe' AND line.kind = 'sample';
//! ```
//!
//! Between two calls nothing of the database is busy: every statement is finished, no transaction is open, and what
//! was written has reached the disk, so that no write falls into a sample, but for launches that followed within a second on one that
//! had: those are some kilobytes, which the next launch takes along, or the system by itself half a minute later. No launch that was
//! stored is lost when a process is killed; a loss of power takes those at most.

mod accepted_levels;
mod address;
mod cache;
mod change_log;
mod engine;
mod error;
mod events;
mod file;
mod ledger;
mod open;
mod postgres;
mod prune;
mod queries;
mod read;
mod result_tables;
mod row_codec;
mod row_hash;
mod run_head;
mod run_name;
mod schema;
mod sql;
mod sqlite;
mod store;
mod token;
mod write;

// the made-up runs in tests/common serve the tests within the crate too
#[cfg(test)]
extern crate self as gritstone_store;

pub use address::{has_password, is_server, shown};
pub use change_log::{ChangeEntry, Progress, Who};
pub use engine::Shrunk;
pub use error::{ResolveError, StoreError};
pub use file::default_path;
pub use ledger::Pruned;
pub use postgres::trusted;
pub use prune::Samples;
pub use queries::Member;
pub use result_tables::Results;
pub use run_head::{Kind, Resumable, RunHead};
pub use run_name::{Named, new_id};
pub use sql::TOGETHER;
pub use store::{Kept, Store};
pub use token::{Scope, Sent, Token};
