"""/api/v1/notification-rules: look, preview, make, change, delete. For administrators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.required import needs
from accounts.roles import Role
from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import body_of
from api.notifications.base import found
from api.validations.base import MADE_AT, problems
from inventory.models.choices import Severity
from notifications import manage, reading
from notifications.manage import RuleDraft
from notifications.models import Rule
from resources.declared import filled
from resources.notification import RULES, RulePreview, RuleShape, TopicShape
from validations.planning import Refused

LISTED = 100
_SCOPE = "As in users. Empty: everything."
_ABOUT = "Kinds of topics: finding, cluster, validation, policy, campaign, out-of-service, installation."


class RuleBody(msgspec.Struct, frozen=True, kw_only=True):
    """A rule. It first reports what is active when it is created."""

    name: str
    channel: Annotated[str, Meta(description="Name of the channel.")]
    about: Annotated[list[str], Meta(description=_ABOUT)]
    codes: Annotated[list[str], Meta(description="Codes of findings. Empty: all.")] = []
    least_severity: Annotated[str, Meta(description="error, warning or info.")] = Severity.WARNING.value
    scope: Annotated[list[str], Meta(description=_SCOPE)] = []
    digest: Annotated[str | None, Meta(description="null: at once; hourly or daily.")] = None
    digest_hour: Annotated[int, Meta(description="Local hour of a daily digest.")] = 8
    time_zone: str = "UTC"


class RuleChange(msgspec.Struct, frozen=True, kw_only=True):
    """Fields to change; omitted fields stay. What was sent is not sent again."""

    name: str | UnsetType = UNSET
    channel: str | UnsetType = UNSET
    about: list[str] | UnsetType = UNSET
    codes: list[str] | UnsetType = UNSET
    least_severity: str | UnsetType = UNSET
    scope: list[str] | UnsetType = UNSET
    digest: str | UnsetType | None = UNSET
    digest_hour: int | UnsetType = UNSET
    time_zone: str | UnsetType = UNSET
    paused: bool | UnsetType = UNSET


@needs(Role.ADMIN)
class Rules(ListView):
    resource = RULES
    write_role = Role.ADMIN
    told_of = ("name", "channel")

    @listed(RULES, "Rules by name. Role admin")
    def get(self, request: Request) -> Any:
        return self.list(request)

    @extend_schema(
        summary="Create a rule; it reports at once what is active. Role admin",
        parameters=[MADE_AT],
        request=RuleBody,
        responses={201: RuleShape},
    )
    def post(self, request: Request) -> Response:
        draft = _draft(msgspec.structs.asdict(body_of(request, RuleBody)))
        with _problems():
            row = manage.create_rule(draft, request.user)
        return Response(_told(row), status=201, headers={"Location": f"/api/v1/notification-rules/{row.pk}"})


@needs(Role.ADMIN)
class RuleDetail(ApiView):
    write_role = Role.ADMIN

    @extend_schema(summary="One rule. Role admin", responses=RuleShape)
    def get(self, request: Request, rule_id: str) -> Response:
        return Response(_told(_rule(rule_id)))

    @extend_schema(summary="Change, pause or resume a rule. Role admin", request=RuleChange, responses=RuleShape)
    def patch(self, request: Request, rule_id: str) -> Response:
        row, change = _rule(rule_id), body_of(request, RuleChange)
        given = {name: value for name, value in msgspec.structs.asdict(change).items() if value is not UNSET}
        paused = given.pop("paused", None)
        with _problems():
            if given:
                before = msgspec.structs.asdict(manage.rule_draft(row))
                before["scope"] = before.pop("places").splitlines()
                manage.change_rule(row, _draft(before | given))
            if paused is not None:
                manage.pause_rule(row, paused)
        return Response(_told(_rule(rule_id)))

    @extend_schema(summary="Delete a rule; its deliveries stay. Role admin", responses={204: None})
    def delete(self, request: Request, rule_id: str) -> Response:
        manage.remove_rule(_rule(rule_id))
        return Response(status=204)


@needs(Role.ADMIN)
class RulePreviewed(ApiView):
    write_role = Role.ADMIN

    @extend_schema(
        summary="Preview a rule: what it would report now. Nothing is sent. Role admin",
        request=RuleBody,
        responses=RulePreview,
    )
    def post(self, request: Request) -> Response:
        draft = _draft(msgspec.structs.asdict(body_of(request, RuleBody)))
        with _problems():
            topics = manage.preview(draft)
        listed_ = [filled(TopicShape, one) for one in topics[:LISTED]]
        return Response(RulePreview(topics=len(topics), things=sum(one.loud for one in topics), listed=listed_))


@contextmanager
def _problems() -> Iterator[None]:
    """What is refused, by the names of `RuleBody`."""
    with problems():
        try:
            yield
        except Refused as error:
            raise Refused(
                {"scope" if name == "places" else name: texts for name, texts in error.problems.items()}
            ) from None


def _draft(given: dict[str, Any]) -> RuleDraft:
    """given: as `RuleBody` names it."""
    scope, digest = given.pop("scope"), given.pop("digest")
    return RuleDraft(**given, places="\n".join(scope), digest=digest or "")


def _rule(rule_id: str) -> Rule:
    return found(reading.rules(), rule_id, "rule", "notification-rules")


def _told(row: Rule) -> Any:
    return RULES.fill([row], {})[0]
