-- The store, version 2: a run may be labeled again, and removed as a whole. Both are entries of the ledger, which stays append-only.
--
-- label   `sealed` is the new label; the newest of a run counts
-- accept  `sealed` is a benchmark whose level in the run is accepted by name: what `check` compares later runs with
-- remove  `sealed` was the last seal of the run; its rows may be deleted from then on, and its number is not given again
--
-- What the ledger has not removed stays as it is: its launches least of all.

DROP TRIGGER run_is_not_removed;
CREATE TRIGGER run_is_not_removed BEFORE DELETE ON run
WHEN NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.number AND entry = 'remove')
BEGIN SELECT RAISE(ABORT, 'append-only: a run cannot be removed without an entry in the ledger'); END;

DROP TRIGGER run_end_is_not_removed;
CREATE TRIGGER run_end_is_not_removed BEFORE DELETE ON run_end
WHEN NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove')
BEGIN SELECT RAISE(ABORT, 'append-only: the end of a run cannot be removed'); END;

DROP TRIGGER benchmark_is_not_removed;
CREATE TRIGGER benchmark_is_not_removed BEFORE DELETE ON benchmark
WHEN NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove')
BEGIN SELECT RAISE(ABORT, 'append-only: a benchmark cannot be removed'); END;

DROP TRIGGER program_is_not_removed;
CREATE TRIGGER program_is_not_removed BEFORE DELETE ON program
WHEN NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove')
BEGIN SELECT RAISE(ABORT, 'append-only: a program cannot be removed'); END;

DROP TRIGGER skip_is_not_removed;
CREATE TRIGGER skip_is_not_removed BEFORE DELETE ON skip
WHEN NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove')
BEGIN SELECT RAISE(ABORT, 'append-only: a skip cannot be removed'); END;

DROP TRIGGER launch_is_not_removed;
CREATE TRIGGER launch_is_not_removed BEFORE DELETE ON launch
WHEN NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove')
BEGIN SELECT RAISE(ABORT, 'append-only: a launch cannot be removed'); END;
