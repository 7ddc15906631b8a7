"""What the quarantine adds to the inventory: what its account may have to do in a cluster, and what is to be said of one."""

from __future__ import annotations

from inventory.extension import Extension
from quarantine.told import told
from quarantine.wanted import wanted

EXTENSION = Extension("quarantine", (), {}, wanted, told)
