"""Saved views over REST: one's own, and those that others share. What an address shows is asked of the list itself."""

from __future__ import annotations

from typing import Annotated, Any, cast

import msgspec
from django.db.models import Q, QuerySet
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import saved_views
from accounts.models import ApiToken
from accounts.permissions import request_role
from accounts.roles import Role, role_of
from accounts.saved_views import NAME_CHARS, QUERY_CHARS, SavedView
from accounts.sharing import MayNotShare, places_to_share
from api.frame.base import ApiView, ListView, listed
from api.frame.bodies import Conflict, body_of
from api.frame.problems import bad_fields, must_be
from resources.view import LISTS, VIEWS, View, closed_to, open_to, telling, understood
from runtime.scope import current


class ViewDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What to save."""

    page: Annotated[str, Meta(description=f"The list: {', '.join(LISTS)}.")]
    name: Annotated[str, Meta(min_length=1, max_length=NAME_CHARS)]
    query: Annotated[
        str, Meta(max_length=QUERY_CHARS, description="As in the URL of the page: stack=hami&from=24h.")
    ] = ""
    shared: Annotated[bool, Meta(description="Sharing needs the role operator for whole clusters.")] = False
    scope: Annotated[
        list[str],
        Meta(
            description="For a shared view: users whose scope includes all of these see it. Empty: users whose "
            "scope includes yours."
        ),
    ] = []


def _told(request: Request) -> QuerySet[SavedView]:
    limited = bool(_limits(request))
    return saved_views.told_to(cast(Any, request.user).pk, current(), closed_to(request_role(request)), limited=limited)


def _limits(request: Request) -> list[str]:
    """The places of the token that asks; none: it is for all that its user sees, or a session asks."""
    return request.auth.places.split() if isinstance(request.auth, ApiToken) else []


def _is_lesser(request: Request) -> bool:
    """Whether the request comes from a token with a lower role than its user."""
    return isinstance(request.auth, ApiToken) and request_role(request) != role_of(request.user)


class Views(ListView):
    resource = VIEWS
    #: Anybody may save what they look at.
    write_role = Role.VIEWER

    def rows(self) -> QuerySet[SavedView]:
        return _told(self.request)

    @listed(VIEWS, "Saved views: own views and visible shared views")
    def get(self, request: Request) -> Any:
        return self.list(request)

    @extend_schema(summary="Save a view", request=ViewDraft, responses={201: View})
    def post(self, request: Request) -> Response:
        draft = body_of(request, ViewDraft)
        query = _checked(request, draft)
        places = _places(request, draft, query) if draft.shared else ()
        try:
            row = saved_views.save(
                request.user,
                draft.page,
                draft.name.strip(),
                query,
                shared=draft.shared,
                places=places,
                limits=_limits(request),
            )
        except saved_views.NameTaken:
            raise Conflict(
                f"There is a view {draft.name} of {draft.page} of yours. Delete it, or choose a name."
            ) from None
        except saved_views.TooManyViews:
            raise bad_fields({"name": [f"You have {saved_views.MOST} views, as many as one may have."]}) from None
        return Response(VIEWS.read(row, {}), status=201, headers={"Location": f"/api/v1/views/{row.pk}"})


class ViewDetail(ApiView):
    write_role = Role.VIEWER

    @extend_schema(summary="One saved view", responses=View)
    def get(self, request: Request, view_id: int) -> Response:
        row = _told(request).filter(pk=view_id).first()
        if row is None:
            raise NotFound(_NONE % view_id)
        return Response(VIEWS.read(row, {}))

    @extend_schema(summary="Delete an own view; role admin: any shared view", responses={204: None})
    def delete(self, request: Request, view_id: int) -> Response:
        own = Q(user_id=cast(Any, request.user).pk)
        may = own | Q(shared=True) if request_role(request) == Role.ADMIN else own
        row = _told(request).filter(may, pk=view_id).first()
        if row is None:
            raise NotFound(_NONE % view_id)
        if _is_lesser(request):
            raise PermissionDenied(_LESSER)
        saved_views.remove(row)
        return Response(status=204)


_LESSER = "This token has a lower role than its user and cannot delete views. Use a token with the same role."
_NONE = "You have no view %d. See /api/v1/views."


def _checked(request: Request, draft: ViewDraft) -> str:
    """The parameters as they are kept. 400 where they make no sense, or of a list that whoever asks may not open."""
    lists = open_to(request_role(request))
    if draft.page not in lists:
        raise bad_fields({"page": [must_be(lists)]})
    if not draft.name.strip() or not draft.name.isprintable():
        raise bad_fields({"name": ["Must be a readable name."]})
    query, wrong = understood(draft.page, draft.query)
    if wrong:
        raise bad_fields({"query": [f"{name[:64]}: {text}" for name, text in wrong.items()]})
    if len(query) > QUERY_CHARS:
        raise bad_fields({"query": [f"At most {QUERY_CHARS} characters are kept."]})
    return query


def _places(request: Request, draft: ViewDraft, query: str) -> tuple[str, ...]:
    try:
        text = "\n".join(draft.scope)
        return tuple(places_to_share(request_role(request), text, draft.page, query, telling))
    except MayNotShare as error:
        raise bad_fields({"shared": [str(error)]}) from None
