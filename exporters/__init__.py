"""What the cards themselves say: samples of exporters → measurements of cards. Pure: no Django, no network, no clock.

One module an exporter, beside `engine`, the machinery; an exporter is added by its module and its name in MODULES. What a
collector needs is here: `recognise` which exporters there are, ask for `Found.names`, turn what comes into samples
(`read_answer`, `read_page`), give them to a `Reader`, and take its `Report`. `xid` says what error codes mean, `conditions`
what a node's own conditions say of its cards.
"""

from __future__ import annotations

from collections.abc import Iterable

from exporters.engine.answers import Answer, read_answer
from exporters.engine.context import Context
from exporters.engine.format import Format, Found, selector
from exporters.engine.measures import ALLOCATIONS, MEASURES
from exporters.engine.pages import page_names, read_page
from exporters.engine.problems import CODES, Problem, Told
from exporters.engine.reader import Reader
from exporters.engine.readings import CardReading, Holder, Report, Source, Value
from exporters.engine.recognition import recognised
from exporters.engine.registration import load
from exporters.engine.samples import Sample, stamped

__all__ = [
    "ALLOCATIONS",
    "CODES",
    "FORMATS",
    "MEASURES",
    "MODULES",
    "Answer",
    "CardReading",
    "Context",
    "Format",
    "Found",
    "Holder",
    "Problem",
    "Reader",
    "Report",
    "Sample",
    "Source",
    "Told",
    "Value",
    "page_names",
    "read_answer",
    "read_page",
    "recognise",
    "selector",
    "stamped",
]

#: Where two have the same names and nothing says which it is, the first counts.
MODULES = (
    "dcgm_exporter",
    "ack_gpu_exporter",
    "hami_monitor",
    "hami_scheduler",
    "volcano_vgpu",
    "koordinator",
    "amd_exporter",
    "intel_xpumd",
    "ascend_npu_exporter",
    "nvidia_smi_exporter",
    "windows_exporter",
    "all_smi_exporter",
    "gke_device_plugin",
)

#: All formats, in that order.
FORMATS: tuple[Format, ...] = load(__name__, MODULES)


def recognise(names: Iterable[str], exporter: str = "", *, page: bool = False) -> tuple[Found, ...]:
    """The formats of which something is among these names of metrics.

    exporter: the name of the format that the target is known to have, "" where it is not known. page: the names are those of
    one target.
    """
    return recognised(FORMATS, names, exporter, page=page)
