"""`cluster prepare` reads a cluster, prints or writes files, and writes over no file of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inventory import clusters
from inventory.management.prepared_files import RECORD
from tests.inventory.commands.conftest import Run
from tests.kube.scripted import Answer, ScriptedServer, ok, refusal
from tests.kube.words import config, write_config
from tests.stacks.setup.clusters import Json

pytestmark = pytest.mark.django_db
ABSENT = refusal(404, "NotFound", "not found")
FORBIDDEN = refusal(403, "Forbidden", "may not")
NODE: Json = {
    "metadata": {
        "name": "gpu-1",
        "uid": "u-1",
        "labels": {"nvidia.com/gpu.present": "true", "kubernetes.io/os": "linux"},
    },
    "status": {"nodeInfo": {"containerRuntimeVersion": "containerd://1.7.27", "kubeletVersion": "v1.28.9"}},
}


def listed(kind: str, *items: Json, token: str = "") -> Answer:
    return ok({"kind": f"{kind}List", "metadata": {"resourceVersion": "1", "continue": token}, "items": list(items)})


def answers(*rest: Answer, version: Any = "v1.28.9", nodes: tuple[Json, ...] = (NODE,)) -> list[Answer]:
    """Of the version, the nodes and the DaemonSets, then `rest`."""
    return [ok({"gitVersion": version}), listed("Node", *nodes), listed("DaemonSet"), *rest]


@pytest.fixture
def scripted(tmp_path: Path) -> Any:
    """scripted(answers) is an API server of the cluster `lab`."""
    running: list[ScriptedServer] = []

    def serve(script: list[Answer]) -> ScriptedServer:
        server = ScriptedServer(*script)
        server.__enter__()
        running.append(server)
        clusters.add("lab", write_config(tmp_path, config(server.url)))
        return server

    yield serve
    for server in running:
        server.__exit__(None, None, None)


def test_it_prints_files_and_what_they_are_for(run: Run, scripted: Any) -> None:
    server = scripted(answers(*[ABSENT] * 8))
    said = run("cluster", "prepare", "lab", "--stack", "gpushare")
    assert said.startswith("# lab: gpushare, Kubernetes v1.28.9\n")
    assert "\n# gpushare-scheduler-config.yaml (host): On each control plane node: " in said
    assert "\n# Current state: cat /etc/kubernetes/gpushare-scheduler-config.yaml\n" in said
    assert "\nkubectl label node gpu-1 gpushare=true --overwrite\n" in said
    assert {asked.method for asked in server.asked} == {"GET"}


def test_it_reads_objects_by_their_names(run: Run, scripted: Any) -> None:
    server = scripted(answers(*[ABSENT] * 8))
    run("cluster", "prepare", "lab", "--stack", "gpushare", "--diff")
    paths = [asked.path for asked in server.asked]
    assert paths[:3] == ["/version", "/api/v1/nodes", "/apis/apps/v1/daemonsets"]
    assert "/apis/apps/v1/namespaces/kube-system/deployments/gpushare-schd-extender" in paths
    assert all(path.rsplit("/", 1)[1].startswith("gpushare-") for path in paths[3:])


def test_it_says_what_is_missing_and_what_is_there(run: Run, scripted: Any) -> None:
    scripted(answers(ABSENT))
    said = run("cluster", "prepare", "lab", "--stack", "hami", "--diff").splitlines()
    assert said == [
        "lab: hami, Kubernetes v1.28.9",
        "  missing: DaemonSet kube-system/hami-device-plugin",
        "  missing: Deployment kube-system/hami-scheduler",
        "  missing: label gpu=on: on 1 of 1 nodes: gpu-1",
        "  not visible: host file containerd-1-config.toml: run on the host: containerd config dump | grep -A2 -e "
        "default_runtime_name -e runtimes.nvidia",
    ]


def test_what_may_not_be_read_is_said_once_with_a_command(run: Run, scripted: Any) -> None:
    scripted([ok({"gitVersion": "v1.28.9"}), listed("Node", NODE), FORBIDDEN, FORBIDDEN])
    said = run("cluster", "prepare", "lab", "--stack", "hami", "--diff")
    assert said.count("may not read") == 1
    assert (
        "kubectl get daemonsets --all-namespaces -o yaml && kubectl get deployments hami-scheduler -n kube-system"
        in said
    )
    assert "missing: D" not in said


def test_nodes_and_daemonsets_come_in_pages(run: Run, scripted: Any) -> None:
    other = {**NODE, "metadata": {**NODE["metadata"], "name": "gpu-2"}}
    plugin = {"metadata": {"name": "hami-device-plugin", "namespace": "kube-system"}}
    pages = [listed("Node", NODE, token="t"), listed("Node", other), listed("DaemonSet", token="t")]
    server = scripted([ok({"gitVersion": "v1.28.9"}), *pages, listed("DaemonSet", plugin), ABSENT])
    said = run("cluster", "prepare", "lab", "--stack", "hami", "--diff")
    assert "on 2 of 2 nodes: gpu-1, gpu-2" in said
    assert "differs: DaemonSet kube-system/hami-device-plugin" in said
    assert [asked.query.get("continue") for asked in server.asked[1:5]] == [None, "t", None, "t"]


def test_an_old_cluster_has_its_daemonsets_in_another_group(run: Run, scripted: Any) -> None:
    server = scripted(answers(version="v1.5.7"))
    run("cluster", "prepare", "lab", "--stack", "alpha", "--diff")
    assert server.asked[2].path == "/apis/extensions/v1beta1/daemonsets"


def test_a_node_that_cannot_be_read_is_said(run: Run, scripted: Any) -> None:
    scripted(answers(ABSENT, nodes=(NODE, {"metadata": {"name": "odd", "uid": "u", "labels": 7}})))
    assert "  Excluded: 1 unreadable node.\n" in run("cluster", "prepare", "lab", "--stack", "hami", "--diff")


def test_what_a_cluster_says_moves_no_cursor(run: Run, scripted: Any) -> None:
    scripted(answers(ABSENT, version="v1.28.9\x1b[2J\nno differences"))
    said = run("cluster", "prepare", "lab", "--stack", "hami", "--diff")
    assert "\x1b" not in said
    assert "\nno differences" not in said


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ([refusal(401, "Unauthorized", "no")], "401 Unauthorized"),
        ([ok({"gitVersion": "v1.28.9"}), FORBIDDEN], "403 Forbidden"),
        ([Answer(b"<html>")], "not as a Kubernetes API server"),
        ([ok({"gitVersion": "v1.28.9"}), ok({"kind": "PodList"})], "nodes: "),
        ([ok([1])], "not as a Kubernetes API server"),
        ([*answers(refusal(500, "InternalError", "broken"))], "500 InternalError"),
    ],
)
def test_a_cluster_that_cannot_be_read_is_told(refuse: Run, scripted: Any, script: list[Answer], says: str) -> None:
    scripted(script)
    assert says in refuse("cluster", "prepare", "lab", "--stack", "hami")


def test_an_unknown_stack_names_those_that_there_are(refuse: Run) -> None:
    said = refuse("cluster", "prepare", "lab", "--stack", "gpu-share")
    assert "invalid choice: 'gpu-share'" in said
    assert "directx-tensorworks" in said
    assert "--stack" in refuse("cluster", "prepare", "lab")


def test_an_unknown_cluster_names_those_that_there_are(refuse: Run, scripted: Any) -> None:
    assert "no clusters yet" in refuse("cluster", "prepare", "lab", "--stack", "hami")
    scripted([])
    assert refuse("cluster", "prepare", "lob", "--stack", "hami") == "there is no cluster 'lob'; clusters: lab"


# --output


def prepare(run: Run, scripted: Any, folder: Path, stack: str = "hami", **fields: Any) -> str:
    scripted(answers(*[ABSENT] * 9, **fields))
    return run("cluster", "prepare", "lab", "--stack", stack, "--output", str(folder))


def test_files_are_written_and_written_again(run: Run, scripted: Any, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "hami"
    said = prepare(run, scripted, folder)
    assert f"  written: {folder}/commands.sh (commands): Run `sh commands.sh`" in said
    assert sorted(path.name for path in folder.iterdir()) == [
        RECORD,
        "commands.sh",
        "containerd-1-config.toml",
        "values.yaml",
    ]
    assert (folder / "values.yaml").stat().st_mode & 0o777 == 0o644
    prepare(run, scripted, folder, version="v1.29.9-eks-1")
    assert "tag: v1.29.9" in (folder / "values.yaml").read_text()


def test_what_is_not_needed_any_more_is_removed_if_nobody_changed_it(run: Run, scripted: Any, tmp_path: Path) -> None:
    prepare(run, scripted, tmp_path / "out")
    said = prepare(run, scripted, tmp_path / "out", nodes=())
    assert f"  removed: {tmp_path}/out/containerd-1-config.toml" in said
    assert not (tmp_path / "out" / "containerd-1-config.toml").exists()
    prepare(run, scripted, tmp_path / "out")
    (tmp_path / "out" / "containerd-1-config.toml").write_text("mine")
    prepare(run, scripted, tmp_path / "out", nodes=())
    assert (tmp_path / "out" / "containerd-1-config.toml").read_text() == "mine"


@pytest.mark.parametrize("how", ["there before", "changed since", "a folder", "a link", "a broken link"])
def test_a_file_of_another_is_not_written_over(how: str, run: Run, refuse: Run, scripted: Any, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    path, other = folder / "values.yaml", tmp_path / "other"
    if how == "changed since":
        prepare(run, scripted, folder)
    if how == "a folder":
        path.mkdir()
    elif "link" in how:
        path.symlink_to(other)
        if how == "a link":
            other.write_text("mine")
    else:
        path.write_text("mine")
    said = prepare(refuse, scripted, folder)
    assert said == (
        f"{folder} contains values.yaml, not written by this command or changed since. "
        "Move these files, or choose another folder for --output."
    )
    assert other.exists() == (how == "a link")
    assert how == "changed since" or not (folder / "commands.sh").exists()
    assert "link" in how or path.is_dir() or path.read_text() == "mine"


def test_a_file_that_is_the_same_is_no_hindrance(run: Run, scripted: Any, tmp_path: Path) -> None:
    prepare(run, scripted, tmp_path / "one")
    (tmp_path / "two").mkdir()
    text = (tmp_path / "one" / "values.yaml").read_text()
    (tmp_path / "two" / "values.yaml").write_text(text)
    assert "values.yaml (values)" in prepare(run, scripted, tmp_path / "two")


def test_a_folder_of_another_stack_is_left_alone(run: Run, refuse: Run, scripted: Any, tmp_path: Path) -> None:
    prepare(run, scripted, tmp_path / "out")
    before = (tmp_path / "out" / "values.yaml").read_bytes()
    said = prepare(refuse, scripted, tmp_path / "out", "nvidia")
    assert said == f"{tmp_path}/out contains the files of hami for lab. Choose another folder for --output."
    assert (tmp_path / "out" / "values.yaml").read_bytes() == before


@pytest.mark.parametrize("record", ["", "{", "[]", '{"files": 7}', "\udcff"])
def test_a_record_that_is_none_counts_for_nothing(
    record: str, run: Run, refuse: Run, scripted: Any, tmp_path: Path
) -> None:
    prepare(run, scripted, tmp_path / "out")
    (tmp_path / "out" / "values.yaml").write_text("mine")
    (tmp_path / "out" / RECORD).write_text(record, errors="surrogateescape")
    assert "contains values.yaml" in prepare(refuse, scripted, tmp_path / "out")


def test_a_record_leads_out_of_its_folder_for_nobody(run: Run, scripted: Any, tmp_path: Path) -> None:
    import hashlib

    (tmp_path / "out").mkdir()
    (tmp_path / "other").write_text("mine")
    digest = hashlib.sha256(b"mine").hexdigest()
    record = {"cluster": "lab", "stack": "hami", "files": {"../other": digest, str(tmp_path / "other"): digest}}
    (tmp_path / "out" / RECORD).write_text(json.dumps(record))
    prepare(run, scripted, tmp_path / "out")
    assert (tmp_path / "other").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_told(refuse: Run, scripted: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "out", Path("/proc/none")):
        said = prepare(refuse, scripted, folder)
        assert said.startswith(f"--output {folder}: cannot write (")
        assert said.endswith("Choose a writable folder.")
    scripted([])
    assert refuse("cluster", "prepare", "lab", "--stack", "hami", "--output", " ") == "--output must be a folder."


# A whole cluster: the demo's.


@pytest.mark.parametrize("stack", ["alpha", "directx-alibaba", "directx-tensorworks", "gpushare", "hami", "nvidia"])
def test_the_demos_cluster_is_prepared_for_each_stack(stack: str, run: Run, kubeconfig: str, tmp_path: Path) -> None:
    run("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    said = run("cluster", "prepare", "demo", "--stack", stack, "--diff", "--output", str(tmp_path / "out"))
    assert "  missing: " in said or "  present: " in said or "warning: " in said
    assert "None" not in said
