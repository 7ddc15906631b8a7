"""What values make of the chart: who holds which credentials, what is run, which settings the processes get, what is refused."""

from __future__ import annotations

import json
import os
import re
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
GIVEN = (
    *("--set", "hosts={a.example}", "--set", "database.host=db", "--set", "broker.host=redis"),
    *("--set-json", 'networkPolicy.web.from=[{"podSelector": {"matchLabels": {"app": "ingress"}}}]'),
)
_OPEN = "X-Forwarded-For from every peer that reaches web"
REFUSED = {
    "no hosts": (("--set", "hosts=null"), "hosts"),
    "no database": (("--set", "database.host="), "/database/host"),
    "a word that there is not": (("--set", "web.replcas=3"), "replcas"),
    "a password among the settings": (("--set", "settings.GPUDASH_BROKER_PASSWORD=x"), "GPUDASH_BROKER_PASSWORD"),
    "a setting that the chart makes": (("--set", "settings.GPUDASH_ENV=local"), "GPUDASH_ENV"),
    "a port that is none": (("--set", "broker.port=99999"), "/broker/port"),
    "a digest that is none": (("--set", "image.digest=latest"), "/image/digest"),
    "TLS that is none": (("--set", "database.sslmode=verify"), "/database/sslmode"),
    "an issuer without TLS": (("--set", "signIn.openid.issuer=http://dex.example.com"), "/signIn/openid/issuer"),
    "an issuer without a client": (("--set", "signIn.openid.issuer=https://dex.example.com"), "signIn.openid.clientId"),
    "an issuer without groups": (
        ("--set", "signIn.openid.issuer=https://dex.example.com", "--set", "signIn.openid.clientId=gpudash"),
        "signIn.groups is required",
    ),
    "scopes without openid": (("--set", "signIn.openid.scopes={profile}"), "/signIn/openid/scopes"),
    "a role that is none": (
        ("--set", "signIn.groups[0].group=a", "--set", "signIn.groups[0].role=root"),
        "/signIn/groups/0/role",
    ),
    "a group that ends its entry": (
        ("--set", "signIn.groups[0].group=a;b", "--set", "signIn.groups[0].role=viewer"),
        "/signIn/groups/0/group",
    ),
    "nobody who could sign in": (("--set", "signIn.localAccounts=false"), "no user could sign in"),
    "one header of two": (("--set", "signIn.proxyHeaders.user=X-User"), "signIn.proxyHeaders requires both"),
    "headers of anybody": (
        ("--set", "signIn.proxyHeaders.user=X-User", "--set", "signIn.proxyHeaders.groups=X-Groups"),
        "proxy.trusted",
    ),
    "a word about clients of every pod": (("--set-json", "networkPolicy.web.from=[]"), _OPEN),
    "the same, of every namespace": (("--set-json", 'networkPolicy.web.from=[{"namespaceSelector": {}}]'), _OPEN),
    "the same, beside one that is named": (
        ("--set-json", 'networkPolicy.web.from=[{"podSelector": {}}, {"namespaceSelector": {}, "podSelector": {}}]'),
        _OPEN,
    ),
    "the same, of every address": (
        ("--set-json", 'networkPolicy.web.from=[{"ipBlock": {"cidr": "0.0.0.0/0"}}]'),
        _OPEN,
    ),
    "the same, without policies": (("--set", "networkPolicy.enabled=false"), _OPEN),
    "an image that ends its quotes": (("--set", "launcher.policy.images={a'b}"), "/launcher/policy/images/0"),
    "a policy before there were any": (
        ("--set", "launcher.policy.enabled=true", "--kube-version", "1.29.0"),
        "Kubernetes 1.30 or later",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_values_that_cannot_work_are_refused_by_name(name: str) -> None:
    words, told = REFUSED[name]
    rendered(*GIVEN)
    with pytest.raises(NotRendered, match=told):
        rendered(*GIVEN, *words)


@pytest.mark.parametrize(
    "words",
    [
        ("--set-json", "networkPolicy.web.from=[]", "--set", "proxy.trusted=10.3.0.1"),
        ("--set-json", "networkPolicy.web.from=[]", "--set", "proxy.trusted="),
        ("--set-json", 'networkPolicy.web.from=[{"ipBlock": {"cidr": "10.3.0.0/24"}}]'),
        ("--set-json", 'networkPolicy.web.from=[{"podSelector": {}}]'),
        ("--set", "networkPolicy.enabled=false", "--set", "proxy.trusted=10.3.0.1"),
    ],
)
def test_whose_word_about_clients_counts_is_said_by_one_of_two_values(words: tuple[str, ...]) -> None:
    assert rendered(*GIVEN, *words)


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


def test_the_account_that_marks_nodes_is_for_launch_alone_and_off_by_default() -> None:
    on = {name: held(one).get("quarantine") for name, one in deployments(release("full")).items()}
    assert {name for name, how in on.items() if how} == {"launch"}
    assert on["launch"] == "Secret"
    assert not [one for one in release("minimal") if "quarantine" in one["metadata"]["name"]]


def test_each_process_runs_what_it_runs_elsewhere() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    wanted = {name: one["command"].split() for name, one in compose.items() if "command" in one and name != "redis"}
    made = release("minimal")
    (migrate,) = [one for one in made if one["kind"] == "Job"]
    found = deployments(made) | {"migrate": migrate}
    commands = {name: pod(one)["containers"][0]["command"] for name, one in found.items()}
    # The kubelet asks from outside of the container, Compose from within.
    web = [word.replace("--probes=0.0.0.0:", "--probes=127.0.0.1:") for word in commands["web"]]
    assert commands | {"web": web} == wanted


def test_only_who_needs_them_holds_credentials() -> None:
    found = deployments(release("minimal"))
    assert {name: held(one) for name, one in found.items()} == {
        "web": {},
        "usage": {},
        "schedule": {},
        "watch": {"watcher": "own token"},
        "launch": {"launcher": "own token"},
        "tasks": {},
    }
    accounts = {name: pod(one)["serviceAccountName"] for name, one in found.items()}
    assert accounts == {
        "web": "gpudash-web",
        "usage": "gpudash-usage",
        "schedule": "gpudash-schedule",
        "watch": "gpudash-watcher",
        "launch": "gpudash-launcher",
        "tasks": "gpudash-tasks",
    }


def test_without_a_launcher_nobody_may_launch() -> None:
    made = release("minimal", "--set", "launcher.enabled=false")
    launch = deployments(made)["launch"]
    assert (held(launch), pod(launch)["serviceAccountName"]) == ({}, "gpudash-launch")
    assert not [one for one in made if one["metadata"]["name"].endswith("-launcher")]
    assert not [one for one in made if one["kind"] == "Secret"]


def of_groups(*words: str) -> list[Json]:
    """What the chart makes for runs of several nodes, by kind."""
    names = ("gpudash-group", "groups")
    return sorted(
        (one for one in release(*words) if one["metadata"]["name"] in names), key=lambda one: str(one["kind"])
    )


def test_runs_of_several_nodes_get_what_is_shipped_where_it_is_asked_for() -> None:
    shipped = list(yaml.safe_load_all((ROOT / "deploy" / "validation-groups.yaml").read_text(encoding="utf-8")))
    assert of_groups("full") == sorted(shipped, key=lambda one: str(one["kind"]))
    moved = of_groups("full", "--set", "launcher.namespace=gpu-tests")
    assert [one["metadata"]["namespace"] for one in moved] == ["gpu-tests", "gpu-tests"]
    assert of_groups("minimal") == of_groups("full", "--set", "launcher.enabled=false") == []


def test_exporters_that_are_read_directly_are_read_as_the_watchers() -> None:
    usage = deployments(release("full"))["usage"]
    assert held(usage) == {"watcher": "own token"}
    assert pod(usage)["serviceAccountName"] == "gpudash-watcher"


def test_what_tasks_is_given_names_no_credential() -> None:
    """Not those of other clusters either; the rest of its pod is settings and certificates."""
    tasks = deployments(release("full"))["tasks"]
    (container,) = pod(tasks)["containers"]
    assert {volume["name"] for volume in pod(tasks)["volumes"]} == {"data", "tmp", "database-ca", "broker-ca"}
    assert not [row["name"] for row in container["env"] if "KUBECONFIG" in row["name"] or "OIDC" in row["name"]]
    others = {
        name: {one["name"] for one in pod(process)["volumes"]} for name, process in deployments(release("full")).items()
    }
    assert {name for name, volumes in others.items() if "other-launcher" in volumes} == {"launch"}
    assert {name for name, volumes in others.items() if "other-watcher" in volumes} == {"watch", "usage"}, (
        "usage reads exporters directly here"
    )


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


def told(values: str, folder: Path, ask: str = ASK, more: dict[str, str] | None = None) -> list[str]:
    """What gpudash makes of the settings and the Secret's passwords. more: of the environment of one process."""
    given = environment(release(values)) | (more or {})
    given |= {"GPUDASH_DATA_DIR": str(folder), "GPUDASH_SECRET_KEY": "k" * 50}
    given |= {"GPUDASH_DATABASE_PASSWORD": "p@ss", "GPUDASH_BROKER_PASSWORD": "w#rd"}
    if "GPUDASH_BROKER_CA" in given:
        given["GPUDASH_BROKER_CA"] = str(folder / "ca.crt")
        (folder / "ca.crt").touch()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GPUDASH_")}
    command = [sys.executable, "manage.py", "shell", "--verbosity=0", "-c", ask]
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


ASK_SIGN_IN = """
from django.conf import settings
print(settings.OIDC.url, settings.OIDC.client_id, settings.OIDC.client_secret, settings.OIDC.scopes, settings.OIDC.claim)
print(settings.PROXY_HEADERS.user, settings.PROXY_HEADERS.groups, settings.LOCAL_ACCOUNTS)
print({group: (one.role, one.places) for group, one in settings.GROUP_ROLES.items()})
"""


def signs_in(values: str) -> dict[str, dict[str, str]]:
    """Process → what its environment says of signing in; of a Secret, its name and key."""
    found = {}
    for name, one in deployments(release(values)).items():
        rows = [row for row in pod(one)["containers"][0]["env"] if SIGN_IN.search(row["name"])]
        found[name] = {row["name"]: row.get("value") or str(row["valueFrom"]["secretKeyRef"]) for row in rows}
    return found


SIGN_IN = re.compile("OIDC|PROXY_(USER|GROUPS)|GROUP_ROLES|LOCAL_ACCOUNTS")


def test_the_web_process_alone_is_told_how_people_sign_in() -> None:
    assert signs_in("minimal") == {name: {} for name in deployments(release("minimal"))}
    found = signs_in("full")
    assert {name for name, given in found.items() if given} == {"web"}
    assert found["web"]["GPUDASH_OIDC_CLIENT_SECRET"] == str({"name": "dex-client", "key": "secret"})


def test_gpudash_takes_how_people_sign_in(tmp_path: Path) -> None:
    given = signs_in("full")["web"] | {"GPUDASH_OIDC_CLIENT_SECRET": "s3cret"}
    assert told("full", tmp_path, ASK_SIGN_IN, given) == [
        "https://dex.example.com gpudash s3cret ('openid', 'profile', 'groups') groups",
        "X-Auth-Request-User X-Auth-Request-Groups False",
        "{'gpu-admins': ('admin', ()), 'cn=team-a,ou=people': ('viewer', ('prod/team-a', '*/team-a'))}",
    ]


def test_the_secret_of_the_client_is_in_the_secret_of_the_others_unless_it_is_named() -> None:
    words = ("signIn.openid.issuer=https://dex.example.com", "signIn.openid.clientId=g", "signIn.groups[0].group=a")
    made = release("minimal", *(word for one in (*words, "signIn.groups[0].role=viewer") for word in ("--set", one)))
    rows = {row["name"]: row for row in pod(deployments(made)["web"])["containers"][0]["env"]}
    reference = rows["GPUDASH_OIDC_CLIENT_SECRET"]["valueFrom"]["secretKeyRef"]
    assert reference == {"name": "gpudash", "key": "oidc-client-secret"}
    (issuer,) = [one for one in made if one["metadata"]["name"] == "gpudash-issuer"]
    assert issuer["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "web"
    assert issuer["spec"]["egress"] == [{"ports": [{"port": 443, "protocol": "TCP"}]}]


def test_no_manifest_holds_a_password() -> None:
    made: list[Any] = release("full")
    assert not [one for one in made if one["kind"] == "Secret" and {"data", "stringData"} & one.keys()]


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
