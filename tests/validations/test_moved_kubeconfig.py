"""A launcher's kubeconfig that names another address is read before the next call, by every process that has a client of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from inventory.models import Cluster
from tests.kube.scripted import ScriptedServer, ok
from tests.kube.words import config, write_config
from validations.lifecycle import clients

pytestmark = pytest.mark.django_db

EMPTY = ok({"kind": "JobList", "apiVersion": "batch/v1", "metadata": {"resourceVersion": "1"}, "items": []})


def test_the_launcher_goes_where_its_file_says(tmp_path: Path) -> None:
    with ScriptedServer(EMPTY) as before, ScriptedServer(EMPTY) as after:
        path = write_config(tmp_path, config(before.url))
        cluster = Cluster.objects.create(name="prod", kubeconfig=path)
        try:
            first = clients.api_of(cluster)
            first.jobs()
            assert clients.api_of(cluster).client is first.client
            (tmp_path / "new").write_text(json.dumps(config(after.url)))
            os.replace(tmp_path / "new", path)
            clients.api_of(cluster).jobs()
        finally:
            clients.forget(cluster.pk)
        assert (len(before.asked), len(after.asked)) == (1, 1)
