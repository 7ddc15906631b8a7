"""English words on a page that is read in Chinese: what a reader sees or is read aloud, less names, code and what others said.

A word is three or more Latin letters that stand alone. What has a digit, `-`, `.`, `/`, `_`, `=` or `@` in it is a name: of a node,
a label, a file, an option. What stands in quotation marks is what somebody typed, or may type. An element of another language than
Chinese (`lang`) is somebody else's words, one with `translate="no"` a name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from html.parser import HTMLParser

#: What Chinese readers of this field write as it is → why.
TERMS: Mapping[str, str] = {
    word: why
    for words, why in (
        ("GiB KiB MiB TiB", "units"),
        ("API CPU CSV DLL DRA ECC GPU JSON PEM REST SHA TLS UID URL UTC UUID YAML", "abbreviations"),
        ("DCGM MIG MPS NCCL Xid", "what NVIDIA calls its parts"),
        ("Helm chart", "what Helm calls its package, in Chinese too"),
        (
            "ClusterRole ConfigMap DaemonSet Device Job Pod ReplicaSet ResourceClaim Role RuntimeClass Secret",
            "kinds of Kubernetes",
        ),
        (
            "allocatable allocatedResourcesStatus capacity managedFields NoSchedule ResourceHealthStatus",
            "fields and values of Kubernetes",
        ),
        (
            "cordon init kubeconfig kubectl Kubelet kubelet Kubernetes server",
            "parts of Kubernetes: API server, init container",
        ),
        ("Alpha Operator", "stage of a feature, GPU Operator"),
        (
            "Alertmanager DingTalk Feishu Lark Microsoft PagerDuty Slack Teams Webhook WeCom Workflows",
            "receivers of messages",
        ),
        ("JUnit junit XML", "formats of results of other tools"),
        ("HTTPS SMTP none starttls tls", "protocols, and values of their settings"),
        (
            "ACK AMD Ascend Cambricon containerd HAMi Headlamp Intel Koordinator Linux NVIDIA OpenAPI Prometheus Volcano Windows",
            "products",
        ),
        (
            "Carlo CUDA deviceQuery DirectML DirectX ffmpeg Monte OpenCL Tiny vectorAdd Vulkan WinML "
            "AMD HIP burn nvbandwidth RCCL ROCm SMI Validation Suite Instinct OAM",
            "programs of suites",
        ),
        ("admin gpudash operator viewer", "this product and its roles, as commands and REST name them"),
        ("beat default launch usage watch worker", "processes and queues of Celery, as their commands name them"),
        ("End Home", "keys"),
        ("NAME", "stands for a name in the commands beside it"),
    )
    for word in words.split()
}

_VOID = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"))
_NOT_READ = frozenset(("script", "style", "code", "pre", "kbd", "samp"))
#: Attributes that are read aloud, shown as a tip, or printed by the style sheet or a script.
_READ = frozenset(
    (
        *(
            "title",
            "alt",
            "placeholder",
            "label",
            "aria-label",
            "aria-description",
            "aria-roledescription",
            "aria-valuetext",
        ),
        *(
            "data-label",
            "data-live",
            "data-paused",
            "data-lost",
            "data-pause",
            "data-words",
            "data-updated",
            "data-ago",
        ),
    )
)
#: Addresses, what is typed, places of arguments.
_NO_WORDS = re.compile(r"\w+://[^\s\u4e00-\u9fff]+|“[^”]*”|'[^']*'|%\(\w+\)[sd]")
_CHUNK = re.compile(r"[^\s\u3000-\u303f\u4e00-\u9fff\uff00-\uffef“”‘’·…()\[\]{}<>,;:!?\"'|–—→←+×%✓✕]+")
_WORD = re.compile(r"[A-Za-z]{3,}")


def words_of(text: str, names: Collection[str] = ()) -> list[str]:
    """English words of a text that are neither names nor terms, in their order. names: longer ones first."""
    text = _NO_WORDS.sub("\n", text)
    for name in names:
        text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", "\n", text) if name in text else text
    chunks = (chunk.strip(".") for chunk in _CHUNK.findall(text))
    return [chunk for chunk in chunks if _WORD.fullmatch(chunk) and chunk not in TERMS]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []

    @property
    def _hidden(self) -> bool:
        return bool(self.open) and self.open[-1][1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        hidden = self._hidden
        if tag in _NOT_READ or given.get("translate") == "no":
            hidden = True
        elif "lang" in given:
            # A text of ours that was kept without its form is English all the same.
            hidden = not given["lang"].startswith("zh") and given.get("data-said") != "unworded"
        if not hidden:
            self.texts += _attributes(tag, given)
        if tag not in _VOID:
            self.open.append((tag, hidden))

    def handle_endtag(self, tag: str) -> None:
        if any(tag == one for one, _hidden in self.open):
            while self.open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def _attributes(tag: str, given: Mapping[str, str]) -> Iterator[str]:
    for name, value in given.items():
        if name == "data-readings":
            yield from {text for _place, text in json.loads(value)}
        elif name in _READ or (
            name == "value" and tag == "input" and given.get("type") in ("submit", "button", "reset")
        ):
            yield value


def english_of(html: str, names: Collection[str] = ()) -> dict[str, list[str]]:
    """Text of the page or of an attribute → its English words; only texts that have some. names: of things, longer ones first."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return {" ".join(text.split()): found for text in reader.texts if (found := words_of(text, names))}
