-- What a launch said stands in its own row, as one text: fifty rows with their keys, which were looked for twice and kept in two
-- trees, took more than half of what Gritstone itself does for a launch. Launches from before keep their rows.

ALTER TABLE event RENAME TO event_row;

-- JSON: [{kind: [...]}, ...], in order. NULL in launches from before; the seal of a launch covers it where it is not.
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

-- One row for each line again, for whoever asks: as the first migration has it. SQLite's own functions; PostgreSQL would have its text
-- under the same number. A number at or above 2^63 comes out as the nearest real number, and out of a row from before as a negative one.
CREATE VIEW event AS
SELECT run, launch, position, kind, n, wall_ns, pace_fs, user_ns, system_ns, cpu_ns, vcsw, icsw, minflt, majflt, inblock, oublock,
    migrations, got, expected, name, value, wide_fs
FROM event_row
UNION ALL
SELECT run, launch, position, kind,
    CASE WHEN kind IN ('hello', 'warm', 'sample', 'process', 'batch', 'check', 'fail') THEN line ->> '$[0]' END,
    CASE WHEN kind IN ('warm', 'sample', 'process') THEN line ->> '$[1]' END,
    CASE WHEN kind IN ('sample', 'process', 'batch') THEN line ->> '$[2]' END,
    line ->> '$[4][0]', line ->> '$[4][1]', line ->> '$[4][2]', line ->> '$[4][3]', line ->> '$[4][4]',
    line ->> '$[4][5]', line ->> '$[4][6]', line ->> '$[4][7]', line ->> '$[4][8]', line ->> '$[4][9]',
    CASE kind WHEN 'check' THEN line ->> '$[1]' END,
    CASE kind WHEN 'check' THEN line ->> '$[2]' END,
    CASE kind WHEN 'param' THEN line ->> '$[0]' WHEN 'hello' THEN line ->> '$[1]' WHEN 'fail' THEN line ->> '$[1]' END,
    CASE kind WHEN 'param' THEN line ->> '$[1]' WHEN 'batch' THEN line ->> '$[1]' WHEN 'latency' THEN line
        WHEN 'skip' THEN line ->> '$[0]' WHEN 'fail' THEN line ->> '$[2]' END,
    CASE WHEN kind IN ('sample', 'process', 'batch') THEN line ->> '$[3]' END
FROM (
    SELECT launch.run, launch.number AS launch, place.key AS position, said.key AS kind, said.value AS line
    FROM launch, json_each(launch.events) AS place, json_each(place.value) AS said
);
