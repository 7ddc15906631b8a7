"""What a suite runs, before placement and policy are added to it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """What one suite runs on one target, before placement and policy are added.

    host_memory: request and limit of main memory; on Windows the limit is higher (`manifest`). shared_memory: size of /dev/shm, None
    for the default. cpus: limit of processors. disk: limit of what is written to the node's disk, the log included.
    devices: further extended resources; capabilities: of Linux, beside none; annotations: of the pod, for its networks.
    """

    image: str
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    host_memory: str = "1Gi"
    shared_memory: str | None = None
    cpus: int = 2
    disk: str = "1Gi"
    devices: Mapping[str, int] = {}
    capabilities: tuple[str, ...] = ()
    annotations: Mapping[str, str] = {}
