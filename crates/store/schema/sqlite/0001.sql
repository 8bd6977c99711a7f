-- The store, version 1. Tables in SQL that SQLite and PostgreSQL both take; triggers and the view in SQLite's.
-- A change of the schema is a new file with the next number: this one stays as it is.
--
-- Every *_ns is integer nanoseconds. A u64 at or above 2^63 is kept with the same 64 bits and so appears negative. Columns marked
-- JSON hold the types of gritstone-model as serde writes them.
--
-- A seal is a SHA-256 in hexadecimal. Seals are chained: run -> launch 0 -> launch 1 -> ... -> run_end, so that a row that was changed,
-- lost, repeated, or exchanged with that of another run breaks the chain.

CREATE TABLE run (
    number         INTEGER PRIMARY KEY,  -- in the order in which the store took them, from 1, without a gap
    seal           TEXT NOT NULL,        -- of this row and its benchmarks, programs and skips
    id             TEXT NOT NULL UNIQUE, -- 20261121-093012-4f2a19c3
    origin         TEXT NOT NULL,        -- here, imported
    owner_uid      BIGINT,               -- the user who began it; NULL where imported
    owner_machine  TEXT,                 -- a hash of the machine on which it began; NULL where imported
    label          TEXT,                 -- the user's name for it; given at the start, never changed
    started        TEXT NOT NULL,        -- RFC 3339, UTC
    gritstone      TEXT NOT NULL,        -- version that measured
    machine_id     TEXT NOT NULL,        -- these three are out of `machine`, so that a listing reads no JSON
    machine_name   TEXT NOT NULL,
    machine_system TEXT NOT NULL,
    settings       TEXT NOT NULL,        -- JSON: Settings
    machine        TEXT NOT NULL         -- JSON: Machine
);

-- Names of runs in the order of time, and those of one machine, without their heads, which are kilobytes each.
CREATE INDEX run_in_time ON run (substr(started, 1, 19), number, id, label);

CREATE INDEX run_of_machine ON run (machine_id, substr(started, 1, 19), number, id);

-- The end of a run; a run that was cut off has none, and may be resumed where it began.
CREATE TABLE run_end (
    run       INTEGER PRIMARY KEY REFERENCES run (number),
    seal      TEXT NOT NULL,             -- of the seal of the last launch and this row
    elapsed_s DOUBLE PRECISION NOT NULL, -- from start to end
    launches  BIGINT NOT NULL            -- how many it has
);

-- The catalog entries as they were then, in the order in which they are shown.
CREATE TABLE benchmark (
    run      INTEGER NOT NULL REFERENCES run (number),
    position INTEGER NOT NULL,           -- from 0
    id       TEXT NOT NULL,
    entry    TEXT NOT NULL,              -- JSON: Benchmark
    PRIMARY KEY (run, position)
);

CREATE INDEX benchmark_of_runs ON benchmark (id, run);

-- The program behind each benchmark.
CREATE TABLE program (
    run       INTEGER NOT NULL REFERENCES run (number),
    benchmark TEXT NOT NULL,
    hash      TEXT NOT NULL,             -- SHA-256 of the executable
    compiler  TEXT NOT NULL,
    flags     TEXT NOT NULL,
    PRIMARY KEY (run, benchmark)
);

-- What could not run, and why.
CREATE TABLE skip (
    run       INTEGER NOT NULL REFERENCES run (number),
    position  INTEGER NOT NULL,          -- from 0
    benchmark TEXT NOT NULL,
    footnote  TEXT NOT NULL,             -- JSON: Footnote
    PRIMARY KEY (run, position)
);

-- One process of a workload, with all that it said.
--
-- events is JSON: [{kind: [...]}, ...], in order.
--
-- hello    [protocol, kernel]
-- param    [key, value]
-- warm     [n, wall_ns]
-- sample   [n, wall_ns, pace_fs, wide_fs, [user_ns, system_ns, cpu_ns, vcsw, icsw, minflt, majflt, inblock, oublock, migrations]]
-- process  the same
-- batch    [n, [wall_ns, ...], pace_fs, wide_fs, [the same]]
-- latency  {count, min, max, sum, buckets}: Histogram
-- check    [n, got, expected]
-- skip     [why]
-- fail     [errno, call, why]
-- bye      []
CREATE TABLE launch (
    run        INTEGER NOT NULL REFERENCES run (number),
    number     INTEGER NOT NULL,         -- in the order of time, from 0, without a gap
    seal       TEXT NOT NULL,            -- of the seal before (launch number - 1, or the run) and this row
    benchmark  TEXT NOT NULL,
    round      BIGINT NOT NULL,          -- from 0
    start_ns   BIGINT NOT NULL,          -- since the start of the run
    cpus       TEXT NOT NULL,            -- JSON: [0,1]; [] means all
    outcome    TEXT NOT NULL,            -- measured, skipped, failed, timed_out
    why        TEXT,                     -- NULL when measured
    wall_ns    BIGINT NOT NULL,          -- length of the launch
    conditions TEXT NOT NULL,            -- JSON: what else went on; a null in it is unknown
    events     TEXT NOT NULL,
    PRIMARY KEY (run, number)
);

-- Launches that were not measured are few: this counts them without reading the others.
CREATE INDEX launch_not_measured ON launch (run, outcome) WHERE outcome <> 'measured';

-- Each beginning and each end of a run once more, so that a run or an end that was lost is missed: as many entries as there
-- are rows in run and in run_end.
CREATE TABLE ledger (
    number INTEGER PRIMARY KEY,          -- from 1, without a gap
    seal   TEXT NOT NULL,                -- of the seal of the entry before and this row
    run    INTEGER NOT NULL,
    entry  TEXT NOT NULL,                -- begin, end
    sealed TEXT NOT NULL                 -- the seal of the row in run or run_end
);

CREATE INDEX ledger_of_run ON ledger (run, entry);

-- Results as they were computed from the launches: a cache, which may be emptied at any time and is filled again.
CREATE TABLE cached_run (
    run      INTEGER PRIMARY KEY REFERENCES run (number),
    analysis TEXT NOT NULL,              -- version of what computed it
    sealed   TEXT NOT NULL,              -- the last seal of the run when it was computed: of its end, else of its last launch
    seal     TEXT NOT NULL,              -- of this row, without its results
    results  BIGINT NOT NULL,            -- how many it has
    view     TEXT NOT NULL,              -- JSON: the view without its results
    past     TEXT NOT NULL               -- JSON: what comparisons of later runs need
);

-- Which runs have results of an analysis, without reading them.
CREATE INDEX cached_run_of_analysis ON cached_run (run, analysis, sealed);

CREATE TABLE cached_result (
    run       INTEGER NOT NULL REFERENCES cached_run (run) ON DELETE CASCADE,
    position  INTEGER NOT NULL,          -- from 0
    benchmark TEXT NOT NULL,
    seal      TEXT NOT NULL,             -- of the seal of cached_run and this row
    result    TEXT NOT NULL,             -- JSON, with a value for each launch
    PRIMARY KEY (run, position)
);

CREATE INDEX cached_result_of_benchmark ON cached_result (benchmark, run);

-- What is stored stays as it is: a row is neither changed nor removed. `INSERT OR REPLACE` removes a row without asking the triggers of
-- DELETE, so that a key that is there already is refused before the insert.

CREATE TRIGGER run_is_not_changed BEFORE UPDATE ON run
BEGIN SELECT RAISE(ABORT, 'append-only: a run cannot be changed'); END;

CREATE TRIGGER run_is_not_removed BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'append-only: a run cannot be removed'); END;

CREATE TRIGGER run_is_not_replaced BEFORE INSERT ON run
WHEN EXISTS (SELECT 1 FROM run WHERE number = NEW.number OR id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'append-only: a run cannot be replaced'); END;

CREATE TRIGGER run_end_is_not_changed BEFORE UPDATE ON run_end
BEGIN SELECT RAISE(ABORT, 'append-only: the end of a run cannot be changed'); END;

CREATE TRIGGER run_end_is_not_removed BEFORE DELETE ON run_end
BEGIN SELECT RAISE(ABORT, 'append-only: the end of a run cannot be removed'); END;

CREATE TRIGGER run_end_is_not_replaced BEFORE INSERT ON run_end
WHEN EXISTS (SELECT 1 FROM run_end WHERE run = NEW.run)
BEGIN SELECT RAISE(ABORT, 'append-only: the end of a run cannot be replaced'); END;

CREATE TRIGGER benchmark_is_not_changed BEFORE UPDATE ON benchmark
BEGIN SELECT RAISE(ABORT, 'append-only: a benchmark cannot be changed'); END;

CREATE TRIGGER benchmark_is_not_removed BEFORE DELETE ON benchmark
BEGIN SELECT RAISE(ABORT, 'append-only: a benchmark cannot be removed'); END;

CREATE TRIGGER benchmark_is_not_replaced BEFORE INSERT ON benchmark
WHEN EXISTS (SELECT 1 FROM benchmark WHERE run = NEW.run AND position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'append-only: a benchmark cannot be replaced'); END;

CREATE TRIGGER program_is_not_changed BEFORE UPDATE ON program
BEGIN SELECT RAISE(ABORT, 'append-only: a program cannot be changed'); END;

CREATE TRIGGER program_is_not_removed BEFORE DELETE ON program
BEGIN SELECT RAISE(ABORT, 'append-only: a program cannot be removed'); END;

CREATE TRIGGER program_is_not_replaced BEFORE INSERT ON program
WHEN EXISTS (SELECT 1 FROM program WHERE run = NEW.run AND benchmark = NEW.benchmark)
BEGIN SELECT RAISE(ABORT, 'append-only: a program cannot be replaced'); END;

CREATE TRIGGER skip_is_not_changed BEFORE UPDATE ON skip
BEGIN SELECT RAISE(ABORT, 'append-only: a skip cannot be changed'); END;

CREATE TRIGGER skip_is_not_removed BEFORE DELETE ON skip
BEGIN SELECT RAISE(ABORT, 'append-only: a skip cannot be removed'); END;

CREATE TRIGGER skip_is_not_replaced BEFORE INSERT ON skip
WHEN EXISTS (SELECT 1 FROM skip WHERE run = NEW.run AND position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'append-only: a skip cannot be replaced'); END;

CREATE TRIGGER launch_is_not_changed BEFORE UPDATE ON launch
BEGIN SELECT RAISE(ABORT, 'append-only: a launch cannot be changed'); END;

CREATE TRIGGER launch_is_not_removed BEFORE DELETE ON launch
BEGIN SELECT RAISE(ABORT, 'append-only: a launch cannot be removed'); END;

CREATE TRIGGER launch_is_not_replaced BEFORE INSERT ON launch
WHEN EXISTS (SELECT 1 FROM launch WHERE run = NEW.run AND number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'append-only: a launch cannot be replaced'); END;

CREATE TRIGGER launch_before_the_end BEFORE INSERT ON launch
WHEN EXISTS (SELECT 1 FROM run_end WHERE run = NEW.run)
BEGIN SELECT RAISE(ABORT, 'append-only: the run has ended'); END;

CREATE TRIGGER ledger_is_not_changed BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'append-only: the ledger cannot be changed'); END;

CREATE TRIGGER ledger_is_not_removed BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'append-only: the ledger cannot be removed'); END;

CREATE TRIGGER ledger_is_not_replaced BEFORE INSERT ON ledger
WHEN EXISTS (SELECT 1 FROM ledger WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'append-only: the ledger cannot be replaced'); END;

-- Every line that a workload said, in columns, for sqlite3(1). A number at or above 2^63 comes out as the nearest real number.
CREATE VIEW line AS
SELECT run, launch, position, kind,
    CASE WHEN kind IN ('hello', 'warm', 'sample', 'process', 'batch', 'check', 'fail') THEN json_extract(said, '$[0]') END AS n,
    CASE WHEN kind IN ('warm', 'sample', 'process') THEN json_extract(said, '$[1]') END AS wall_ns,
    CASE WHEN kind IN ('sample', 'process', 'batch') THEN json_extract(said, '$[2]') END AS pace_fs,
    json_extract(said, '$[4][0]') AS user_ns, json_extract(said, '$[4][1]') AS system_ns, json_extract(said, '$[4][2]') AS cpu_ns,
    json_extract(said, '$[4][3]') AS vcsw, json_extract(said, '$[4][4]') AS icsw, json_extract(said, '$[4][5]') AS minflt,
    json_extract(said, '$[4][6]') AS majflt, json_extract(said, '$[4][7]') AS inblock, json_extract(said, '$[4][8]') AS oublock,
    json_extract(said, '$[4][9]') AS migrations,
    CASE kind WHEN 'check' THEN json_extract(said, '$[1]') END AS got,
    CASE kind WHEN 'check' THEN json_extract(said, '$[2]') END AS expected,
    CASE WHEN kind = 'param' THEN json_extract(said, '$[0]') WHEN kind IN ('hello', 'fail') THEN json_extract(said, '$[1]') END AS name,
    CASE WHEN kind IN ('param', 'batch') THEN json_extract(said, '$[1]') WHEN kind = 'latency' THEN said
        WHEN kind = 'skip' THEN json_extract(said, '$[0]') WHEN kind = 'fail' THEN json_extract(said, '$[2]') END AS value,
    CASE WHEN kind IN ('sample', 'process', 'batch') THEN json_extract(said, '$[3]') END AS wide_fs
FROM (
    SELECT launch.run, launch.number AS launch, place.key AS position, line.key AS kind, line.value AS said
    FROM launch, json_each(CASE WHEN json_valid(launch.events) THEN launch.events END) AS place, json_each(place.value) AS line
);
