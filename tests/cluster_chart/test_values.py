"""What values make of the chart: who holds which credentials, what is run, which settings the processes get, what is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import services
from tests.controlplane.objects import Json
from tests.docs.test_tables import settings_read
from tests.helm import NotRendered, release, rendered
from tests.processes import ROOT
from tests.services import Missing

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]

#: What must be given.
GIVEN = ("--set", "hosts={a.example}", "--set", "database.host=db", "--set", "broker.host=redis")
REFUSED = {
    "no hosts": (("--set", "hosts=null"), "hosts"),
    "no database": (("--set", "database.host="), "/database/host"),
    "a word that there is not": (("--set", "web.replcas=3"), "replcas"),
    "a password among the settings": (("--set", "settings.GPUDASH_BROKER_PASSWORD=x"), "GPUDASH_BROKER_PASSWORD"),
    "a setting that the chart makes": (("--set", "settings.GPUDASH_ENV=local"), "GPUDASH_ENV"),
    "a port that is none": (("--set", "broker.port=99999"), "/broker/port"),
    "a digest that is none": (("--set", "image.digest=latest"), "/image/digest"),
    "TLS that is none": (("--set", "database.sslmode=verify"), "/database/sslmode"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_values_that_cannot_work_are_refused_by_name(name: str) -> None:
    words, told = REFUSED[name]
    rendered(*GIVEN)
    with pytest.raises(NotRendered, match=told):
        rendered(*GIVEN, *words)


def deployments(manifests: list[Json]) -> dict[str, Json]:
    """Component → its Deployment."""
    return {
        one["metadata"]["labels"]["app.kubernetes.io/component"]: one
        for one in manifests
        if one["kind"] == "Deployment"
    }


def pod(deployment: Json) -> Json:
    return deployment["spec"]["template"]["spec"]


def held(deployment: Json) -> dict[str, str]:
    """Of what clusters are asked with, what a process holds: "watcher" or "launcher" → "own token" or "Secret"."""
    found = {}
    for volume in pod(deployment)["volumes"]:
        for source in volume.get("projected", {}).get("sources", ()):
            if "serviceAccountToken" in source:
                found[volume["name"]] = "own token"
            elif "secret" in source:
                found[volume["name"]] = "Secret"
    return found


def test_each_process_runs_what_it_runs_elsewhere() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    wanted = {name: one["command"].split() for name, one in compose.items() if "command" in one and name != "redis"}
    made = release("minimal")
    (migrate,) = [one for one in made if one["kind"] == "Job"]
    found = deployments(made) | {"migrate": migrate}
    assert {name: pod(one)["containers"][0]["command"] for name, one in found.items()} == wanted


def test_only_who_needs_them_holds_credentials() -> None:
    found = deployments(release("minimal"))
    assert {name: held(one) for name, one in found.items()} == {
        "web": {},
        "usage": {},
        "schedule": {},
        "watch": {"watcher": "own token"},
        "tasks": {"watcher": "Secret", "launcher": "own token"},
    }
    accounts = {name: pod(one)["serviceAccountName"] for name, one in found.items()}
    assert accounts == {
        "web": "gpudash-web",
        "usage": "gpudash-usage",
        "schedule": "gpudash-schedule",
        "watch": "gpudash-watcher",
        "tasks": "gpudash-launcher",
    }


def test_without_a_launcher_nobody_may_launch() -> None:
    made = release("minimal", "--set", "launcher.enabled=false")
    assert held(deployments(made)["tasks"]) == {"watcher": "own token"}
    assert not [one for one in made if one["metadata"]["name"].endswith("-launcher")]
    assert not [one for one in made if one["kind"] == "Secret"]


def test_exporters_that_are_read_directly_are_read_as_the_watchers() -> None:
    usage = deployments(release("full"))["usage"]
    assert held(usage) == {"watcher": "own token"}
    assert pod(usage)["serviceAccountName"] == "gpudash-watcher"


def test_every_account_and_every_mount_is_there() -> None:
    for values in ("minimal", "full"):
        made = release(values)
        accounts = {one["metadata"]["name"] for one in made if one["kind"] == "ServiceAccount"}
        for one in (*deployments(made).values(), *(one for one in made if one["kind"] == "Job")):
            assert pod(one)["serviceAccountName"] in accounts
            mounts = {mount["name"] for mount in pod(one)["containers"][0]["volumeMounts"]}
            assert mounts == {volume["name"] for volume in pod(one)["volumes"]}


def environment(manifests: list[Json]) -> dict[str, str]:
    (settings,) = [one["data"] for one in manifests if one["metadata"]["name"] == "gpudash-settings"]
    return dict(settings)


def test_every_setting_is_one_that_there_is() -> None:
    for values in ("minimal", "full"):
        made = release(values)
        given = set(environment(made))
        for one in deployments(made).values():
            given |= {row["name"] for row in pod(one)["containers"][0]["env"]}
        assert given <= set(settings_read()) | {"GPUDASH_ENV_FILE"}


ASK = """
from django.conf import settings
print(settings.DATABASES["default"]["HOST"], settings.DATABASES["default"]["OPTIONS"]["sslmode"],
      settings.DATABASES["default"]["OPTIONS"].get("sslrootcert"))
print(settings.CELERY_BROKER_URL)
"""


def told(values: str, folder: Path) -> list[str]:
    """What gpudash makes of the settings and the Secret's passwords."""
    given = environment(release(values))
    given |= {"GPUDASH_DATA_DIR": str(folder), "GPUDASH_SECRET_KEY": "k" * 50}
    given |= {"GPUDASH_DATABASE_PASSWORD": "p@ss", "GPUDASH_BROKER_PASSWORD": "w#rd"}
    if "GPUDASH_BROKER_CA" in given:
        given["GPUDASH_BROKER_CA"] = str(folder / "ca.crt")
        (folder / "ca.crt").touch()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GPUDASH_")}
    command = [sys.executable, "manage.py", "shell", "--verbosity=0", "-c", ASK]
    done = subprocess.run(command, cwd=ROOT, env=clean | given, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_gpudash_starts_with_its_settings(tmp_path: Path) -> None:
    checks = "ssl_cert_reqs=required&ssl_check_hostname=true"
    assert told("minimal", tmp_path) == [
        "postgres.example.com verify-full /etc/ssl/certs/ca-certificates.crt",
        f"rediss://:w%23rd@redis.example.com:6379/0?{checks}",
    ]
    ca = str(tmp_path / "ca.crt").replace("/", "%2F")
    assert told("full", tmp_path) == [
        "postgres.example.com verify-full /etc/gpudash/ca/database/ca.crt",
        f"rediss://gpudash:w%23rd@redis.example.com:6379/0?{checks}&ssl_ca_certs={ca}",
    ]


def test_no_manifest_holds_a_password() -> None:
    made: list[Any] = release("full")
    secrets = [one for one in made if one["kind"] == "Secret"]
    assert [one["type"] for one in secrets] == ["kubernetes.io/service-account-token"]
    assert all("data" not in one and "stringData" not in one for one in secrets)


def test_the_web_pods_are_scraped_as_one_target(tmp_path: Path) -> None:
    """A real Prometheus gets two pods as the operator would find them, and the chart's relabelings."""
    (monitor,) = [one for one in release("full") if one["kind"] == "ServiceMonitor"]
    endpoint, own = monitor["spec"]["endpoints"]
    assert (endpoint["path"], own["path"]) == ("/gpudash/metrics", "/gpudash/metrics/self")
    assert own | {"path": endpoint["path"]} == endpoint
    snake = {"targetLabel": "target_label"}
    relabelings = [{snake.get(key, key): value for key, value in one.items()} for one in endpoint["relabelings"]]
    pods = [{"targets": [f"10.0.0.{number}:8000"], "labels": {"pod": f"web-{number}"}} for number in (1, 2)]
    job = {"job_name": "web", "static_configs": pods, "relabel_configs": relabelings}
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump({"scrape_configs": [job]}))
    with running(tmp_path, tmp_path / "prometheus.yml") as url:
        services.wait_until(lambda: len(targets(url)) > 0, "Prometheus has its targets")
        (target,) = targets(url)
    assert target["labels"] == {"job": "web", "instance": "gpudash-web.gpudash.svc:8080"}


@contextmanager
def running(folder: Path, config: Path) -> Iterator[str]:
    if shutil.which("prometheus") is None:
        services.or_skip(Missing("no Prometheus here; Debian: apt-get install prometheus"))
    url = f"127.0.0.1:{services.free_port()}"
    options = (f"--config.file={config}", f"--storage.tsdb.path={folder}", f"--web.listen-address={url}")
    process = subprocess.Popen(["prometheus", *options], stderr=subprocess.DEVNULL)
    try:
        yield f"http://{url}/api/v1/targets"
    finally:
        services.end(process)


def targets(url: str) -> list[dict[str, Any]]:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return list(json.load(answer)["data"]["activeTargets"])
    except OSError:
        return []
