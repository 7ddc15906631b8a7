"""A run: one execution of one suite on one target, from the request to the verdict."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from inventory.models import Card, Cluster
from runtime.scope import Scope
from runtime.scoped import OfNamespace, ScopedManager
from validations.ids import ByIdManager, new_id
from validations.models.campaign import Campaign
from validations.models.state import ACTIVE, LOOKS, NOT_PASSED, SAYS, STARTED, LevelChoice, Look, State, VerdictChoice
from wording.said import quote, restored, sentence

_ACTIVE = Q(state__in=ACTIVE)
_ENDED = Q(state=State.ENDED.value)
_QUEUED = Q(state=State.QUEUED.value)
_STARTED = Q(state__in=STARTED)


#: Texts of a run's row whose form is kept in `wordings`; of `ending` the second of the pair.
TEXTS = ("card_note", "level_note", "pending_message", "last_error", "ending")


class Run(OfNamespace):
    """One run. It moves forward only; a look that comes late may skip states, and it ends from anywhere:

        request  claim      create    observe ------------------>  collect, judge, end
        queued → creating → pending → pulling → running → collecting → ended

    What each state means is told by `State`. Every change is a compare-and-set on the old state, by `lifecycle.moves` alone.

    card, card_key, card_uuid: until the end the card that the run is to take; from then on the card that it took, as its pod
    says. card_evidence: how that is known: "target" (asked for), "only-card", or the evidence of the allocation. Empty means
    "any card of this node". card_requested: key of the card that was asked for. card_note: why the card is another one, or not known.
    level: what a pass says of the card (`suites.engine.verdict.LEVELS`), "" for other verdicts; level_note: why it is less
    than its suite can prove. level_possible: what a pass would have said, also of a run that failed.
    driver_version, boot_id, machine_id, node_snapshot: as the mirror knew them when the run was made.
    node_name: "" for a run of a group of nodes, which are rows of `RunNode`: its result is of none of them alone, nor of a card.
    options_key: digest of the options that decide what is tested; runs with the same one test the same. policy: that started it.
    """

    id = models.CharField(primary_key=True, max_length=16, default=new_id, editable=False)
    suite = models.CharField(max_length=63)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="runs")
    node_name = models.CharField(max_length=253, blank=True)
    nodes_count = models.PositiveSmallIntegerField(default=1, db_default=1)
    card = models.ForeignKey(Card, null=True, on_delete=models.SET_NULL, related_name="runs")
    card_key = models.CharField(max_length=128, blank=True)
    card_uuid = models.CharField(max_length=128, blank=True)
    card_model = models.CharField(max_length=128, blank=True)
    card_requested = models.CharField(max_length=128, blank=True)
    card_evidence = models.CharField(max_length=16, blank=True)
    card_note = models.TextField(blank=True, default="", db_default="")
    driver_version = models.CharField(max_length=64, blank=True)
    boot_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    machine_id = models.CharField(max_length=128, blank=True, default="", db_default="")
    node_snapshot = models.JSONField(default=dict)

    options = models.JSONField(default=dict)
    options_key = models.CharField(max_length=16, blank=True, default="", db_default="")
    #: The Job as it was posted, or would be; for pages only: what is posted is made anew. {} when none could be made.
    manifest = models.JSONField(default=dict)
    #: Digest of image, command and environment: only runs of the same workload are compared.
    workload_key = models.CharField(max_length=32, blank=True)
    image = models.CharField(max_length=512, blank=True)
    image_digest = models.CharField(max_length=512, blank=True)
    #: Whether it is the image that the suite brings; what another prints proves nothing.
    own_image = models.BooleanField(default=True, db_default=True)

    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED)
    state_since = models.DateTimeField()
    #: Why it is where it is, in the cluster's words.
    pending_reason = models.CharField(max_length=128, blank=True)
    pending_message = models.TextField(blank=True)
    #: Since when its container cannot start (image, configuration); None when nothing is wrong.
    trouble_since = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)
    step_deadline_at = models.DateTimeField(null=True)
    #: Seconds by which deadlines were put off because the cluster was not seen.
    extended_s = models.IntegerField(default=0)
    cancel_requested_at = models.DateTimeField(null=True)
    cancelled_by = models.CharField(max_length=150, blank=True)
    #: A queued run may get a slot from then on: its place in the queue. One that had no room comes again later.
    due_at = models.DateTimeField(db_default=Now())
    #: When a pass looked at it last: who was looked at longest ago comes first.
    looked_at = models.DateTimeField(null=True)
    #: Reads of its log that failed one after the other; its node's logs are left alone until then.
    log_tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    log_next_at = models.DateTimeField(null=True)

    namespace = models.CharField(max_length=253)
    job_name = models.CharField(max_length=63, blank=True)
    job_uid = models.CharField(max_length=128, blank=True)
    pod_name = models.CharField(max_length=253, blank=True)
    pod_uid = models.CharField(max_length=128, blank=True)
    #: True once the Job is known to be away (or never was): nothing of the run is left in the cluster.
    job_removed = models.BooleanField(default=False)
    #: Tries to delete the Job of an ended run, and when it is looked at again; None: at once.
    delete_tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    delete_next_at = models.DateTimeField(null=True)

    verdict = models.CharField(max_length=16, choices=VerdictChoice.choices, null=True)  # noqa: DJ001
    level = models.CharField(max_length=8, choices=LevelChoice.choices, blank=True, default="", db_default="")
    level_note = models.TextField(blank=True, default="", db_default="")
    level_possible = models.CharField(max_length=8, blank=True, default="", db_default="")
    reasons = models.JSONField(default=list)
    facts = models.JSONField(default=dict)
    #: Floors and baselines of the pool that its measurements were judged against, one after the other; "" for no measurement.
    judged_by = models.TextField(blank=True, default="", db_default="")
    parser_version = models.IntegerField(null=True)
    #: How texts of this row were made, by their names, see `wording.said`; of the reasons it stands in each.
    wordings = models.JSONField(null=True)
    #: Line of the stored text that the verdict rests on besides the lines of its reasons; None for none.
    evidence_line = models.IntegerField(null=True)
    #: The stored log is to be read again, by a worker; None when it is not, or has been.
    reparse_requested_at = models.DateTimeField(null=True)
    reparse_requested_by = models.CharField(max_length=150, blank=True)
    exit_code = models.BigIntegerField(null=True)
    #: Termination reason and signal of the container, as Kubernetes gave them.
    end_reason = models.CharField(max_length=128, blank=True)
    signal = models.IntegerField(null=True)
    #: What ended the run besides its own container ("timeout", "cancelled" …), as [code, text]; [] for nothing.
    ending = models.JSONField(default=list)

    #: Bytes of the container's log that were read; more than are stored where the middle was left out.
    log_read = models.BigIntegerField(default=0)
    log_stored = models.BigIntegerField(default=0)
    log_left_out = models.BigIntegerField(null=True)
    #: True: read to its end. False: it is known that a part is missing for another reason than the cap. None: not ended.
    log_complete = models.BooleanField(null=True)
    #: Of what was stored at the end; it stays when the log is deleted. "" before the end.
    log_sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    log_pruned_at = models.DateTimeField(null=True)

    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="runs"
    )
    requested_by_name = models.CharField(max_length=150, blank=True)
    #: Idempotency key and a digest of the request that it came with.
    request_key = models.CharField(max_length=255, blank=True)
    request_digest = models.CharField(max_length=64, blank=True)
    campaign = models.ForeignKey(Campaign, null=True, on_delete=models.SET_NULL, related_name="runs")
    policy = models.ForeignKey("validations.Policy", null=True, on_delete=models.SET_NULL, related_name="runs")
    rerun_of = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="repeated_by")
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    objects = ByIdManager()  # type: ignore[misc] # of the base there is none that is a class variable

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "node_name", "card_key"],
                condition=_ACTIVE & ~Q(card_key=""),
                name="one_run_per_card",
            ),
            models.UniqueConstraint(
                fields=["cluster", "node_name", "suite"],
                condition=_ACTIVE & Q(card_key=""),
                name="one_run_per_node_suite",
            ),
            models.UniqueConstraint(
                fields=["requested_by", "request_key"], condition=~Q(request_key=""), name="one_run_per_request_key"
            ),
            models.CheckConstraint(condition=Q(state__in=State.values), name="run_state_known"),
            models.CheckConstraint(
                condition=Q(verdict=None) | Q(verdict__in=VerdictChoice.values), name="run_verdict_known"
            ),
            models.CheckConstraint(condition=Q(level="") | Q(level__in=LevelChoice.values), name="run_level_known"),
            models.CheckConstraint(
                condition=(_ENDED & Q(verdict__isnull=False, ended_at__isnull=False))
                | (~_ENDED & Q(verdict=None, ended_at=None)),
                name="run_verdict_iff_ended",
            ),
        ]
        indexes = [
            models.Index(fields=["cluster", "state", "id"], condition=_ACTIVE, name="runs_active"),
            models.Index(fields=["cluster", "due_at", "id"], condition=_QUEUED, name="runs_in_the_queue"),
            models.Index(fields=["cluster", "state_since"], condition=_QUEUED, name="runs_queued_since"),
            models.Index(
                fields=["cluster"],
                condition=_QUEUED & Q(cancel_requested_at__isnull=False),
                name="runs_queued_cancelled",
            ),
            models.Index(fields=["state", "cluster"], condition=_STARTED, name="runs_started"),
            models.Index(
                fields=["cluster", "delete_next_at"], condition=_ENDED & Q(job_removed=False), name="runs_to_clean"
            ),
            models.Index(fields=["cluster", "node_name", "card_key", "suite", "-ended_at"], name="runs_of_a_card"),
            models.Index(
                fields=["suite", "workload_key", "-ended_at"], condition=Q(verdict="passed"), name="runs_good"
            ),
            models.Index(fields=["card", "-id"], name="runs_by_card_row"),
            models.Index(fields=["suite", "-id"], name="runs_by_suite"),
            models.Index(fields=["campaign", "id"], condition=Q(campaign__isnull=False), name="runs_of_a_campaign"),
            models.Index(fields=["policy", "state", "id"], condition=Q(policy__isnull=False), name="runs_of_a_policy"),
            models.Index(
                fields=["suite", "options_key", "level", "cluster", "node_name", "card_key", "id"],
                condition=Q(verdict="passed") & ~Q(card_key=""),
                name="passes_of_a_card",
            ),
            models.Index(
                fields=["suite", "options_key", "cluster", "node_name", "card_key", "driver_version", "id"],
                condition=Q(verdict__in=SAYS) & ~Q(card_key=""),
                name="results_of_a_card",
            ),
            models.Index(
                fields=["suite", "cluster", "id"], condition=Q(verdict__in=NOT_PASSED), name="runs_not_passed"
            ),
            models.Index(fields=["suite", "cluster", "id"], condition=Q(card_key=""), name="runs_without_a_card"),
            models.Index(fields=["ended_at"], condition=Q(log_pruned_at=None), name="runs_with_a_log"),
            models.Index(
                fields=["reparse_requested_at"],
                condition=Q(reparse_requested_at__isnull=False),
                name="runs_to_read_again",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.suite} on {self.node_name} ({self.id})"

    @property
    def active(self) -> bool:
        return self.state != State.ENDED.value

    @property
    def look(self) -> Look:
        """Sign and tone of the verdict, or of the state while there is none."""
        return LOOKS[self.verdict or self.state]

    @property
    def reason_code(self) -> str:
        """Of the reason that decided; "" for none."""
        return str(self._first().get("code") or "")

    @property
    def reason_text(self) -> str:
        """The same in words: a sentence of ours, or what the log says."""
        first = self._first()
        text, form = str(first.get("text") or ""), first.get("wording")
        return restored(text, form) if form is not None else quote(text) if text else ""

    def _first(self) -> dict[str, Any]:
        first = self.reasons[0] if isinstance(self.reasons, list) and self.reasons else {}
        return first if isinstance(first, dict) else {}

    @property
    def group(self) -> list[str]:
        """Names of the nodes of a run of a group; [] for a run on one node. One query, where the rows are not fetched already."""
        return [] if self.node_name else [one.node_name for one in self.nodes.all()]

    @property
    def target_text(self) -> str:
        """ "node gpu-1, card 0", "some card of node gpu-1" or "nodes gpu-1, gpu-2"."""
        if not self.node_name:
            return sentence("nodes {names}", names=", ".join(self.group))
        if self.card_key:
            return sentence("node {node}, card {card}", node=self.node_name, card=self.card_key)
        return sentence("any card of node {node}", node=self.node_name)


def said_of(run: Run, name: str) -> Any:
    """How one of `TEXTS` was made; None where that is not known."""
    return run.wordings.get(name) if isinstance(run.wordings, dict) else None


class OfRun(models.Model):
    """Rows of a run."""

    objects = ScopedManager()

    class Meta:
        abstract = True

    @classmethod
    def seen_by(cls, scope: Scope) -> Q:
        return scope.in_namespaces("run__cluster_id", "run__namespace")


class RunStep(OfRun):
    """When a run entered a state."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="steps")
    state = models.CharField(max_length=16, choices=State.choices)
    entered_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "state"], name="run_step_once")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.state}"


class RunNode(OfRun):
    """A node of a run of a group. Written with the run; what its pod and the log say of it is added while it runs and at its end.

    place: from 0, in the order in which the nodes were requested. index: of its pod in the Job; None: no pod is on it yet.
    first_rank, last_rank: of the ranks that the log names on its host; None: none. said: the cluster's words of its pod.
    alone: run that had passed on this node alone when the group was requested; None: none did.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="nodes")
    place = models.PositiveSmallIntegerField()
    node_name = models.CharField(max_length=253)
    index = models.PositiveSmallIntegerField(null=True)
    pod_name = models.CharField(max_length=253, blank=True)
    pod_uid = models.CharField(max_length=128, blank=True)
    first_rank = models.PositiveIntegerField(null=True)
    last_rank = models.PositiveIntegerField(null=True)
    said = models.CharField(max_length=500, blank=True)
    alone = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ("run", "place")
        constraints = [
            models.UniqueConstraint(fields=["run", "place"], name="run_node_place_once"),
            models.UniqueConstraint(fields=["run", "node_name"], name="run_node_once"),
        ]
        indexes = [models.Index(fields=["node_name"], name="groups_of_a_node")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.node_name}"
