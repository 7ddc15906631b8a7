"""Prometheus' text format, version 0.0.4: families with a line of help, a line of type, and their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass
class Family:
    """One metric. whole: its values are written as whole numbers. rows: labels as they are written, value, time in milliseconds."""

    name: str
    kind: str
    help: str
    whole: bool = False
    rows: list[tuple[str, float, int | None]] = field(default_factory=list)

    def add(self, labels: str, value: float, at_ms: int | None = None) -> None:
        """labels: as `block` makes them, or "" for none."""
        self.rows.append((labels, value, at_ms))

    def lines(self) -> Iterable[str]:
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} {self.kind}"
        for labels, value, at_ms in self.rows:
            text = str(round(value)) if self.whole else _number(value)
            yield (
                f"{self.name}{{{labels}}} {text}" + (f" {at_ms}" if at_ms is not None else "")
                if labels
                else (f"{self.name} {text}")
            )


def block(labels: Mapping[str, object]) -> str:
    """Labels in their order, as they stand between the braces."""
    return ",".join(f'{name}="{_escaped(str(value))}"' for name, value in labels.items())


def text(families: Iterable[Family]) -> str:
    """A page. A family without rows is not there, as exporters have it."""
    lines = [line for family in families if family.rows for line in family.lines()]
    return "".join(f"{line}\n" for line in lines)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return f"{value:.15g}"
