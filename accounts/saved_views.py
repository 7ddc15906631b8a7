"""Saved views: the address of a list under a name, somebody's own or shared.

A view is an address, never data: who opens it sees what they see. Its texts (name, filters) may hold names, so a shared one is told
only to who sees at least `places`: what whoever shared it saw then, or less where they said so. Which filters there are is not known
here (`resources.view`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import models
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.roles import granted
from accounts.scopes import scope_of
from audit.actions import Action
from audit.acts import act
from inventory.models import Cluster
from runtime.scope import EVERYTHING, Scope, seeing

NAME_CHARS, QUERY_CHARS, PAGE_CHARS = 80, 2000, 32
#: Views of one person.
MOST = 100


class TooManyViews(Exception):
    """The person has MOST views."""


class NameTaken(Exception):
    """The person has a view of this name of this list."""


class SavedView(models.Model):
    """page: the name of the list's address. query: its parameters as they were typed, so that `1h` stays relative.

    places: one a line, as `scopes` reads them. Of a shared one: who sees all of them is told of it; "": who sees everything. Of
    another: what the token that made it is for; "": as its person.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    page = models.CharField(max_length=PAGE_CHARS)
    name = models.CharField(max_length=NAME_CHARS)
    query = models.CharField(max_length=QUERY_CHARS, blank=True)
    shared = models.BooleanField(default=False)
    places = models.TextField(blank=True, default="", db_default="")
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "page", "name"], name="view_once")]
        indexes = [models.Index(fields=["page"], condition=Q(shared=True), name="views_shared")]

    def __str__(self) -> str:
        return f"{self.page}/{self.name}"

    @property
    def places_list(self) -> list[str]:
        return self.places.split()


def told_to(user_id: int, scope: Scope, closed: Collection[str] = (), *, limited: bool = False) -> QuerySet[SavedView]:
    """One's own, and those shared with who sees this much; none of the lists that are closed to them (`resources.view`).

    limited: a token asks that is for some places only. Of its person's own views it is told those that it made, or one for as much:
    the others hold names of what it does not see. At most four queries before it, none for who sees everything.
    """
    own, rows = Q(user_id=user_id), SavedView.objects.exclude(page__in=closed).select_related("user")
    if scope.everything and not limited:
        return rows.filter(own | Q(shared=True))
    mine = own if limited else Q(pk__in=())
    known = (
        SavedView.objects.filter(Q(shared=True) | mine).exclude(places="").values_list("places", flat=True).distinct()
    )
    seen = [places for places in known if _sees(scope, places)]
    return rows.filter((own & Q(places__in=seen) if limited else own) | Q(shared=True, places__in=seen))


def _sees(scope: Scope, places: str) -> bool:
    """Whether it sees all of the places. One of a cluster that is gone only who sees everything does."""
    given = places.split()
    wanted = {place.partition("/")[0] for place in given} - {"*"}
    with seeing(EVERYTHING):
        known = set(Cluster.objects.filter(name__in=wanted).values_list("name", flat=True))
        return known == wanted and scope.covers(scope_of(given))


def save(
    user: Any,
    page: str,
    name: str,
    query: str,
    *,
    shared: bool = False,
    places: Iterable[str] = (),
    over: bool = False,
    limits: Iterable[str] = (),
) -> SavedView:
    """Checked before. places: of a shared one; none: what the user's own role is for. over: in place of one of that name.
    limits: places of the token that asks.

    Raises TooManyViews and NameTaken.
    """
    now = timezone.now()
    given = (list(places) or list(limits) or granted(user)[1]) if shared else list(limits)
    fields = {"query": query, "shared": shared, "places": "\n".join(given), "changed_at": now}
    with act(Action.VIEW_SAVE) as saved:
        # Locked, so that two at once do not both find room for the last one.
        get_user_model()._default_manager.select_for_update().get(pk=user.pk)
        mine = SavedView.objects.filter(user_id=user.pk)
        there = mine.filter(page=page, name=name).first()
        if there is not None and not over:
            raise NameTaken
        if there is None and mine.count() >= MOST:
            raise TooManyViews
        row = there or SavedView(user_id=user.pk, page=page, name=name, created_at=now)
        for field, value in fields.items():
            setattr(row, field, value)
        row.save()
        saved.on(str(row), query=query, shared=_shared(row))
    return row


def _shared(row: SavedView) -> str:
    return (", ".join(row.places.split()) or "everything") if row.shared else ""


def rename(row: SavedView, name: str) -> None:
    """Raises NameTaken."""
    with act(Action.VIEW_SAVE, before=row.name) as renamed:
        others = SavedView.objects.filter(user_id=row.user_id, page=row.page, name=name).exclude(pk=row.pk)
        if others.exists():
            raise NameTaken
        row.name, row.changed_at = name, timezone.now()
        row.save(update_fields=["name", "changed_at"])
        renamed.on(str(row))


def overwrite(row: SavedView, query: str) -> None:
    """The address that it stands for; name and sharing stay."""
    row.query, row.changed_at = query, timezone.now()
    with act(Action.VIEW_SAVE, str(row), query=query, shared=_shared(row)):
        row.save(update_fields=["query", "changed_at"])


def remove(row: SavedView) -> None:
    with act(Action.VIEW_REMOVE, str(row), of=row.user.get_username(), query=row.query):
        row.delete()
