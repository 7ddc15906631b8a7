"""Accounts over REST: for administrators. What is done here the page and `gpudash user` do too (`accounts.users`).

A token lies in scripts, and what it gives lasts longer than itself. So by a token nobody becomes an administrator, and one that works
from some networks only gives nothing at all, since who gets it would be held to none. Taking away is for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import msgspec
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import users as accounts
from accounts.models import ApiToken
from accounts.required import needs
from accounts.roles import Role
from accounts.scopes import BadScope, places_in
from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import Conflict, body_of
from api.frame.problems import Problem, bad_fields
from audit.acts import together
from resources.user import USERS, UserAccount, users

_NO_ADMIN = "Tokens cannot grant the role admin. Sign in and use the page /users, or run gpudash user."
_GIVES_NOTHING = "Tokens with network restrictions can only remove access. Sign in, or use a token without networks."
_PLACES = "Scope, as in users. Empty: all clusters."
RoleWord = Literal["viewer", "operator", "admin"]


class UserDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A user who signs in with a password."""

    name: Annotated[str, Meta(min_length=1, max_length=150)]
    password: Annotated[str, Meta(min_length=1, max_length=1024)]
    role: RoleWord
    scope: Annotated[list[str], Meta(description=_PLACES)] = []


class UserChange(msgspec.Struct, frozen=True, kw_only=True):
    """Fields to change; omitted fields stay. role null: removes the role."""

    role: RoleWord | UnsetType | None = UNSET
    scope: Annotated[list[str], Meta(description=_PLACES)] | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class Ended(msgspec.Struct, frozen=True):
    """Number of ended sessions or tokens."""

    ended: int


@needs(Role.ADMIN)
class Users(ListView):
    resource = USERS
    write_role = Role.ADMIN

    @listed(USERS, "Accounts by name. Role admin")
    def get(self, request: Request) -> Any:
        return self.list(request)

    @extend_schema(summary="Create a user with a password. Role admin", request=UserDraft, responses={201: UserAccount})
    def post(self, request: Request) -> Response:
        draft = body_of(request, UserDraft)
        role = Role(draft.role)
        _may_give(request, role)
        places = _places(draft.scope)
        try:
            with _refusals():
                made = accounts.create(draft.name, draft.password, role, places)
        except ValidationError as error:
            raise bad_fields(_by_field(error)) from None
        return Response(_told(made.pk), status=201, headers={"Location": f"/api/v1/users/{made.pk}"})


@needs(Role.ADMIN)
class UserDetail(ApiView):
    write_role = Role.ADMIN

    @extend_schema(summary="One account. Role admin", responses=UserAccount)
    def get(self, request: Request, user_id: int) -> Response:
        return Response(_told(user_id))

    @extend_schema(
        summary="Change role or scope, deactivate or activate. Role admin",
        request=UserChange,
        responses={200: UserAccount, 409: Problem},
    )
    def patch(self, request: Request, user_id: int) -> Response:
        change = body_of(request, UserChange)
        with together(), _refusals():
            user = _locked(user_id)
            _grant(request, user, change)
            _activate(request, user, change)
        return Response(_told(user_id))


@needs(Role.ADMIN)
class UserEndSessions(ApiView):
    write_role = Role.ADMIN

    @extend_schema(
        summary="End all sessions of a user, except the requesting session. Role admin", request=None, responses=Ended
    )
    def post(self, request: Request, user_id: int) -> Response:
        own = request._request.session.session_key if request.auth is None else None
        return Response(Ended(_ending(user_id, lambda user: accounts.end_sessions(user, own or ""))))


@needs(Role.ADMIN)
class UserEndTokens(ApiView):
    write_role = Role.ADMIN

    @extend_schema(summary="Revoke all tokens of a user. Role admin", request=None, responses=Ended)
    def post(self, request: Request, user_id: int) -> Response:
        return Response(Ended(_ending(user_id, ApiToken.revoke_all)))


def _grant(request: Request, user: User, change: UserChange) -> None:
    role, places = _standing(user)
    new_role = role if change.role is UNSET else Role(change.role) if change.role else None
    new_places = places if change.scope is UNSET else list(_places(change.scope))
    if (new_role, new_places) == (role, places):
        return
    _may_give(request, new_role)
    accounts.give(user, new_role, new_places)


def _activate(request: Request, user: User, change: UserChange) -> None:
    if change.active is UNSET or change.active == user.is_active:
        return
    if change.active:
        _may_give(request, _standing(user)[0])
    accounts.set_active(user, change.active)


def _standing(user: User) -> tuple[Role | None, list[str]]:
    """Role and places, of a deactivated account too."""
    row: Any = users().get(pk=user.pk)
    return Role(row.account_role) if row.account_role else None, row.scope_text.split()


def _may_give(request: Request, role: Role | None) -> None:
    """Raises PermissionDenied where this would be left when the token that asks has gone."""
    token = request.auth if isinstance(request.auth, ApiToken) else None
    if token is None or role is None:
        return
    if token.networks:
        raise PermissionDenied(_GIVES_NOTHING)
    if role is Role.ADMIN:
        raise PermissionDenied(_NO_ADMIN)


@contextmanager
def _refusals() -> Iterator[None]:
    """What `accounts.users` refuses, as answers of REST."""
    try:
        yield
    except accounts.LastAdministrator as error:
        raise Conflict(str(error)) from None
    except accounts.NotThatUser as error:
        raise bad_fields({"role": [str(error)]}) from None


def _places(given: list[str]) -> tuple[str, ...]:
    try:
        return places_in("\n".join(given))
    except BadScope as error:
        raise bad_fields({"scope": [str(error)]}) from None


def _by_field(error: ValidationError) -> dict[str, list[str]]:
    """A name is checked by its column; what has no column is the password."""
    if not hasattr(error, "error_dict"):
        return {"password": error.messages}
    return {{"username": "name"}.get(name, name): texts for name, texts in error.message_dict.items()}


def _ending(user_id: int, act: Callable[[User], int]) -> int:
    with together():
        return act(_locked(user_id))


def _locked(user_id: int) -> User:
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is None:
        raise _no_such(user_id)
    return user


def _told(user_id: int) -> UserAccount:
    row = users().filter(pk=user_id).first()
    if row is None:
        raise _no_such(user_id)
    return USERS.fill([row], {})[0]


def _no_such(user_id: int) -> NotFound:
    return NotFound(f"There is no user {user_id}. /api/v1/users lists them.")
