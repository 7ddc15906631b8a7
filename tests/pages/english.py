"""English words on a page that is read in Chinese: what a reader sees or is read aloud, less names, code and what others said.

A word is a run of three or more Latin letters between blanks or Chinese. What has a digit, or `-`, `.`, `/`, `_`, `=`, `@` within it, is a name
(of a node, a label, a file, a command). An element with `lang` other than Chinese is what somebody else said or wrote; one with
`translate="no"` is a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser

#: Words of the field that Chinese readers write as they are → why.
TERMS: Mapping[str, str] = {
    **dict.fromkeys(("GiB", "MiB", "KiB", "TiB"), "units"),
    **dict.fromkeys(
        ("UTC", "UID", "UUID", "CSV", "JSON", "URL", "SHA", "REST", "API", "CPU", "GPU", "MIG", "MPS", "ECC"),
        "abbreviations",
    ),
    **dict.fromkeys(
        (
            "Pod",
            "Job",
            "Secret",
            "ConfigMap",
            "DaemonSet",
            "ReplicaSet",
            "RuntimeClass",
            "Kubernetes",
            "kubeconfig",
            "kubectl",
            "kubelet",
            "Kubelet",
            "DRA",
        ),
        "kinds and programs of Kubernetes",
    ),
    **dict.fromkeys(
        (
            "gpudash",
            "Prometheus",
            "NVIDIA",
            "AMD",
            "Intel",
            "CUDA",
            "WinML",
            "DirectX",
            "DirectML",
            "OpenCL",
            "Vulkan",
            "NCCL",
            "vectorAdd",
            "deviceQuery",
            "Monte",
            "Carlo",
            "Tiny",
            "HAMi",
            "Volcano",
            "Koordinator",
            "DCGM",
            "ffmpeg",
            "Windows",
            "OpenAPI",
        ),
        "products",
    ),
    **dict.fromkeys(("admin", "operator", "viewer"), "roles, as REST, tokens and the command line name them"),
}
_TERMS = frozenset(TERMS)

_VOID = frozenset(("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"))
_NOT_READ = frozenset(("script", "style", "code", "pre", "kbd", "samp"))
#: Attributes that are read aloud, shown as a tip, or printed by the style sheet or a script.
_READ = frozenset(
    (
        *("title", "alt", "placeholder", "label", "aria-label", "aria-description", "aria-roledescription"),
        *("aria-valuetext", "data-label", "data-live", "data-paused", "data-lost", "data-pause", "data-words"),
        *("data-updated", "data-ago", "data-confirm"),
    )
)
_CHUNK = re.compile(r"[^\s\u3000-\u303f\u4e00-\u9fff\uff00-\uffef“”‘’·…()\[\]{}<>,;:!?\"'|–—→+×%✓✕]+")
_WORD = re.compile(r"[A-Za-z]{3,}")


def words_of(text: str) -> list[str]:
    """English words of a text that are neither names nor terms, in their order."""
    found = []
    for chunk in _CHUNK.findall(text):
        bare = chunk.strip(".")
        if _WORD.fullmatch(bare) and bare not in _TERMS:
            found.append(bare)
    return found


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
        foreign = "lang" in given and not given["lang"].startswith("zh")
        chinese = given.get("lang", "").startswith("zh")
        hidden = tag in _NOT_READ or foreign or given.get("translate") == "no" or (self._hidden and not chinese)
        if not hidden:
            self.texts += [value for name, value in given.items() if name in _READ]
            if tag == "input" and given.get("type") in ("submit", "button", "reset"):
                self.texts.append(given.get("value", ""))
        if tag not in _VOID:
            self.open.append((tag, hidden))

    def handle_endtag(self, tag: str) -> None:
        if any(tag == one for one, _hidden in self.open):
            while self.open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append(data)


def english_of(html: str) -> dict[str, list[str]]:
    """Text of the page or of an attribute → its English words; only texts that have some."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return {" ".join(text.split()): words for text in reader.texts if (words := words_of(text))}
