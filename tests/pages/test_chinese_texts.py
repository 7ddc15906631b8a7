"""Findings and reasons in Chinese: of every recorded case, whatever is English in them is a name or what somebody else said."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from inventory.catalogue import CATALOGUE
from inventory.models import Card, Cluster, Finding
from pages.frame.worded import BETWEEN_IN_CHINESE as BETWEEN
from pages.frame.worded import worded
from stacks.engine.node_report import node_report
from tests.factories import make_node
from tests.packages import sources
from tests.pages.reading import get
from tests.pages.test_chinese import messages
from tests.pages.validations.rows import make_run
from tests.stacks import golden_case
from tests.validations.suites import golden
from validations.lifecycle.judge import kept
from validations.suites import find, reasons
from validations.suites.engine.base import read_log
from wording import said


def run_together(text: str) -> str:
    """Without blanks and quotation marks: on a page what others said stands in elements of its own."""
    return "".join(text.split()).replace("“", "").replace("”", "").replace("`", "")


#: English that Chinese readers of this field write as it is: names of programs, of things of Kubernetes and NVIDIA, units, values.
TERMS = frozenset(
    (
        "NAME ClusterPolicy ECC Exclusive GPUCluster gRPC kube-scheduler labeller multitenancy node ResourceClaim ResourceSlice spec "
        "AI all-disabled all_reduce_perf Ascend binder check cluster ConfigMap CPU Ctrl-C CUDA cudaGetDeviceCount DaemonSet DCGM "
        "DeadlineExceeded device devicequery Direct Direct3D DirectML DirectX Discovery DLL Dozen DRA Evicted failed false Feature "
        "ffmpeg GB/s GFLOP/s Gi GiB GPU gpudash gpudash.io/card-count gpudash.io/memory-unit gpushare HAMi infoROM JSON KiB "
        "Koordinator koordlet kubelet Kueue manager memory-unit Mesa MiB MIG mixed MPS N/A NCCL nodeName none NVIDIA OK "
        "nvidia-smi OOMKilled OpenCL operator PASS Pod profile Prohibited rank Ready resourceclaims resourceslices "
        "base cluster.server certificate-authority-data deploy/watcher-role.yaml https "
        "deploy/launcher-role.yaml Europe/Berlin KEY Never off on preemptionPolicy PriorityClass VALUE "
        "DeviceTaintRule effect MaintenanceRequest NoSchedule NVSentinel kubeconfig "
        "InfiniBand RoCE RDMA NET/Socket mpirun ssh slot AMD HIP ROCm SMI RCCL rccl-tests gpu-burn nvbandwidth bandwidthTest "
        "XML UTF NVCRE NVSentinel JUnit SuperBench YAML ValidationRequest DOCTYPE Headlamp "
        "RuntimeClass single slice StartError TCC True UnexpectedAdmissionError vectorAdd Volcano Vulkan wrong XID"
    )
    .lower()
    .split()
)
_WORD = re.compile(r"[A-Za-z][A-Za-z_./…-]*[A-Za-z]")


def quoted(form: Any, said_by_others: str = "§") -> Any:
    """The form with what is no sentence of ours taken out."""
    if not isinstance(form, dict):
        return said_by_others
    if "parts" in form:
        return form | {"parts": [quoted(one) for one in form["parts"]]}
    return form | {"arguments": {name: quoted(one) for name, one in form["arguments"].items()}}


def english_in(text: str) -> set[str]:
    """English words of a text's Chinese, that are neither terms nor somebody else's."""
    form = said.stored(text)
    if form is None:
        return {f"no sentence of ours: {text}"}
    with translation.override("zh-hans"):
        shown = said.worded(quoted(form), translation.gettext, BETWEEN)
    return {word for word in _WORD.findall(shown) if word.lower() not in TERMS}


@cache
def findings_of_cases() -> tuple[tuple[str, Any], ...]:
    return tuple(_findings_of_cases())


def _findings_of_cases() -> Iterator[tuple[str, Any]]:
    for name in golden_case.names():
        node, pods, context = golden_case.load(name)
        yield from ((name, one) for one in node_report(node, pods, context).findings)


@cache
def reasons_of_logs() -> tuple[tuple[str, Any], ...]:
    return tuple(_reasons_of_logs())


def _reasons_of_logs() -> Iterator[tuple[str, Any]]:
    for case in golden.cases():
        result = case.suite.parse(read_log(case.raw), case.outcome)
        yield from ((case.name, one) for one in result.reasons)


def test_no_finding_of_a_recorded_node_has_english_words_of_ours() -> None:
    found = [(name, one.code, english_in(one.text)) for name, one in findings_of_cases()]
    assert len({code for _name, code, _left in found}) > 25
    assert [one for one in found if one[2]] == []


#: Reasons whose text is a line of the log.
LINES = frozenset(
    (
        "bad-arguments",
        "cuda-error",
        "hip-error",
        "device-removed",
        "inforom",
        "ecc-errors",
        "discovery-error",
        "log-incomplete",
    )
)


def test_no_reason_of_a_recorded_log_has_english_words_of_ours() -> None:
    found = [(name, one.code, one.text) for name, one in reasons_of_logs()]
    ours = [(name, code, text) for name, code, text in found if isinstance(text, said.Said) or code not in LINES]
    assert len({code for _name, code, _text in ours}) > 25
    left = [(name, code, english_in(text)) for name, code, text in ours]
    assert [one for one in left if one[2]] == []


@pytest.mark.parametrize("text", ["{a} looks well", "Nothing is said in Chinese of this"])
def test_a_sentence_without_its_chinese_would_be_found(text: str) -> None:
    assert english_in(said.sentence(text, a="x"))


def test_a_form_survives_the_way_through_a_table() -> None:
    texts = [one.text for _name, one in (*findings_of_cases(), *reasons_of_logs()) if isinstance(one.text, said.Said)]
    assert len(texts) > 300
    for text in texts:
        form = json.loads(json.dumps(said.stored(text)))
        assert said.restored(str(text), form) == text
        assert isinstance(said.restored(str(text), form), said.Said)


@pytest.mark.django_db
def test_the_pages_say_findings_in_the_language_of_the_reader(cluster: Cluster, viewer: Client) -> None:
    told = {}
    rows = []
    for number, (_name, one) in enumerate(findings_of_cases()):
        told[one.code] = one
        rows.append(Finding(
            cluster=cluster, code=one.code, severity=one.severity, node_name=f"n{number}", text=one.text,
            wording=said.stored(one.text), first_seen_at=timezone.now(),
        ))  # fmt: skip
    Finding.objects.bulk_create(rows)
    old = Finding.objects.create(
        cluster=cluster, code="units-mixed", severity="warning", text="As it was.", first_seen_at=timezone.now()
    )
    viewer.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    for code, one in told.items():
        text = get(viewer, f"/findings?group=none&code={code}").text
        with translation.override("zh-hans"):
            shown = worded(str(one.text), said.stored(one.text))
        assert shown != one.text
        assert run_together(shown) in run_together(text), code
    assert old.text in get(viewer, "/findings?group=none&code=units-mixed").text
    assert set(told) <= set(CATALOGUE)


@pytest.mark.django_db
def test_a_run_says_its_reasons_in_the_language_of_the_reader(cluster: Cluster, viewer: Client) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1)
    card = Card.objects.get()
    suite = find("cuda-vectoradd")
    assert suite is not None
    by_code = {one.code: one for _name, one in reasons_of_logs() if isinstance(one.text, said.Said)}
    assert set(by_code) <= set(reasons())
    run = make_run(cluster, card=card, verdict="failed", reasons=[kept(one) for one in by_code.values()])
    path = f"/validations/runs/{run.pk}"
    english = get(viewer, path).text
    viewer.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    chinese = get(viewer, path).text
    for one in by_code.values():
        with translation.override("zh-hans"):
            shown = worded(str(one.text), said.stored(one.text))
        assert " ".join(str(one.text).split()).rstrip(".") in english, one.code
        assert run_together(shown).rstrip("。") in run_together(chinese), one.code


#: Commands, settings, parts of those, and what stands in names: in sentences that no recorded case has.
_MORE = frozenset(
    (
        "cordon devicePlugin.enabled Docker HostProcess items kind nodeSelector nvidia.com/gpu Service toolkit "
        "admin Alpha AMD API celery containerd ContainerCannotRun DaemonSet Fabric FAIL finalizer forbidden Intel Job kubeadm "
        "kubeconfig Kubernetes kubernetes.io/hostname OutOfcpu OutOfmemory reconciler server take-over threads usage UTC watch "
        "EUR UUID Windows worker YYYY-MM-DD"
    )
    .lower()
    .split()
)


#: Products that messages go to, what their settings and answers are called.
_OF_CHANNELS = frozenset(
    (
        "ASCII SSL_CERT_FILE web DingTalk Feishu HTTP Lark ok openssl PagerDuty rand "
        "sig Slack SMTP starttls Teams tls Webhook WeCom whsec worker "
        "Workflows"
    )
    .lower()
    .split()
)
#: Formats, what kubeconfigs and their plugins name, calls of the API, examples of addresses, queues of workers.
_OF_FILES = frozenset(
    (
        "Always api/v apiVersion args beat beta certificate-authority chart client-certificate client-key "
        "client.authentication.k ClusterRole clusters contexts continue current-context default deploy/exporters-role.yaml "
        "docs/usage.md env eu ExecCredential expirationTimestamp get HTML http init interactiveMode kube-system launch Linux "
        "List name PEM pods pods/proxy prod Prometheus prometheus.monitoring provideClusterInfo region Role s.io/v status "
        "team-a TLS UID URL user.exec users value X-Scope-OrgID YAML"
    )
    .lower()
    .split()
)


def test_the_chinese_of_no_sentence_has_english_words_of_ours() -> None:
    ours = set(sentences())
    said_in_chinese = {text: words[0] for text, words in messages().items() if text in ours}
    assert set(said_in_chinese) == ours
    left = {}
    for text, chinese in said_in_chinese.items():
        bare = re.sub(r"\{\w+\}|`[^`]*`|\bGPUDASH_\w+|--[\w-]+(=\w+)?", "§", chinese)
        found = {word for word in _WORD.findall(bare) if word.lower() not in TERMS | _MORE | _OF_FILES | _OF_CHANNELS}
        if found:
            left[text] = found
    assert left == {}


def sentences() -> Iterator[str]:
    """Templates of the code, as `sentence(…)` marks them."""
    for path in sources():
        source = path.read_text()
        if "sentence" not in source:
            continue
        nodes = list(ast.walk(ast.parse(source)))
        imports = (node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "wording.said")
        if not any(one.name == "sentence" for node in imports for one in node.names):
            continue
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sentence":
                first = node.args[0] if node.args else None
                assert isinstance(first, ast.Constant), (
                    f"{path}: a template is written out, so that it can be translated"
                )
                yield str(first.value)
