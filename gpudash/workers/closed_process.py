"""A worker closes itself to other processes of its user: what it has in memory, its environment, and the files that only it sees.

The services of one host have one user. systemd hides folders of credentials from those that need none, but on Linux a process looks
into another of its user by /proc/PID (root, environ, mem), unless that one is "not dumpable" (prctl(2), PR_SET_DUMPABLE). What a
worker starts (a credential plugin) is dumpable again.
"""

from __future__ import annotations

import ctypes
import sys

_PR_SET_DUMPABLE = 4


def close_to_others() -> bool:
    """Whether it was done; elsewhere than on Linux there is no such thing."""
    if sys.platform != "linux":
        return False
    return bool(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
