"""What validations add to clusters: the launcher's permissions, whether this database is a copy, and how it takes over."""

from __future__ import annotations

from inventory.clusters import Addition
from validations.copies import take_over, told
from validations.wanted import wanted

ADDITION = Addition(wanted, told, take_over)
