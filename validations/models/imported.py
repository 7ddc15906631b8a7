"""Results of other tools, as they were reported: the files, what they state, who sent them. Never changed once written.

They are no results of ours: no card is validated by them, and no run or last result knows them.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from inventory.models import Cluster
from runtime.scoped import OfCluster
from validations.ids import ByIdManager, new_id
from wording.said import restored


class ReportedVerdict(models.TextChoices):
    """Of a report, or of what it states of a node or card. incomplete: nothing failed, and not all that was to be tested was."""

    PASSED = "passed", _("passed")
    WARNING = "warning", _("warning")
    FAILED = "failed", _("failed")
    ERRORED = "errored", _("errored")
    SKIPPED = "skipped", _("skipped")
    INCOMPLETE = "incomplete", _("incomplete")


class ImportedResult(OfCluster):
    """One report. key: digest of the source's own key, else of the files: the same report again is this row.

    complete: all that it was to test was tested. tested_at: as the tool says; None: unknown. sent_by, authenticated_by: who sent it,
    and how gpudash knows: "session", "token gpd_12", "command". facts: what else it states. figures: how many measurements it has;
    so many are in `measurements` as fit.
    """

    may_name_pods: ClassVar[tuple[str, ...]] = ("facts",)

    id = models.CharField(primary_key=True, max_length=16, default=new_id, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    format = models.CharField(max_length=32)
    tool_version = models.CharField(max_length=253, blank=True)
    verdict = models.CharField(max_length=10, choices=ReportedVerdict.choices)
    complete = models.BooleanField()
    key = models.CharField(max_length=64)
    sha256 = models.CharField(max_length=64)
    size = models.IntegerField()
    node_count = models.IntegerField()
    card_count = models.IntegerField()
    #: Statements that belong to no node or card of the cluster.
    unmatched_count = models.IntegerField()
    tested_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(db_default=Now())
    sent_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    sent_by_name = models.CharField(max_length=150, blank=True)
    authenticated_by = models.CharField(max_length=40)
    facts = models.JSONField(default=dict)
    measurements = models.JSONField(default=list)
    figures = models.IntegerField(default=0)

    objects = ByIdManager()  # type: ignore[misc] # of the base there is none that is a class variable

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["cluster", "format", "key"], name="imported_once"),
            models.CheckConstraint(condition=Q(verdict__in=ReportedVerdict.values), name="imported_verdict_known"),
        ]
        indexes = [models.Index(fields=["received_at"], name="imported_by_age")]

    def __str__(self) -> str:
        return f"{self.id} {self.format}: {self.verdict}"

    @property
    def of_nodes(self) -> list[ImportedStatement]:
        """Its statements of nodes; of a row that was read with its statements."""
        return [one for one in self.statements.all() if not one.of_card]

    @property
    def of_cards(self) -> list[ImportedStatement]:
        """Its statements of cards, alike."""
        return [one for one in self.statements.all() if one.of_card]


class ImportedFile(OfCluster):
    """A file of a report, as it came: "report", and "rules" and "baseline" beside it. data: compressed by zlib."""

    may_name_pods: ClassVar[tuple[str, ...]] = ("data",)

    result = models.ForeignKey(ImportedResult, on_delete=models.CASCADE, related_name="files")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=16)
    data = models.BinaryField(default=b"")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["result", "name"], name="imported_file_once")]

    def __str__(self) -> str:
        return f"{self.result_id} {self.name}"


class MatchedBy(models.TextChoices):
    """How a statement found its card or node in the cluster. "": it did not, and is kept."""

    UUID = "uuid", _("UUID")
    SERIAL = "serial", _("serial number")
    INDEX = "index", _("index")
    NODE = "node", _("node name")


class ImportedStatement(OfCluster):
    """What a report states of one node, or of one card of it.

    of_card: whether it is of a card. card_key: key of the card in the cluster, "" while it is none of them. test: the one that
    decides the verdict. error_*: the tool's own numbers; may_isolate: its severity says that the card cannot work. suite: ours that
    a pass stands for. driver_version, boot_id, machine_id: of the node when the report came.
    """

    may_name_pods: ClassVar[tuple[str, ...]] = ("because", "because_wording")

    result = models.ForeignKey(ImportedResult, on_delete=models.CASCADE, related_name="statements")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    of_card = models.BooleanField()
    node_name = models.CharField(max_length=253, blank=True)
    card_index = models.IntegerField(null=True)
    card_uuid = models.CharField(max_length=253, blank=True)
    card_serial = models.CharField(max_length=253, blank=True)
    card_key = models.CharField(max_length=128, blank=True)
    matched_by = models.CharField(max_length=8, choices=MatchedBy.choices, blank=True)
    verdict = models.CharField(max_length=10, choices=ReportedVerdict.choices)
    test = models.CharField(max_length=253, blank=True)
    error_id = models.IntegerField(null=True)
    error_severity = models.IntegerField(null=True)
    error_category = models.IntegerField(null=True)
    may_isolate = models.BooleanField(default=False)
    level = models.CharField(max_length=8, blank=True)
    suite = models.CharField(max_length=63, blank=True)
    because = models.TextField(blank=True)
    because_wording = models.JSONField(null=True)
    tested_at = models.DateTimeField()
    driver_version = models.CharField(max_length=64, blank=True)
    boot_id = models.CharField(max_length=64, blank=True)
    machine_id = models.CharField(max_length=128, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(verdict__in=ReportedVerdict.values), name="statement_verdict_known"),
            models.CheckConstraint(condition=Q(may_isolate=False) | Q(verdict="failed"), name="statement_isolates"),
        ]
        indexes = [
            models.Index(fields=["cluster", "node_name", "card_key", "-id"], name="statements_of_a_card"),
            # What policies read that count them: the newest of each card.
            models.Index(
                fields=["suite", "cluster", "node_name", "card_key", "id"],
                condition=~Q(suite="") & ~Q(card_key=""),
                name="statements_that_count",
            ),
            models.Index(fields=["cluster", "card_serial"], condition=~Q(card_serial=""), name="statements_by_serial"),
        ]

    def __str__(self) -> str:
        return f"{self.node_name}/{self.card_key}: {self.verdict}"

    @property
    def said_because(self) -> str:
        """`because` as the sentence that it is."""
        return restored(self.because, self.because_wording)
