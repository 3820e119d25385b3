"""Tests of dedup_job.judgment."""
