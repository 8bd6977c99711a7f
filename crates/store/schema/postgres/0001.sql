-- Text is compared by its bytes, whatever the locale: hashes cover rows in that order.
CREATE TABLE gritstone_schema (version INTEGER PRIMARY KEY);
CREATE FUNCTION gritstone_keep() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'append-only: nothing of % can be changed, and no table emptied', TG_TABLE_NAME; END $$;
CREATE TRIGGER version_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON gritstone_schema EXECUTE FUNCTION gritstone_keep();
CREATE TABLE run (
    number         INTEGER PRIMARY KEY,
    seal           TEXT COLLATE "C" NOT NULL,
    id             TEXT COLLATE "C" NOT NULL UNIQUE,
    origin         TEXT COLLATE "C" NOT NULL,
    owner_uid      BIGINT,
    owner_machine  TEXT COLLATE "C",
    label          TEXT COLLATE "C",
    started        TEXT COLLATE "C" NOT NULL,
    gritstone      TEXT COLLATE "C" NOT NULL,
    machine_id     TEXT COLLATE "C" NOT NULL,
    machine_name   TEXT COLLATE "C" NOT NULL,
    machine_system TEXT COLLATE "C" NOT NULL,
    settings       TEXT COLLATE "C" NOT NULL,
    machine        TEXT COLLATE "C" NOT NULL
);
CREATE INDEX run_in_time ON run (substr(started, 1, 19), number, id, label);
CREATE INDEX run_of_machine ON run (machine_id, substr(started, 1, 19), number, id);
CREATE TABLE run_end (
    run       INTEGER PRIMARY KEY REFERENCES run (number),
    seal      TEXT COLLATE "C" NOT NULL,
    elapsed_s DOUBLE PRECISION NOT NULL,
    launches  BIGINT NOT NULL
);
CREATE TABLE benchmark (
    run      INTEGER NOT NULL REFERENCES run (number),
    position INTEGER NOT NULL,
    id       TEXT COLLATE "C" NOT NULL,
    entry    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run, position)
);
CREATE INDEX benchmark_of_runs ON benchmark (id, run);
CREATE TABLE program (
    run       INTEGER NOT NULL REFERENCES run (number),
    benchmark TEXT COLLATE "C" NOT NULL,
    hash      TEXT COLLATE "C" NOT NULL,
    compiler  TEXT COLLATE "C" NOT NULL,
    flags     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run, benchmark)
);
CREATE TABLE skip (
    run       INTEGER NOT NULL REFERENCES run (number),
    position  INTEGER NOT NULL,
    benchmark TEXT COLLATE "C" NOT NULL,
    footnote  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run, position)
);
CREATE TABLE launch (
    run        INTEGER NOT NULL REFERENCES run (number),
    number     INTEGER NOT NULL,
    seal       TEXT COLLATE "C" NOT NULL,
    benchmark  TEXT COLLATE "C" NOT NULL,
    round      BIGINT NOT NULL,
    start_ns   BIGINT NOT NULL,
    cpus       TEXT COLLATE "C" NOT NULL,
    outcome    TEXT COLLATE "C" NOT NULL,
    why        TEXT COLLATE "C",
    wall_ns    BIGINT NOT NULL,
    conditions TEXT COLLATE "C" NOT NULL,
    events     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE INDEX launch_not_measured ON launch (run, outcome) WHERE outcome <> 'measured';
CREATE TABLE ledger (
    number INTEGER PRIMARY KEY,
    seal   TEXT COLLATE "C" NOT NULL,
    run    INTEGER NOT NULL,
    entry  TEXT COLLATE "C" NOT NULL,
    sealed TEXT COLLATE "C" NOT NULL
);
CREATE INDEX ledger_of_run ON ledger (run, entry);
CREATE TABLE cached_run (
    run      INTEGER PRIMARY KEY REFERENCES run (number),
    analysis TEXT COLLATE "C" NOT NULL,
    sealed   TEXT COLLATE "C" NOT NULL,
    seal     TEXT COLLATE "C" NOT NULL,
    results  BIGINT NOT NULL,
    view     TEXT COLLATE "C" NOT NULL,
    past     TEXT COLLATE "C" NOT NULL
);
CREATE INDEX cached_run_of_analysis ON cached_run (run, analysis, sealed);
CREATE TABLE cached_result (
    run       INTEGER NOT NULL REFERENCES cached_run (run) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    benchmark TEXT COLLATE "C" NOT NULL,
    seal      TEXT COLLATE "C" NOT NULL,
    result    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run, position)
);
CREATE INDEX cached_result_of_benchmark ON cached_result (benchmark, run);
CREATE FUNCTION run_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a run cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER run_is_not_changed BEFORE UPDATE ON run FOR EACH ROW EXECUTE FUNCTION run_is_not_changed();
CREATE TRIGGER run_is_not_emptied BEFORE TRUNCATE ON run EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION run_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a run cannot be removed';
    RETURN OLD;
END $$;
CREATE TRIGGER run_is_not_removed BEFORE DELETE ON run FOR EACH ROW EXECUTE FUNCTION run_is_not_removed();
CREATE FUNCTION run_end_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: the end of a run cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER run_end_is_not_changed BEFORE UPDATE ON run_end FOR EACH ROW EXECUTE FUNCTION run_end_is_not_changed();
CREATE TRIGGER run_end_is_not_emptied BEFORE TRUNCATE ON run_end EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION run_end_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: the end of a run cannot be removed';
    RETURN OLD;
END $$;
CREATE TRIGGER run_end_is_not_removed BEFORE DELETE ON run_end FOR EACH ROW EXECUTE FUNCTION run_end_is_not_removed();
CREATE FUNCTION benchmark_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a benchmark cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER benchmark_is_not_changed BEFORE UPDATE ON benchmark FOR EACH ROW EXECUTE FUNCTION benchmark_is_not_changed();
CREATE TRIGGER benchmark_is_not_emptied BEFORE TRUNCATE ON benchmark EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION benchmark_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a benchmark cannot be removed';
    RETURN OLD;
END $$;
CREATE TRIGGER benchmark_is_not_removed BEFORE DELETE ON benchmark FOR EACH ROW EXECUTE FUNCTION benchmark_is_not_removed();
CREATE FUNCTION program_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a program cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER program_is_not_changed BEFORE UPDATE ON program FOR EACH ROW EXECUTE FUNCTION program_is_not_changed();
CREATE TRIGGER program_is_not_emptied BEFORE TRUNCATE ON program EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION program_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a program cannot be removed';
    RETURN OLD;
END $$;
CREATE TRIGGER program_is_not_removed BEFORE DELETE ON program FOR EACH ROW EXECUTE FUNCTION program_is_not_removed();
CREATE FUNCTION skip_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a skip cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER skip_is_not_changed BEFORE UPDATE ON skip FOR EACH ROW EXECUTE FUNCTION skip_is_not_changed();
CREATE TRIGGER skip_is_not_emptied BEFORE TRUNCATE ON skip EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION skip_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a skip cannot be removed';
    RETURN OLD;
END $$;
CREATE TRIGGER skip_is_not_removed BEFORE DELETE ON skip FOR EACH ROW EXECUTE FUNCTION skip_is_not_removed();
CREATE FUNCTION launch_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a launch cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER launch_is_not_changed BEFORE UPDATE ON launch FOR EACH ROW EXECUTE FUNCTION launch_is_not_changed();
CREATE TRIGGER launch_is_not_emptied BEFORE TRUNCATE ON launch EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION launch_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a launch cannot be removed';
    RETURN OLD;
END $$;
CREATE TRIGGER launch_is_not_removed BEFORE DELETE ON launch FOR EACH ROW EXECUTE FUNCTION launch_is_not_removed();
CREATE FUNCTION launch_before_the_end() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM run_end WHERE run = NEW.run) THEN
        RAISE EXCEPTION 'append-only: the run has ended';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER launch_before_the_end BEFORE INSERT ON launch FOR EACH ROW EXECUTE FUNCTION launch_before_the_end();
CREATE FUNCTION ledger_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: the ledger cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER ledger_is_not_changed BEFORE UPDATE ON ledger FOR EACH ROW EXECUTE FUNCTION ledger_is_not_changed();
CREATE TRIGGER ledger_is_not_emptied BEFORE TRUNCATE ON ledger EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION ledger_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: the ledger cannot be removed';
    RETURN OLD;
END $$;
CREATE TRIGGER ledger_is_not_removed BEFORE DELETE ON ledger FOR EACH ROW EXECUTE FUNCTION ledger_is_not_removed();
CREATE VIEW line AS
SELECT launch.run, launch.number AS launch, place.at - 1 AS position, said.key AS kind,
    CASE WHEN key IN ('hello', 'warm', 'sample', 'process', 'batch', 'check', 'fail') THEN (value ->> 0)::numeric END AS n,
    CASE WHEN key IN ('warm', 'sample', 'process') THEN (value ->> 1)::numeric END AS wall_ns,
    CASE WHEN key IN ('sample', 'process', 'batch') THEN (value ->> 2)::numeric END AS pace_fs,
    (value -> 4 ->> 0)::numeric AS user_ns, (value -> 4 ->> 1)::numeric AS system_ns, (value -> 4 ->> 2)::numeric AS cpu_ns,
    (value -> 4 ->> 3)::numeric AS vcsw, (value -> 4 ->> 4)::numeric AS icsw, (value -> 4 ->> 5)::numeric AS minflt,
    (value -> 4 ->> 6)::numeric AS majflt, (value -> 4 ->> 7)::numeric AS inblock, (value -> 4 ->> 8)::numeric AS oublock,
    (value -> 4 ->> 9)::numeric AS migrations,
    CASE key WHEN 'check' THEN (value ->> 1)::numeric END AS got,
    CASE key WHEN 'check' THEN (value ->> 2)::numeric END AS expected,
    CASE WHEN key = 'param' THEN value ->> 0 WHEN key IN ('hello', 'fail') THEN value ->> 1 END AS name,
    CASE WHEN key IN ('param', 'batch') THEN value ->> 1 WHEN key = 'latency' THEN value::text
        WHEN key = 'skip' THEN value ->> 0 WHEN key = 'fail' THEN value ->> 2 END AS value,
    CASE WHEN key IN ('sample', 'process', 'batch') THEN (value ->> 3)::numeric END AS wide_fs
FROM launch, json_array_elements(launch.events::json) WITH ORDINALITY AS place (line, at), json_each(place.line) AS said
;
