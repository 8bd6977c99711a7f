-- A history reads all launches of a run, since they tell of the cores, and asks for those of one benchmark no more.
DROP INDEX launch_of_benchmark;
