"""A certificate is made, or refused: where the key is, with an entry in the audit log, and only of what its reader sees whole."""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db.models import QuerySet

from audit.actions import Action
from audit.acts import act
from audit.who import current as who_acts
from runtime.clock import database_now
from runtime.scope import counting, current
from validations import report
from validations.campaign_checks import MOST_TARGETS
from validations.certificate import envelope
from validations.certificate import policy as of_policy
from validations.certificate.statement import Issued, NoSubject, statement
from validations.models import Campaign, CampaignTarget, Measurement, Policy, PolicyCard, Run
from wording.said import sentence


class NotIssued(Exception):
    """Why there is no certificate, and what to do."""


class OutOfScope(NotIssued):
    """Whoever asks does not see all that the certificate would be about."""


def signing_key() -> Ed25519PrivateKey:
    """Read each time: a key that was replaced signs from then on. Raises NotIssued."""
    if settings.SIGNING_KEY_FILE is None:
        raise NotIssued(
            sentence(
                "No signing key. An administrator runs `gpudash report key FILE` and sets `GPUDASH_SIGNING_KEY_FILE`."
            )
        )
    try:
        return envelope.read_private(settings.SIGNING_KEY_FILE)
    except envelope.Unreadable as error:
        raise NotIssued(sentence("`GPUDASH_SIGNING_KEY_FILE` cannot be used. {error}", error=str(error))) from None


def of_campaign(row: Campaign) -> bytes:
    """The envelope. Raises NotIssued."""
    if row.ended_at is None:
        raise NotIssued(sentence("The campaign has not ended. Wait for its end, or stop it."))
    with counting():
        clusters = set(CampaignTarget.objects.filter(campaign=row).values_list("cluster_id", flat=True).distinct())
        clusters |= set(Run.objects.filter(campaign=row).values_list("cluster_id", flat=True).distinct())
    _check_scope(clusters)
    return _signed(f"campaign {row.pk}", lambda: report.content(row), Run.objects.filter(campaign=row))


def of_a_policy(row: Policy) -> bytes:
    """The envelope, of what its cards are now. Raises NotIssued."""
    with counting():
        cards = PolicyCard.objects.filter(policy=row)
        clusters, count = set(cards.values_list("cluster_id", flat=True).distinct()), cards.count()
    _check_scope(clusters)
    if count > MOST_TARGETS:
        raise NotIssued(
            sentence(
                "The policy covers {n} cards. A certificate has at most {most}: use a policy of one pool, or a campaign.",
                n=count,
                most=MOST_TARGETS,
            )
        )
    runs = Run.objects.filter(pk__in=PolicyCard.objects.filter(policy=row).values("run_id"))
    return _signed(f"policy {row.pk}", lambda: of_policy.content(row), runs)


def _check_scope(clusters: set[int]) -> None:
    """A part of a report that is signed would look like all of it."""
    if not all(current().sees_whole(one) for one in clusters):
        raise OutOfScope(sentence("Your scope does not include all clusters of the report. Ask a user who sees them."))


def _signed(target: str, content: Any, runs: QuerySet[Run]) -> bytes:
    key = signing_key()
    issued = Issued(str(report.moment(database_now())), who_acts().name, settings.VERSION)
    try:
        made = statement(content(), evidence(runs), issued)
    except NoSubject:
        raise NotIssued(sentence("No tested card has a UUID. A certificate names cards by UUID.")) from None
    payload = report.canonical(made)
    with act(
        Action.CERTIFICATE_SIGN,
        target,
        result=made["predicate"]["result"],
        sha256=report.sha256(payload),
        key=envelope.key_id(key.public_key()),
    ):
        return envelope.sign(payload, key)


def evidence(runs: QuerySet[Run]) -> dict[str, dict[str, Any]]:
    """ID of a run → what is said of it beside the report. Two queries."""
    measured: dict[str, list[dict[str, Any]]] = {}
    for one in Measurement.objects.filter(run__in=runs.values("pk")).order_by("run_id", "name"):
        measured.setdefault(one.run_id, []).append(_measured(one))
    columns = (
        "pk",
        "requested_by_name",
        "exit_code",
        "log_sha256",
        "log_stored",
        "log_left_out",
        "log_complete",
        "boot_id",
        "machine_id",
    )
    return {
        pk: {
            "asked_by": asked or None,
            "exit_code": code,
            "log": {"sha256": digest or None, "bytes": size, "bytes_left_out": left_out, "complete": complete},
            "boot_id": boot or None,
            "machine_id": machine or None,
            "measurements": measured.get(pk, []),
        }
        for pk, asked, code, digest, size, left_out, complete, boot, machine in runs.order_by().values_list(*columns)
    }


def _measured(row: Measurement) -> dict[str, Any]:
    """floor: the limit that the verdict used, with its source; null: none was used."""
    return {
        "name": row.name,
        "value": row.value,
        "unit": row.unit,
        "floor": row.floor,
        "floor_source": row.floor_source or None,
    }
