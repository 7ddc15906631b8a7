"""What a mark of a node is, and the names of our own."""

from __future__ import annotations

import msgspec

#: Our taint: its value is the id of a case.
TAINT = "gpudash.io/failed-validation"
#: Our annotation beside it: why, as JSON {"cases": [{"id", "by", "at", "reason", "run", "card", "was"}]}.
ANNOTATION = "gpudash.io/out-of-service"
#: As whom we write to nodes, in `metadata.managedFields`.
FIELD_MANAGER = "gpudash-quarantine"
#: The value of `tool` of our marks, and of those whose tool is not known.
OURS, UNKNOWN = "gpudash", ""

CORDON, TAINTED, CONDITION, LABEL = "cordon", "taint", "condition", "label"


class Mark(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """By what a node is kept from pods, or said to be bad.

    kind: "cordon", "taint", "condition" or "label". tool: by the table of `inventory.marks.known`; "" for an unknown one. key, value,
    effect: as they stand on the node; of a cordon "". by: who wrote it, where the mark says so; `hint`: by managedFields alone.
    reason: in the words of the tool. since: RFC 3339. case: of a mark of ours, the id that it names. blocks: it keeps GPU pods away.
    """

    kind: str
    tool: str = UNKNOWN
    key: str = ""
    value: str = ""
    effect: str = ""
    by: str = ""
    hint: bool = False
    reason: str = ""
    since: str = ""
    case: str = ""
    blocks: bool = False

    @property
    def ours(self) -> bool:
        return self.tool == OURS
