"""A Ray cluster of two nodes on the loopback interface of this machine, for tests and benchmarks."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from thinkback.bulk.cluster import import_ray

OBJECT_STORE_BYTES = 100 << 20  # of one node
requires_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="needs ray: pip install 'thinkback[ray]'"
)


class TwoNodes:
    """The first node runs the cluster's services; the second one can be killed."""

    def __init__(self) -> None:
        import_ray(loopback=True)  # sets the environment of the nodes
        from ray.cluster_utils import Cluster

        options = {"num_cpus": 1, "object_store_memory": OBJECT_STORE_BYTES}
        head = {**options, "include_dashboard": False, "node_ip_address": "127.0.0.1"}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self._second: Any = self._cluster.add_node(**options, node_ip_address="127.0.0.1")
        self._cluster.wait_for_nodes()
        self.address: str = self._cluster.address

    def kill_second(self) -> None:
        """Kill all processes of the second node, as a power failure would."""
        self._cluster.remove_node(self._second, allow_graceful=False)

    def stop(self) -> None:
        self._cluster.shutdown()


@contextmanager
def two_nodes() -> Iterator[TwoNodes]:
    nodes = TwoNodes()
    try:
        yield nodes
    finally:
        nodes.stop()
