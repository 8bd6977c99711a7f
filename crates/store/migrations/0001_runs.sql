-- Runs as they were measured. Plain SQL that SQLite and PostgreSQL both take.
--
-- Every *_ns is integer nanoseconds. A u64 at or above 2^63 (only check values reach that) is kept with the same
-- 64 bits and so appears negative. Columns marked JSON hold the plain types of gritstone-model as serde writes them.
-- No summary is stored: figures are computed from the events on every reading.

-- What was done to this schema; the newest number is its version.
CREATE TABLE migration (
    number    INTEGER PRIMARY KEY,       -- from 1
    name      TEXT NOT NULL,
    gritstone TEXT NOT NULL              -- version that did it
);

CREATE TABLE run (
    number         INTEGER PRIMARY KEY,  -- in the order in which the store took them, from 1
    id             TEXT NOT NULL UNIQUE, -- 20261121-093012-4f2a19c3
    label          TEXT,                 -- the user's name for it; given at the start, never changed
    started        TEXT NOT NULL,        -- RFC 3339, UTC
    gritstone      TEXT NOT NULL,        -- version that measured
    machine_id     TEXT NOT NULL,        -- these three are out of `machine`, so that a listing reads no JSON
    machine_name   TEXT NOT NULL,
    machine_system TEXT NOT NULL,
    seal           BIGINT NOT NULL,      -- FNV-1a of this row and its benchmarks, programs and skips
    settings       TEXT NOT NULL,        -- JSON: Settings
    machine        TEXT NOT NULL         -- JSON: Machine
);

-- The end of a run; a run that was cut off has none, and may be taken up again.
CREATE TABLE run_end (
    run       INTEGER PRIMARY KEY REFERENCES run (number),
    elapsed_s DOUBLE PRECISION NOT NULL, -- from start to end
    launches  BIGINT NOT NULL,           -- how many it has, so that a lost one is missed
    seal      BIGINT NOT NULL            -- FNV-1a of this row
);

-- The entries of the catalogue as they were then, in the order in which they are shown.
CREATE TABLE benchmark (
    run      INTEGER NOT NULL REFERENCES run (number),
    position INTEGER NOT NULL,           -- from 0
    id       TEXT NOT NULL,
    entry    TEXT NOT NULL,              -- JSON: Benchmark
    PRIMARY KEY (run, position)
);

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

-- One execution of a benchmark's process; committed together with its events.
CREATE TABLE launch (
    run          INTEGER NOT NULL REFERENCES run (number),
    number       INTEGER NOT NULL,       -- in the order of time, from 0, without a gap
    benchmark    TEXT NOT NULL,
    round        BIGINT NOT NULL,        -- from 0
    start_ns     BIGINT NOT NULL,        -- since the start of the run
    cpus         TEXT NOT NULL,          -- JSON: [0,1]; [] means all
    outcome      TEXT NOT NULL,          -- measured, skipped, failed, timed_out
    why          TEXT,                   -- NULL when measured
    wall_ns      BIGINT NOT NULL,        -- length of the launch
    conditions   TEXT NOT NULL,          -- JSON: what else went on; a null in it cannot be known here
    seal         BIGINT NOT NULL,        -- FNV-1a of this row and its events
    PRIMARY KEY (run, number)
);

-- Launches that were not measured are few: this counts them without reading the others.
CREATE INDEX launch_not_measured ON launch (run, outcome) WHERE outcome <> 'measured';

-- What a launch said, line by line.
--
-- kind     n           wall_ns  name    value
-- hello    protocol    -        kernel  -
-- param    -           -        key     value
-- warm     operations  wall     -       -
-- sample   operations  wall     -       -            with pace_fs and resource use
-- process  operations  wall     -       -            with pace_fs and resource use
-- batch    operations  -        -       JSON: walls  with pace_fs and resource use of all batches together
-- latency  -           -        -       JSON: Histogram
-- check    operations  -        -       -            with got and expected
-- skip     -           -        -       why
-- fail     errno       -        call    why
-- bye      -           -        -       -
CREATE TABLE event (
    run        INTEGER NOT NULL,
    launch     INTEGER NOT NULL,
    position   INTEGER NOT NULL,         -- from 0
    kind       TEXT NOT NULL,
    n          BIGINT,
    wall_ns    BIGINT,
    pace_fs    BIGINT,                   -- femtoseconds a core cycle; 0 where there was no pacer
    user_ns    BIGINT,                   -- ticks on many systems: only sums mean something
    system_ns  BIGINT,
    cpu_ns     BIGINT,
    vcsw       BIGINT,
    icsw       BIGINT,
    minflt     BIGINT,
    majflt     BIGINT,
    inblock    BIGINT,
    oublock    BIGINT,
    migrations BIGINT,
    got        BIGINT,
    expected   BIGINT,
    name       TEXT,
    value      TEXT,
    PRIMARY KEY (run, launch, position),
    FOREIGN KEY (run, launch) REFERENCES launch (run, number)
);
