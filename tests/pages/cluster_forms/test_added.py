"""A cluster by form: a file or its text, one of its contexts, kept between two steps."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client

from accounts.roles import Role
from audit.models import Entry
from fleetsim import Server
from inventory import clusters, connect
from inventory.models import Cluster
from inventory.models.cluster import Kind
from pages import uploads
from tests.cast import make_user, signed_in
from tests.factories import make_cluster
from tests.pages.cluster_forms.sending import everything, kubeconfig, modes, send, word_of

pytestmark = pytest.mark.django_db


def test_an_administrator_adds_a_cluster_by_its_file(admin: Client, server: Server, folder: Path, caplog: Any) -> None:
    with caplog.at_level(logging.DEBUG):
        page = send(admin, content=kubeconfig(server), name="lab")
    cluster = Cluster.objects.get()
    assert (cluster.name, cluster.server, cluster.context) == ("lab", server.url, "x")
    assert cluster.kubeconfig == str(folder / "lab.yaml")
    assert modes(folder) == {"kubeconfigs": "0o700", "lab.yaml": "0o600"}
    assert sorted(cluster.watches.values_list("kind", flat=True)) == sorted(Kind.values)
    assert f"lab: {server.url}. Watchers start within seconds." in page.text
    entry = Entry.objects.get(action="cluster-set")
    assert (entry.actor, entry.target, entry.outcome) == ("ada", "lab", "done")
    assert clusters.client_of(cluster).get("/version")
    assert server.token in (folder / "lab.yaml").read_text()
    assert server.token not in everything() + page.html + caplog.text + json.dumps(dict(admin.session))


def test_its_text_does_as_well_and_its_name_is_that_of_the_context(admin: Client, server: Server) -> None:
    send(admin, text=yaml.safe_dump(kubeconfig(server, "kind-My_Lab")))
    assert Cluster.objects.get().name == "kind-my-lab"


def test_of_several_contexts_one_is_chosen_and_the_file_is_sent_once(
    admin: Client, server: Server, folder: Path
) -> None:
    page = send(admin, content=kubeconfig(server, "one", "two", "three"), status=200)
    assert [part.partition('"')[0] for part in page.html.split('<option value="')[1:4]] == ["one", "two", "three"]
    assert '<option value="three" selected>' in page.html
    assert server.token not in page.html
    assert not folder.exists()
    assert not Cluster.objects.exists()
    send(admin, kept=word_of(page), context="two")
    assert (Cluster.objects.get().name, Cluster.objects.get().context) == ("two", "two")
    again = send(admin, kept=word_of(page), context="one", status=400)
    assert "The upload has expired" in again.html


def test_an_upload_is_of_its_session_and_is_forgotten(admin: Client, server: Server, monkeypatch: Any) -> None:
    word = word_of(send(admin, content=kubeconfig(server, "one", "two"), status=200))
    stranger = signed_in(make_user("eve", Role.ADMIN))
    assert "The upload has expired" in send(stranger, kept=word, context="one", status=400).html
    later = uploads.time.monotonic() + uploads.LASTS_S
    monkeypatch.setattr(uploads.time, "monotonic", lambda: later)
    assert "The upload has expired" in send(admin, kept=word, context="one", status=400).html
    assert not Cluster.objects.exists()


def test_only_some_uploads_are_kept(server: Server) -> None:
    found = uploads.Uploads()
    upload = connect.Upload(json.dumps(kubeconfig(server)).encode())
    words = [found.keep(upload, "session") for _ in range(uploads.MOST + 3)]
    assert [found.take(word, "session") is not None for word in words] == [False] * 3 + [True] * uploads.MOST
    assert found.take(found.keep(upload, ""), "") is None


def test_what_is_wrong_keeps_the_upload_and_all_else(admin: Client, server: Server) -> None:
    make_cluster("lab")
    page = send(admin, content=kubeconfig(server), name="lab", status=400)
    assert "Cluster lab already exists" in page.html
    assert [tag["value"] for tag in page.tags_of("input") if tag.get("name") == "name"] == ["lab"]
    page = send(admin, kept=word_of(page), name="Not A Name", context="x", status=400)
    assert "lower-case letters" in page.html
    send(admin, kept=word_of(page), name="lab-2", context="x")
    assert set(Cluster.objects.values_list("name", flat=True)) == {"lab", "lab-2"}
