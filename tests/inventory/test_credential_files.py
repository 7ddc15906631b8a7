"""Whoever can write rows does not choose which file a worker takes its credentials from, nor what that file has run."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from inventory import clusters
from inventory.collect import sources
from inventory.collect.prometheus import BadAddress
from inventory.models import Cluster, UsageSource
from kube.client import ApiError, BadKubeconfig
from tests.factories import make_cluster
from tests.validations.fakecluster import FakeCluster
from validations.lifecycle import clients

#: A kubeconfig whose user is told by a program.
EVIL = """{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
"users": [{"name": "u", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
"command": "/bin/sh", "args": ["-c", "touch %s"]}}}]}"""


@pytest.fixture
def good(tmp_path: Path, settings: Any) -> Path:
    folder = tmp_path / "credentials"
    folder.mkdir()
    settings.CREDENTIAL_FOLDERS = [str(folder), str(tmp_path / "not-there")]
    return folder


@pytest.fixture
def lab(db: None, good: Path) -> Cluster:
    with FakeCluster() as server:
        server.kubeconfig(good / "lab")
    row = make_cluster("lab")
    row.kubeconfig = str(good / "lab")
    row.save()
    return row


def refusals(cluster: Cluster) -> list[str]:
    """What the watchers, the launcher and the readers of exporters say."""
    found = []
    source = UsageSource(cluster=cluster, way="direct")
    for ask in (
        lambda: clusters.client_of(cluster),
        lambda: clients.api_of(cluster),
        lambda: sources.direct_client_of(source),
    ):
        try:
            ask()
        except BadKubeconfig as error:
            found.append(str(error))
    clients.forget(cluster.pk)
    return found


def test_a_file_of_the_folders_is_read(lab: Cluster) -> None:
    assert refusals(lab) == []


@pytest.mark.parametrize("how", ["elsewhere", "dots", "link"])
def test_a_row_that_names_another_file_has_nothing_read_or_run(
    lab: Cluster, good: Path, tmp_path: Path, how: str
) -> None:
    evil, run = tmp_path / "data" / "evil", tmp_path / "was-run"
    evil.parent.mkdir()
    evil.write_text(EVIL % run)
    evil.chmod(0o600)
    if how == "link":
        (good / "link").symlink_to(evil)
    named = {"elsewhere": evil, "dots": good / ".." / "data" / "evil", "link": good / "link"}[how]
    Cluster.objects.update(kubeconfig=str(named), launcher_kubeconfig="")
    lab.refresh_from_db()
    said = refusals(lab)
    assert len(said) == 3
    assert all("GPUDASH_CREDENTIAL_FOLDERS" in text and str(named) in text for text in said)
    assert not run.exists()


def test_without_the_setting_any_file_is_read_and_its_program_run(lab: Cluster, tmp_path: Path, settings: Any) -> None:
    """So the test before looks at the right thing."""
    evil, run = tmp_path / "evil", tmp_path / "was-run"
    evil.write_text(EVIL % run)
    evil.chmod(0o600)
    settings.CREDENTIAL_FOLDERS = []
    lab.kubeconfig = str(evil)
    with suppress(ApiError, BadKubeconfig):
        clusters.client_of(lab).get("/version")
    assert run.exists()


def test_a_cluster_is_not_added_with_a_file_that_no_worker_would_read(lab: Cluster, tmp_path: Path, good: Path) -> None:
    for path, launcher in ((str(tmp_path / "x"), ""), (str(good / "lab"), str(tmp_path / "x"))):
        with pytest.raises(BadKubeconfig, match="GPUDASH_CREDENTIAL_FOLDERS"):
            clusters.add("other", path, launcher_kubeconfig=launcher)


def test_the_token_of_a_prometheus_comes_from_the_folders_too(lab: Cluster, tmp_path: Path, good: Path) -> None:
    inside, outside = good / "token", tmp_path / "secret"
    for file in (inside, outside):
        file.write_text("s3cret")
    source = sources.set_prometheus(lab, "http://127.0.0.1:1", str(inside))
    sources.client_of(source).close()
    for column in ("token_file", "ca_file"):
        source.token_file = source.ca_file = ""
        setattr(source, column, str(outside))
        with pytest.raises(BadAddress, match="GPUDASH_CREDENTIAL_FOLDERS"):
            sources.client_of(source)
    with pytest.raises(BadAddress, match="GPUDASH_CREDENTIAL_FOLDERS"):
        sources.set_prometheus(lab, "http://127.0.0.1:1", str(outside))


def test_the_service_account_of_a_pod_needs_no_folder(lab: Cluster) -> None:
    lab.kubeconfig = ""
    assert [text for text in refusals(lab) if "GPUDASH_CREDENTIAL_FOLDERS" in text] == []
