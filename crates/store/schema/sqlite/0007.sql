-- The store, version 7: a triage entry covers the benchmarks that the change had when it was written.

ALTER TABLE change_entry ADD COLUMN benchmarks TEXT; -- identifiers, separated by spaces; NULL where they are unknown
