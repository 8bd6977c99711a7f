-- The store, version 5: the launches of a run that has ended may be pruned. The results that were computed from them are kept for good,
-- whatever analysis there is later.
--
-- prune   an entry of the ledger; `sealed` is the last seal of the launches, the seal in kept_run, and when it was (RFC 3339, UTC), with
--         spaces between. The launches may be deleted from then on. Seals are chained on: run -> (launches) -> run_end by the first,
--         (launches) -> kept_run -> kept_result by the second.

CREATE TABLE kept_run (
    run      INTEGER PRIMARY KEY REFERENCES run (number),
    analysis TEXT NOT NULL,              -- version of what computed it
    sealed   TEXT NOT NULL,              -- the seal of the last launch
    seal     TEXT NOT NULL,              -- of the seal of the last launch and this row, without its results
    results  BIGINT NOT NULL,            -- how many it has
    view     TEXT NOT NULL,              -- JSON: the view without its results
    past     TEXT NOT NULL               -- JSON: what comparisons of later runs need
);

CREATE TABLE kept_result (
    run       INTEGER NOT NULL REFERENCES kept_run (run) ON DELETE CASCADE,
    position  INTEGER NOT NULL,          -- from 0
    benchmark TEXT NOT NULL,
    seal      TEXT NOT NULL,             -- of the seal of kept_run and this row
    result    TEXT NOT NULL,             -- JSON, with a value for each launch
    PRIMARY KEY (run, position)
);

CREATE INDEX kept_result_of_benchmark ON kept_result (benchmark, run);

DROP TRIGGER launch_is_not_removed;
CREATE TRIGGER launch_is_not_removed BEFORE DELETE ON launch
WHEN NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove') AND NOT EXISTS
    (SELECT 1 FROM ledger JOIN kept_run ON kept_run.run = ledger.run WHERE ledger.run = OLD.run AND entry = 'prune')
BEGIN SELECT RAISE(ABORT, 'append-only: a launch cannot be removed'); END;

CREATE TRIGGER kept_run_is_not_changed BEFORE UPDATE ON kept_run
BEGIN SELECT RAISE(ABORT, 'append-only: kept results cannot be changed'); END;

CREATE TRIGGER kept_run_is_not_removed BEFORE DELETE ON kept_run
WHEN NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove')
BEGIN SELECT RAISE(ABORT, 'append-only: kept results cannot be removed'); END;

CREATE TRIGGER kept_run_is_not_replaced BEFORE INSERT ON kept_run
WHEN EXISTS (SELECT 1 FROM kept_run WHERE run = NEW.run)
BEGIN SELECT RAISE(ABORT, 'append-only: kept results cannot be replaced'); END;

CREATE TRIGGER kept_run_before_the_entry BEFORE INSERT ON kept_run
WHEN EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND entry = 'prune')
BEGIN SELECT RAISE(ABORT, 'append-only: the run was pruned'); END;

CREATE TRIGGER kept_result_is_not_changed BEFORE UPDATE ON kept_result
BEGIN SELECT RAISE(ABORT, 'append-only: a kept result cannot be changed'); END;

CREATE TRIGGER kept_result_is_not_removed BEFORE DELETE ON kept_result
WHEN NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove')
BEGIN SELECT RAISE(ABORT, 'append-only: a kept result cannot be removed'); END;

CREATE TRIGGER kept_result_is_not_replaced BEFORE INSERT ON kept_result
WHEN EXISTS (SELECT 1 FROM kept_result WHERE run = NEW.run AND position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'append-only: a kept result cannot be replaced'); END;

CREATE TRIGGER kept_result_before_the_entry BEFORE INSERT ON kept_result
WHEN EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND entry = 'prune')
BEGIN SELECT RAISE(ABORT, 'append-only: the run was pruned'); END;
