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
    """An account. Its tokens may have fewer permissions."""

    id: Annotated[int, fact("ID of the account.")]
    name: Annotated[str, fact(of="username", order=True, title=_("Name"))]
    role: Annotated[str | None, fact("null: no access.", of="account_role", title=_("Role"))]
    scope: Annotated[
        list[str],
        fact(
            "Scope of the role: cluster, cluster/namespace, */namespace. Empty: all clusters.",
            of="account_places",
            title=_("Scope"),
        ),
    ]
    active: Annotated[bool, fact("false: deactivated, without sessions and tokens.", of="is_active", title=_("State"))]
    sign_in_method: Annotated[
        str,
        fact(
            "Sign-in method: password, oidc, proxy, or none (no password). For oidc and proxy, groups determine "
            "the role.",
            title=_("Sign-in method"),
        ),
    ]
    two_factor: Annotated[
        bool, fact("Whether two-factor authentication (2FA) is on.", of="has_two_factor", title=_("2FA"))
    ]
    tokens: Annotated[
        int, fact("Number of valid API tokens.", of="working_tokens", order=True, title=_("Tokens"), number=True)
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


def _sign_in_method(rows: Any, _name: str, words: list[str]) -> Any:
    wanted = Q()
    for word in words:
        wanted |= _KEPT_BY[word]
    return rows.filter(wanted)


class UserFilter(StrictFilterSet):
    q = SearchFilter(method=contains("username"), label="free search: part of the name")
    role = ChoiceFilter((*Role.values, NO_ROLE), "role", method=_role, label="role; none: no role")
    active = YesNoFilter(
        "is_active", method="by_active", default="any", label="active accounts; false: deactivated accounts"
    )
    limited = YesNoFilter(
        "scope_text", method="by_scope", default="any", label="true: accounts with a restricted scope"
    )
    sign_in_method = ChoiceFilter(SOURCES, "sign_in_method", method=_sign_in_method, label="sign-in method")

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
        has_two_factor=Exists(codes),
    )


def _joined(rows: list[Any]) -> list[Any]:
    for row in rows:
        row.account_places = row.scope_text.split()
        own = PASSWORD if row.has_usable_password() else NOTHING
        row.sign_in_method = ISSUER if row.provider.startswith(ISSUER) else row.provider or own
    return rows


USERS = Resource(
    "users",
    UserAccount,
    UserFilter,
    users,
    csv=(
        "id",
        "name",
        "role",
        "scope",
        "active",
        "sign_in_method",
        "two_factor",
        "tokens",
        "created_at",
        "signed_in_at",
    ),
    table=("name", "role", "signed_in_at", "tokens", "active"),
    join=_joined,
)
