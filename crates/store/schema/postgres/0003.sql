CREATE TABLE token (
    number  INTEGER PRIMARY KEY,
    name    TEXT COLLATE "C" NOT NULL UNIQUE,
    hash    TEXT COLLATE "C" NOT NULL UNIQUE,
    scopes  TEXT COLLATE "C" NOT NULL,
    created TEXT COLLATE "C" NOT NULL
);
CREATE TABLE revoked_token (
    token   INTEGER PRIMARY KEY REFERENCES token (number),
    revoked TEXT COLLATE "C" NOT NULL
);
CREATE TABLE done_by_token (
    number INTEGER PRIMARY KEY,
    token  INTEGER NOT NULL REFERENCES token (number),
    done   TEXT COLLATE "C" NOT NULL,
    run    TEXT COLLATE "C" NOT NULL,
    at     TEXT COLLATE "C" NOT NULL
);
CREATE FUNCTION token_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a token cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER token_is_not_changed BEFORE UPDATE ON token FOR EACH ROW EXECUTE FUNCTION token_is_not_changed();
CREATE TRIGGER token_is_not_emptied BEFORE TRUNCATE ON token EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION token_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a token is revoked, not removed';
    RETURN OLD;
END $$;
CREATE TRIGGER token_is_not_removed BEFORE DELETE ON token FOR EACH ROW EXECUTE FUNCTION token_is_not_removed();
CREATE FUNCTION revoked_token_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a token stays revoked';
    RETURN NEW;
END $$;
CREATE TRIGGER revoked_token_is_not_changed BEFORE UPDATE ON revoked_token FOR EACH ROW EXECUTE FUNCTION revoked_token_is_not_changed();
CREATE TRIGGER revoked_token_is_not_emptied BEFORE TRUNCATE ON revoked_token EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION revoked_token_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: a token stays revoked';
    RETURN OLD;
END $$;
CREATE TRIGGER revoked_token_is_not_removed BEFORE DELETE ON revoked_token FOR EACH ROW EXECUTE FUNCTION revoked_token_is_not_removed();
CREATE FUNCTION done_by_token_is_not_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: what was done cannot be changed';
    RETURN NEW;
END $$;
CREATE TRIGGER done_by_token_is_not_changed BEFORE UPDATE ON done_by_token FOR EACH ROW EXECUTE FUNCTION done_by_token_is_not_changed();
CREATE TRIGGER done_by_token_is_not_emptied BEFORE TRUNCATE ON done_by_token EXECUTE FUNCTION gritstone_keep();
CREATE FUNCTION done_by_token_is_not_removed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    RAISE EXCEPTION 'append-only: what was done cannot be removed';
    RETURN OLD;
END $$;
CREATE TRIGGER done_by_token_is_not_removed BEFORE DELETE ON done_by_token FOR EACH ROW EXECUTE FUNCTION done_by_token_is_not_removed();
