"""Who may use the forms of clusters, what a team sees, removal, and no secret in a message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from accounts.roles import Role
from audit.models import Entry
from fleetsim import Server
from inventory import clusters, connect
from inventory.models import Cluster, Node
from tests.cast import bearer, make_token, make_user, signed_in
from tests.factories import make_cluster, make_fleet
from tests.pages.cluster_forms.sending import NEW, file_of, kubeconfig, send
from tests.pages.cluster_forms.test_refused import REFUSED
from tests.pages.english import english_of
from tests.pages.reading import get
from tests.pages.validations.rows import make_run

pytestmark = pytest.mark.django_db


PATHS = (NEW, "/clusters/lab/kubeconfig", "/clusters/lab/remove")


@pytest.mark.parametrize("path", PATHS)
def test_administrators_only(viewer: Client, admin: Client, server: Server, folder: Path, path: str) -> None:
    make_cluster("lab")
    operator = signed_in(make_user("olga", Role.OPERATOR))
    token = bearer(make_token(make_user("root", Role.ADMIN), Role.ADMIN))
    for client, status in ((viewer, 403), (operator, 403), (Client(), 302), (token, 302)):
        assert client.get(path).status_code == status
        assert client.post(path, {"file": file_of(kubeconfig(server)), "name": "evil"}).status_code == status
    assert list(Cluster.objects.values_list("name", flat=True)) == ["lab"]
    assert not folder.exists()
    assert get(admin, path).status == 200


@pytest.mark.parametrize("path", PATHS)
def test_another_site_can_send_nothing(server: Server, folder: Path, path: str) -> None:
    make_cluster("lab")
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user("ada", Role.ADMIN))
    assert client.post(path, {"file": file_of(kubeconfig(server)), "name": "evil"}).status_code == 403
    assert list(Cluster.objects.values_list("name", flat=True)) == ["lab"]
    assert not folder.exists()


@pytest.mark.parametrize("reason", ["a team", "folders"])
@pytest.mark.parametrize(
    ("path", "told"),
    [
        (NEW, "gpudash cluster add NAME --kubeconfig"),
        ("/clusters/lab/kubeconfig", "gpudash cluster add lab --kubeconfig FILE"),
        ("/clusters/lab/remove", "gpudash cluster remove lab"),
    ],
)
def test_a_team_sees_the_command_and_why(
    admin: Client, server: Server, folder: Path, settings: Any, reason: str, path: str, told: str
) -> None:
    make_cluster("lab")
    if reason == "a team":
        settings.ONE_PROCESS = False
    else:
        settings.CREDENTIAL_FOLDERS = ["/etc/gpudash"]
    page = get(admin, path)
    assert told in page.text
    assert "The web process has no cluster credentials" in page.text
    assert 'type="file"' not in page.html
    send(admin, path, kubeconfig(server), 403, name="evil")
    assert list(Cluster.objects.values_list("name", flat=True)) == ["lab"]
    assert not folder.exists()
    with pytest.raises(connect.NotConnected):
        connect.connect("evil", connect.Upload(json.dumps(kubeconfig(server)).encode()), "x")


def test_removing_says_what_goes_and_deletes_the_file(
    admin: Client, server: Server, folder: Path, django_capture_on_commit_callbacks: Any
) -> None:
    send(admin, content=kubeconfig(server), name="lab")
    cluster = Cluster.objects.get()
    make_fleet(cluster, nodes=3)
    make_run(cluster, state="running")
    assert "/clusters/lab/remove" in get(admin, "/clusters/lab").links
    page = get(admin, "/clusters/lab/remove")
    assert "Nodes 3" in page.text
    assert "deleted too" in page.text
    assert "1 run is active" in page.text
    assert (folder / "lab.yaml").exists(), "looking deletes nothing"
    with django_capture_on_commit_callbacks(execute=True):
        page = send(admin, "/clusters/lab/remove")
    assert "Removed cluster lab." in page.text
    assert not Cluster.objects.exists()
    assert not Node.objects.exists()
    assert list(folder.iterdir()) == []
    assert Entry.objects.filter(action="cluster-remove", target="lab", actor="ada").exists()
    assert get(admin, "/clusters/lab/remove", 404)


def test_a_file_of_somebody_elses_stays(
    admin: Client, server: Server, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    path = server.kubeconfig(tmp_path / "mine")
    clusters.add("lab", str(path))
    assert f"stays {path}" in get(admin, "/clusters/lab/remove").text
    with django_capture_on_commit_callbacks(execute=True):
        send(admin, "/clusters/lab/remove")
    assert path.exists()


def test_messages_hold_no_secret(admin: Client, server: Server) -> None:
    answer: Any = admin.post(NEW, {"file": file_of(kubeconfig(server))})
    assert server.token not in "".join(map(str, get_messages(answer.wsgi_request)))
    assert server.token not in str(answer.cookies)


def test_in_chinese_nothing_is_left_in_english(admin: Client, server: Server) -> None:
    make_cluster("lab")
    admin.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    pages = [get(admin, path) for path in PATHS]
    pages.append(send(admin, content=kubeconfig(server, "one", "two"), status=200))
    pages.append(send(admin, content=kubeconfig(server), name="lab", status=400))
    pages += [send(admin, content=content, status=400) for content, _ in REFUSED.values()]
    with connect._alone():
        pages.append(send(admin, content=kubeconfig(server), status=400))
    names = ["lab", "ada", "one", "two", server.url.removeprefix("http://"), "x"]
    assert {text for page in pages for text in english_of(page.html, names)} == set()
