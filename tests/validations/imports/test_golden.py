"""Results of other tools, in the forms of their sources, beside what is true of them. Every key of an expected file is checked.

The forms: NVIDIA/DCGM 3.3.9 and 4.6.0 `dcgmi/Diag.cpp`; microsoft/superbenchmark 700d650; NVIDIA/NVSentinel (event-exporter, docs on
validation); NVIDIA/cluster-readiness-engine `pkg/report`; Jenkins' form of JUnit XML. Each expected file names its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from validations.imports import FORMATS, find
from validations.imports.engine.statement import Imported, Source, to_json

ROOT = Path(__file__).parent / "golden"
CASES = sorted(ROOT.glob("*.expected.yaml"))
#: The cases call the output of dcgmi by its flag.
NAMES = {"dcgmi-diag-json": "dcgmi-diag"}


def _files(expected: Path) -> dict[str, Path]:
    """The file of a case, and those that come beside it."""
    stem = expected.name.removesuffix(".expected.yaml")
    found = {path.name.removeprefix(stem + "."): path for path in ROOT.glob(f"{stem}.*") if path != expected}
    [content] = [path for name, path in found.items() if "." not in name]
    return {"content": content, **{name.split(".")[0]: path for name, path in found.items() if "." in name}}


def read(expected: Path) -> tuple[dict[str, Any], Imported]:
    case = yaml.safe_load(expected.read_text("utf-8"))
    one = find(NAMES.get(case["format"], case["format"]))
    assert one is not None
    files: dict[str, Any] = {name: path.read_bytes() for name, path in _files(expected).items()}
    return case, one.read(Source(**files))


def _verdicts(found: Imported, expected: Any) -> None:
    nodes = {one.node: one for one in found.nodes}
    assert set(nodes) == set(expected)
    for node, wanted in expected.items():
        one = nodes[node]
        told = {"verdict": one.verdict, "reason": one.because, "level": one.level, **one.facts}
        assert {name: told[name] for name in wanted} == wanted
        assert set(one.facts.get("missing", ())) == set(wanted.get("missing", ()))


def _targets(found: Imported, expected: Any) -> None:
    assert len(found.cards) == len(expected)
    for card, wanted in zip(found.cards, expected, strict=True):
        told = {"entity": "GPU", "id": card.index, **msgspec.structs.asdict(card)}
        assert {name: told[name] for name in wanted} == wanted
        assert card.because or card.verdict == "passed"
        if card.verdict == "passed" and "test" not in wanted:
            assert (card.test, card.error_id, card.error_severity) == (None, None, None) or found.format != "dcgmi-diag"


def _measurements(found: Imported, expected: Any) -> None:
    assert {one.name: one.value for one in found.measurements} == expected


def _card(found: Imported, expected: Any) -> None:
    [card] = found.cards
    assert {name: getattr(card, name) for name in expected} == expected


def _event(found: Imported, expected: Any) -> None:
    told = dict(found.facts["event"])
    assert told.pop("at") == expected.pop("at").isoformat().replace("+00:00", "Z")
    assert told == expected


def _proves(found: Imported, expected: Any) -> None:
    assert any(one.verdict == "passed" and one.level == "checked" for one in found.cards)


def _answer(found: Imported, expected: Any) -> None:
    """The answer of REST: tests/validations/imports/test_rest.py. Here: it has a key, by which a second one is known."""
    assert found.key


def _is(name: str) -> Callable[[Imported, Any], None]:
    def check(found: Imported, expected: Any) -> None:
        told = found.facts[name] if name in found.facts else getattr(found, name)
        assert told == expected

    return check


CHECKS: dict[str, Callable[[Imported, Any], None]] = {
    **{
        name: _is(name)
        for name in (
            *("tool_version", "verdict", "complete", "key", "cluster"),
            *("driver_version", "levels_seen", "skipped_tests", "not_targets", "statement", "trigger", "dedupe_key"),
        )
    },
    "format": lambda found, name: _is("format")(found, NAMES.get(name, name)),
    "targets": _targets,
    "node_verdict": lambda found, verdict: _is("verdict")(found, verdict),
    "may_isolate": lambda found, indexes: _equal([one.index for one in found.cards if one.may_isolate], indexes),
    "blames": lambda found, names: _equal([one.node for one in found.nodes if one.verdict == "failed"], names),
    "proves": _proves,
    "verdicts": _verdicts,
    "nodes": lambda found, count: _equal(len(found.nodes), count),
    "node": lambda found, name: _equal({one.node for one in found.nodes} | {one.node for one in found.cards}, {name}),
    "card": _card,
    "event": _event,
    "measurements": _measurements,
    "answer": _answer,
    # Where the case comes from; the other files are read by `_files`.
    "source": lambda found, text: None,
    "note": lambda found, text: None,
    "files": lambda found, names: None,
    "content_type": lambda found, text: _equal(text, "application/cloudevents+json"),
}


def _equal(one: Any, other: Any) -> None:
    assert one == other


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".expected.yaml"))
def test_every_key_of_a_case_is_what_is_read(path: Path) -> None:
    case, found = read(path)
    assert set(case) <= set(CHECKS), f"nothing checks {set(case) - set(CHECKS)}"
    for name, expected in case.items():
        CHECKS[name](found, expected)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".expected.yaml"))
def test_the_json_has_the_keys_that_are_promised(path: Path) -> None:
    _, found = read(path)
    told = to_json(found)
    assert list(told) == ["format", "tool_version", "verdict", "complete", "nodes", "cards", "measurements"]
    for one in told["nodes"]:
        assert list(one) == ["node", "verdict", "because"]
    for one in told["cards"]:
        keys = ["node", "index", "uuid", "serial", "verdict", "test", "error_id", "error_severity", "may_isolate"]
        assert list(one) == keys
        assert one["verdict"] == "failed" or not one["may_isolate"]
    assert found.complete or found.verdict != "passed"


def test_every_format_has_cases() -> None:
    used = {read(path)[1].format for path in CASES}
    assert used == {one.name for one in FORMATS}
