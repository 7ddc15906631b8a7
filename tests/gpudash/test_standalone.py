"""Which cluster `standalone` begins with: that of the command line, the one that a page keeps, or none yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from fleetsim import Server
from gpudash.management.commands.standalone import _cluster
from inventory import clusters
from inventory.models import Cluster
from tests.inventory.commands.conftest import api_server, clock, kubeconfig

__all__ = ["api_server", "clock", "kubeconfig"]

pytestmark = pytest.mark.django_db
NOTHING = {"kubeconfig": "", "context": "", "name": ""}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: Any, settings: Any) -> Path:
    """Without a kubeconfig in it, nor one of a pod."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("kube.configuration.SERVICE_ACCOUNT", tmp_path / "none")
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path


@pytest.fixture
def by_default(home: Path, api_server: Server) -> str:
    """The kubeconfig that is used where none is named; its context is `demo`."""
    (home / ".kube").mkdir()
    return str(api_server.kubeconfig(home / ".kube" / "config"))


def test_without_any_kubeconfig_there_is_no_cluster_yet() -> None:
    assert _cluster(NOTHING) is None
    assert not Cluster.objects.exists()


def test_a_kubeconfig_that_was_named_and_cannot_work_stops_the_start(home: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        _cluster(NOTHING | {"kubeconfig": str(home / "none"), "name": "lab"})


def test_that_of_the_user_is_named_after_its_context(by_default: str) -> None:
    found = _cluster(NOTHING)
    assert found is not None
    assert (found.name, found.kubeconfig) == ("demo", by_default)


def test_one_that_a_page_stored_stays_unless_another_is_named(
    by_default: str, home: Path, kubeconfig: str, settings: Any
) -> None:
    stored = home / "data" / "kubeconfigs" / "demo.yaml"
    stored.parent.mkdir(parents=True)
    stored.write_bytes(Path(kubeconfig).read_bytes())
    clusters.add("demo", str(stored))
    found = _cluster(NOTHING)
    assert found is not None
    assert found.kubeconfig == str(stored)
    found = _cluster(NOTHING | {"kubeconfig": by_default})
    assert found is not None
    assert found.kubeconfig == by_default
