"""A Ray cluster of two nodes on the loopback interface of this machine, for tests and benchmarks."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from thinkback.bulk.cluster import import_ray

_NODE_OPTIONS: dict[str, Any] = {
    "num_cpus": 1,
    "object_store_memory": 100 << 20,
    "node_ip_address": "127.0.0.1",
}
requires_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="needs ray: pip install 'thinkback[ray]'"
)


class TwoNodes:
    """The first node runs the cluster's services; the second one can be killed."""

    def __init__(self) -> None:
        import_ray(loopback=True)  # sets the environment of the nodes
        from ray.cluster_utils import Cluster

        head = {**_NODE_OPTIONS, "include_dashboard": False}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self.address: str = self._cluster.address
        self.add_second()

    def add_second(self) -> None:
        self._second = self._cluster.add_node(**_NODE_OPTIONS)
        self._cluster.wait_for_nodes()

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
