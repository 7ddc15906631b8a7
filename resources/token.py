"""Tokens: which of them a list shows, and in which order."""

from __future__ import annotations

from typing import ClassVar

from accounts.models import ApiToken
from accounts.roles import Role
from resources.filter_fields import ChoiceFilter, WordsFilter
from resources.filter_sets import StrictFilterSet


class TokenFilter(StrictFilterSet):
    user = WordsFilter("user__username", label="name of the user")
    role = ChoiceFilter(Role.values, "role", label="role of the token")

    orders: ClassVar[dict[str, str]] = {"created_at": "created_at", "expires_at": "expires_at"}
    default_order = ("-created_at",)

    class Meta(StrictFilterSet.Meta):
        model = ApiToken
        fields: ClassVar[list[str]] = []
