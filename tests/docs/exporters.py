"""`python -m tests.docs.exporters`: writes docs/reference/exporters.md from the formats in exporters/.

A test compares the file with its output.
"""

from __future__ import annotations

from collections.abc import Iterable

from exporters import FORMATS
from exporters.engine.format import Format, Metric, Special
from exporters.engine.measures import Measure
from tests.processes import ROOT

PAGE = ROOT / "docs" / "reference" / "exporters.md"

HEAD = """\
# Supported exporters

<!-- Written by `python -m tests.docs.exporters` from exporters/; do not edit. -->

gpudash recognizes an exporter by the names of its metrics. It reads them through Prometheus, or directly from its pods
([usage.md](../usage.md)). *Read* is the version whose source or output was read. *Pod labels* are the labels by which the
exporter names the pod of a card. *Direct* has the selectors of its pods, and the port if none is named `metrics`.
"""


def page() -> str:
    """The whole page, as Markdown: a table of the exporters, then a section for each with its measures."""
    rows = [f"| [{one.label}](#{one.name}) | `{one.name}` | {_through(one)} | {one.verified} |" for one in FORMATS]
    table = ["| Exporter | Name | Ways | Read |", "| --- | --- | --- | --- |", *rows]
    return "\n".join([HEAD, *table, *(_section(one) for one in FORMATS)]) + "\n"


def _through(one: Format) -> str:
    ways = ["not collected: its objects are not read yet"] if one.from_object else []
    ways += [] if one.from_object or one.bare else ["Prometheus"]
    return ", ".join([*ways, *(["direct"] if one.target else [])])


def _section(one: Format) -> str:
    measured = {measure.name: measure for metric in one.metrics.values() for measure in _of(metric)}
    rows = [f"| `{name}` | {measure.unit} | {measure.label} |" for name, measure in measured.items()]
    facts = [("Pod labels", _codes(_labels(one))), ("Not verified", one.not_verified)]
    if one.target:
        facts.append(("Direct", f"{_codes(one.target.selectors)}; port {one.target.port}"))
    said = [f"- {name}: {text}" for name, text in facts if text]
    head = [f"\n## {one.name}\n", *said, *([""] if said else [])]
    return "\n".join([*head, "| Measure | Unit | |", "| --- | --- | --- |", *rows])


def _of(metric: Metric) -> tuple[Measure, ...]:
    return metric.gives if isinstance(metric, Special) else (metric.measure,)


def _labels(one: Format) -> tuple[str, ...]:
    return (*one.pods.namespace, *one.pods.pod, *one.pods.container)


def _codes(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(FORMATS)} exporters")
