"""Make the tables of dictionary and judge ahead of the first run.

    python -m dedup_job.commands.prepare

For images and packages: the tables lie in XDG_CACHE_HOME, and serve every user who can read them.
It takes a few seconds.
"""

from dedup_job.settings import load_settings

if __name__ == "__main__":
    models = load_settings().models()
    _ = models.fingerprinter, models.judge
