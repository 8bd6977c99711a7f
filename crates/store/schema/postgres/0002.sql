DROP FUNCTION run_is_not_removed() CASCADE;
CREATE FUNCTION run_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.number AND entry = 'remove') THEN
        RAISE EXCEPTION 'append-only: a run cannot be removed without an entry in the ledger';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER run_is_not_removed BEFORE DELETE ON run FOR EACH ROW EXECUTE FUNCTION run_is_not_removed();
DROP FUNCTION run_end_is_not_removed() CASCADE;
CREATE FUNCTION run_end_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove') THEN
        RAISE EXCEPTION 'append-only: the end of a run cannot be removed';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER run_end_is_not_removed BEFORE DELETE ON run_end FOR EACH ROW EXECUTE FUNCTION run_end_is_not_removed();
DROP FUNCTION benchmark_is_not_removed() CASCADE;
CREATE FUNCTION benchmark_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove') THEN
        RAISE EXCEPTION 'append-only: a benchmark cannot be removed';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER benchmark_is_not_removed BEFORE DELETE ON benchmark FOR EACH ROW EXECUTE FUNCTION benchmark_is_not_removed();
DROP FUNCTION program_is_not_removed() CASCADE;
CREATE FUNCTION program_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove') THEN
        RAISE EXCEPTION 'append-only: a program cannot be removed';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER program_is_not_removed BEFORE DELETE ON program FOR EACH ROW EXECUTE FUNCTION program_is_not_removed();
DROP FUNCTION skip_is_not_removed() CASCADE;
CREATE FUNCTION skip_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove') THEN
        RAISE EXCEPTION 'append-only: a skip cannot be removed';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER skip_is_not_removed BEFORE DELETE ON skip FOR EACH ROW EXECUTE FUNCTION skip_is_not_removed();
DROP FUNCTION launch_is_not_removed() CASCADE;
CREATE FUNCTION launch_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM ledger WHERE run = OLD.run AND entry = 'remove') THEN
        RAISE EXCEPTION 'append-only: a launch cannot be removed';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER launch_is_not_removed BEFORE DELETE ON launch FOR EACH ROW EXECUTE FUNCTION launch_is_not_removed();
