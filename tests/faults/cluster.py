"""A Ray cluster of simulated nodes, and the processes of a run on a cluster."""

from contextlib import contextmanager, suppress

import psutil

_STORE = 100_000_000  # bytes of an object store


WORKER = "ray::prepare", "ray::IDLE"


def processes_of(process, *names):
    found = []
    with suppress(psutil.NoSuchProcess):
        for one in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if any(name in " ".join(one.cmdline()) for name in names):
                    found.append(one)
    return found


@contextmanager
def simulated_nodes(more=1, store=_STORE, **of_other):
    """Simulate a cluster of a head and other nodes with a core each; yield it and the last node.

    store: bytes of the object store of each; of_other: what the other nodes have besides.
    """
    from ray.cluster_utils import Cluster

    about = {"num_cpus": 1, "object_store_memory": store}
    cluster = Cluster(initialize_head=True, head_node_args={**about, "include_dashboard": False})
    try:
        nodes = [cluster.head_node, *(cluster.add_node(**about, **of_other) for _ in range(more))]
        yield cluster, nodes[-1]
    finally:
        cluster.shutdown()
