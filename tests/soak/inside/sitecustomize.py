"""Loaded by every process of the soak (PYTHONPATH): says each second how much memory it has in use.

Resident memory has more: the pages that a peak left half empty between blocks that stay. It rises for hours after what is in use
is level, so a small leak cannot be seen in it.

Writes `PID` in the folder of $GPUDASH_SOAK_IN_USE: MiB of the C library's blocks, and Python's small blocks in thousands.
"""

import ctypes
import os
import sys
import threading
import time
from pathlib import Path

_NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Info(ctypes.Structure):
    """`struct mallinfo2` of glibc's malloc.h."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in _NAMES.split())


def _say(folder: Path) -> None:
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = _Info
    file = folder / str(os.getpid())
    while True:
        info = ask()
        text = f"{(info.uordblks + info.hblkhd) / 2**20:.2f} {sys.getallocatedblocks() / 1000:.1f}"
        beside = file.with_suffix(".new")
        beside.write_text(text)
        beside.replace(file)
        time.sleep(1)


def _start() -> None:
    folder = Path(os.environ["GPUDASH_SOAK_IN_USE"])
    threading.Thread(target=_say, args=(folder,), name="in use", daemon=True).start()


if "GPUDASH_SOAK_IN_USE" in os.environ:
    _start()
    os.register_at_fork(after_in_child=_start)  # A thread does not come along.
