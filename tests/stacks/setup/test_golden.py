"""The files of recorded clusters. `GOLDEN=rewrite pytest tests/stacks/setup` writes them anew; read the difference."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from kube.objects import Node
from stacks.engine.preparing import Prepared, prepare, setups
from stacks.engine.setup import Found
from stacks.engine.trim_node import trim_node
from tests.stacks.setup.cases import CASES

GOLDEN = Path(__file__).parent / "golden"


def rendered(prepared: Prepared) -> str:
    parts = [f"warning: {text}\n" for text in prepared.warnings]
    parts += [f"{one.state}: {one.what}{f': {one.says}' if one.says else ''}\n" for one in prepared.differences]
    parts += [f"unseen: {text}\n" for text in prepared.unseen]
    for file in prepared.files:
        shows = f"shown by: {file.shows}\n" if file.shows else ""
        parts.append(f"\n======== {file.name} ({file.kind})\n{file.why}\n{shows}--------\n{file.text}")
    return "".join(parts)


@pytest.mark.parametrize("name", CASES)
def test_a_cluster_gets_its_files(name: str) -> None:
    stack, found = CASES[name]
    got, path = rendered(prepare(stack, found)), GOLDEN / f"{name}.txt"
    if os.environ.get("GOLDEN") == "rewrite":
        path.write_text(got)
    assert got == path.read_text()


@pytest.mark.parametrize("name", CASES)
def test_the_mirrors_nodes_are_enough_for_the_same_files(name: str) -> None:
    stack, found = CASES[name]
    nodes = [msgspec.json.decode(msgspec.json.encode(trim_node(node)), type=Node) for node in found.nodes]
    mirrored = Found(version=found.version, nodes=nodes, objects=found.objects)
    assert rendered(prepare(stack, mirrored)) == rendered(prepare(stack, found))


def test_every_record_has_its_cluster() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == CASES.keys()


def test_every_stack_has_records_of_two_versions() -> None:
    versions = {stack: {found.version for one, found in CASES.values() if one == stack} for stack in setups()}
    assert {stack for stack, known in versions.items() if len(known) < 2} == set()
