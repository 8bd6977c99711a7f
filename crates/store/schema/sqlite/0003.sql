-- The store, version 3: tokens, by which clients of a server may read, write or remove; and who did. Append-only like the rest: a token
-- is revoked by a row, and its name is not given again.

CREATE TABLE token (
    number  INTEGER PRIMARY KEY,         -- from 1, without a gap
    name    TEXT NOT NULL UNIQUE,        -- of a machine or a person
    hash    TEXT NOT NULL UNIQUE,        -- SHA-256 of the token, which is nowhere else
    scopes  TEXT NOT NULL,               -- JSON: ["read", "write", "admin"] or some of them
    created TEXT NOT NULL                -- RFC 3339, UTC
);

CREATE TABLE revoked_token (
    token   INTEGER PRIMARY KEY REFERENCES token (number),
    revoked TEXT NOT NULL                -- RFC 3339, UTC
);

-- What was done by tokens: a run was sent or removed.
CREATE TABLE done_by_token (
    number INTEGER PRIMARY KEY,          -- from 1, without a gap
    token  INTEGER NOT NULL REFERENCES token (number),
    done   TEXT NOT NULL,                -- send, remove
    run    TEXT NOT NULL,                -- identifier
    at     TEXT NOT NULL                 -- RFC 3339, UTC
);

CREATE TRIGGER token_is_not_changed BEFORE UPDATE ON token
BEGIN SELECT RAISE(ABORT, 'append-only: a token cannot be changed'); END;

CREATE TRIGGER token_is_not_removed BEFORE DELETE ON token
BEGIN SELECT RAISE(ABORT, 'append-only: a token is revoked, not removed'); END;

CREATE TRIGGER token_is_not_replaced BEFORE INSERT ON token
WHEN EXISTS (SELECT 1 FROM token WHERE number = NEW.number OR name = NEW.name OR hash = NEW.hash)
BEGIN SELECT RAISE(ABORT, 'append-only: a token cannot be replaced'); END;

CREATE TRIGGER revoked_token_is_not_changed BEFORE UPDATE ON revoked_token
BEGIN SELECT RAISE(ABORT, 'append-only: a token stays revoked'); END;

CREATE TRIGGER revoked_token_is_not_removed BEFORE DELETE ON revoked_token
BEGIN SELECT RAISE(ABORT, 'append-only: a token stays revoked'); END;

CREATE TRIGGER revoked_token_is_not_replaced BEFORE INSERT ON revoked_token
WHEN EXISTS (SELECT 1 FROM revoked_token WHERE token = NEW.token)
BEGIN SELECT RAISE(ABORT, 'append-only: a token stays revoked'); END;

CREATE TRIGGER done_by_token_is_not_changed BEFORE UPDATE ON done_by_token
BEGIN SELECT RAISE(ABORT, 'append-only: what was done cannot be changed'); END;

CREATE TRIGGER done_by_token_is_not_removed BEFORE DELETE ON done_by_token
BEGIN SELECT RAISE(ABORT, 'append-only: what was done cannot be removed'); END;

CREATE TRIGGER done_by_token_is_not_replaced BEFORE INSERT ON done_by_token
WHEN EXISTS (SELECT 1 FROM done_by_token WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'append-only: what was done cannot be replaced'); END;
