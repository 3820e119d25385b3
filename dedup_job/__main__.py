"""Entry point of `python -m dedup_job` and `dedup`: sets up the process, runs the command line."""

import gc
import os
import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; Ctrl-C during the imports ends the process without a traceback."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # it is another one under nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # modules and tables create many objects, none of them garbage
    gc.set_threshold(200_000, 10, 50)
    # with huge pages the kernel clears more memory for each array of a batch than it uses
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    # idle threads of OpenBLAS would spin, and no matrix is multiplied
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # the search for plugins reads the metadata of all packages
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from dedup_job.cli import main as command_line

    signal.signal(signal.SIGINT, handler)
    command_line()


if __name__ == "__main__":
    main()
