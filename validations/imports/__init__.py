"""Results of other tools, one module per format, and their registry: bytes → what they state. Pure: no Django, no I/O.

To add a format is to add its module with `FORMAT`, its line in FORMATS and its cases in tests/validations/imports/golden/.
"""

from __future__ import annotations

from types import MappingProxyType

from validations.imports import (
    dcgmi_diag,
    junit,
    nvcre_report,
    nvsentinel_cloudevent,
    nvsentinel_validationrequest,
    superbench_diagnosis,
    superbench_results,
)
from validations.imports.engine.statement import Format

FORMATS: tuple[Format, ...] = (
    dcgmi_diag.FORMAT,
    superbench_results.FORMAT,
    superbench_diagnosis.FORMAT,
    nvcre_report.FORMAT,
    nvsentinel_validationrequest.FORMAT,
    nvsentinel_cloudevent.FORMAT,
    junit.FORMAT,
)
_FORMATS = MappingProxyType({one.name: one for one in FORMATS})


def registry() -> MappingProxyType[str, Format]:
    """All formats by name, in the order of FORMATS."""
    return _FORMATS


def find(name: str) -> Format | None:
    """The format of this name, None when there is none."""
    return _FORMATS.get(name)
