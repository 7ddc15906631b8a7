"""Golden cases of components: states, versions and causes as stated; texts as they were read over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stacks.engine.software.base import STATES, Statement
from tests.inventory.components.case import GOLDEN, Case, load, names

#: Said in the words of the case; the product's own words are in NAME.said.json.
_IN_WORDS = frozenset(("why", "warn"))


def _wrong(name: str, stated: dict[str, Any], found: Statement | None) -> list[str]:
    return [
        f"{name}.{key}: {getattr(found, key, None)!r}, stated {value!r}"
        for key, value in stated.items()
        if key not in _IN_WORDS and str(getattr(found, key, None)) != str(value)
    ]


@pytest.mark.parametrize("name", names())
def test_what_a_case_states_is_found(name: str) -> None:
    case = load(GOLDEN / f"{name}.yaml")
    wrong: list[str] = []
    for node, stated in case.expect.get("nodes", {}).items():
        found = case.all_of_node(node)
        for component, fields in stated.items():
            wrong += _wrong(f"{node}/{component}", fields, found.get(component))
    cluster = case.of_cluster()
    for component, fields in case.expect.get("cluster", {}).items():
        wrong += _wrong(component, fields, cluster.get(component))
    assert wrong == []


@pytest.mark.parametrize("name", [name for name in names() if "first_cause" in load(GOLDEN / f"{name}.yaml").expect])
def test_one_cause_explains_the_others(name: str) -> None:
    case = load(GOLDEN / f"{name}.yaml")
    cause = case.expect["first_cause"]
    node = cause.get("node") or next(iter(case.nodes))
    assert case.of_node(node).first_cause == cause["component"]


def said(case: Case) -> dict[str, Any]:
    """All that is said of a case, as it is read over: node → component → fields."""

    def plain(found: Statement) -> dict[str, Any]:
        values = {name: getattr(found, name) for name in found.__struct_fields__ if name != "since"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items() if value}

    nodes = {
        node: {name: plain(one) for name, one in case.of_node(node).statements.items()} for node in sorted(case.nodes)
    }
    return {"cluster": {name: plain(one) for name, one in case.of_cluster().items()}, "nodes": nodes}


@pytest.mark.parametrize("name", names())
def test_the_texts_are_those_that_were_read_over(name: str) -> None:
    assert said(load(GOLDEN / f"{name}.yaml")) == json.loads((GOLDEN / f"{name}.said.json").read_text())


@pytest.mark.parametrize("name", names())
def test_only_the_states_of_the_list_are_given(name: str) -> None:
    case = load(GOLDEN / f"{name}.yaml")
    found = [one for node in case.nodes for one in case.of_node(node).statements.values()]
    assert {one.state for one in (*found, *case.of_cluster().values())} <= set(STATES)


def rewrite() -> None:
    """`python -m tests.inventory.components.test_golden` writes the texts; read the diff."""
    for name in names():
        text = json.dumps(said(load(GOLDEN / f"{name}.yaml")), indent=1, ensure_ascii=False)
        (GOLDEN / f"{name}.said.json").write_text(f"{text}\n")


if __name__ == "__main__":
    import django

    django.setup()
    rewrite()
