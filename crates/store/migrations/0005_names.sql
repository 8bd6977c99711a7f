-- Names of runs in the order of time, and those of one machine, without reading what else their heads hold, which is kilobytes
-- each: what every command asks for before anything else.
CREATE INDEX run_in_time ON run (substr(started, 1, 19), number, id, label);
CREATE INDEX run_of_machine ON run (machine_id, substr(started, 1, 19), number, id);
