"""Reads one golden case of the exporters' formats: what an exporter or Prometheus said, beside the readings that it must give.

A case is a folder `golden/FORMAT/CASE`: page.txt (a page of an exporter), answer.json (an answer of Prometheus) or object.json
(an object of the API), optionally context.json (what is known besides, see `exporters.Context`), and expected.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from exporters import Context, Found, ProblemCounts, Report, Sample, page_names, read_answer, read_page, recognise

GOLDEN = Path(__file__).parent / "golden"
INPUTS = ("page.txt", "answer.json", "object.json")
#: The clock of every case, unless its context.json sets another.
NOW = 1_760_000_000.0


class Case(NamedTuple):
    """The input of one case. exporter: the name of the format that the target is known to have."""

    folder: Path
    context: Context
    exporter: str

    @property
    def kind(self) -> str:
        return next(name for name in INPUTS if (self.folder / name).exists())

    @property
    def body(self) -> bytes:
        return (self.folder / self.kind).read_bytes()


def names() -> list[str]:
    """All cases, as FORMAT/CASE; also one that has no expected.json yet."""
    return sorted(str(path.parent.relative_to(GOLDEN)) for name in INPUTS for path in GOLDEN.glob(f"*/*/{name}"))


def load(name: str) -> Case:
    """The context of a case has pairs where the product has keys of two parts."""
    folder = GOLDEN / name
    given: dict[str, Any] = {"now": NOW}
    if (folder / "context.json").exists():
        given |= json.loads((folder / "context.json").read_text())
    exporter = given.pop("exporter", "")
    given["nodes"] = frozenset(given.get("nodes", ()))
    given["exporters"] = {tuple(key.split("/")): node for key, node in given.get("exporters", {}).items()}
    given["ignored"] = frozenset(tuple(key.split("/")) for key in given.get("ignored", ()))
    return Case(folder, Context(**given), exporter)


def read(case: Case) -> list[tuple[Found, Report]]:
    """Every format that is recognised, and what it gives."""
    told = ProblemCounts()
    if case.kind == "object.json":
        return [_of_object(case)]
    if case.kind == "page.txt":
        here = page_names(case.body)
        found = recognise(here, case.exporter, page=True)
    else:
        samples = read_answer(case.body, told).samples
        here = frozenset(sample.name for sample in samples)
        found = recognise(here, case.exporter)
    return [(item, _report(case, item, here)) for item in found]


def _report(case: Case, item: Found, here: frozenset[str]) -> Report:
    reader = item.reader(case.context)
    wanted = item.names(here)
    samples: list[Sample]
    if case.kind == "page.txt":
        samples = list(read_page(case.body, wanted, reader.told, sets=reader.sets))
    else:
        answer = read_answer(case.body, reader.told, sets=reader.sets)
        samples = [sample for sample in answer.samples if sample.name in wanted]
    reader.add(samples)
    return reader.report()


def _of_object(case: Case) -> tuple[Found, Report]:
    found = next(item for item in recognise((), case.exporter, page=True) if item.format.name == case.exporter)
    reader = found.format.reader(case.context)
    assert found.format.from_object is not None
    reader.add(found.format.from_object(case.body, reader))
    return found, reader.report()


def rendered(found: list[tuple[Found, Report]]) -> str:
    """As JSON that is pleasant to read in a diff: one line a value, holder and problem; what is empty or not known is left out."""
    shown = [
        {
            "format": item.format.name,
            **({"prefix": item.prefix} if item.prefix else {}),
            "readings": [_said(msgspec.to_builtins(reading)) for reading in report.readings],
            "problems": [_said(msgspec.to_builtins(problem)) for problem in report.problems],
        }
        for item, report in found
    ]
    return _lines(shown, 0) + "\n"


def _lines(value: Any, depth: int) -> str:
    pad = "  " * (depth + 1)
    if (
        isinstance(value, dict)
        and value
        and (depth < 4 or any(isinstance(item, dict | list) for item in value.values()))
    ):
        inner = ",\n".join(f"{pad}{json.dumps(key)}: {_lines(item, depth + 1)}" for key, item in value.items())
        return "{\n" + inner + "\n" + "  " * depth + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(pad + _lines(item, depth + 1) for item in value) + "\n" + "  " * depth + "]"
    return json.dumps(value, ensure_ascii=False)


def _said(item: Any) -> Any:
    """Without what is empty or not known. Times are seconds before the clock of the cases; values are [value, time, standing]."""
    if isinstance(item, list | tuple):
        return [_said(one) for one in item]
    if not isinstance(item, dict):
        return item
    short: dict[str, Any] = {}
    for key, value in item.items():
        if key == "values":
            short[key] = {name: _value(found) for name, found in sorted(value.items())}
        elif key == "at":
            short[key] = round(NOW - value, 3)
        elif value is not None and value is not False and value not in ("", (), [], {}):
            short[key] = _said(value)
    return short


def _value(found: dict[str, Any]) -> list[Any]:
    return [found["value"], round(NOW - found["at"], 3), *([found["standing"]] if found["standing"] else [])]
