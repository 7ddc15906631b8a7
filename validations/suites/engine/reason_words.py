"""What is said of a reason code: on pages, and in the docs."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

#: What a reason points to by itself. unknown: the run was ended, or not seen to its end; "": nothing.
PointsTo: TypeAlias = Literal["", "card", "driver or runtime", "image", "configuration", "scheduling", "unknown"]


class ReasonWords(msgspec.Struct, frozen=True):
    """A reason code in words. headline: the end of "Failed: …". action: what to do, for the docs.

    passes: it is over by itself, so a run may be asked to wait for it. refusal: it lies in the cluster's rules for the launcher and
    not in the place; of_credentials: of these, what is over as soon as the cluster takes the launcher's credentials. points_to: what
    is suspected where nothing else is known (`validations.suspect`).
    """

    code: str
    headline: str
    action: str
    passes: bool = False
    refusal: bool = False
    of_credentials: bool = False
    points_to: PointsTo = ""
