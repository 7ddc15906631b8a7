"""A kubeconfig that is replaced; two uploads at once; too many of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test import Client

from accounts.models import SignInAllowance
from accounts.roles import Role
from audit.models import Entry
from fleetsim import Server
from inventory import connect
from inventory.models import Cluster
from tests.cast import make_user, signed_in
from tests.kube.scripted import ScriptedServer
from tests.kube.words import config
from tests.pages.cluster_forms.sending import SECRET, kubeconfig, send, word_of
from tests.pages.reading import Page

pytestmark = pytest.mark.django_db


def test_a_kubeconfig_is_replaced_and_the_watchers_list_anew(admin: Client, server: Server, folder: Path) -> None:
    send(admin, content=kubeconfig(server, "old"), name="lab")
    cluster = Cluster.objects.get()
    Cluster.objects.update(uid="", launcher_kubeconfig="")
    cluster.watches.filter(kind="pods").update(resource_version="500", holder="somebody", token=7)
    page = send(admin, "/clusters/lab/kubeconfig", kubeconfig(server, "new"))
    assert "Watchers start within seconds" in page.text
    assert [path.name for path in folder.iterdir()] == ["lab.yaml"]
    assert "current-context: new" in (folder / "lab.yaml").read_text()
    watch = cluster.watches.get(kind="pods")
    assert (watch.resource_version, watch.holder, watch.token) == ("", "", 8)
    assert Cluster.objects.get().context == "new"
    assert Entry.objects.filter(action="cluster-set", target="lab").count() == 2


def test_the_kubeconfig_of_another_cluster_is_no_replacement(admin: Client, server: Server, folder: Path) -> None:
    send(admin, content=kubeconfig(server), name="lab")
    Cluster.objects.update(uid="another")
    before = (folder / "lab.yaml").read_bytes()
    page = send(admin, "/clusters/lab/kubeconfig", kubeconfig(server), 400)
    assert "The kubeconfig belongs to another cluster, not lab" in page.html
    assert (folder / "lab.yaml").read_bytes() == before


def test_what_was_there_is_back_where_the_tables_take_nothing(
    admin: Client, server: Server, folder: Path, monkeypatch: Any
) -> None:
    def fail(*_: Any) -> None:
        raise DatabaseError("full")

    admin.raise_request_exception = False
    monkeypatch.setattr("inventory.clusters.anew", fail)
    send(admin, content=kubeconfig(server), name="lab", status=500)
    assert list(folder.iterdir()) == []
    monkeypatch.undo()
    send(admin, content=kubeconfig(server, "old"), name="lab")
    monkeypatch.setattr("inventory.clusters.anew", fail)
    send(admin, "/clusters/lab/kubeconfig", kubeconfig(server, "new"), 500)
    assert [path.name for path in folder.iterdir()] == ["lab.yaml"]
    assert "current-context: old" in (folder / "lab.yaml").read_text()
    assert Cluster.objects.get().context == "old"


def test_two_uploads_at_once_do_not_meet(admin: Client, server: Server, folder: Path) -> None:
    with connect._alone():
        page = send(admin, content=kubeconfig(server), name="lab", status=400)
    assert "Another kubeconfig is being checked. Try again in a few seconds." in page.html
    assert not folder.exists()
    send(admin, kept=word_of(page), name="lab", context="x")
    assert Cluster.objects.get().name == "lab"


@pytest.mark.django_db(transaction=True)
def test_while_a_server_hangs_another_upload_is_told_to_wait(admin: Client, server: Server, folder: Path) -> None:
    first = signed_in(make_user("bob", Role.ADMIN))
    pages: list[Page] = []

    def upload(url: str) -> None:
        pages.append(send(first, content=config(url, {"token": SECRET}), name="lab", status=400))
        connection.close()

    with ScriptedServer() as silent:
        thread = threading.Thread(target=upload, args=(silent.url,))
        thread.start()
        silent.wait_for(1)
        page = send(admin, content=kubeconfig(server), name="lab", status=400)
        assert "Another kubeconfig is being checked" in page.html
    thread.join(10)
    assert "cannot reach" in pages[0].html
    assert list(folder.iterdir()) == []
    send(admin, kept=word_of(page), name="lab", context="x")
    assert Cluster.objects.get().server == server.url


def test_so_many_uploads_and_no_more(admin: Client, server: Server, folder: Path) -> None:
    for _ in range(20):
        send(admin, content=b"just text", status=400)
    page = send(admin, content=kubeconfig(server), status=429)
    assert "Too many uploads. Try again in 1 min." in page.html
    assert not folder.exists()
    SignInAllowance.objects.all().delete()
    send(admin, content=kubeconfig(server))
