"""Which process sees which credentials, as deploy/ has it with systemd, Docker Compose and Kustomize. The chart has tests apart."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from gpudash.workers.queues import QUEUES
from tests.processes import ROOT

UNITS = ROOT / "deploy" / "systemd"
BASE = ROOT / "deploy" / "kustomize" / "base"
#: Process → what it sees of a cluster.
SEES = {"web": set(), "schedule": set(), "tasks": set(), "usage": set(), "watch": {"watcher"}, "launch": {"launcher"}}
#: What a name of a file, folder, mount or setting with a credential looks like.
CREDENTIAL = re.compile("kubeconfig|token|watcher|launcher|prometheus", re.IGNORECASE)


def lines(unit: str, key: str) -> list[str]:
    text = (UNITS / f"gpudash-{unit}.service").read_text(encoding="utf-8")
    return [line.partition("=")[2] for line in text.splitlines() if line.startswith(f"{key}=")]


def services() -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    return made


def deployments() -> dict[str, Any]:
    """Process → the pod of its Deployment in the base."""
    things = [
        one for path in BASE.glob("*.yaml") for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one
    ]
    return {
        one["metadata"]["labels"]["app.kubernetes.io/component"]: one["spec"]["template"]["spec"]
        for one in things
        if one["kind"] == "Deployment"
    }


def test_there_is_a_process_for_each_queue() -> None:
    taken = {word for unit in SEES for command in lines(unit, "ExecStart") for word in re.findall(r"-Q (\w+)", command)}
    assert taken == set(QUEUES)


@pytest.mark.parametrize("unit", SEES)
def test_systemd_hides_from_each_what_is_not_its_own(unit: str) -> None:
    (hidden,) = lines(unit, "InaccessiblePaths")
    folders = {"watcher", "launcher"}
    seen = {folder for folder in folders if f"/etc/gpudash/{folder}" not in hidden.split()}
    assert seen == SEES[unit]


def test_systemd_shows_tokens_of_a_prometheus_to_usage_alone() -> None:
    """A folder that is there only where a Prometheus wants a token."""
    hidden = {unit: "-/etc/gpudash/prometheus" in lines(unit, "InaccessiblePaths")[0].split() for unit in SEES}
    assert [unit for unit in hidden if not hidden[unit]] == ["usage"]


@pytest.mark.parametrize("name", SEES)
def test_compose_mounts_to_each_what_is_its_own(name: str) -> None:
    mounted = {one.split(":")[-2] for one in services()[name].get("volumes", ())}
    assert {folder for folder in ("watcher", "launcher") if f"/etc/gpudash/{folder}/kubeconfig" in mounted} == SEES[
        name
    ]


@pytest.mark.parametrize("name", SEES)
def test_a_pod_holds_what_is_its_own(name: str) -> None:
    pod = deployments()[name]
    projected = {one["name"]: one["projected"]["sources"] for one in pod["volumes"] if "projected" in one}
    assert set(projected) == SEES[name]
    tokens = [source for sources in projected.values() for source in sources if "serviceAccountToken" in source]
    assert len(tokens) == len(SEES[name])
    assert not [source for sources in projected.values() for source in sources if "secret" in source]
    assert pod["automountServiceAccountToken"] is False


def test_nothing_that_tasks_is_given_names_a_credential() -> None:
    """GPUDASH_CREDENTIAL_FOLDERS, which all have, says where files may be read from; it holds none."""
    service, pod = services()["tasks"], deployments()["tasks"]
    assert "volumes" not in service
    settings = set(service["environment"]) - {"GPUDASH_CREDENTIAL_FOLDERS"}
    assert not [name for name in settings if CREDENTIAL.search(name)]
    (container,) = pod["containers"]
    given = [one["name"] for key in ("env", "volumeMounts") for one in container[key]]
    given += [one["name"] for one in pod["volumes"]]
    assert not [name for name in given if CREDENTIAL.search(name)]
    assert pod["serviceAccountName"] == "gpudash-tasks"
    started = " ".join(lines("tasks", "ExecStart") + lines("tasks", "Environment") + lines("tasks", "EnvironmentFile"))
    assert not CREDENTIAL.search(started)


def test_no_account_of_the_base_has_a_token_that_lasts() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in BASE.glob("*.yaml")}
    assert [name for name, text in texts.items() if "kind: Secret\n" in text] == []
