"""The resource families that a run can ask for: one module for each stack, of the name that it has in `stacks`.

A module has `FAMILIES`, a tuple of `engine.family.Family`. A stack is added by its module and its line in FAMILIES; suites that need
an API which one of its families has can run there then. No module imports another, and the engine imports none.
"""

from __future__ import annotations

from validations.suites.engine.family import Family
from validations.suites.engine.placement import registry
from validations.suites.families import (
    amd,
    directx_alibaba,
    directx_microsoft,
    directx_tensorworks,
    gpushare,
    hami,
    kubernetes_alpha,
    nvidia,
)

#: Of two stacks that would serve the same resource, as a setting can have it, the first does.
FAMILIES: tuple[Family, ...] = (
    *gpushare.FAMILIES,
    *hami.FAMILIES,
    *nvidia.FAMILIES,
    *kubernetes_alpha.FAMILIES,
    *directx_alibaba.FAMILIES,
    *directx_microsoft.FAMILIES,
    *directx_tensorworks.FAMILIES,
    *amd.FAMILIES,
)

registry.populate(FAMILIES)
