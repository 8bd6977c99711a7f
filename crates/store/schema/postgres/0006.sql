ALTER TABLE change_entry ADD COLUMN assignee TEXT COLLATE "C";
