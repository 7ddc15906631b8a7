"""The name by which this installation knows its own Jobs, where several installations share a cluster."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from validations.ids import new_id
from validations.models import Installation

INSTANCE_LABEL = "gpudash.io/instance"


def instance_name() -> str:
    """The same in every process, for as long as the database lives."""
    row = Installation.objects.order_by("id").first()
    if row is None:
        try:
            with transaction.atomic():
                Installation.objects.create(pk=1, name=new_id())
        except IntegrityError:
            pass  # another process was first
        row = Installation.objects.get(pk=1)
    return row.name
