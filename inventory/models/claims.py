"""The mirror of dynamic resource allocation: what drivers offer, what of it is tainted, and what claims hold."""

from __future__ import annotations

from django.db import models

from inventory.models.mirror import Mirrored
from runtime.scoped import OfNamespace


class ResourceSlice(Mirrored):
    """Accelerators that a DRA driver offers. node_name: "" for devices that are not of one node."""

    node_name = models.CharField(max_length=253, blank=True)
    driver = models.CharField(max_length=253)
    pool = models.CharField(max_length=253)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "uid"], name="resource_slice_once")]
        indexes = [
            models.Index(fields=["cluster", "node_name"], name="slices_of_a_node"),
            models.Index(fields=["cluster", "pool"], name="slices_of_a_pool"),
        ]


class DeviceTaintRule(Mirrored):
    """Devices that are not to be given out, by an administrator's word."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "uid"], name="device_taint_rule_once")]


class ResourceClaim(Mirrored, OfNamespace):
    """A claim for accelerators. node_name: where its devices are; "" while it waits, or where it is not known."""

    namespace = models.CharField(max_length=253)
    node_name = models.CharField(max_length=253, blank=True)
    allocated = models.BooleanField(default=False)
    #: Its deletion has been asked for; it still has what it has.
    deleting = models.BooleanField(default=False, db_default=False)
    #: What it asks for, as JSON (see `stacks.dra.asks`).
    asks = models.TextField(blank=True, default="", db_default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "uid"], name="resource_claim_once")]
        indexes = [
            models.Index(fields=["cluster", "node_name"], name="claims_of_a_node"),
            models.Index(fields=["cluster", "namespace", "name"], name="claim_by_name"),
        ]
