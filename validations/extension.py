"""What validations add to the inventory: labels of their pods, a finding, the launcher's permissions, and how it takes over."""

from __future__ import annotations

from inventory.extension import Extension
from validations.copies import take_over, told
from validations.declared import FINDINGS, POD_LABELS
from validations.wanted import wanted

EXTENSION = Extension("validations", POD_LABELS, FINDINGS, wanted, told, take_over)
