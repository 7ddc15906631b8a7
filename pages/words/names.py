"""Names of measurements, of what a log says and of what a node said of itself, as people read them.

They are stored and served as `gpu_first_evaluate`; here each blank is a blank, and what is known is said in the reader's language.
A name that stands in no list is shown as it is. A test holds the lists to what suites have measured and said.
"""

from __future__ import annotations

import re

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from pages.frame.worded import named

MEASUREMENTS = (
    _("absolute error"),
    _("billion interactions per second"),
    _("bus bandwidth average"),
    _("bus bandwidth largest"),
    _("bus bandwidth max"),
    _("cpu evaluate"),
    _("device local copy"),
    _("device to host memcpy ce"),
    _("fps"),
    _("gflops"),
    _("gpu bind"),
    _("gpu evaluate"),
    _("gpu first evaluate"),
    _("gpu inferences per second"),
    _("gpu session"),
    _("host to device memcpy ce"),
    _("load"),
    _("sims per second"),
    _("speed"),
    _("speed by target"),
    _("speedup"),
    _("time"),
)
FACTS = (
    _("actions"),
    _("blocks"),
    _("bodies"),
    _("compute capability"),
    _("cuda version"),
    _("dcgm version"),
    _("device"),
    _("devices"),
    _("devices used"),
    _("driver version"),
    _("elements"),
    _("encoder"),
    _("frames"),
    _("gpu name"),
    _("hosts"),
    _("iterations"),
    _("largest message bytes"),
    _("mig devices"),
    _("model name"),
    _("model path"),
    _("pci bus id"),
    _("platforms"),
    _("precision"),
    _("ranks"),
    _("runtime version"),
    _("seconds"),
    _("simulations"),
    _("slice gib"),
    _("suspects"),
    _("tests"),
    _("threads per block"),
    _("tool version"),
    _("transport"),
    _("unreadable"),
    _("vendor"),
    _("vgpu profile"),
)
#: Of suites; a command and REST take them as they are named there, and so they are read in English.
OPTIONS = (
    _("bodies"),
    _("cards"),
    _("configuration"),
    _("deadline s"),
    _("encoder"),
    _("gpu memory mib"),
    _("host memory"),
    _("image"),
    _("interface"),
    _("iterations"),
    _("join s"),
    _("largest"),
    _("level"),
    _("min bandwidth"),
    _("model"),
    _("networks"),
    _("precision"),
    _("pull secret"),
    _("rdma count"),
    _("rdma resource"),
    _("region"),
    _("resource"),
    _("run as user"),
    _("runtime class"),
    _("seconds"),
    _("shared memory"),
    _("smallest"),
)
#: As `validations.targets` keeps them with a run.
OF_NODES = (
    _("os"),
    _("os image"),
    _("kernel"),
    _("kubelet"),
    _("runtime"),
    _("instance type"),
    _("zone"),
    _("driver source"),
    _("stack"),
    _("node uid"),
    _("cordoned"),
    _("labels"),
    _("plugins"),
)
_KNOWN = frozenset((*MEASUREMENTS, *FACTS, *OPTIONS, *OF_NODES))
_VALUES = {"cordoned": {"yes": _("yes"), "no": _("no")}, "precision": {"single": _("single"), "double": _("double")}}


def plain(name: str) -> str:
    """For attributes and headings of text."""
    text = name.replace("_", " ")
    return gettext(text) if text in _KNOWN else text


def plain_html(name: str) -> SafeString:
    text = name.replace("_", " ")
    return escape(gettext(text)) if text in _KNOWN else named(text)


def option(name: str) -> str:
    """What a field of an option is called."""
    said = plain(name)
    return name if said == name.replace("_", " ") else said


def value(name: str, text: str) -> str:
    """What is chosen of an option."""
    word = _VALUES.get(name, {}).get(text)
    return text if word is None else gettext(word)


def value_html(name: str, text: str) -> SafeString:
    """What a log or a node said; few values of it are words of ours."""
    word = _VALUES.get(name, {}).get(text)
    return escape(gettext(word)) if word is not None else named(text)


#: Of the name of a model what all of a maker's have, and what no two of ours are told apart by.
_LEFT_OUT = re.compile(r"(?i)nvidia|tesla|geforce|amd|instinct|intel|oam|hbm\d\w*")


def short_model(model: str) -> str:
    """ "NVIDIA-A100-SXM4-80GB" as "A100 SXM 80 GB": for tables, with the whole name as its title."""
    words = [word for word in re.split(r"[-_\s]+", model) if not _LEFT_OUT.fullmatch(word)]
    text = " ".join(word.upper() if re.fullmatch(r"[a-z]+\d+", word) else word for word in words)
    return re.sub(r"\b(\d+)GB\b", r"\1 GB", re.sub(r"\bSXM\d\b", "SXM", text)) or model
