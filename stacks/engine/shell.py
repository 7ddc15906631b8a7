"""Commands for a shell, with every word that a cluster says in quotes: people copy them."""

from __future__ import annotations

import shlex

from kube.objects import Metadata, Node, Pod


def command(*words: str) -> str:
    """A line for a shell."""
    return shlex.join(words)


def label_node(node: Node, *labels: tuple[str, str], overwrite: bool = False) -> str:
    """labels: (key, value) of each. overwrite: also where the node has the label with another value."""
    given = [f"{key}={value}" for key, value in labels]
    return command("kubectl", "label", "node", node.metadata.name, *given, *(["--overwrite"] if overwrite else []))


def describe_object(kind: str, metadata: Metadata) -> str:
    """Of an object in a namespace, or in none. kind: as kubectl calls it."""
    where = ["-n", metadata.namespace] if metadata.namespace else []
    return command("kubectl", "describe", kind, *where, metadata.name)


def delete_pod(pod: Pod, *options: str) -> str:
    return command("kubectl", "delete", "pod", "-n", pod.metadata.namespace, pod.metadata.name, *options)


def pod_log(pod: Pod, container: str = "", previous: bool = False) -> str:
    """container: "" for the only one. previous: of the container that ended before this one."""
    of = ["-c", container] if container else []
    before = ["--previous"] if previous else []
    return command("kubectl", "logs", "-n", pod.metadata.namespace, pod.metadata.name, *of, *before)
