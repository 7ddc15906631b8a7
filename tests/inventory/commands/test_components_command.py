"""`gpudash components`: what the golden cases state, through mirror, reconciler, rows and command; form, errors, cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.models import Cluster, Component, Node
from tests.factories import make_cluster, make_node
from tests.inventory.commands.conftest import Run
from tests.inventory.components.case import GOLDEN, names
from tests.inventory.reconcile.conftest import Fleet

pytestmark = pytest.mark.django_db

STATEMENT = [
    *("state", "version", "wanted", "waiting_for", "container", "exit_code"),
    *("why", "warnings", "remedy", "since", "source"),
]
#: Said in the words of the case.
_IN_WORDS = frozenset(("why", "warn"))
Shown = Callable[..., Any]


@pytest.fixture
def shown(run: Run) -> Shown:
    return lambda *words: json.loads(run("components", *words, "-o", "json"))


def wrong(name: str, stated: dict[str, Any], found: dict[str, Any] | None) -> list[str]:
    """What a case states and the command does not say."""
    if found is None:
        return [f"{name}: not said"]
    return [
        f"{name}.{key}: {found[key]!r}, stated {value!r}"
        for key, value in stated.items()
        if key not in _IN_WORDS and str(found[key]) != str(value)
    ]


@pytest.mark.parametrize("name", names())
def test_the_command_says_what_a_case_states(
    name: str, shown: Shown, clock: Callable[[str], Any], run: Run, db: None
) -> None:
    case = yaml.load((GOLDEN / f"{name}.yaml").read_text(), yaml.CSafeLoader)
    clock(str(case["now"]))
    fleet = Fleet(make_cluster("prod", held=False))
    fleet.put_all(case["objects"])
    fleet.reconcile()
    found, expect = shown(), case["expect"]
    missed: list[str] = []
    for node, stated in expect.get("nodes", {}).items():
        for component, fields in stated.items():
            missed += wrong(f"{node}/{component}", fields, found["nodes"][node]["components"].get(component))
    for component, fields in expect.get("cluster", {}).items():
        missed += wrong(component, fields, found["cluster"].get(component))
    assert missed == []
    assert set(found["nodes"]) == {one["metadata"]["name"] for one in case["objects"] if one["kind"] == "Node"}
    if "first_cause" in expect:
        cause = expect["first_cause"]
        node = cause.get("node") or next(iter(found["nodes"]))
        assert found["nodes"][node]["first_cause"] == cause["component"]
    text = run("components")
    assert all(node in text for node in found["nodes"])


def component(cluster: Cluster, node: str, name: str, state: str = "ready", **more: Any) -> Component:
    """A row as the reconciler writes it."""
    moment = datetime(2026, 11, 20, 12, tzinfo=UTC)
    columns = {"stack": "nvidia", "state_since": moment, "digest": 0, "wording": None} | more
    return Component.objects.create(cluster=cluster, node_name=node, name=name, state=state, **columns)


def plain_node(cluster: Cluster, name: str) -> None:
    Node.objects.create(cluster=cluster, uid=name, name=name, facts="{}", digest=0)


def test_json_has_the_keys_that_scripts_rely_on_and_null_for_what_is_not_known(cluster: Cluster, shown: Shown) -> None:
    plain_node(cluster, "n")
    component(cluster, "", "gpu-operator", version="25.3.4")
    component(
        cluster,
        "n",
        "driver",
        "crash-looping",
        version="550",
        wanted="580",
        exit_code=0,
        why="It ends.",
        warnings=["Old."],
        remedy="Restart it.",
        since=datetime(2026, 11, 20, 8, tzinfo=UTC),
        source="pod a/b",
        container="ctr",
        first_cause=True,
    )
    found = shown()
    assert list(found) == ["cluster", "nodes"]
    assert list(found["nodes"]["n"]) == ["first_cause", "components"]
    assert found["nodes"]["n"]["first_cause"] == "driver"
    driver = found["nodes"]["n"]["components"]["driver"]
    assert list(driver) == STATEMENT
    values = ["crash-looping", "550", "580", None, "ctr", 0, "It ends.", ["Old."], "Restart it."]
    assert list(driver.values()) == [*values, "2026-11-20T08:00:00Z", "pod a/b"]
    operator = found["cluster"]["gpu-operator"]
    assert list(operator) == STATEMENT
    assert operator == dict.fromkeys(STATEMENT) | {"state": "ready", "version": "25.3.4", "warnings": []}


def test_each_node_is_listed_and_what_of_the_clusters_stacks_it_does_not_need(cluster: Cluster, shown: Shown) -> None:
    for name in ("a", "b", "c", "d"):
        plain_node(cluster, name)
    component(cluster, "b", "device-plugin", position=1)
    component(cluster, "b", "driver", position=0)
    component(cluster, "c", "gone-from-the-declarations", position=0)
    component(cluster, "bb", "driver")  # its node has just gone
    nodes = shown()["nodes"]
    assert list(nodes) == ["a", "b", "c", "d"]
    assert {one["state"] for one in nodes["a"]["components"].values()} == {"not needed"}
    assert nodes["a"] == nodes["d"]
    assert nodes["b"]["components"].keys() == nodes["a"]["components"].keys()
    assert "gpushare-device-plugin" not in nodes["a"]["components"]
    order = list(nodes["b"]["components"])
    assert order.index("driver") < order.index("container-toolkit") < order.index("device-plugin")
    assert nodes["b"]["components"]["driver"]["state"] == "ready"
    assert "gone-from-the-declarations" in nodes["c"]["components"]
    assert list(shown("b")["nodes"]) == ["b"]
    assert shown("d")["nodes"]["d"] == nodes["d"]


def test_a_cluster_without_nodes_or_software_has_empty_objects(cluster: Cluster, shown: Shown, run: Run) -> None:
    assert shown() == {"cluster": {}, "nodes": {}}
    assert "No nodes found." in run("components")
    plain_node(cluster, "n")
    assert shown() == {"cluster": {}, "nodes": {"n": {"first_cause": None, "components": {}}}}
    assert "n: no GPU software is needed" in run("components")


def test_the_table_has_the_first_cause_first_and_the_remedy_last(cluster: Cluster, run: Run) -> None:
    plain_node(cluster, "gpu-1")
    component(cluster, "", "gpu-operator", "pending", why="No node fits.", remedy="Change the selector.")
    component(cluster, "gpu-1", "driver", "not needed", version="550.1", why="The host has it.", position=0)
    component(
        cluster,
        "gpu-1",
        "container-toolkit",
        "outdated",
        version="1.1",
        wanted="1.2",
        warnings=["Two run."],
        position=1,
    )
    component(
        cluster, "gpu-1", "device-plugin", "missing", why="No label.", remedy="Set\tit.", position=2, first_cause=True
    )
    component(cluster, "gpu-1", "mig-manager", "not needed", why="Not MIG capable.", position=3)
    own, _, node = run("components").partition("\n\n")
    assert [line.split() for line in own.splitlines()] == [
        ["Cluster", "prod"],
        ["COMPONENT", "STATE", "VERSION", "WHY"],
        ["gpu-operator", "pending", "-", "No", "node", "fits."],
        ["Remedy", "for", "gpu-operator:", "Change", "the", "selector."],
    ]
    head, heads, driver, toolkit, warning, plugin, unavailable, remedy = node.splitlines()
    assert head == "gpu-1: first cause: device-plugin, missing"
    assert driver.split()[:4] == ["driver", "not", "needed", "550.1"]
    assert toolkit.split()[:5] == ["container-toolkit", "outdated", "1.1,", "wanted", "1.2"]
    assert warning.split() == ["Warning:", "Two", "run."]
    assert heads.index("WHY") == plugin.index("No label.")
    assert unavailable == "  Not needed: mig-manager", "and nothing of what has no row"
    assert remedy == "  Remedy: Set\\tit."


def test_an_unknown_node_or_cluster_is_named_with_those_that_there_are(
    cluster: Cluster, refuse: Run, shown: Shown
) -> None:
    plain_node(cluster, "gpu-node-17")
    assert refuse("components", "gpu-node-71") == "Cluster prod has no node 'gpu-node-71'. Did you mean: gpu-node-17?"
    plain_node(make_cluster("other"), "n")
    assert refuse("components") == "There are several clusters: other, prod. Choose one with --cluster."
    assert refuse("components", "--cluster", "none") == "There is no cluster 'none'. Clusters: other, prod."
    assert list(shown("--cluster", "other")["nodes"]) == ["n"]


def test_without_a_cluster_it_says_how_to_add_one(db: None, refuse: Run) -> None:
    assert "cluster add" in refuse("components")


def test_it_costs_the_same_at_any_size(run: Run, db: None) -> None:
    def cost(nodes: int) -> int:
        own = make_cluster(f"of-{nodes}")
        for number in range(nodes):
            make_node(own, f"gpu-{number}", "gpushare", 2)
            component(own, f"gpu-{number}", "driver")
        with CaptureQueriesContext(connection) as captured:
            run("components", "--cluster", own.name)
        return len(captured)

    assert cost(1) == cost(6) == 6
