"""What kube-scheduler needs to ask gpushare's extender: a file, and the flag that names it.

Sources: the installation guide of AliyunContainerService/gpushare-scheduler-extender (c0b6141); KEP-785; kubeadm 1.24.
"""

from __future__ import annotations

from collections.abc import Iterator

from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.engine.rendering import comment, json_text, yaml_text
from stacks.engine.setup import DIFFERS, HOST, PRESENT, Difference, File, Found, Json, named, option_of
from stacks.engine.shell import command
from stacks.engine.versions import Version
from stacks.shared.rancher import rancher
from wording.said import sentence

RESOURCE = "aliyun.com/gpu-mem"
NODE_PORT = 32766
_FILE, _KUBECONFIG = "/etc/kubernetes/gpushare-scheduler", "/etc/kubernetes/scheduler.conf"
_CONFIGS = ((Version(1, 25), "v1"), (Version(1, 23), "v1beta3"))


def role_label(found: Found) -> str:
    """The label and taint of control plane nodes: kubeadm renamed it with 1.24."""
    return f"node-role.kubernetes.io/{'control-plane' if found.kubernetes >= (1, 24) else 'master'}"


def control_plane(found: Found) -> list[Node]:
    return [node for node in named(found.nodes) if role_label(found) in labels_of(node)]


def config_api(version: Version) -> str:
    """The newest version of kubescheduler.config.k8s.io that this kube-scheduler reads; "" where it takes a policy
    file."""
    return next((api for since, api in _CONFIGS if version >= since), "")


def _extender(https: str) -> Json:
    return {
        "urlPrefix": f"http://127.0.0.1:{NODE_PORT}/gpushare-scheduler",
        "filterVerb": "filter",
        "bindVerb": "bind",
        https: False,
        "nodeCacheCapable": True,
        "managedResources": [{"name": RESOURCE, "ignoredByScheduler": False}],
        "ignorable": False,
    }


def scheduler_files(found: Found) -> list[File]:
    api = config_api(found.kubernetes)
    path = f"{_FILE}-{'config.yaml' if api else 'policy.json'}"
    servers = sorted({name for node in control_plane(found) if (name := rancher(node))})
    where = sentence(
        "On each control plane node: {path}. kube-scheduler calls the extender at 127.0.0.1, so kube-proxy must answer node "
        "ports there. If kube-scheduler already has such a file, add the entry of `extenders` to it.",
        path=path,
    )
    file = File(path.rpartition("/")[2], _text(api, servers), HOST, where, f"cat {path}")
    flag = f"{'config' if api else 'policy-config-file'}={path}"
    return [file, _rancher_flag(flag, servers[0]) if servers else _manifest(flag, path)]


def _text(api: str, servers: list[str]) -> str:
    if not api:
        return json_text({"kind": "Policy", "apiVersion": "v1", "extenders": [_extender("enableHttps")]})
    kubeconfig = f"/var/lib/rancher/{servers[0]}/server/cred/scheduler.kubeconfig" if servers else _KUBECONFIG
    config = {
        "apiVersion": f"kubescheduler.config.k8s.io/{api}",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": kubeconfig},
        "extenders": [_extender("enableHTTPS")],
    }
    return yaml_text(config)


def _manifest(flag: str, path: str) -> File:
    container = {
        "name": "kube-scheduler",
        "command": ["kube-scheduler", f"--{flag}"],
        "volumeMounts": [{"name": "gpushare-scheduler", "mountPath": path, "readOnly": True}],
    }
    volume = {"name": "gpushare-scheduler", "hostPath": {"path": path, "type": "File"}}
    return File(
        "kube-scheduler-manifest.yaml",
        comment("A part to add to the existing manifest.")
        + yaml_text({"spec": {"containers": [container], "volumes": [volume]}}),
        HOST,
        sentence(
            "On each control plane node, part of /etc/kubernetes/manifests/kube-scheduler.yaml: add the flag, the mount and the "
            "volume, and keep all else. The kubelet then restarts kube-scheduler."
        ),
        "cat /etc/kubernetes/manifests/kube-scheduler.yaml",
    )


def _rancher_flag(flag: str, name: str) -> File:
    return File(
        "rancher-scheduler.yaml",
        yaml_text({"kube-scheduler-arg": [flag]}),
        HOST,
        sentence(
            "On each server of {name}, part of /etc/rancher/{name}/config.yaml: merge it, then restart the service. "
            "kube-scheduler is started by it and has no manifest of its own.",
            name=name,
        ),
        f"cat /etc/rancher/{name}/config.yaml",
    )


def wiring(found: Found) -> Iterator[Difference]:
    """With which flags kube-scheduler runs, where it is a pod that was read. What is in its file, only its host
    knows."""
    flag = "config" if config_api(found.kubernetes) else "policy-config-file"
    for key, pod in found.all("Pod"):
        if not key.name.startswith("kube-scheduler-"):
            continue
        what = sentence("kube-scheduler of {node}", node=key.name.removeprefix("kube-scheduler-"))
        path = option_of(pod, flag)
        if path:
            says = sentence(
                "{option}; its content is not visible. Run on the host: {command}",
                option=f"--{flag}={path}",
                command=command("cat", path),
            )
            yield Difference(what, PRESENT, says)
        elif (old := option_of(pod, "policy-config-file")) is not None:
            says = sentence(
                "{option}: Kubernetes 1.23 and newer do not support it", option=f"--policy-config-file={old}"
            )
            yield Difference(what, DIFFERS, says)
        else:
            says = sentence("no {option}, so it does not call the extender", option=f"--{flag}")
            yield Difference(what, DIFFERS, says)
