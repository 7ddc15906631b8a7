"""Cases of cards and nodes that are, were or should be out of service; who marks the nodes of a cluster; the switch of automation.

A case is seen by all who see its cluster: it names cards, nodes and suites, and no pod.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from inventory.models import Cluster
from runtime.leases.row import LeaseRow
from runtime.scoped import OfCluster
from validations.ids import ByIdManager, new_id
from validations.models import Policy, Run
from validations.models.state import LevelChoice
from wording.said import restored


class CaseState(models.TextChoices):
    """recommended → accepted → out → returning → returned; recommended → declined or withdrawn; accepted → returning.

    recommended  a failure is confirmed; a person decides
    accepted     it is to be taken out; the mark may or may not be there
    out          the mark is there
    returning    the mark is to be taken away; it may or may not be there
    returned     it is away
    declined     a person decided that it stays in service
    withdrawn    a pass took the failure back before anybody decided
    """

    RECOMMENDED = "recommended", _("recommended")
    ACCEPTED = "accepted", _("accepted")
    OUT = "out", _("out of service")
    RETURNING = "returning", _("returning")
    RETURNED = "returned", _("returned")
    DECLINED = "declined", _("declined")
    WITHDRAWN = "withdrawn", _("withdrawn")


OPEN = (CaseState.RECOMMENDED.value, CaseState.ACCEPTED.value, CaseState.OUT.value, CaseState.RETURNING.value)
#: States in which the cluster may have a mark of the case, or is to get or lose one.
ACTING = (CaseState.ACCEPTED.value, CaseState.OUT.value, CaseState.RETURNING.value)
#: States in which the mark is to be there.
MARKED = (CaseState.ACCEPTED.value, CaseState.OUT.value)


class What(models.TextChoices):
    """What is taken out. Only a card that a DRA driver offers can be taken out alone."""

    NODE = "node", _("node")
    CARD = "card", _("card")


class How(models.TextChoices):
    """By which mark. DEVICE_TAINT: of one card; the others are of the node."""

    TAINT = "taint", _("taint")
    CORDON = "cordon", _("taint and cordon")
    DEVICE_TAINT = "device-taint", _("device taint")
    NVSENTINEL = "nvsentinel", _("NVSentinel maintenance request")


class ReturnReason(models.TextChoices):
    """Why a case is over, or is being ended. PASSED: a run of at least the level that failed has passed on the card."""

    PASSED = "passed", _("validated")
    PERSON = "person", _("by a person")
    BY_HAND = "removed-by-hand", _("mark removed by hand")
    NODE_REMOVED = "node-removed", _("node removed")
    NODE_REPLACED = "node-replaced", _("node replaced")


class Case(OfCluster):
    """One card that failed, and what was done about it. At most one case of a card is open (`OPEN`).

    node_uid: of the node object that is marked; "" until then. card_key: the card that failed, "" for the whole node.
    what, how: what is taken out and by which mark, chosen when it is accepted. run: the failed run that confirmed the failure.
    level: that a pass must have at least. policy: that recommended it; None: two failed runs of one suite did.
    reason, reason_wording: why, as `wording.said` keeps it. automatic: the policy accepted it, no person.
    was: {"unschedulable": bool, "taints": [{"key", "value", "effect"}]} of the node right before our mark; {} until then.
    device: {"driver", "pool", "device", "version"} of a card that is out by a device taint, as the rule names it.
    dry_run: what the API server said that evicting pods from the card would do; "" for nothing.
    waits, waits_wording: why nothing is done now, "" while nothing is in the way. error: of the last try, "" after a good one.
    """

    id = models.CharField(primary_key=True, max_length=16, default=new_id, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="cases")
    node_name = models.CharField(max_length=253)
    node_uid = models.CharField(max_length=128, blank=True, default="", db_default="")
    card_key = models.CharField(max_length=128, blank=True)
    card_uuid = models.CharField(max_length=128, blank=True)
    what = models.CharField(max_length=4, choices=What.choices, default=What.NODE)
    how = models.CharField(max_length=12, choices=How.choices, default=How.TAINT)

    state = models.CharField(max_length=11, choices=CaseState.choices, default=CaseState.RECOMMENDED)
    state_since = models.DateTimeField()
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="cases")
    suite = models.CharField(max_length=63)
    level = models.CharField(max_length=8, choices=LevelChoice.choices, default=LevelChoice.CHECKED)
    policy = models.ForeignKey(Policy, null=True, on_delete=models.SET_NULL, related_name="cases")
    reason = models.CharField(max_length=1000)
    reason_wording = models.JSONField(null=True)

    created_at = models.DateTimeField(db_default=Now())
    automatic = models.BooleanField(default=False, db_default=False)
    accepted_at = models.DateTimeField(null=True)
    accepted_by_name = models.CharField(max_length=150, blank=True, default="", db_default="")
    accepted_note = models.CharField(max_length=500, blank=True, default="", db_default="")
    declined_at = models.DateTimeField(null=True)
    declined_by_name = models.CharField(max_length=150, blank=True, default="", db_default="")
    declined_note = models.CharField(max_length=500, blank=True, default="", db_default="")
    marked_at = models.DateTimeField(null=True)
    return_reason = models.CharField(max_length=16, choices=ReturnReason.choices, blank=True, default="", db_default="")
    return_requested_at = models.DateTimeField(null=True)
    returned_at = models.DateTimeField(null=True)
    returned_by_name = models.CharField(max_length=150, blank=True, default="", db_default="")
    returned_note = models.CharField(max_length=500, blank=True, default="", db_default="")
    passed_run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")

    was = models.JSONField(default=dict)
    device = models.JSONField(default=dict)
    dry_run = models.CharField(max_length=1000, blank=True, default="", db_default="")
    waits = models.CharField(max_length=1000, blank=True, default="", db_default="")
    waits_wording = models.JSONField(null=True)
    error = models.CharField(max_length=1000, blank=True, default="", db_default="")
    error_wording = models.JSONField(null=True)
    #: The mark was compared with the cluster last; it is looked at again from then on.
    looked_at = models.DateTimeField(null=True)
    next_look_at = models.DateTimeField(null=True)

    objects = ByIdManager()  # type: ignore[misc] # of the base there is none that is a class variable

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "node_name", "card_key"], condition=Q(state__in=OPEN), name="one_open_case_per_card"
            ),
            models.CheckConstraint(condition=Q(state__in=CaseState.values), name="case_state_known"),
            models.CheckConstraint(condition=Q(what__in=What.values), name="case_what_known"),
            models.CheckConstraint(condition=Q(how__in=How.values), name="case_how_known"),
        ]
        indexes = [
            models.Index(fields=["cluster", "next_look_at"], condition=Q(state__in=ACTING), name="cases_to_look_at"),
            models.Index(fields=["cluster", "node_name", "card_key", "-id"], name="cases_of_a_card"),
            models.Index(fields=["state", "-id"], name="cases_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.node_name}/{self.card_key}: {self.state}"

    @property
    def open(self) -> bool:
        return self.state in OPEN

    @property
    def said_reason(self) -> str:
        """`reason` as the sentence that it is; likewise the next two."""
        return restored(self.reason, self.reason_wording)

    @property
    def said_waits(self) -> str:
        return restored(self.waits, self.waits_wording)

    @property
    def said_error(self) -> str:
        return restored(self.error, self.error_wording)


class Marker(LeaseRow, OfCluster):
    """One row per cluster: the lease of the pass that marks its nodes, and whether it reached the cluster.

    error: why it did not, since `failing_since`. next_try_at: a cluster that was not reached is tried again from then on.
    """

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="marker")
    reached_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    error = models.CharField(max_length=1000, blank=True, default="", db_default="")
    error_wording = models.JSONField(null=True)
    next_try_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0, db_default=0)

    def __str__(self) -> str:
        return f"marker of {self.cluster_id}"


#: Percent of a pool's nodes that may be out, whoever took them out, for gpudash to take out another by itself.
CAP_PERCENT = 20


class QuarantineSwitch(models.Model):
    """Whether policies may take cards out of service by themselves: one row.

    automatic: an administrator allows it. cap_percent: see CAP_PERCENT; one node of a pool may always be out.
    tripped_at: the cap was reached then, and nothing is automatic until a person resets it; None: not tripped.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    automatic = models.BooleanField(default=False)
    cap_percent = models.PositiveSmallIntegerField(default=CAP_PERCENT)
    changed_by_name = models.CharField(max_length=150, blank=True)
    changed_at = models.DateTimeField(null=True)
    tripped_at = models.DateTimeField(null=True)
    tripped_reason = models.CharField(max_length=1000, blank=True, default="", db_default="")
    tripped_wording = models.JSONField(null=True)
    reset_by_name = models.CharField(max_length=150, blank=True, default="", db_default="")
    reset_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="one_quarantine_switch"),
            models.CheckConstraint(condition=Q(cap_percent__gte=1, cap_percent__lte=100), name="quarantine_cap"),
        ]

    def __str__(self) -> str:
        return "tripped" if self.tripped_at else "automatic" if self.automatic else "by hand"

    @property
    def said_tripped(self) -> str:
        return restored(self.tripped_reason, self.tripped_wording)
