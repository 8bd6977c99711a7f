-- The store, version 6: changes are assigned, expected and fixed too.
--
-- assign       somebody is to look at it
-- acknowledge  somebody knows what it is
-- expect       it was intended, or is accepted
-- fix          its cause is gone
-- reopen       it is as new again

ALTER TABLE change_entry ADD COLUMN assignee TEXT; -- who is to look at it; NULL where the entry names nobody
