"""One card that a DRA driver offers: its DeviceTaintRule beside its case.

The rule is made with the effect None, whose answer is kept; then it is changed to NoSchedule.
A device may have another name after a restart of its driver. The rule is compared with the card's UUID each time: one that names
another card now is deleted, after the row says that it is to be made again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from kube.claims import GROUP
from kube.client import ApiError
from quarantine import devices, moves
from quarantine.calls import Api, Rule
from quarantine.devices import NO_SCHEDULE, NONE
from quarantine.models import Case, CaseState, ReturnReason
from quarantine.nodes import in_cluster
from wording.said import cut, sentence

#: How long the answer of a dry run is waited for.
ANSWER = timedelta(seconds=30)
#: A server that has no effect None refuses it.
_INVALID = (400, 422)


class Cards:
    """The rules of one cluster, read once for a pass."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.version, self._rules = api.rules()

    def step(self, case: Case, at: datetime) -> None:
        """Raises ApiError."""
        if not self.version:
            moves.waits(case, at, sentence("The cluster has no device taint rules ({group}).", group=GROUP))
            return
        rule = self._rules.get(case.pk)
        if case.state != CaseState.RETURNING and not in_cluster(case.cluster_id, case.node_name):
            moves.begin_return(case, ReturnReason.NODE_REMOVED, at)
        if case.state == CaseState.RETURNING:
            if rule is not None:
                self._api.delete_rule(self.version, rule)
            moves.returned(case, at, None)
        elif case.state == CaseState.OUT and rule is None:
            moves.begin_return(case, ReturnReason.BY_HAND, at)
        else:
            self._keep(case, rule, at)

    def _keep(self, case: Case, rule: Rule | None, at: datetime) -> None:
        device = devices.device_of(self._api.slices(case.node_name), case.node_name, case.card_uuid)
        if rule is not None and device and _named(rule) != device:
            self._anew(case, rule, at)
        elif not device:
            self._lost(case, at)
        elif rule is None:
            self._create(case, device, at)
        elif rule.spec.taint.effect == NONE:
            self._enforce(case, rule, at)
        elif case.state == CaseState.ACCEPTED:
            moves.marked(case, at, {"device": device, "effect": rule.spec.taint.effect})
        else:
            moves.seen(case, at)

    def _anew(self, case: Case, rule: Rule, at: datetime) -> None:
        """Row first: without its rule the case is to be marked, not returned by hand. The next pass makes the rule."""
        if case.state == CaseState.OUT and not moves.move(
            case, CaseState.OUT, at, state=CaseState.ACCEPTED, next_look_at=None
        ):
            return
        self._api.delete_rule(self.version, rule)

    def _lost(self, case: Case, at: datetime) -> None:
        """Its driver may restart: a rule that is there stays."""
        moves.waits(
            case,
            at,
            sentence(
                "No DRA driver offers the card {uuid} on node {node} now.", uuid=case.card_uuid, node=case.node_name
            ),
        )

    def _create(self, case: Case, device: devices.Json, at: datetime) -> None:
        moves.note(case, device=device | {"version": self.version}, dry_run="", next_look_at=None)
        try:
            self._api.create_rule(devices.rule(case.pk, device, self.version, NONE))
        except ApiError as error:
            if error.status not in _INVALID:
                raise
            moves.note(case, dry_run=sentence("This API server has no dry run of device taints."))
            self._api.create_rule(devices.rule(case.pk, device, self.version, NO_SCHEDULE))

    def _enforce(self, case: Case, rule: Rule, at: datetime) -> None:
        answer = answer_of(rule)
        if not answer and at < case.state_since + ANSWER:
            moves.waits(case, at, sentence("Waiting for the answer of the dry run."), again=None)
            return
        moves.note(
            case, dry_run=cut(answer or sentence("The cluster gave no answer within {seconds} s.", seconds=30), 1000)
        )
        self._api.patch_rule(self.version, rule, {"spec": {"taint": {"effect": NO_SCHEDULE}}})


def answer_of(rule: Rule) -> str:
    """What the API server says that the rule does, or would do."""
    found = (rule.status.conditions if rule.status else None) or ()
    return next((one.message or "" for one in found if one.type == "EvictionInProgress"), "")


def _named(rule: Rule) -> devices.Json:
    selector = rule.spec.deviceSelector
    return {name: getattr(selector, name) for name in ("driver", "pool", "device")} if selector else {}
