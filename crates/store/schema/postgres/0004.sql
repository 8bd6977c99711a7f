CREATE TABLE change_entry (
    number INTEGER PRIMARY KEY,
    event  TEXT COLLATE "C" NOT NULL,
    entry  TEXT COLLATE "C" NOT NULL,
    token  INTEGER REFERENCES token (number),
    who    TEXT COLLATE "C" NOT NULL,
    note   TEXT COLLATE "C" NOT NULL,
    at     TEXT COLLATE "C" NOT NULL
);
CREATE FUNCTION change_entry_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: what is known of a change cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER change_entry_is_not_changed BEFORE UPDATE ON change_entry FOR EACH ROW EXECUTE FUNCTION change_entry_is_not_changed();
CREATE TRIGGER change_entry_is_not_emptied BEFORE TRUNCATE ON change_entry EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION change_entry_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: what is known of a change cannot be removed';
    RETURN OLD;
END $$;
CREATE TRIGGER change_entry_is_not_removed BEFORE DELETE ON change_entry FOR EACH ROW EXECUTE FUNCTION change_entry_is_not_removed();
