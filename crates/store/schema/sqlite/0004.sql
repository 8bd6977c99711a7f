-- The store, version 4: what is known of changes. Append-only like the rest: of several entries of one kind on a change, the newest counts.
--
-- acknowledge  somebody knows of the change, and says what it is
-- notify       the server has told of it

CREATE TABLE change_entry (
    number INTEGER PRIMARY KEY,          -- from 1, without a gap
    event  TEXT NOT NULL,                -- the first run of the new levels, and -worse or -better
    entry  TEXT NOT NULL,                -- acknowledge, notify
    token  INTEGER REFERENCES token (number), -- by which it came; NULL from a command on the machine of the store
    who    TEXT NOT NULL,                -- name of the user or of the token
    note   TEXT NOT NULL,
    at     TEXT NOT NULL                 -- RFC 3339, UTC
);

CREATE TRIGGER change_entry_is_not_changed BEFORE UPDATE ON change_entry
BEGIN SELECT RAISE(ABORT, 'append-only: what is known of a change cannot be changed'); END;

CREATE TRIGGER change_entry_is_not_removed BEFORE DELETE ON change_entry
BEGIN SELECT RAISE(ABORT, 'append-only: what is known of a change cannot be removed'); END;

CREATE TRIGGER change_entry_is_not_replaced BEFORE INSERT ON change_entry
WHEN EXISTS (SELECT 1 FROM change_entry WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'append-only: what is known of a change cannot be replaced'); END;
