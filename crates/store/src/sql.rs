//! Every statement, as SQLite and PostgreSQL both take it.
//!
//! SQLite takes `$N` for the name of a parameter and numbers names by their first appearance: a statement whose
//! `$N` first appear in the order 1, 2, 3 means the same to both, and a test holds every one of them to it.

/// The newest label of a run.
macro_rules! label {
    () => {
        "coalesce(given.sealed, label)"
    };
}

/// Table for `label`. PostgreSQL joins all runs at once; a correlated subquery takes it 10 µs per run.
macro_rules! given {
    () => {
        " LEFT JOIN (SELECT run, sealed FROM ledger AS one WHERE entry = 'label' AND NOT EXISTS \
            (SELECT 1 FROM ledger AS newer WHERE newer.run = one.run AND newer.entry = 'label' AND newer.number > one.number)) \
            AS given ON given.run = run.number "
    };
}

/// The newest run of each machine, as `run`, with the number of its runs.
macro_rules! systems {
    () => {
        "(SELECT machine_id AS machine, count(*) AS runs FROM run GROUP BY machine_id) AS system \
        JOIN run ON run.number = (SELECT number FROM run AS newest WHERE newest.machine_id = system.machine \
            ORDER BY substr(newest.started, 1, 19) DESC, newest.number DESC LIMIT 1)"
    };
}

/// Heads of runs with further columns. The settings give the kind, and mostly lie in another page.
macro_rules! heads {
    ($more:literal, $from:expr, $rest:literal) => {
        concat!(
            "SELECT run.id, ",
            label!(),
            ", started, elapsed_s, gritstone, machine_id, machine_name, machine_system, origin, owner_uid, owner_machine, \
            settings, (SELECT count(*) FROM benchmark WHERE benchmark.run = run.number), pruned.sealed, \
            (SELECT coalesce(max(position), -1) + 1 FROM benchmark WHERE benchmark.run = run.number)",
            $more,
            " FROM ",
            $from,
            " LEFT JOIN run_end ON run_end.run = run.number",
            given!(),
            "LEFT JOIN ledger AS pruned ON pruned.run = run.number AND pruned.entry = 'prune' ",
            $rest
        )
    };
}

/// Whether a run is a side of a trial: in JSON without spaces, no text has this.
macro_rules! is_side {
    () => {
        "settings LIKE '%\"trial\":{%'"
    };
}

/// Runs per statement: one at a time, each takes a round trip to the server.
pub const RUNS_PER_QUERY: usize = 32;

/// The parameters of these statements, after the first.
macro_rules! run_parameters {
    () => {
        "$2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
        $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33"
    };
}

macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)*) => {
        $($(#[$doc])* pub(crate) const $name: &str = $text;)*

        #[cfg(test)]
        const ALL: &[(&str, &str)] = &[$((stringify!($name), $name)),*];
    };
}

statements! {
    /// Number of the next run; removed runs keep theirs.
    NEXT_RUN = "SELECT coalesce(max(run), 0) + 1 FROM ledger";
    /// Number, origin, hash and end of a run.
    FIND_RUN = "SELECT number, origin, owner_uid, owner_machine, run.seal, run_end.run IS NOT NULL \
        FROM run LEFT JOIN run_end ON run_end.run = run.number WHERE run.id = $1";
    LAST_LAUNCH = "SELECT number, seal FROM launch WHERE run = $1 ORDER BY number DESC LIMIT 1";
    LAST_ENTRY = "SELECT number, seal FROM ledger ORDER BY number DESC LIMIT 1";

    /// Values in the order of `row_codec::run`.
    INSERT_RUN = "INSERT INTO run (seal, number, id, origin, owner_uid, owner_machine, label, started, gritstone, \
        machine_id, machine_name, machine_system, settings, machine) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
    INSERT_END = "INSERT INTO run_end (seal, run, elapsed_s, launches) VALUES ($1, $2, $3, $4)";
    INSERT_BENCHMARK = "INSERT INTO benchmark (run, position, id, entry) VALUES ($1, $2, $3, $4)";
    INSERT_PROGRAM = "INSERT INTO program (run, benchmark, hash, compiler, flags) \
        VALUES ($1, $2, $3, $4, $5)";
    INSERT_SKIP = "INSERT INTO skip (run, position, benchmark, footnote) VALUES ($1, $2, $3, $4)";
    /// Values in the order of `row_codec::launch`.
    INSERT_LAUNCH = "INSERT INTO launch (run, seal, number, benchmark, round, start_ns, cpus, \
        outcome, why, wall_ns, conditions, events) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    INSERT_ENTRY = "INSERT INTO ledger (seal, number, run, entry, sealed) VALUES ($1, $2, $3, $4, $5)";

    /// Identifiers and labels, newest last. The first 19 characters of a UTC time are date and second; runs of one
    /// second keep the order of storage.
    SELECT_NAMES = concat!("SELECT id, ", label!(), " FROM run", given!(), "ORDER BY substr(started, 1, 19), run.number");
    /// Heads of the newest runs, newest first.
    SELECT_HEADS = heads!("", "run", "ORDER BY substr(started, 1, 19) DESC, run.number DESC LIMIT $1");
    /// Heads of the newest runs of one machine.
    SELECT_HEADS_OF = heads!("", "run", "WHERE machine_id = $1 \
        ORDER BY substr(started, 1, 19) DESC, run.number DESC LIMIT $2");
    /// Head of one run.
    SELECT_HEAD = heads!("", "run", "WHERE run.id = $1");
    /// Head of the newest run of each machine with the number of its runs, newest first.
    SELECT_SYSTEMS = heads!(", runs", systems!(), "ORDER BY substr(started, 1, 19) DESC, run.number DESC");
    COUNT_RUNS = "SELECT count(*) FROM run";
    /// Runs whose settings name a fleet, newest first.
    SELECT_FLEETS = "SELECT id, started, settings, elapsed_s FROM run LEFT JOIN run_end ON run_end.run = run.number \
        WHERE settings LIKE '%\"fleet\"%' ORDER BY substr(started, 1, 19) DESC, run.number DESC";
    /// The current label of a run.
    SELECT_LABEL = "SELECT sealed FROM ledger WHERE run = $1 AND entry = 'label' ORDER BY number DESC LIMIT 1";
    /// Runs of a machine, imported ones too, with measured or pruned launches and their settings, newest first.
    SELECT_HERE = "SELECT id, settings, substr(started, 1, 19) FROM run WHERE (origin = 'here' AND owner_machine = $1 OR origin = 'imported' AND machine_id = $2) AND \
        (EXISTS (SELECT 1 FROM launch WHERE launch.run = run.number AND launch.outcome = 'measured') OR \
        EXISTS (SELECT 1 FROM ledger WHERE ledger.run = run.number AND entry = 'prune')) \
        ORDER BY substr(started, 1, 19) DESC, number DESC";
    /// Benchmarks whose level in a run was accepted by name.
    SELECT_ACCEPTED = "SELECT DISTINCT run.id, sealed FROM ledger JOIN run ON run.number = ledger.run WHERE entry = 'accept'";
    /// Runs that stand for removed ones, and the identifiers of these.
    SELECT_REPLACED = "SELECT run.id, sealed FROM ledger JOIN run ON run.number = ledger.run WHERE entry = 'replace'";
    /// Later runs of the machine of a run, with the settings of both: first those with one of these benchmarks, which are separated by spaces.
    SELECT_NEXT = "SELECT later.number, later.settings, gone.settings FROM run AS later JOIN run AS gone ON later.machine_id = gone.machine_id \
        WHERE gone.number = $1 AND (substr(later.started, 1, 19), later.number) > (substr(gone.started, 1, 19), gone.number) \
        ORDER BY CASE WHEN EXISTS (SELECT 1 FROM benchmark WHERE benchmark.run = later.number \
            AND ' ' || $2 || ' ' LIKE '% ' || benchmark.id || ' %') THEN 0 ELSE 1 END, \
        substr(later.started, 1, 19), later.number";
    /// Benchmarks of events that are known by a run.
    SELECT_EVENT_BENCHMARKS = "SELECT benchmarks FROM change_entry WHERE event LIKE $1 || '-%' AND benchmarks IS NOT NULL";
    /// Number of rows that the ledger counts, and its count.
    SELECT_COUNTS = "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM run_end), \
        (SELECT count(*) FROM ledger WHERE entry IN ('begin', 'end') AND run NOT IN \
            (SELECT run FROM ledger WHERE entry = 'remove'))";
    /// Runs in the ledger that are missing.
    SELECT_LOST_RUNS = "SELECT ledger.run FROM ledger LEFT JOIN run ON run.number = ledger.run \
        WHERE ledger.entry = 'begin' AND run.number IS NULL AND ledger.run NOT IN \
            (SELECT run FROM ledger WHERE entry = 'remove') ORDER BY ledger.run";
    /// Runs whose end is in the ledger and missing.
    SELECT_LOST_ENDS = "SELECT run.id FROM ledger JOIN run ON run.number = ledger.run \
        LEFT JOIN run_end ON run_end.run = ledger.run \
        WHERE ledger.entry = 'end' AND run_end.run IS NULL ORDER BY run.number";

    /// The head of a run, as INSERT_RUN takes it.
    SELECT_RUN = "SELECT seal, number, id, origin, owner_uid, owner_machine, label, started, gritstone, \
        machine_id, machine_name, machine_system, settings, machine FROM run WHERE number = $1";
    /// The end of a run, as INSERT_END takes it.
    SELECT_END = "SELECT seal, run, elapsed_s, launches FROM run_end WHERE run = $1";
    /// The catalog entries of a run, as INSERT_BENCHMARK takes them.
    SELECT_BENCHMARKS = "SELECT position, id, entry FROM benchmark WHERE run = $1 ORDER BY position";
    /// The programs of a run, as INSERT_PROGRAM takes them.
    SELECT_PROGRAMS = "SELECT benchmark, hash, compiler, flags FROM program \
        WHERE run = $1 ORDER BY benchmark";
    /// The skips of a run, as INSERT_SKIP takes them.
    SELECT_SKIPS = "SELECT position, benchmark, footnote FROM skip WHERE run = $1 ORDER BY position";
    /// The launches of a run, as INSERT_LAUNCH takes them.
    SELECT_LAUNCHES = "SELECT seal, number, benchmark, round, start_ns, cpus, \
        outcome, why, wall_ns, conditions, events \
        FROM launch WHERE run = $1 ORDER BY number";
    SELECT_SEALED = "SELECT sealed FROM ledger WHERE run = $1 AND entry = $2";
    /// The ledger, as INSERT_ENTRY takes it.
    SELECT_LEDGER = "SELECT seal, number, run, entry, sealed FROM ledger ORDER BY number";
    /// Numbers and hashes of removed runs whose entries have no identifier.
    SELECT_UNNAMED_REMOVED = "SELECT run, sealed FROM ledger AS begun WHERE entry = 'begin' AND EXISTS \
        (SELECT 1 FROM ledger AS gone WHERE gone.run = begun.run AND gone.entry = 'remove' AND gone.number > begun.number \
        AND gone.sealed NOT LIKE '% %')";
    /// Identifiers of removed runs, each after its last hash unless another run stands for it. Older entries have the hash alone.
    SELECT_REMOVED_IDS = "SELECT sealed FROM ledger WHERE entry IN ('remove', 'replace')";
    /// The last hash of a run (of its end, else its last launch, else its head) and the number of its launches.
    SELECT_TIP = "SELECT coalesce(run_end.seal, \
            (SELECT launch.seal FROM launch WHERE launch.run = run.number ORDER BY launch.number DESC LIMIT 1), run.seal), \
        (SELECT coalesce(max(launch.number), -1) + 1 FROM launch WHERE launch.run = run.number) \
        FROM run LEFT JOIN run_end ON run_end.run = run.number WHERE run.number = $1";
    /// Runs without current results of an analysis, oldest first.
    SELECT_NOT_CACHED = "SELECT run.id FROM run LEFT JOIN run_end ON run_end.run = run.number \
        LEFT JOIN cached_run ON cached_run.run = run.number AND cached_run.analysis = $1 \
        AND cached_run.sealed = coalesce(run_end.seal, \
            (SELECT launch.seal FROM launch WHERE launch.run = run.number ORDER BY launch.number DESC LIMIT 1), run.seal) \
        WHERE cached_run.run IS NULL AND NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.run = run.number AND entry = 'prune') \
        ORDER BY run.number";
    /// Current cached results of runs by an analysis: their heads. None of runs that were pruned in the meantime.
    SELECT_CACHED_RUNS = concat!("SELECT run.id, cached_run.seal, cached_run.run, analysis, sealed, results, view, past \
        FROM run JOIN cached_run ON cached_run.run = run.number LEFT JOIN run_end ON run_end.run = run.number \
        WHERE analysis = $1 AND run.id IN (", run_parameters!(), ") AND sealed = coalesce(run_end.seal, \
            (SELECT launch.seal FROM launch WHERE launch.run = run.number ORDER BY launch.number DESC LIMIT 1), run.seal) \
        AND NOT EXISTS (SELECT 1 FROM ledger WHERE ledger.run = run.number AND entry = 'prune')");
    /// Hashes of what an analysis cached of all runs.
    SELECT_CACHED_SEALS = "SELECT run.id, cached_run.seal FROM run JOIN cached_run ON cached_run.run = run.number WHERE analysis = $1";
    SELECT_CACHED_RESULTS = "SELECT seal, position, benchmark, result FROM cached_result WHERE run = $1 ORDER BY position";
    /// Cached results of one benchmark in several runs.
    SELECT_CACHED_OF = concat!("SELECT run, seal, position, benchmark, result FROM cached_result \
        WHERE benchmark = $1 AND run IN (", run_parameters!(), ")");
    /// Values as SELECT_CACHED_RUNS yields them after the identifier.
    INSERT_CACHED_RUN = "INSERT INTO cached_run (seal, run, analysis, sealed, results, view, past) \
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    /// Values as SELECT_CACHED_RESULTS yields them.
    INSERT_CACHED_RESULT = "INSERT INTO cached_result (run, seal, position, benchmark, result) VALUES ($1, $2, $3, $4, $5)";
    /// Results stored by pruning: their head.
    SELECT_KEPT_RUN = "SELECT seal, run, analysis, sealed, results, view, past FROM kept_run WHERE run = $1";
    SELECT_KEPT_RESULTS = "SELECT seal, position, benchmark, result FROM kept_result WHERE run = $1 ORDER BY position";
    SELECT_KEPT_RESULT = "SELECT seal, position, benchmark, result FROM kept_result WHERE benchmark = $1 AND run = $2";
    /// Values as SELECT_KEPT_RUN yields them.
    INSERT_KEPT_RUN = "INSERT INTO kept_run (seal, run, analysis, sealed, results, view, past) \
        VALUES ($1, $2, $3, $4, $5, $6, $7)";
    /// Values as SELECT_KEPT_RESULTS yields them.
    INSERT_KEPT_RESULT = "INSERT INTO kept_result (run, seal, position, benchmark, result) VALUES ($1, $2, $3, $4, $5)";
    /// Launches of a run, measured launches, bytes of their text.
    SELECT_SAMPLES = "SELECT count(*), count(CASE outcome WHEN 'measured' THEN 1 END), coalesce(sum(octet_length(cpus) + octet_length(conditions) + octet_length(events)), 0) \
        FROM launch WHERE run = $1";
    INSERT_TOKEN = "INSERT INTO token (number, name, hash, scopes, created) VALUES ($1, $2, $3, $4, $5)";
    INSERT_REVOKED = "INSERT INTO revoked_token (token, revoked) VALUES ($1, $2)";
    /// Tokens without hashes, oldest first.
    SELECT_TOKENS = "SELECT number, name, scopes, created, revoked \
        FROM token LEFT JOIN revoked_token ON revoked_token.token = token.number ORDER BY number";
    FIND_TOKEN = "SELECT number, name, scopes, created, revoked \
        FROM token LEFT JOIN revoked_token ON revoked_token.token = token.number WHERE hash = $1";
    /// Number of the next log entry of a token.
    NEXT_DONE = "SELECT coalesce(max(number), 0) + 1 FROM done_by_token";
    INSERT_DONE = "INSERT INTO done_by_token (number, token, done, run, at) VALUES ($1, $2, $3, $4, $5)";
    NEXT_CHANGE_ENTRY = "SELECT coalesce(max(number), 0) + 1 FROM change_entry";
    INSERT_CHANGE_ENTRY = "INSERT INTO change_entry (number, event, entry, token, who, note, at, assignee, benchmarks) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    /// Triage entries and notifications, oldest first.
    SELECT_CHANGE_ENTRIES = "SELECT event, entry, who, note, at, assignee, benchmarks FROM change_entry ORDER BY number";
    /// Triage entries of a store of version 4 or 5.
    SELECT_CHANGE_ENTRIES_BEFORE_6 = "SELECT event, entry, who, note, at, NULL, NULL FROM change_entry ORDER BY number";
    /// Triage entries of a store of version 6.
    SELECT_CHANGE_ENTRIES_BEFORE_7 = "SELECT event, entry, who, note, at, assignee, NULL FROM change_entry ORDER BY number";
    /// Number and benchmark of the last launch.
    LAST_BENCHMARK = "SELECT number, benchmark FROM launch WHERE run = $1 ORDER BY number DESC LIMIT 1";
    /// Allowed by triggers for a run that the ledger has as removed or pruned.
    REMOVE_LAUNCHES = "DELETE FROM launch WHERE run = $1";
    /// Allowed by triggers for a run that the ledger has as removed.
    REMOVE_KEPT = "DELETE FROM kept_run WHERE run = $1";
    REMOVE_SKIPS = "DELETE FROM skip WHERE run = $1";
    REMOVE_PROGRAMS = "DELETE FROM program WHERE run = $1";
    REMOVE_BENCHMARKS = "DELETE FROM benchmark WHERE run = $1";
    REMOVE_END = "DELETE FROM run_end WHERE run = $1";
    REMOVE_RUN = "DELETE FROM run WHERE number = $1";
    FORGET = "DELETE FROM cached_run WHERE run = $1";
    /// Runs with a benchmark in their entries or cached results, newest first; the reader stops when it has enough. One
    /// list takes 2 to 4 ms for 10,000 runs; looking into each run for a rare benchmark takes 8.
    SELECT_RUNS_WITH = "SELECT id, number, machine_id FROM run WHERE \
        +run.number IN (SELECT run FROM benchmark WHERE id = $1 UNION ALL SELECT run FROM cached_result WHERE benchmark = $1) \
        ORDER BY substr(started, 1, 19) DESC, run.number DESC";
    /// All runs, newest first; the reader stops when it has enough.
    SELECT_RUNS = "SELECT id, number, machine_id FROM run ORDER BY substr(started, 1, 19) DESC, run.number DESC";
    SELECT_ALL_SETTINGS = "SELECT number, settings FROM run";
    /// Sides of trials, by a key that no other settings have.
    SELECT_SIDES = concat!("SELECT number FROM run WHERE ", is_side!());
    COUNT_MACHINES = "SELECT count(DISTINCT machine_id) FROM run";
    /// Benchmarks in two or more runs: by their cached results, else by their entries. The index of entries is read once, not per run.
    SELECT_RECURRING = "SELECT benchmark FROM (SELECT benchmark FROM cached_result UNION ALL \
        SELECT id AS benchmark FROM benchmark WHERE +run NOT IN (SELECT run FROM cached_run)) AS results \
        GROUP BY benchmark HAVING count(*) > 1 ORDER BY benchmark";
    /// Benchmarks that any run has in its entries or cached results, and whether one of these is no side of a trial.
    SELECT_ALL_BENCHMARKS = concat!("SELECT id, count(CASE WHEN run IN (SELECT number FROM run WHERE ", is_side!(), ") THEN NULL ELSE 1 END) \
        FROM (SELECT id, run FROM benchmark UNION ALL SELECT benchmark AS id, run FROM cached_result) AS entries GROUP BY id ORDER BY id");
    /// The entry of each benchmark that was stored last.
    SELECT_LAST_ENTRIES = "SELECT benchmark.id, entry FROM (SELECT id, max(run) AS run FROM benchmark GROUP BY id) AS newest \
        JOIN benchmark ON benchmark.id = newest.id AND benchmark.run = newest.run";
    /// Runs with a text in label, head or facts of their system, in lower case, newest first. Values shared by runs are
    /// searched once (the facts of each of 10,000 runs take PostgreSQL 200 ms more).
    SELECT_MENTIONING = concat!("SELECT id FROM run", given!(), "WHERE \
        lower(id || ' ' || started || ' ' || gritstone || ' ' || machine_name || ' ' || machine_system) LIKE lower($1) ESCAPE '!' OR \
        lower(", label!(), ") LIKE lower($1) ESCAPE '!' OR \
        machine_id IN (SELECT machine_id FROM ", systems!(), " WHERE lower(run.machine) LIKE lower($1) ESCAPE '!') OR \
        run.number IN (SELECT run FROM benchmark WHERE id IN \
            (SELECT id FROM (SELECT DISTINCT id FROM benchmark) AS ids WHERE lower(id) LIKE lower($1) ESCAPE '!')) OR \
        run.number IN (SELECT run FROM program WHERE compiler || ' ' || flags IN \
            (SELECT said FROM (SELECT DISTINCT compiler || ' ' || flags AS said FROM program) AS texts \
                WHERE lower(said) LIKE lower($1) ESCAPE '!')) \
        ORDER BY substr(started, 1, 19) DESC, run.number DESC");
    /// Runs of a machine that began no later than a second, newest first.
    SELECT_RUNS_OF = "SELECT id, number FROM run WHERE machine_id = $1 AND substr(started, 1, 19) <= $2 \
        ORDER BY substr(started, 1, 19) DESC, number DESC";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of `$N` in order of first appearance.
    fn placeholders(text: &str) -> Vec<usize> {
        let mut seen = Vec::new();
        for piece in text.split('$').skip(1) {
            let digits: String = piece.chars().take_while(char::is_ascii_digit).collect();
            let number = digits.parse().expect("a number after $");
            if !seen.contains(&number) {
                seen.push(number);
            }
        }
        seen
    }

    #[test]
    fn placeholders_first_appear_in_order() {
        assert_eq!(placeholders("a = $2 AND b = $1 AND c = $2"), [2, 1]);
        for (name, text) in ALL {
            let found = placeholders(text);
            let wanted: Vec<usize> = (1..=found.len()).collect();
            assert_eq!(found, wanted, "{name}");
            assert!(!text.contains('?'), "{name}");
        }
    }

    #[test]
    fn statements_never_update() {
        for (name, text) in ALL {
            let adds = text.starts_with("INSERT INTO") || text.starts_with("SELECT");
            // their triggers check the ledger
            let removes = name.starts_with("REMOVE_") && text.starts_with("DELETE FROM ");
            assert!(adds || removes || text.starts_with("DELETE FROM cached_run "), "{name}");
        }
    }
}
