"""Entries, the head of their chain, and how far it was shipped and read.

`audit.chain` alone writes entries; nothing changes or deletes one.
"""

from __future__ import annotations

from typing import Any, NoReturn

from django.db import models

from audit.actions import Action, Kind, Outcome

#: `previous` of the first entry.
GENESIS = "0" * 64


class Unchangeable(Exception):
    """An entry is never changed and never deleted."""


class EntryQuerySet(models.QuerySet["Entry"]):
    """Reads, and inserts by `chain`."""

    def update(self, **_columns: Any) -> NoReturn:
        raise Unchangeable

    def delete(self) -> NoReturn:
        raise Unchangeable


class Entry(models.Model):
    """One act. previous, hash: HMAC-SHA256 in hex, see `audit.chain`. detail: {name: text or number}, what is particular of it."""

    #: 1, 2, 3 …: a number that is missing was deleted by somebody.
    number = models.BigIntegerField(unique=True)
    at = models.DateTimeField()
    actor = models.CharField(max_length=150, blank=True)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    token = models.CharField(max_length=32, blank=True)
    address = models.CharField(max_length=64, blank=True)
    request = models.CharField(max_length=64, blank=True)
    action = models.CharField(max_length=24, choices=Action.choices)
    target = models.CharField(max_length=512, blank=True)
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    detail = models.JSONField(default=dict)
    #: How texts of the detail were made, by their names, see `wording.said`: to be shown in another language, and not hashed.
    wording = models.JSONField(null=True)
    previous = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    objects = EntryQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["-at", "-id"], name="audit_by_time"),
            models.Index(fields=["actor", "-id"], name="audit_of_an_actor"),
            models.Index(fields=["action", "-id"], name="audit_of_an_action"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.action} {self.target} by {self.actor}"

    def save(self, *_args: Any, **options: Any) -> None:
        if not options.get("force_insert"):
            raise Unchangeable
        super().save(force_insert=True)

    def delete(self, *_args: Any, **_options: Any) -> NoReturn:
        raise Unchangeable


class Head(models.Model):
    """The last entry: one row, made with the table, locked by who writes the next. seal: HMAC-SHA256 over both, see `audit.chain`."""

    number = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, default=GENESIS)
    seal = models.CharField(max_length=64, blank=True, default="")

    def __str__(self) -> str:
        return f"{self.number} {self.hash[:12]}"


class Shipped(models.Model):
    """Up to which entry the log lines are written: one row, locked by who writes them."""

    number = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return str(self.number)


class Reading(models.Model):
    """How far the chain was read through, again and again, by `audit.reading`: one row.

    number, hash: of the last entry that was read in this round, 0 before the first. whole_at, whole_number: when a round last came to
    the end, and at which entry. broken, why: where the last reading found that it does not hold; None: nowhere.
    """

    number = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, blank=True, default="")
    read_at = models.DateTimeField(null=True)
    whole_at = models.DateTimeField(null=True)
    whole_number = models.BigIntegerField(default=0)
    broken = models.BigIntegerField(null=True)
    why = models.CharField(max_length=200, blank=True, default="")

    def __str__(self) -> str:
        return f"read to {self.number}, whole to {self.whole_number}" + (
            f", broken at {self.broken}" if self.broken else ""
        )
