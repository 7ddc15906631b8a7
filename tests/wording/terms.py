"""One word per thing: what must not stand in a text, and what stands there instead.

A term is left out where its word has another, plain sense that no rule tells from ours. EXCEPTIONS name the rest, with a reason.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Term(NamedTuple):
    """pattern: of words that must not stand there, in any case. use: what to write instead."""

    pattern: re.Pattern[str]
    use: str


def _term(words: str, use: str) -> Term:
    return Term(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), use)


TERMS = (
    _term(r"sharing systems?", "stack"),
    _term(r"hold|holds|holding|holders?|held|unheld", "allocation, allocated, allocated to"),
    _term(r"promis(?:e|es|ed)|giv(?:e|es|en|ing) out|given to nobody|gave out", "allocate, allocated"),
    _term(r"taken (?:away|back)|take (?:away|back)|takes? up", "removed, reclaimed, started"),
    _term(r"ask(?:s|ed|ing)? for|asks|asked", "request"),
    _term(r"(?:is|are) wanted|as wanted", "must be"),
    _term(r"says?|said|saying|tells?|told|telling|speaks?|spoke|spoken|speaking", "report"),
    _term(r"nobody|somebody|whoever|anybody", "name the actor"),
    _term(r"rooms?|wholly free", "free"),
    _term(r"gaps?|pieces?", "largest free block, slice, share"),
    _term(r"apart|kept off|keeps? off", "unavailable"),
    _term(r"over-commit\w*|promised too much", "overcommitted"),
    _term(r"waits|(?:pods?|runs?) (?:that )?wait(?:ing)?|waited", "pending, queued"),
    _term(r"(?:signs? of|without|no|shows?|shown|seen) work|work seen|busy", "activity"),
    _term(r"unnamed|unplaced", "unidentified"),
    _term(r"not known|never known|is known|are known|known (?:by|from)|not told|not said", "unknown, identified by"),
    _term(
        r"in step|(?:no|without|last|of|any|a) word|silent(?:ly)?|nobody watches", "in sync, not reporting, last update"
    ),
    _term(r"anew", "again, relist"),
    _term(r"sick|is well|are well|how well|not well", "healthy, unhealthy"),
    _term(r"proven|proof|proofs|unproven|proved", "validated"),
    _term(r"not reached", "not tested"),
    _term(r"second step", "two-factor authentication (2FA)"),
    _term(r"places", "scope, targets"),
    _term(r"holes?|mend(?:s|ed|ing)?|borne", "vulnerability, fix, supported"),
    _term(r"gone|went away", "deleted, removed"),
    _term(r"mirror(?:s|ed|ing)?", "synced data"),
    _term(r"beg(?:ins?|an|un|inning)", "start"),
    _term(r"goes on|go on|went on|going on", "continue"),
    _term(r"look(?:s|ed|ing)? (?:at|whether|after)", "check"),
    _term(r"of late|by itself|by themselves", "recently, automatically"),
    Term(re.compile(r"\w\(s\)"), "a real plural"),
)


class Exceptional(NamedTuple):
    """word: in lower case. pattern: of place and text, "PLACE TEXT", in which it may stand. why: the reason."""

    word: str
    pattern: str
    why: str


EXCEPTIONS = (
    Exceptional("holds", "No watch worker holds the lease", "Kubernetes' word for leases"),
    Exceptional("holder", "by lease holder", "Kubernetes' word for leases"),
    Exceptional("is known", "Nothing is known about the card", "plain sense: no source is meant"),
    Exceptional("silent", r"^/components/schemas/(Cluster|Watch)/properties/state", "a value of REST"),
    Exceptional("silent", r"^/components/schemas/Allocation/properties/usage_note", "a value of REST"),
    Exceptional(
        "silent",
        r"^docs/reference/csv\.md:\d+ .*usage_note|^docs/reference/csv\.md:\d+ .*not-collected, silent",
        "a value of REST",
    ),
    Exceptional(
        "gone", r"^/components/schemas/(ChannelShape|DeliveryTry)/properties/(state|outcome)", "a value of REST"
    ),
    Exceptional("silent", r"curl --silent", "an option of curl"),
    *(
        Exceptional(word, r"^docs/reference/findings\.md:\d+ [a-z-]+$", "part of a finding's code")
        for word in ("over-committed", "promised", "gone", "asked", "silent")
    ),
    Exceptional("mirror", r"^(docs/design|CONTRIBUTING)\.md", "the architecture names the package"),
)
