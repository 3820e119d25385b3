"""`python -m dedup_job` and `dedup`: what comes before the command line can say anything."""

import gc
import os
import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; Ctrl-C ends the process in silence while that is imported."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # which would show where it was; nohup has its own
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # tables and modules make many objects, none of them garbage
    gc.set_threshold(200_000, 10, 50)
    # numpy asks for large pages for each array of a batch, and each is cleared before it is used
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    # its threads would spin while they wait, for matrices that nobody multiplies
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # else pydantic looks for some in the files of all packages
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from dedup_job.cli import main as command_line

    signal.signal(signal.SIGINT, handler)
    command_line()


if __name__ == "__main__":
    main()
