"""What a cluster says goes into YAML as the text that it is, and into a shell as one word."""

from __future__ import annotations

import shlex

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stacks.engine.preparing import prepare, setups
from stacks.engine.rendering import yaml_text
from stacks.engine.setup import Found, Json, at, is_name, option_of
from stacks.engine.shell import command
from stacks.engine.versions import version_of
from tests.stacks.setup.clusters import card, cluster, control_plane, file, made, node, windows

#: Read as something else by one reader of YAML or another.
STRANGE = [
    "1e3",
    "y",
    "N",
    "on",
    "No",
    "null",
    "~",
    "0o17",
    "0x1f",
    "1_000",
    "12:30:00",
    ".inf",
    "NaN",
    "2.0",
    "=",
    "<<",
]
STRANGE += ["", " a", "a ", "a: b", "# a", "a #b", "- a", "*a", "&a", "!a", "a\nb", "a\tb", "'", '"', "\\", "{}", "[a]"]
STRANGE += ["%", "@a", "`a`", "\u2028", "\u00e9", "a:", "a:b:c", "Yes", "OFF"]


@pytest.mark.parametrize("text", STRANGE)
def test_a_text_stays_a_text(text: str) -> None:
    written = yaml_text({"key": text, "list": [text], text: "key"})
    assert yaml.safe_load(written) == {"key": text, "list": [text], text: "key"}
    if text in ("1e3", "y", "N", "0o17", "NaN", "="):
        assert f"key: '{text}'" in written


@given(st.text(st.characters(exclude_categories=("Cs", "Cc"))))
def test_any_text_stays_a_text(text: str) -> None:
    assert yaml.safe_load(yaml_text({"key": [{"inner": text}]})) == {"key": [{"inner": text}]}


@given(st.lists(st.text(st.characters(exclude_characters="\0")), min_size=1))
def test_any_word_is_one_word_of_a_shell(words: list[str]) -> None:
    assert shlex.split(command(*words)) == words


@pytest.mark.parametrize("name", ["a; reboot", "-x", "--all", "$(reboot)", "a b", "a\nreboot", "A", "a'", "../a", "ü"])
@pytest.mark.parametrize("stack", ["gpushare", "hami", "directx-alibaba", "alpha", "nvidia", "directx-tensorworks"])
def test_what_no_node_can_be_called_is_in_no_command(stack: str, name: str) -> None:
    labels = {"nvidia.com/gpu.present": "true", "windows.alibabacloud.com/directx-supported": "true"}
    nodes = [node(name, "v1.9.0", **labels), windows(name, **labels), control_plane(name)]
    for version in ("v1.9.0", "v1.30.4"):
        for one in prepare(stack, cluster(version, nodes)).files:
            assert name not in one.text or name in ("A", "-x", "--all", "a b")
            if one.name == "commands.sh":
                assert not any(name in shlex.split(line, comments=True) for line in one.text.splitlines())


def test_names_of_others_that_begin_with_a_dash_are_in_no_command() -> None:
    def thing(kind: str, namespace: str, name: str, labels: dict[str, str]) -> Json:
        metadata = {
            "name": name,
            "namespace": namespace,
            "labels": labels,
            "annotations": {"meta.helm.sh/release-name": "--x"},
        }
        return {"kind": kind, "metadata": metadata, "spec": {"template": {"metadata": {"labels": labels}}}}

    chart = {"app.kubernetes.io/name": "nvidia-device-plugin", "app.kubernetes.io/instance": "--post-renderer=./x"}
    hami = {"app.kubernetes.io/name": "hami", "app.kubernetes.io/component": "hami-device-plugin"}
    found = cluster(
        "v1.30.4",
        [card("gpu-1")],
        thing("DaemonSet", "nvidia", "plugin", chart),
        thing("DaemonSet", "--all", "--all", {"name": "nvidia-device-plugin-ds"}),
        thing("DaemonSet", "--all-namespaces", "--x-device-plugin", hami),
        thing("Deployment", "gpu-operator", "gpu-operator", {}),
    )
    for stack in ("gpushare", "hami", "nvidia"):
        lines = file(prepare(stack, found), "commands.sh").splitlines()
        words = [word for line in lines for word in shlex.split(line, comments=True)]
        assert not {"--x", "--all", "--all-namespaces", "--post-renderer=./x"} & set(words)


def test_taints_are_tolerated_as_they_are_called() -> None:
    found = cluster("v1.30.4", [card("gpu-1", ("y", "1e3", "NoSchedule"), ("a/b", "", "PreferNoSchedule"))])
    (plugin,) = (thing for thing in made(prepare("gpushare", found)) if thing["kind"] == "DaemonSet")
    assert plugin["spec"]["template"]["spec"]["tolerations"] == [
        {"key": "y", "operator": "Exists", "effect": "NoSchedule"}
    ]


def test_taints_that_pass_are_not_tolerated() -> None:
    found = cluster("v1.30.4", [card("gpu-1", ("node.kubernetes.io/unschedulable", "", "NoSchedule"))])
    (plugin,) = (thing for thing in made(prepare("gpushare", found)) if thing["kind"] == "DaemonSet")
    assert "tolerations" not in plugin["spec"]["template"]["spec"]


@pytest.mark.parametrize("stack", ["gpushare", "hami", "nvidia", "directx-alibaba", "directx-tensorworks", "alpha"])
def test_names_of_files_are_plain_and_each_is_there_once(stack: str) -> None:
    assert stack in setups()
    files = prepare(
        stack, Found(version="v1.9.0" if stack == "alpha" else "v1.22.0", nodes=[card("gpu-1", version="v1.9.0")])
    ).files
    names = [one.name for one in files]
    assert len(set(names)) == len(names) > 0
    assert all(is_name(name) for name in names)
    assert all(one.text.endswith("\n") and one.why.endswith(".") for one in files)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1.28.9-eks-1", (1, 28, 9)),
        ("1.30.4+k3s1", (1, 30, 4)),
        ("367", (367, 0, 0)),
        ("v1.28", (1, 28, 0)),
        ("", None),
        ("weird", None),
        (None, None),
        (7, None),
    ],
)
def test_versions(text: object, version: object) -> None:
    assert version_of(text) == version


def test_options_of_a_command_line() -> None:
    thing = {"spec": {"containers": [{"command": ["a", "--x=1", "-y", "2"], "args": ["--x=3 --z"]}, None]}}
    assert [option_of(thing, name) for name in ("x", "y", "z", "none")] == ["3", "2", "", None]
    assert at({"a": [1]}, "a", -2) is None
