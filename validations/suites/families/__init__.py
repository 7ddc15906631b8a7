"""The resource families that a run can ask for: one module for each sharing system, of the name that it has in `stacks`.

A module has `FAMILIES`, a tuple of `engine.family.Family`. A system is added by its module and its name in MODULES; suites that need
an API which one of its families has can run there then. No module imports another, and the engine imports none; `validations.suites`
registers them.
"""

#: Of two systems that would serve the same resource, as a setting can have it, the first does.
MODULES = (
    "gpushare",
    "hami",
    "nvidia",
    "kubernetes_alpha",
    "directx_alibaba",
    "directx_microsoft",
    "directx_tensorworks",
)
