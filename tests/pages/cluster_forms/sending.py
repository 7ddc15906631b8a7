"""What the tests of the forms of clusters send, and what is kept of it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from audit.models import Entry
from fleetsim import Server
from inventory.models import Cluster, Watch
from tests.kube.words import config
from tests.pages.reading import Page, get, read

NEW = "/administration/clusters/new"
SECRET = "s3cr3t-v4lue-0123456789"


def kubeconfig(server: Server, *names: str) -> dict[str, Any]:
    """With a context of each name, all of this server."""
    content = config(server.url, {"token": server.token})
    content["contexts"] = [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in names or ("x",)]
    content["current-context"] = content["contexts"][-1]["name"]
    return content


def file_of(content: Any) -> SimpleUploadedFile:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return SimpleUploadedFile("../../kubeconfig", body)


def send(client: Client, path: str = NEW, content: Any = None, status: int = 302, **fields: Any) -> Page:
    """The page after a form with this file. Raises AssertionError for another status."""
    data = {"file": file_of(content)} if content is not None else {}
    answer: Any = client.post(path, data | fields)
    assert answer.status_code == status, answer.content.decode()[-2000:]
    if status == 302:
        return get(client, answer.headers["Location"])
    return read(answer)


def modes(folder: Path) -> dict[str, str]:
    found = [folder, *folder.iterdir()]
    return {path.name: oct(stat.S_IMODE(path.lstat().st_mode)) for path in found}


def everything() -> str:
    """All that the tables hold of clusters, sessions and acts."""
    rows = [*Cluster.objects.values(), *Watch.objects.values(), *Entry.objects.values()]
    return json.dumps(rows, default=str)


def word_of(page: Page) -> str:
    return page.html.partition('name="kept" value="')[2].partition('"')[0]
