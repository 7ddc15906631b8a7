"""Validation suites, one module each, and their registry. `engine` is the machinery, `families` how each stack gives a run a card,
`shared` what several suites have in common.

To add a suite is to add its module and its line in SUITES; CONTRIBUTING.md has the whole list. Nothing here imports Django or does
I/O beyond importing its own modules.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

# First: a suite that asks which families have an API finds them.
import validations.suites.families  # noqa: F401

# isort: split
from validations.suites import (
    cuda_devicequery,
    cuda_montecarlo,
    cuda_nbody,
    cuda_vectoradd,
    dcgm_diag,
    directx_device_discovery,
    directx_directml,
    directx_ffmpeg,
    directx_opencl_enum,
    directx_vulkaninfo,
    gpu_burn,
    hip_vectoradd,
    nccl_allreduce,
    nccl_multinode,
    nvbandwidth,
    nvidia_smi,
    rccl_allreduce,
    rocm_smi,
    rocm_validation_suite,
    winml_tinyyolov2,
)
from validations.suites.engine.base import Suite
from validations.suites.engine.placement import registry as families
from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.reasons import REASONS

#: A suite's id is the name of its module with "-" for "_".
SUITES: tuple[Suite, ...] = (
    cuda_devicequery.SUITE,
    cuda_montecarlo.SUITE,
    cuda_nbody.SUITE,
    cuda_vectoradd.SUITE,
    dcgm_diag.SUITE,
    directx_device_discovery.SUITE,
    directx_directml.SUITE,
    directx_ffmpeg.SUITE,
    directx_opencl_enum.SUITE,
    directx_vulkaninfo.SUITE,
    gpu_burn.SUITE,
    hip_vectoradd.SUITE,
    nccl_allreduce.SUITE,
    nccl_multinode.SUITE,
    nvbandwidth.SUITE,
    nvidia_smi.SUITE,
    rccl_allreduce.SUITE,
    rocm_smi.SUITE,
    rocm_validation_suite.SUITE,
    winml_tinyyolov2.SUITE,
)
_SUITES = MappingProxyType({suite.id: suite for suite in SUITES})
_OWN_REASONS = {one.code: one for suite in SUITES for one in suite.reasons}
_REASONS = MappingProxyType(dict(sorted((REASONS | _OWN_REASONS).items())))


def registry() -> MappingProxyType[str, Suite]:
    """All suites by id, in the order of their ids."""
    return _SUITES


def find(suite_id: str) -> Suite | None:
    """The suite of this id, None when there is none."""
    return _SUITES.get(suite_id)


def confirming(resources: Collection[str]) -> dict[str, Mapping[str, str | int]]:
    """Suites that confirm a fault of a card, with their options, and that ask for one of these resources."""
    return {
        suite.id: suite.confirms
        for suite in SUITES
        if suite.confirms is not None
        and any(families.families[name].has(one, ()) for name in suite.families for one in resources)
    }


def reasons() -> MappingProxyType[str, ReasonWords]:
    """Every reason code that a run can have, with its words: those of all suites and those of each."""
    return _REASONS
