"""The Headlamp plugin reads what REST answers: its types, and the recorded answers of its tests, agree with docs/openapi.yaml."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.integrations.record import MOST_ALLOCATIONS, RECORDED
from tests.processes import ROOT

PLUGIN = ROOT / "integrations" / "headlamp"
TYPES = (PLUGIN / "src" / "answers.ts").read_text(encoding="utf-8")
#: How TypeScript calls the types of JSON.
_PLAIN = {"string": "string", "boolean": "boolean", "integer": "number", "number": "number"}


@cache
def schemas() -> dict[str, Any]:
    document = yaml.load((ROOT / "docs" / "openapi.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    found: dict[str, Any] = document["components"]["schemas"]
    return found


def declared() -> dict[str, dict[str, str]]:
    """Interface → field → type, as answers.ts has them."""
    found = re.findall(r"^export interface (\w+) \{\n(.*?)^\}", TYPES, re.MULTILINE | re.DOTALL)
    return {name: dict(re.findall(r"^  (\w+): (.+);$", body, re.MULTILINE)) for name, body in found}


def typed(schema: dict[str, Any]) -> str:
    """A schema as TypeScript writes it."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " | ".join(typed(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"{typed(schema['items'])}[]"
    return _PLAIN.get(schema.get("type", ""), str(schema.get("type")))


@pytest.mark.parametrize("name", sorted(declared()))
def test_each_field_that_the_plugin_reads_is_one_of_rest(name: str) -> None:
    fields, wanted = schemas()[name]["properties"], declared()[name]
    assert wanted
    assert {field: typed(fields[field]) for field in wanted} == wanted


def test_all_types_of_the_plugin_are_looked_at() -> None:
    assert len(declared()) == TYPES.count("interface ") == 7


def answers() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("address", answers())
def test_recorded_answers_are_answers_of_rest(address: str) -> None:
    """After a change of REST: `python -m tests.integrations.record`."""
    name = {"nodes": "NodeDetail", "pods": "Pod", "allocations": "Allocation"}[re.split(r"\W", address)[0]]
    answer = answers()[address]
    rows = [answer] if name == "NodeDetail" else answer["results"]
    assert rows
    check = Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas()}})
    for row in rows:
        assert [error.message for error in check.iter_errors(row)] == []
        assert row.keys() == schemas()[name]["properties"].keys()


def test_the_recorded_answers_show_what_matters() -> None:
    nodes = [answer for address, answer in answers().items() if address.startswith("nodes/")]
    assert {"validated", "failed", "never"} <= {one["state"] for node in nodes for one in node["validations"]}
    assert any(node["first_cause"] for node in nodes)
    assert any(node["findings"] for node in nodes)
    pods = [row for address, answer in answers().items() if address.startswith("pods") for row in answer["results"]]
    assert {pod["pending"] for pod in pods} == {True, False}


def test_the_recorder_asks_as_the_plugin_does() -> None:
    source = (PLUGIN / "src" / "gpudash.ts").read_text(encoding="utf-8")
    assert f"MOST_ALLOCATIONS = {MOST_ALLOCATIONS};" in source


def test_the_packages_of_the_plugin_are_pinned() -> None:
    package = json.loads((PLUGIN / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((PLUGIN / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for name, version in package["devDependencies"].items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version), name
        assert locked[f"node_modules/{name}"]["version"] == version
    assert "dependencies" not in package, "what runs in Headlamp is Headlamp's"
    assert [name for name, one in locked.items() if name and not one.get("link") and "integrity" not in one] == []
