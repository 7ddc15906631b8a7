"""API tokens, without their secrets; the secret is in one answer, once."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from accounts.models import ApiToken
from accounts.roles import Role
from resources.declared import Shape, fact
from resources.filter_fields import ChoiceFilter, WordsFilter
from resources.filter_sets import StrictFilterSet


class Token(Shape):
    """A token without its secret."""

    id: int
    user: Annotated[str, fact(of="user.username")]
    name: str
    role: str
    prefix: Annotated[str, fact("First characters of the secret.")]
    created_at: datetime
    expires_at: datetime
    last_used_at: Annotated[datetime | None, fact("Last use, to the minute; null: never.")]
    revoked_at: datetime | None
    scope: Annotated[
        list[str],
        fact(
            "Scope: cluster, cluster/namespace, */namespace. Empty: the scope of its user.", of="places", by=str.split
        ),
    ]
    networks: Annotated[list[str], fact("Networks that may use it. Empty: any.", by=str.split)]
    parent: Annotated[int | None, fact("ID of the token that created it; null: created by a user.", of="parent_id")]


class NewToken(Token):
    """A new token with its secret. The secret is shown only once."""

    token: str


class TokenFilter(StrictFilterSet):
    user = WordsFilter("user__username", label="name of the user")
    role = ChoiceFilter(Role.values, "role", label="role of the token")

    orders: ClassVar[dict[str, str]] = {"created_at": "created_at", "expires_at": "expires_at"}
    default_order = ("-created_at",)

    class Meta(StrictFilterSet.Meta):
        model = ApiToken
        fields: ClassVar[list[str]] = []
