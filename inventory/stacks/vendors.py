"""Vendors of accelerators whose resources no module here reads: they are recognised, and said to be not understood.

A vendor that gets a module of its own is declared there and no longer here.
"""

from __future__ import annotations

from inventory.stacks.engine.stack import Recognised

RECOGNISED = Recognised(
    name="vendors",
    resource_prefixes=(
        "habana.ai/",
        "hygon.com/",
        "cambricon.com/",
        "iluvatar.ai/",
        "iluvatar.com/",
        "mthreads.com/",
        "metax-tech.com/",
        "kunlunxin.com/",
        "enflame.com/",
        "vastaitech.com/",
        "birentech.com/",
        "aws.amazon.com/neuron",
    ),
)
