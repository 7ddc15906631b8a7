"""Names of measurements, of what a log says and of what a node said of itself, as people read them.

They are stored and served as `gpu_first_evaluate`; here each blank is a blank, and what is known is said in the reader's language.
A name that stands in no list is shown as it is. A test holds the lists to what suites have measured and said.
"""

from __future__ import annotations

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from pages.frame.worded import named

MEASUREMENTS = (
    _("absolute error"),
    _("billion interactions per second"),
    _("bus bandwidth average"),
    _("bus bandwidth max"),
    _("cpu evaluate"),
    _("fps"),
    _("gflops"),
    _("gpu bind"),
    _("gpu evaluate"),
    _("gpu first evaluate"),
    _("gpu inferences per second"),
    _("gpu session"),
    _("load"),
    _("sims per second"),
    _("speed"),
    _("speedup"),
    _("time"),
)
FACTS = (
    _("blocks"),
    _("bodies"),
    _("compute capability"),
    _("cuda version"),
    _("dcgm version"),
    _("devices"),
    _("devices used"),
    _("driver version"),
    _("elements"),
    _("encoder"),
    _("frames"),
    _("gpu name"),
    _("iterations"),
    _("mig devices"),
    _("model name"),
    _("model path"),
    _("platforms"),
    _("precision"),
    _("ranks"),
    _("runtime version"),
    _("simulations"),
    _("slice gib"),
    _("tests"),
    _("threads per block"),
    _("unreadable"),
    _("vendor"),
    _("vgpu profile"),
)
#: Of suites; a command and REST take them as they are named there, and so they are read in English.
OPTIONS = (
    _("bodies"),
    _("cards"),
    _("deadline s"),
    _("encoder"),
    _("gpu memory mib"),
    _("host memory"),
    _("image"),
    _("iterations"),
    _("largest"),
    _("level"),
    _("model"),
    _("precision"),
    _("pull secret"),
    _("region"),
    _("resource"),
    _("run as user"),
    _("runtime class"),
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
