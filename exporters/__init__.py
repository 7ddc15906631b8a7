"""What the cards themselves say: samples of exporters → measurements of cards. Pure: no Django, no network, no clock.

One module an exporter, beside `engine`, the machinery; an exporter is added by its module and its line in FORMATS. What a
collector needs is here: `recognise` which exporters there are, ask for `Found.names`, turn what comes into samples
(`read_answer`, `read_page`), give them to a `Reader`, and take its `Report`. `xid` says what error codes mean, `conditions`
what a node's own conditions say of its cards.
"""

from __future__ import annotations

from collections.abc import Iterable

from exporters import (
    ack_gpu_exporter,
    all_smi_exporter,
    amd_exporter,
    ascend_npu_exporter,
    dcgm_exporter,
    gke_device_plugin,
    hami_monitor,
    hami_scheduler,
    intel_xpumd,
    koordinator,
    nvidia_smi_exporter,
    volcano_vgpu,
    windows_exporter,
)
from exporters.engine.answers import Answer, read_answer
from exporters.engine.context import Context
from exporters.engine.format import Format, Found, selector
from exporters.engine.measures import ALLOCATIONS, MEASURES
from exporters.engine.pages import page_names, read_page
from exporters.engine.problems import CODES, Problem, ProblemCounts
from exporters.engine.reader import Reader
from exporters.engine.readings import CardReading, Holder, Report, Source, Value
from exporters.engine.recognition import recognised
from exporters.engine.samples import Sample, stamped

__all__ = [
    "ALLOCATIONS",
    "CODES",
    "FORMATS",
    "MEASURES",
    "Answer",
    "CardReading",
    "Context",
    "Format",
    "Found",
    "Holder",
    "Problem",
    "ProblemCounts",
    "Reader",
    "Report",
    "Sample",
    "Source",
    "Value",
    "page_names",
    "read_answer",
    "read_page",
    "recognise",
    "selector",
    "stamped",
]

#: All formats. Where two have the same names and nothing says which it is, the first counts.
FORMATS: tuple[Format, ...] = (
    dcgm_exporter.FORMAT,
    ack_gpu_exporter.FORMAT,
    hami_monitor.FORMAT,
    hami_scheduler.FORMAT,
    volcano_vgpu.FORMAT,
    koordinator.FORMAT,
    amd_exporter.FORMAT,
    intel_xpumd.FORMAT,
    ascend_npu_exporter.FORMAT,
    nvidia_smi_exporter.FORMAT,
    windows_exporter.FORMAT,
    all_smi_exporter.FORMAT,
    gke_device_plugin.FORMAT,
)


def recognise(names: Iterable[str], exporter: str = "", *, page: bool = False) -> tuple[Found, ...]:
    """The formats of which something is among these names of metrics.

    exporter: the name of the format that the target is known to have, "" where it is not known. page: the names are those of
    one target.
    """
    return recognised(FORMATS, names, exporter, page=page)
