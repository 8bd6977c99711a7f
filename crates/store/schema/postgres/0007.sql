ALTER TABLE change_entry ADD COLUMN benchmarks TEXT COLLATE "C";
