"""Accounts: who there is, with which role and for what, how they sign in, and when they last did. For administrators."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import Group, User
from django.db.models import (
    Case,
    CharField,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiToken
from accounts.roles import Role
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, SearchFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains

#: Of the filter: without a role. An account of an issuer is known by the issuer's address, which is nobody's business here.
NO_ROLE = "none"
PASSWORD, ISSUER, PROXY, NOTHING = "password", "oidc", "proxy", "none"
SOURCES = (PASSWORD, ISSUER, PROXY, NOTHING)


class UserAccount(Shape):
    """An account. What it may do is never more than this says; tokens may less."""

    id: Annotated[int, fact("Number of the account in gpudash.")]
    name: Annotated[str, fact(of="username", order=True, title=_("Name"))]
    role: Annotated[str | None, fact("null: it signs in and sees nothing.", of="account_role", title=_("Role"))]
    places: Annotated[
        list[str],
        fact(
            "What the role is for: cluster, cluster/namespace, */namespace. Empty: everything.",
            of="account_places",
            title=_("For"),
        ),
    ]
    active: Annotated[
        bool, fact("false: it signs in nowhere and has no session and no token.", of="is_active", title=_("State"))
    ]
    kept_by: Annotated[
        str,
        fact(
            "password, oidc, proxy: by what it signs in; none: it has no password. Groups give those of oidc and proxy their role.",
            title=_("Signs in by"),
        ),
    ]
    second_step: Annotated[
        bool, fact("Whether a code is asked for after the password.", of="has_second_step", title=_("Second step"))
    ]
    tokens: Annotated[
        int, fact("API tokens that work.", of="working_tokens", order=True, title=_("Tokens"), number=True)
    ]
    created_at: Annotated[datetime, fact(of="date_joined", order=True, title=_("Created"))]
    signed_in_at: Annotated[datetime | None, fact("null: never.", of="last_login", order=True, title=_("Signed in"))]


def _role(rows: Any, _name: str, words: list[str]) -> Any:
    return rows.filter(account_role__in=["" if word == NO_ROLE else word for word in words]) if words else rows


_UNUSABLE = Q(password__startswith=UNUSABLE_PASSWORD_PREFIX)
_KEPT_BY = {
    PASSWORD: Q(provider="") & ~_UNUSABLE,
    ISSUER: Q(provider__startswith=ISSUER),
    PROXY: Q(provider=PROXY),
    NOTHING: Q(provider="") & _UNUSABLE,
}


def _kept_by(rows: Any, _name: str, words: list[str]) -> Any:
    wanted = Q()
    for word in words:
        wanted |= _KEPT_BY[word]
    return rows.filter(wanted)


class UserFilter(StrictFilterSet):
    q = SearchFilter(method=contains("username"), label="free search: part of the name")
    role = ChoiceFilter((*Role.values, NO_ROLE), "role", method=_role, label="role; none: without one")
    active = YesNoFilter("is_active", method="by_active", default="any", label="false: deactivated ones")
    limited = YesNoFilter(
        "scope_text", method="by_scope", default="any", label="true: whose role is for some places only"
    )
    kept_by = ChoiceFilter(SOURCES, "kept_by", method=_kept_by, label="by what it signs in")

    orders: ClassVar[dict[str, str]] = orders_of(UserAccount)
    default_order = ("name",)

    class Meta(StrictFilterSet.Meta):
        model = User
        fields: ClassVar[list[str]] = []

    def by_active(self, rows: Any, _name: str, value: str) -> Any:
        return rows if value == "any" else rows.filter(is_active=value == "true")

    def by_scope(self, rows: Any, _name: str, value: str) -> Any:
        found = {"true": ~Q(scope_text=""), "false": Q(scope_text="")}.get(value)
        return rows if found is None else rows.filter(found)


def users() -> QuerySet[User]:
    """All accounts, with what is told of them. The role is the highest, as `accounts.roles.granted` has it."""
    groups = Group.objects.filter(user=OuterRef("pk"))
    in_group = [When(Exists(groups.filter(name=role.value)), then=Value(role.value)) for role in reversed(Role)]
    working = ApiToken.objects.filter(user_id=OuterRef("pk"), revoked_at=None, expires_at__gt=timezone.now())
    counted = working.order_by().values("user_id").annotate(n=Count("pk")).values("n")
    sources = SocialAccount.objects.filter(user_id=OuterRef("pk")).order_by("pk").values("provider")[:1]
    codes = Authenticator.objects.filter(user_id=OuterRef("pk"), type=Authenticator.Type.TOTP)
    return User.objects.annotate(
        account_role=Case(
            When(is_superuser=True, then=Value(Role.ADMIN.value)),
            *in_group,
            default=Value(""),
            output_field=CharField(),
        ),
        scope_text=Coalesce(F("scope__places"), Value(""), output_field=TextField()),
        working_tokens=Coalesce(Subquery(counted, output_field=IntegerField()), Value(0)),
        provider=Coalesce(Subquery(sources, output_field=CharField()), Value("")),
        has_second_step=Exists(codes),
    )


def _joined(rows: list[Any]) -> list[Any]:
    for row in rows:
        row.account_places = row.scope_text.split()
        own = PASSWORD if row.has_usable_password() else NOTHING
        row.kept_by = ISSUER if row.provider.startswith(ISSUER) else row.provider or own
    return rows


USERS = Resource(
    "users",
    UserAccount,
    UserFilter,
    users,
    csv=("id", "name", "role", "places", "active", "kept_by", "second_step", "tokens", "created_at", "signed_in_at"),
    table=("name", "role", "signed_in_at", "tokens", "active"),
    join=_joined,
)
