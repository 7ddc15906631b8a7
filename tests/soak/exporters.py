"""Exporters that are played, with other figures every few seconds, and a real Prometheus that scrapes them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.controlplane.objects import MIB, uuid_of
from tests.prometheus import Exporters, scraping

#: Nodes whose cards are measured: the UUIDs of their cards are known from the pods that hold them, others are told by index.
NODES = ("count-91", "count-92", "status-91", "status-92", "sliced-91", "sliced-92")
CARDS = 8
EVERY_S = 5.0
_NAMES = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE")
_MEMORY_MIB = 23028


class Played:
    """dcgm-exporter on each node, as it prints it. used: bytes by (node, index), what stands on the page now."""

    def __init__(self) -> None:
        self.exporters = Exporters()
        self.used: dict[tuple[str, int], int] = {}
        self._rounds = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="exporters", daemon=True)
        self.show()

    @property
    def cards(self) -> int:
        return len(NODES) * CARDS

    def jobs(self) -> list[dict[str, object]]:
        """The scrape configuration of a Prometheus: each page once."""
        return [
            {
                "job_name": f"dcgm-{node}",
                "metrics_path": f"/{node}/metrics",
                "static_configs": [{"targets": [self.exporters.address], "labels": {"node": node}}],
            }
            for node in NODES
        ]

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """What stands on the pages stays."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def close(self) -> None:
        self.stop()
        self.exporters.close()

    def _run(self) -> None:
        while not self._stopped.wait(EVERY_S):
            self.show()

    def show(self) -> None:
        """Other figures than before on every page."""
        self._rounds += 1
        for node in NODES:
            values = {index: 1000 + (self._rounds * 37 + index * 101) % 20000 for index in range(CARDS)}
            self.exporters.pages[node] = page(node, values).encode()
            self.used.update({(node, index): value * MIB for index, value in values.items()})


def page(node: str, used_mib: dict[int, int]) -> str:
    """One of dcgm-exporter."""
    lines = []
    for name in _NAMES:
        lines.append(f"# TYPE {name} gauge")
        for index, used in used_mib.items():
            value = {"DCGM_FI_DEV_GPU_UTIL": index * 10, "DCGM_FI_DEV_FB_USED": used}.get(name, _MEMORY_MIB - used)
            labels = f'gpu="{index}",UUID="{uuid_of(node, index)}",device="nvidia{index}",modelName="NVIDIA A10",Hostname="{node}"'
            lines.append(f"{name}{{{labels}}} {value}")
    return "\n".join([*lines, ""])


@contextmanager
def measured() -> Iterator[tuple[Played, str]]:
    """The exporters, and the address of a Prometheus that scrapes them. Raises Missing."""
    played = Played()
    try:
        with scraping(played.jobs()) as url:
            played.start()
            yield played, url
    finally:
        played.close()
