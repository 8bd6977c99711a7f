-- What a launch said stands in its own row, as one text: fifty rows with their keys, which were looked for twice and kept in two
-- trees, were more than half of the instructions that Gritstone itself executes for a launch. Launches from before keep their rows in `event`, and a run that
-- an earlier version is at work on gets more of them.

-- JSON: [{kind: [...]}, ...], in order. NULL in launches that have rows; the seal of a launch covers it where it is not.
--
-- hello    [protocol, kernel]
-- param    [key, value]
-- warm     [n, wall_ns]
-- sample   [n, wall_ns, pace_fs, wide_fs, [user_ns, system_ns, cpu_ns, vcsw, icsw, minflt, majflt, inblock, oublock, migrations]]
-- process  the same
-- batch    [n, [wall_ns, ...], pace_fs, wide_fs, [the same]]
-- latency  {count, min, max, sum, buckets}: Histogram
-- check    [n, got, expected]
-- skip     [why]
-- fail     [errno, call, why]
-- bye      []
ALTER TABLE launch ADD COLUMN events TEXT;

CREATE TRIGGER event_of_launch_without_text BEFORE INSERT ON event
WHEN EXISTS (SELECT 1 FROM launch WHERE run = NEW.run AND number = NEW.launch AND events IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'append-only: the launch has its events in its row'); END;

-- Every line that was said, with the columns of `event`, for whoever asks. SQLite's own functions, and no operator that its version 3.9
-- does not know, or that could not open the file; PostgreSQL would have its text under the same number. A number at or above 2^63 comes out as
-- the nearest real number, and out of `event` as a negative one.
CREATE VIEW line AS
SELECT run, launch, position, kind, n, wall_ns, pace_fs, user_ns, system_ns, cpu_ns, vcsw, icsw, minflt, majflt, inblock, oublock,
    migrations, got, expected, name, value, wide_fs
FROM event
UNION ALL
SELECT run, launch, position, kind,
    CASE WHEN kind IN ('hello', 'warm', 'sample', 'process', 'batch', 'check', 'fail') THEN json_extract(said, '$[0]') END,
    CASE WHEN kind IN ('warm', 'sample', 'process') THEN json_extract(said, '$[1]') END,
    CASE WHEN kind IN ('sample', 'process', 'batch') THEN json_extract(said, '$[2]') END,
    json_extract(said, '$[4][0]'), json_extract(said, '$[4][1]'), json_extract(said, '$[4][2]'), json_extract(said, '$[4][3]'),
    json_extract(said, '$[4][4]'), json_extract(said, '$[4][5]'), json_extract(said, '$[4][6]'), json_extract(said, '$[4][7]'),
    json_extract(said, '$[4][8]'), json_extract(said, '$[4][9]'),
    CASE kind WHEN 'check' THEN json_extract(said, '$[1]') END,
    CASE kind WHEN 'check' THEN json_extract(said, '$[2]') END,
    CASE WHEN kind = 'param' THEN json_extract(said, '$[0]') WHEN kind IN ('hello', 'fail') THEN json_extract(said, '$[1]') END,
    CASE WHEN kind IN ('param', 'batch') THEN json_extract(said, '$[1]') WHEN kind = 'latency' THEN said
        WHEN kind = 'skip' THEN json_extract(said, '$[0]') WHEN kind = 'fail' THEN json_extract(said, '$[2]') END,
    CASE WHEN kind IN ('sample', 'process', 'batch') THEN json_extract(said, '$[3]') END
FROM (
    SELECT launch.run, launch.number AS launch, place.key AS position, line.key AS kind, line.value AS said
    FROM launch, json_each(CASE WHEN json_valid(launch.events) THEN launch.events END) AS place, json_each(place.value) AS line
);
