"""Validation suites, one module each, and their registry. `engine` is the machinery, `families` how each sharing system gives a run a
card, `shared` what several suites have in common.

To add a suite is to add its module and to name it in `MODULES`; docs/develop.md has the whole list. Nothing here imports Django or
does I/O beyond importing its own modules.
"""

from __future__ import annotations

from types import MappingProxyType

from validations.suites import families
from validations.suites.engine import placement
from validations.suites.engine.base import Suite
from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.reasons import REASONS
from validations.suites.engine.registration import load, load_families, reasons_of

#: The modules of this package that are suites. A suite's id is the name of its module with "-" for "_".
MODULES = (
    "cuda_devicequery",
    "cuda_montecarlo",
    "cuda_nbody",
    "cuda_vectoradd",
    "dcgm_diag",
    "directx_device_discovery",
    "directx_directml",
    "directx_ffmpeg",
    "directx_opencl_enum",
    "directx_vulkaninfo",
    "nccl_allreduce",
    "nvidia_smi",
    "winml_tinyyolov2",
)
# Families first: a suite that names one, or asks which have an API, finds them registered.
placement.registry.populate(load_families(f"{__name__}.families", families.MODULES))
_SUITES = load(__name__, MODULES)
_REASONS = reasons_of(REASONS, _SUITES)


def registry() -> MappingProxyType[str, Suite]:
    """All suites by id, in the order of their ids."""
    return _SUITES


def find(suite_id: str) -> Suite | None:
    """The suite of this id, None when there is none."""
    return _SUITES.get(suite_id)


def reasons() -> MappingProxyType[str, ReasonWords]:
    """Every reason code that a run can have, with its words: those of all suites and those of each."""
    return _REASONS
