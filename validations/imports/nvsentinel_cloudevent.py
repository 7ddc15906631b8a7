"""A health event of NVSentinel's exporter, as a CloudEvent. It states health and may ask for a test; it is no result of one, so its
verdict is always skipped, also where it says healthy.

Events come at least once and out of order: (source, id) names one, `dedupe_key` what it is about.
Source: NVIDIA/NVSentinel event-exporter/pkg/transformer/cloudevents.go, data-models/protobufs/health_event.proto.
"""

from __future__ import annotations

from typing import Any

from validations.imports.engine.document import (
    Object,
    check_count,
    checked,
    json_of,
    moment,
    name,
    names,
    obj,
    objects,
    said,
    whole_number,
)
from validations.imports.engine.statement import CardStatement, Format, Imported, NodeStatement, NotReadable, Source
from wording.said import gettext_noop, known, sentence

TYPE = "com.nvidia.nvsentinel.health.v1"
_ACTIONS = {
    0: "NONE",
    2: "COMPONENT_RESET",
    5: "CONTACT_SUPPORT",
    6: "RUN_FIELDDIAG",
    15: "RESTART_VM",
    24: "RESTART_BM",
    25: "REPLACE_VM",
    26: "RUN_DCGMEUD",
    39: "RESTART_APP",
    99: "UNKNOWN",
}
_STORE_ONLY = ("STORE_ONLY", 2)
_MOST_EVENTS = 1000


def read(source: Source) -> Imported:
    """One event, or a batch of them, each once."""
    document = json_of(source.content)
    given = document if isinstance(document, list) else [document]
    if not given or len(given) > _MOST_EVENTS:
        raise NotReadable(sentence("A batch must have 1 to {most} events.", most=_MOST_EVENTS))
    events: dict[str, Object] = {}
    for at, one in enumerate(given):
        event = checked(one, sentence("Event {number}", number=at + 1))
        key = _key(event, at + 1)
        events.setdefault(key, event)
    read_ones = [_read(event, at + 1) for at, event in enumerate(events.values())]
    check_count(sum(len(cards) for _, cards, _ in read_ones))
    facts = read_ones[0][2] if len(read_ones) == 1 else {"events": [one[2] for one in read_ones]}
    clusters = {one[2]["event"]["cluster"] for one in read_ones}
    moments = [at for one in events.values() if (at := _at(one)) is not None]
    return Imported(
        format=FORMAT.name,
        tool_version=None,
        verdict="skipped",
        complete=True,
        nodes=tuple(node for node, _, _ in read_ones),
        cards=tuple(card for _, cards, _ in read_ones for card in cards),
        key=next(iter(events)) if len(events) == 1 else "",
        cluster=(clusters.pop() or "") if len(clusters) == 1 else "",
        at=max(moments, default=None),
        facts=facts,
    )


def _key(event: Object, number: int) -> str:
    """(source, id), which CloudEvents say is unique."""
    source, ident = name(event.get("source")), name(event.get("id"))
    if event.get("type") != TYPE:
        raise NotReadable(sentence("Event {number}: `type` must be {type}.", number=number, type=TYPE))
    if source is None or ident is None:
        raise NotReadable(sentence("Event {number}: `source` and `id` are required.", number=number))
    return f"{source} {ident}"


def _at(event: Object) -> Any:
    health = obj(obj(event.get("data")).get("healthEvent"))
    return moment(health.get("generatedTimestamp")) or moment(event.get("time"))


def _read(event: Object, number: int) -> tuple[NodeStatement, list[CardStatement], dict[str, Any]]:
    data = obj(event.get("data"))
    health = checked(data.get("healthEvent"), sentence("Event {number}: `data.healthEvent`", number=number))
    node = name(health.get("nodeName"))
    if node is None:
        raise NotReadable(sentence("Event {number}: `data.healthEvent.nodeName` is required.", number=number))
    healthy = health.get("isHealthy") is True
    check, action = name(health.get("checkName")), _action(health.get("recommendedAction"))
    state = gettext_noop("healthy") if healthy else gettext_noop("unhealthy")
    because = sentence(
        "Health event, not a test: {check} reports {state}. {message}",
        check=check or "–",
        state=known(state),
        message=said(health.get("message")),
    )
    cluster = name(obj(data.get("metadata")).get("cluster"))
    cards = _cards(health, node, check, because)
    acts = health.get("processingStrategy") not in _STORE_ONLY
    facts = {
        "event": {"id": name(event.get("id")), "cluster": cluster, "at": name(event.get("time"))},
        "statement": {
            "health": state,
            "source": f"NVSentinel {name(health.get('agent')) or ''}".strip(),
            "check": check,
            "codes": names(health.get("errorCode"))[:64],
            "action": action,
            "fatal": health.get("isFatal") is True,
        },
        # The card is tested when it is said to be healthy again, not while it is not.
        "trigger": {"by": "health-event", "run_after": "now" if healthy else "recovery"} if acts else None,
        "dedupe_key": [cluster, node, check, cards[0].uuid if len(cards) == 1 else None],
    }
    return NodeStatement(node=node, verdict="skipped", because=because, test=check), cards, facts


def _cards(health: Object, node: str, check: str | None, because: str) -> list[CardStatement]:
    """Those that the event names: with index and PCI address where it names one card only."""
    entities: dict[str, list[str]] = {}
    for one in objects(health.get("entitiesImpacted"))[:4096]:
        kind, value = name(one.get("entityType")), name(one.get("entityValue"))
        if kind and value and value not in entities.setdefault(kind, []):
            entities[kind].append(value)
    named = name(health.get("gpuUUID"))
    uuids = list(dict.fromkeys([*([named] if named else []), *entities.get("GPU_UUID", ())]))
    indexes = [index for one in entities.get("GPU", ()) if (index := whole_number(one, 9999)) is not None]
    pcis = entities.get("PCI", [])
    if len(uuids) <= 1 and len(indexes) <= 1 and (uuids or indexes):
        pairs: list[tuple[str | None, int | None]] = [(uuids[0] if uuids else None, indexes[0] if indexes else None)]
    else:
        pairs = [(uuid, None) for uuid in uuids] or [(None, index) for index in indexes]
    return [
        CardStatement(
            node=node,
            index=index,
            uuid=uuid,
            verdict="skipped",
            test=check,
            because=because,
            pci=pcis[0] if len(pairs) == 1 and len(pcis) == 1 else None,
        )
        for uuid, index in pairs
    ]


def _action(value: Any) -> str | None:
    """The name of an action, which is a number of the enum, or its name in older exporters. One that is not known stays a number."""
    if isinstance(value, str) and value in _ACTIONS.values():
        return value
    number = whole_number(value)
    return _ACTIONS.get(number, str(number)) if number is not None else name(value)


FORMAT = Format(
    name="nvsentinel-cloudevent",
    title=gettext_noop("NVSentinel: health event as a CloudEvent"),
    read=read,
)
