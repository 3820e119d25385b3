"""`python -m dedup_job`."""

from dedup_job.cli import main

if __name__ == "__main__":
    main()
