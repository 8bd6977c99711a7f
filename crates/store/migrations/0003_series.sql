-- The runs that have a benchmark, and its launches in a run, without reading all others: what a history asks for.
CREATE INDEX benchmark_of_runs ON benchmark (id, run);
CREATE INDEX launch_of_benchmark ON launch (run, benchmark);
