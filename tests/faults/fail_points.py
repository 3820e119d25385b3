"""Faults that a real server makes on purpose: its fail points, for the job's own client alone."""

from contextlib import contextmanager

TEST_COMMANDS = ("--setParameter", "enableTestCommands=1")


@contextmanager
def failing(database, *commands, times=None, share=None, **how):
    """Let the next n of these commands fail, or a share of them, else all, in the block.

    After it the list that is yielded holds how many did.

    how: `errorCode=91`, `closeConnection=True`, `writeConcernError={...}` (the command does its
    work), `blockConnection=True, blockTimeMS=...`. The end of the block waits for blocked commands.
    """
    fired = []
    before = fail(database, *commands, times=times, share=share, **how)
    try:
        yield fired
    finally:
        off = database.client.admin.command("configureFailPoint", "failCommand", mode="off")
        fired.append(int(off["count"]) - before)


def fail(database, *commands, times=None, share=None, **how):
    """Let commands fail from now on, as above; return how many did so far."""
    mode = "alwaysOn" if times is None else {"times": times}
    if share is not None:
        mode = {"activationProbability": share}
    data = {"failCommands": list(commands), "appName": "dedup", **how}
    set_ = database.client.admin.command("configureFailPoint", "failCommand", mode=mode, data=data)
    return int(set_["count"])
