"""What is said of a reason code: on pages, and in the docs."""

from __future__ import annotations

import msgspec


class ReasonWords(msgspec.Struct, frozen=True):
    """A reason code in words. headline: the end of "Failed: …". action: what to do, for the docs.

    passes: it is over by itself, so a run may be asked to wait for it. refusal: it lies in the cluster's rules for the launcher and
    not in the place; of_credentials: of these, what is over as soon as the cluster takes the launcher's credentials.
    """

    code: str
    headline: str
    action: str
    passes: bool = False
    refusal: bool = False
    of_credentials: bool = False
