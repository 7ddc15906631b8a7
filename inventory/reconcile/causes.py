"""The finding of a node whose GPU software is not ready: what its first cause is, once that has lasted."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from inventory.components import NodeComponents
from inventory.health import judge
from inventory.reconcile.software import NOT_READY, StoredComponent, finding_text
from stacks.engine import base
from stacks.engine.software.base import CAUSES, Statement

#: Findings that say of a node what its first cause says better.
_SAME_FACT = frozenset(("plugin-not-ready", "label-without-resource"))


def with_cause(
    made: judge.Judged | None, parts: NodeComponents, stored: Iterable[StoredComponent], now: float
) -> judge.Judged | None:
    """With the finding of the first cause, in place of those that say the same by what they see of it.

    What may be over in a moment is said when it lasts: until then the node is to be looked at again.
    """
    cause = parts.statements.get(parts.first_cause)
    if made is None or cause is None or not is_cause(cause):
        return made
    report = made.report
    before = next((one for one in stored if one.name == parts.first_cause), None)
    since = _since(cause, before, now)
    if now < since + cause.patience:
        due = since + cause.patience
        recheck_at = due if report.recheck_at is None else min(due, report.recheck_at)
        return msgspec.structs.replace(made, report=msgspec.structs.replace(report, recheck_at=recheck_at))
    kept = [one for one in report.findings if one.code not in _SAME_FACT]
    found = base.Finding(code=NOT_READY, severity=base.ERROR, text=finding_text(parts.first_cause, cause))
    return msgspec.structs.replace(made, report=msgspec.structs.replace(report, findings=(*kept, found)))


def is_cause(found: Statement) -> bool:
    """Whether somebody has to mend it before other components work."""
    return found.state in CAUSES or found.explains


def _since(cause: Statement, before: StoredComponent | None, now: float) -> float:
    """Since when it is so, as far as was seen, or as the objects say."""
    if cause.state not in CAUSES:
        known = before is not None and before.step == cause.step and before.step_since is not None
        return before.step_since.timestamp() if known and before and before.step_since else now
    seen = before.state_since.timestamp() if before is not None and before.state == cause.state else now
    return seen if cause.since is None else min(seen, cause.since)
