"""What is kept of a run's result besides its row: measurements, earlier results, and the last result of each target."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from inventory.models import Cluster
from runtime.scoped import OfCluster
from validations.models.run import OfRun, Run
from validations.models.state import VerdictChoice


class Measurement(OfRun):
    """One number of a run, with its unit, beside the same number of the run that it is compared with.

    baseline_value None: there was no run to compare with. slower_percent: slower is above zero, whatever the unit's direction.
    floor, pool_median None: there was no floor, or no baseline of its pool. pool_spread: MAD of the last passes of so many targets.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="measurements")
    name = models.CharField(max_length=100)
    value = models.FloatField()
    unit = models.CharField(max_length=16)
    baseline = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    baseline_value = models.FloatField(null=True)
    slower_percent = models.FloatField(null=True)
    floor = models.FloatField(null=True)
    floor_source = models.CharField(max_length=500, blank=True, default="", db_default="")
    pool_median = models.FloatField(null=True)
    pool_spread = models.FloatField(null=True)
    pool_targets = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="measurement_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.value:g} {self.unit}"


class PoolBaseline(OfRun):
    """The baseline of a pool, against which the newest run there was judged: median and MAD of the last passes of so many targets.

    Written in the transaction that ends or re-reads that run; never otherwise.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    pool = models.CharField(max_length=255)
    suite = models.CharField(max_length=63)
    measurement = models.CharField(max_length=100)
    unit = models.CharField(max_length=16)
    model = models.CharField(max_length=128)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    median = models.FloatField()
    spread = models.FloatField()
    targets = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "pool", "suite", "model", "measurement", "unit"], name="pool_baseline_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.suite} {self.measurement} in {self.pool}: {self.median:g} {self.unit}"


class Reparse(OfRun):
    """A stored log was read again. The row keeps the result that was there before; the run carries the new one."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="reparses")
    at = models.DateTimeField()
    requested_by_name = models.CharField(max_length=150, blank=True)
    old_parser_version = models.IntegerField(null=True)
    old_verdict = models.CharField(max_length=16, choices=VerdictChoice.choices)
    old_reasons = models.JSONField(default=list)
    old_facts = models.JSONField(default=dict)
    #: {"name": {"value", "unit"}}
    old_measurements = models.JSONField(default=dict)
    new_parser_version = models.IntegerField()
    new_verdict = models.CharField(max_length=16, choices=VerdictChoice.choices)

    class Meta:
        indexes = [models.Index(fields=["run", "-id"], name="reparses_of_a_run")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.old_verdict} → {self.new_verdict}"


class LastResult(OfCluster):
    """The last run of one suite on one card (card_key "": on some card of the node), and what is proven by this suite.

    good: the last run that passed and whose result was checked (level "checked"): the only proof. lower: the last that passed on a
    lower level, and which ("ran", "detected"). passed_at: the last that passed at all, on whatever level.
    decides: of all suites on the card, whether this row says in which state it is; at most one does (`lastresults.deciding`).
    Made from the runs in the transaction that ends or re-reads one; never written otherwise.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    node_name = models.CharField(max_length=253)
    card_key = models.CharField(max_length=128, blank=True)
    suite = models.CharField(max_length=63)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    verdict = models.CharField(max_length=16, choices=VerdictChoice.choices)
    ended_at = models.DateTimeField()
    #: The last verdict that says something about the hardware (passed, warning, failed). A failure stays until a run has passed
    #: that proves as much as the failed one would have.
    said = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    said_verdict = models.CharField(max_length=16, blank=True)
    said_at = models.DateTimeField(null=True)
    good = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    good_at = models.DateTimeField(null=True)
    good_driver = models.CharField(max_length=64, blank=True)
    lower = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    lower_at = models.DateTimeField(null=True)
    lower_level = models.CharField(max_length=8, blank=True, default="", db_default="")
    passed_at = models.DateTimeField(null=True)
    decides = models.BooleanField(default=False, db_default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "node_name", "card_key", "suite"], name="last_result_once"),
            models.UniqueConstraint(
                fields=["cluster", "node_name", "card_key"], condition=Q(decides=True), name="one_result_decides"
            ),
        ]
        indexes = [
            models.Index(
                fields=["cluster", "node_name", "card_key", "-good_at"],
                condition=Q(good__isnull=False),
                name="good_results",
            ),
            # All that is counted of 40,000 cards is in the index: of each card one row is read, and no table.
            models.Index(
                fields=[
                    *("cluster", "node_name", "card_key"),
                    *("said_verdict", "good", "good_at", "good_driver", "lower_level"),
                ],
                condition=Q(decides=True),
                name="deciding_results",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.suite} on {self.node_name}/{self.card_key}: {self.verdict}"
