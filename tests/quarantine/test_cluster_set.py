"""`gpudash cluster set`: with which credentials nodes of a cluster are marked, and how."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from audit.models import Entry
from inventory.clusters import quarantine_source
from inventory.models import Cluster, Node
from kube.client import BadKubeconfig
from quarantine.told import told
from tests.factories import make_node


def test_the_mark_of_a_cluster_is_chosen(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("cluster", "set", cluster.name, "--quarantine-how", "cordon")

    cluster.refresh_from_db()
    assert (cluster.quarantine_how, cluster.quarantine_kubeconfig) == ("cordon", "")
    assert capsys.readouterr().out == f"{cluster.name}: gpudash marks no nodes (taint and cordon)\n"
    assert Entry.objects.get(action="cluster-set").detail["how"] == "cordon"


def test_a_file_that_cannot_work_is_refused_and_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("{")
    with pytest.raises(CommandError):
        call_command("cluster", "set", cluster.name, "--quarantine-kubeconfig", str(tmp_path / "bad"))
    assert Cluster.objects.get().quarantine_kubeconfig == ""


def test_no_other_credential_is_used_in_its_place(cluster: Cluster) -> None:
    cluster.kubeconfig = cluster.launcher_kubeconfig = "/etc/gpudash/launcher/c"
    with pytest.raises(BadKubeconfig, match="--quarantine-kubeconfig"):
        quarantine_source(cluster)


def test_a_mark_without_a_case_is_told(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "nvidia", 1, loads=(0.0,))
    assert told(cluster) == []
    Node.objects.update(marks='[{"kind":"taint","tool":"gpudash","key":"k","case":"c9"}]')
    assert "k=c9" in told(cluster)[0]
