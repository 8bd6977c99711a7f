-- What is stored stays as it is. SQLite's own dialect of triggers; PostgreSQL would have its text under the same number.
--
-- A row is neither changed nor removed. `INSERT OR REPLACE` removes a row without asking the triggers of DELETE,
-- so that a key that is already there is refused before the insert.

CREATE TRIGGER migration_stays_as_it_is BEFORE UPDATE ON migration
BEGIN SELECT RAISE(ABORT, 'append-only: a migration cannot be changed'); END;
CREATE TRIGGER migration_stays BEFORE DELETE ON migration
BEGIN SELECT RAISE(ABORT, 'append-only: a migration cannot be removed'); END;
CREATE TRIGGER migration_is_not_replaced BEFORE INSERT ON migration
WHEN EXISTS (SELECT 1 FROM migration WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'append-only: a migration cannot be replaced'); END;

CREATE TRIGGER run_stays_as_it_is BEFORE UPDATE ON run
BEGIN SELECT RAISE(ABORT, 'append-only: a run cannot be changed'); END;
CREATE TRIGGER run_stays BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'append-only: a run cannot be removed'); END;
CREATE TRIGGER run_is_not_replaced BEFORE INSERT ON run
WHEN EXISTS (SELECT 1 FROM run WHERE number = NEW.number OR id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'append-only: a run cannot be replaced'); END;

CREATE TRIGGER run_end_stays_as_it_is BEFORE UPDATE ON run_end
BEGIN SELECT RAISE(ABORT, 'append-only: the end of a run cannot be changed'); END;
CREATE TRIGGER run_end_stays BEFORE DELETE ON run_end
BEGIN SELECT RAISE(ABORT, 'append-only: the end of a run cannot be removed'); END;
CREATE TRIGGER run_end_is_not_replaced BEFORE INSERT ON run_end
WHEN EXISTS (SELECT 1 FROM run_end WHERE run = NEW.run)
BEGIN SELECT RAISE(ABORT, 'append-only: the end of a run cannot be replaced'); END;

CREATE TRIGGER benchmark_stays_as_it_is BEFORE UPDATE ON benchmark
BEGIN SELECT RAISE(ABORT, 'append-only: a benchmark cannot be changed'); END;
CREATE TRIGGER benchmark_stays BEFORE DELETE ON benchmark
BEGIN SELECT RAISE(ABORT, 'append-only: a benchmark cannot be removed'); END;
CREATE TRIGGER benchmark_is_not_replaced BEFORE INSERT ON benchmark
WHEN EXISTS (SELECT 1 FROM benchmark WHERE run = NEW.run AND position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'append-only: a benchmark cannot be replaced'); END;

CREATE TRIGGER program_stays_as_it_is BEFORE UPDATE ON program
BEGIN SELECT RAISE(ABORT, 'append-only: a program cannot be changed'); END;
CREATE TRIGGER program_stays BEFORE DELETE ON program
BEGIN SELECT RAISE(ABORT, 'append-only: a program cannot be removed'); END;
CREATE TRIGGER program_is_not_replaced BEFORE INSERT ON program
WHEN EXISTS (SELECT 1 FROM program WHERE run = NEW.run AND benchmark = NEW.benchmark)
BEGIN SELECT RAISE(ABORT, 'append-only: a program cannot be replaced'); END;

CREATE TRIGGER skip_stays_as_it_is BEFORE UPDATE ON skip
BEGIN SELECT RAISE(ABORT, 'append-only: a skip cannot be changed'); END;
CREATE TRIGGER skip_stays BEFORE DELETE ON skip
BEGIN SELECT RAISE(ABORT, 'append-only: a skip cannot be removed'); END;
CREATE TRIGGER skip_is_not_replaced BEFORE INSERT ON skip
WHEN EXISTS (SELECT 1 FROM skip WHERE run = NEW.run AND position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'append-only: a skip cannot be replaced'); END;

CREATE TRIGGER launch_stays_as_it_is BEFORE UPDATE ON launch
BEGIN SELECT RAISE(ABORT, 'append-only: a launch cannot be changed'); END;
CREATE TRIGGER launch_stays BEFORE DELETE ON launch
BEGIN SELECT RAISE(ABORT, 'append-only: a launch cannot be removed'); END;
CREATE TRIGGER launch_is_not_replaced BEFORE INSERT ON launch
WHEN EXISTS (SELECT 1 FROM launch WHERE run = NEW.run AND number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'append-only: a launch cannot be replaced'); END;

CREATE TRIGGER event_stays_as_it_is BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'append-only: an event cannot be changed'); END;
CREATE TRIGGER event_stays BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'append-only: an event cannot be removed'); END;
CREATE TRIGGER event_is_not_replaced BEFORE INSERT ON event
WHEN EXISTS (SELECT 1 FROM event WHERE run = NEW.run AND launch = NEW.launch AND position = NEW.position)
BEGIN SELECT RAISE(ABORT, 'append-only: an event cannot be replaced'); END;

-- A run that has ended takes no more launches.
CREATE TRIGGER launch_before_the_end BEFORE INSERT ON launch
WHEN EXISTS (SELECT 1 FROM run_end WHERE run = NEW.run)
BEGIN SELECT RAISE(ABORT, 'append-only: the run has ended'); END;
