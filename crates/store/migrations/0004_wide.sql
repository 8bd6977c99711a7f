-- The pacer of additions that need not wait for each other, femtoseconds an addition: of samples, processes and batches.
-- NULL where there is none, as in all runs from before; the seal of a launch covers it only where it is not.
ALTER TABLE event ADD COLUMN wide_fs BIGINT;
