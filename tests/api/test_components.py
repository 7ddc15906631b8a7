"""Components by REST: what they say, how they changed, and what stands at a node."""

from __future__ import annotations

from django.test import Client

from inventory.models import Cluster, Component
from stacks.engine.software.base import Statement
from tests.api.test_lists import get, results, walk
from tests.factories import make_cluster, make_node
from tests.factories.software import make_software
from wording.said import sentence

FAILS = Statement(
    state="crash-looping",
    version="580.95",
    wanted="580.105",
    container="nvidia-driver-ctr",
    exit_code=1,
    why=sentence("The pod is not Ready."),
    warnings=("As it was.",),
    remedy="kubectl logs driver-x",
    since=1_700_000_000.0,
    source="pod gpu-operator/driver-x",
    step="upgrade-failed",
)
WAITS = Statement(state="waiting", waiting_for="driver")


def two(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1)
    make_software(cluster, "a", {"driver": FAILS, "container-toolkit": WAITS})
    make_software(cluster, "", {"gpu-operator": Statement(state="ready", version="25.10")})


def test_a_component_says_all_that_is_known_and_null_for_the_rest(cluster: Cluster, api: Client) -> None:
    two(cluster)
    (found,) = results(api, "components", component="driver")
    assert found | {"id": 0, "state_since": "", "step_since": ""} == {
        "id": 0,
        "cluster": "prod",
        "node": "a",
        "name": "driver",
        "stack": "nvidia",
        "state": "crash-looping",
        "version": "580.95",
        "wanted": "580.105",
        "waiting_for": None,
        "container": "nvidia-driver-ctr",
        "exit_code": 1,
        "why": "The pod is not Ready.",
        "warnings": ["As it was."],
        "remedy": "kubectl logs driver-x",
        "step": "upgrade-failed",
        "source": "pod gpu-operator/driver-x",
        "first_cause": True,
        "since": "2023-11-14T22:13:20Z",
        "state_since": "",
        "step_since": "",
    }
    assert get(api, f"components/{found['id']}") == found
    (toolkit,) = results(api, "components", component="container-toolkit")
    assert (toolkit["version"], toolkit["why"], toolkit["step_since"], toolkit["exit_code"]) == (None,) * 4
    assert api.get("/api/v1/components/999999").status_code == 404


def test_filters_are_those_of_the_issue(cluster: Cluster, api: Client) -> None:
    two(cluster)
    make_software(make_cluster("lab"), "b", {"driver": WAITS})

    def names(**query: str) -> list[str]:
        return [f"{one['node']}/{one['name']}" for one in results(api, "components", **query)]

    assert names(cluster="lab") == ["b/driver"]
    assert names(node="a") == ["a/container-toolkit", "a/driver"]
    assert names(state="waiting") == ["a/container-toolkit", "b/driver"]
    assert names(stack="nvidia", component="driver") == ["a/driver", "b/driver"]
    assert names(version="25.10") == ["None/gpu-operator"]
    assert names(version="none", cluster="prod") == ["a/container-toolkit"]
    assert names(first_cause="true", cluster="prod") == ["a/driver"]
    assert names(step="upgrade-failed") == ["a/driver"]
    assert names(of_nodes="false") == ["None/gpu-operator"]
    assert names(why="The pod is not Ready.") == ["a/driver"]
    assert names(q="toolkit") == ["a/container-toolkit"]
    assert names(ordering="-component", node="a") == ["a/driver", "a/container-toolkit"]
    assert api.get("/api/v1/components?state=broken").status_code == 400


def test_pages_go_on_where_they_ended(cluster: Cluster, api: Client) -> None:
    for number in range(7):
        make_software(cluster, f"n-{number}", {"driver": FAILS, "container-toolkit": WAITS})
    for ordering in ("", "state", "-state_since", "-component"):
        query = {"ordering": ordering} if ordering else {}
        seen = walk(api, "components", page_size=3, **query)
        assert sorted(seen) == sorted(Component.objects.values_list("pk", flat=True)), ordering


def test_changes_say_what_was_before(cluster: Cluster, api: Client) -> None:
    two(cluster)
    make_software(cluster, "a", {"driver": Statement(state="ready", version="580.105")}, keep_changes=True)
    driver, toolkit = (
        results(api, "component-changes", node="a", component=name) for name in ("driver", "container-toolkit")
    )
    assert [driver[0][f"{name}_{when}"] for name in ("state", "version", "step") for when in ("before", "after")] == [
        *("crash-looping", "ready"),
        *("580.95", "580.105"),
        *("upgrade-failed", None),
    ]
    assert (toolkit[0]["state_before"], toolkit[0]["state_after"], toolkit[0]["stack"]) == ("waiting", None, None)
    assert results(api, "component-changes", cluster="prod", component="gpu-operator") == []


def test_a_node_has_its_components_in_the_order_of_blame(cluster: Cluster, api: Client) -> None:
    two(cluster)
    node = get(api, "nodes/prod/a")
    assert [one["name"] for one in node["components"]] == ["driver", "container-toolkit"]
    assert node["first_cause"] == "driver"
    make_software(cluster, "a", {"driver": Statement(state="ready")})
    assert get(api, "nodes/prod/a")["first_cause"] is None
