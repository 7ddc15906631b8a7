"""A small format and its samples, for tests of the machinery."""

from __future__ import annotations

from collections.abc import Iterable

from exporters import Context, Format, Report, Sample
from exporters.engine import measures as m
from exporters.engine.format import Gauge, Identity
from exporters.engine.values import MIB, PERCENT

NOW = 1_760_000_000.0

FORMAT = Format(
    name="acme",
    label="Acme",
    metrics={
        "acme_used": Gauge(m.MEMORY_USED, MIB),
        "acme_used_bytes": Gauge(m.MEMORY_USED, order=1),
        "acme_total": Gauge(m.MEMORY_TOTAL, MIB),
        "acme_util": Gauge(m.UTILIZATION, PERCENT),
        "acme_temp": Gauge(m.TEMPERATURE, zero_is_none=True),
        "acme_ecc": Gauge(m.ECC_CORRECTED, part_labels=("tile",)),
        "acme_engine": Gauge(m.TENSOR_ACTIVE, part_labels=("tile",)),
    },
    identity=Identity(
        uuid=("UUID",), pci=("bus",), index=("gpu",), model=("model",), instance=("slice",), profile=("profile",)
    ),
    marks=frozenset(("acme_used",)),
    slices_add=True,
    verified="never",
)


def sample(name: str, value: float, at: float | None = None, **labels: str) -> Sample:
    """A row of the card GPU-1 on n1, where the labels say nothing else."""
    return Sample(f"acme_{name}", {"UUID": "GPU-1", "node": "n1", **labels}, value, at)


def read(*samples: Sample, nodes: Iterable[str] = ("n1", "n2"), **known: object) -> Report:
    return FORMAT.read(samples, Context(now=NOW, nodes=frozenset(nodes), **known))  # type: ignore[arg-type]


def told(report: Report) -> dict[str, int]:
    return {problem.code: problem.count for problem in report.problems}
