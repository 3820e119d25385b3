"""Tests of dedup_job.datafiles."""
