"""Which process sees which credentials, as deploy/ has it with systemd, Docker Compose and Kustomize. The chart has tests apart."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from gpudash.management.commands.worker import PROCESSES
from gpudash.workers.queues import QUEUES
from tests.processes import ROOT

UNITS = ROOT / "deploy" / "systemd"
BASE = ROOT / "deploy" / "kustomize" / "base"
#: Process → what it sees of a cluster.
SEES = {"web": set(), "schedule": set(), "tasks": set(), "usage": set(), "watch": {"watcher"}, "launch": {"launcher"}}
#: What a name of a file, folder, mount or setting with a credential looks like.
CREDENTIAL = re.compile("kubeconfig|token|watcher|launcher|quarantine|prometheus", re.IGNORECASE)


def lines(unit: str, key: str) -> list[str]:
    text = (UNITS / f"gpudash-{unit}.service").read_text(encoding="utf-8")
    return [line.partition("=")[2] for line in text.splitlines() if line.startswith(f"{key}=")]


def seen_by(folder: str) -> set[str]:
    """Processes from which systemd does not hide this optional folder."""
    return {unit for unit in SEES if f"-/etc/gpudash/{folder}" not in lines(unit, "InaccessiblePaths")[0].split()}


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
    assert {PROCESSES[words[2]] for words in units().values() if words[1] == "worker"} == set(QUEUES)


def units() -> dict[str, list[str]]:
    """Process → the words that its unit starts, without the folder."""
    return {unit: lines(unit, "ExecStart")[0].removeprefix("/opt/gpudash/venv/bin/").split() for unit in SEES}


def test_systemd_compose_and_kubernetes_start_the_same_commands() -> None:
    """But for addresses and numbers of `serve`, which are the place's own."""
    compose = {name: services()[name]["command"].split() for name in SEES}
    kubernetes = {name: pod["containers"][0]["command"] for name, pod in deployments().items()}
    for started in (units(), compose, kubernetes):
        verbs = {name: [word for word in words if not word.startswith("--")] for name, words in started.items()}
        workers = {name: ["gpudash", "worker", name] for name in PROCESSES}
        assert verbs == workers | {"web": ["gpudash", "serve"], "schedule": ["gpudash", "schedule"]}


@pytest.mark.parametrize("unit", SEES)
def test_systemd_hides_from_each_what_is_not_its_own(unit: str) -> None:
    (hidden,) = lines(unit, "InaccessiblePaths")
    folders = {"watcher", "launcher"}
    seen = {folder for folder in folders if f"/etc/gpudash/{folder}" not in hidden.split()}
    assert seen == SEES[unit]


def test_systemd_shows_tokens_of_a_prometheus_to_usage_alone() -> None:
    """A folder that is there only where a Prometheus wants a token."""
    assert not seen_by("quarantine") - {"launch"}, "only who launches marks nodes"
    hidden = {unit: "-/etc/gpudash/prometheus" in lines(unit, "InaccessiblePaths")[0].split() for unit in SEES}
    assert [unit for unit in hidden if not hidden[unit]] == ["usage"]


@pytest.mark.parametrize("name", SEES)
def test_compose_mounts_to_each_what_is_its_own(name: str) -> None:
    """To usage, nothing of a cluster by default: EXPORTERS_KUBECONFIG is for clusters whose exporters are read directly."""
    mounted = {one.rpartition(":")[0] for one in services()[name].get("volumes", ()) if "EXPORTERS_" not in one}
    shown = {folder for folder in ("watcher", "launcher") if any(f"/{folder}/kubeconfig" in one for one in mounted)}
    assert shown == SEES[name]


def test_usage_may_be_given_the_watchers_file_to_read_exporters_directly() -> None:
    watch, usage = services()["watch"]["volumes"], services()["usage"]["volumes"]
    place = ":/etc/gpudash/watcher/kubeconfig:ro"
    assert f"${{EXPORTERS_KUBECONFIG:-/dev/null}}{place}" in usage
    assert f"${{WATCHER_KUBECONFIG:-/dev/null}}{place}" in watch, "a cluster's row names one path for both"


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


def test_compose_passes_further_settings_to_every_process() -> None:
    """gpudash.env has any setting of docs/settings.md; what the file itself sets wins."""
    own = {name: one for name, one in services().items() if name not in ("postgres", "redis")}
    assert set(own) == {*SEES, "migrate"}
    assert {
        name for name, one in own.items() if one.get("env_file") == [{"path": "gpudash.env", "required": False}]
    } == set(own)
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/.env", "/gpudash.env"} <= set(ignored)
