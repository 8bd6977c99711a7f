CREATE TABLE kept_run (
    run      INTEGER PRIMARY KEY REFERENCES run (number),
    analysis TEXT COLLATE "C" NOT NULL,
    sealed   TEXT COLLATE "C" NOT NULL,
    seal     TEXT COLLATE "C" NOT NULL,
    results  BIGINT NOT NULL,
    view     TEXT COLLATE "C" NOT NULL,
    past     TEXT COLLATE "C" NOT NULL
);
CREATE TABLE kept_result (
    run       INTEGER NOT NULL REFERENCES kept_run (run) ON DELETE CASCADE,
    position  INTEGER NOT NULL,
    benchmark TEXT COLLATE "C" NOT NULL,
    seal      TEXT COLLATE "C" NOT NULL,
    result    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run, position)
);
CREATE INDEX kept_result_of_benchmark ON kept_result (benchmark, run);
DROP FUNCTION launch_is_not_removed() CASCADE;
CREATE FUNCTION launch_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove') AND NOT EXISTS
    (SELECT 1 FROM ledger JOIN kept_run ON kept_run.run = ledger.run WHERE ledger.run = OLD.run AND entry = 'prune') THEN
        RAISE EXCEPTION 'append-only: a launch cannot be removed';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER launch_is_not_removed BEFORE DELETE ON launch FOR EACH ROW EXECUTE FUNCTION launch_is_not_removed();
CREATE FUNCTION kept_run_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: kept results cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER kept_run_is_not_changed BEFORE UPDATE ON kept_run FOR EACH ROW EXECUTE FUNCTION kept_run_is_not_changed();
CREATE TRIGGER kept_run_is_not_emptied BEFORE TRUNCATE ON kept_run EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION kept_run_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove') THEN
        RAISE EXCEPTION 'append-only: kept results cannot be removed';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER kept_run_is_not_removed BEFORE DELETE ON kept_run FOR EACH ROW EXECUTE FUNCTION kept_run_is_not_removed();
CREATE FUNCTION kept_run_before_the_entry() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND entry = 'prune') THEN
        RAISE EXCEPTION 'append-only: the run was pruned';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER kept_run_before_the_entry BEFORE INSERT ON kept_run FOR EACH ROW EXECUTE FUNCTION kept_run_before_the_entry();
CREATE FUNCTION kept_result_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a kept result cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER kept_result_is_not_changed BEFORE UPDATE ON kept_result FOR EACH ROW EXECUTE FUNCTION kept_result_is_not_changed();
CREATE TRIGGER kept_result_is_not_emptied BEFORE TRUNCATE ON kept_result EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION kept_result_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove') THEN
        RAISE EXCEPTION 'append-only: a kept result cannot be removed';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER kept_result_is_not_removed BEFORE DELETE ON kept_result FOR EACH ROW EXECUTE FUNCTION kept_result_is_not_removed();
CREATE FUNCTION kept_result_before_the_entry() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM ledger WHERE run = NEW.run AND entry = 'prune') THEN
        RAISE EXCEPTION 'append-only: the run was pruned';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER kept_result_before_the_entry BEFORE INSERT ON kept_result FOR EACH ROW EXECUTE FUNCTION kept_result_before_the_entry();
