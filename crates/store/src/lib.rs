//! Runs, append-only, with raw samples.
//!
//! A [`Store`] is one SQLite file, or a database of a PostgreSQL server that many machines share. A run begins with its
//! head, copies of its catalog entries, and the skips; each launch is committed with all its events as it ends; the end
//! of the run comes last, and an interrupted run has none. Stored rows never change. Only whole runs are removed, and
//! on request the launches of ended runs, whose results stay. Each row has a hash that covers the row before it (column
//! `seal`), so that readers detect launches, ends and runs that were changed, lost or exchanged. Results are computed
//! from the launches; their cache may be emptied at any time.
//!
//! An imported run is marked permanently and accepts no launches ([`gritstone_model::Origin`]).
//!
//! The events of a launch are one text of JSON arrays in its row. The view `line` has them line by line in integer
//! columns, for ad-hoc queries with `sqlite3`. Select one run by its number in table `run`, since the view parses
//! everything else too:
//!
//! ```sql
//! SELECT launch.number, line.wall_ns * 1.0 / line.n AS ns_per_op
//! FROM line JOIN launch ON launch.run = line.run AND launch.number = line.launch
//! WHERE line.run = 1 AND launch.benchmark = 'byte/pipe' AND line.kind = 'sample';
//! ```
//!
//! Between two calls every statement is finished, no transaction is open, and commits have reached the disk, so that no
//! write falls into a sample. The exception are launches within a second of a synced one: some kilobytes, which the
//! next launch writes, or the system half a minute later. A killed process loses no stored launch; a power failure at
//! most those.

mod accepted_levels;
mod address;
mod cache;
mod change_log;
mod engine;
mod error;
mod events;
mod file;
mod indices;
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

// the tests in tests/common are compiled into the crate too
#[cfg(test)]
extern crate self as gritstone_store;

pub use address::{has_password, is_server, shown};
pub use change_log::{ChangeEntry, EntryContent, NewTriageEntry, Progress, Who};
pub use engine::Shrunk;
pub use error::{ResolveError, StoreError};
pub use file::default_path;
pub use ledger::Pruned;
pub use postgres::trusted;
pub use prune::Samples;
pub use queries::{Member, ThisMachine};
pub use result_tables::Results;
pub use run_head::{Kind, Resumable, RunHead, SideName};
pub use run_name::{Named, new_id, trial_of};
pub use sql::RUNS_PER_QUERY;
pub use store::{Appended, Store};
pub use token::{Scope, Token, UploadOutcome};
