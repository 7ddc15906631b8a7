"""A manifest beside the object that is there: only the fields that decide whether the software works are compared.

What a manifest does not state is not compared, so that a part of a manifest will do where others write the rest. Values that the API
server adds, and what an administrator added besides, are no differences. What was found may be anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from stacks.engine.setup import Json, Key, at, list_at, text_at
from wording.said import sentence

_LONGEST = 200
Check = Callable[[str, Any, Any], Iterator[str]]


def key_of(thing: Json) -> Key:
    return Key(text_at(thing, "kind"), text_at(thing, "metadata", "namespace"), text_at(thing, "metadata", "name"))


def differences(wanted: Json, found: Json) -> list[str]:
    """One text for each field that differs."""
    said: list[str] = []
    for path, check in _COMPARED.get(text_at(wanted, "kind"), _OF_OTHERS):
        mine = at(wanted, *path)
        if mine is not None:
            said += check(".".join(path), mine, at(found, *path))
    return said


def covers(wanted: Any, found: Any) -> bool:
    """Whether everything that is wanted is there; more may be."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(covers(value, found.get(name)) for name, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(found, list) and all(any(covers(one, other) for other in found) for one in wanted)
    return _same(wanted, found)


def _same(wanted: Any, found: Any) -> bool:
    # False, "" and an empty list are what the API leaves out.
    return (type(wanted) is type(found) and wanted == found) or (not wanted and found is None)


def _differs(field: str, wanted: Any, found: Any) -> str:
    return sentence("{field}: found {found}, needed {needed}", field=field, found=_short(found), needed=_short(wanted))


def _lacks(field: str, what: str) -> str:
    return sentence("{field}: lacks {what}", field=field, what=what)


def _short(value: Any) -> str:
    if value is None:
        return sentence("nothing")
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return sentence("something too deep to show")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _equal(field: str, wanted: Any, found: Any) -> Iterator[str]:
    if not _same(wanted, found):
        yield _differs(field, wanted, found)


def _covered(field: str, wanted: Any, found: Any) -> Iterator[str]:
    if not covers(wanted, found):
        yield _differs(field, wanted, found)


def _each(field: str, wanted: Any, found: Any) -> Iterator[str]:
    """A tree of settings: each leaf that differs by its own path."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name, value in wanted.items():
            yield from _each(f"{field}.{name}", value, found.get(name))
    elif field.endswith(".tolerations"):
        yield from _tolerated(field, wanted, found)
    else:
        yield from _covered(field, wanted, found)


def _affinity(field: str, wanted: Any, found: Any) -> Iterator[str]:
    """Terms and what they ask for, in any order."""
    if _terms(wanted) != _terms(found):
        yield _differs(field, wanted, found)


def _terms(selector: Any) -> list[str]:
    terms = []
    for term in list_at(selector, "nodeSelectorTerms"):
        asked = [
            (text_at(one, "key"), text_at(one, "operator"), sorted(map(str, list_at(one, "values"))))
            for name in ("matchExpressions", "matchFields")
            for one in list_at(term, name)
        ]
        terms.append(json.dumps(sorted(asked)))
    return sorted(terms)


def _tolerated(field: str, wanted: Any, found: Any) -> Iterator[str]:
    given = found if isinstance(found, list) else []
    lacking = [one for one in wanted if not any(_takes_in(other, one) for other in given)]
    if lacking:
        yield _lacks(field, _short(lacking))


def _takes_in(found: Any, wanted: Json) -> bool:
    """Whether one toleration tolerates all that another does."""
    key, effect = text_at(found, "key"), text_at(found, "effect")
    if not isinstance(found, dict) or (effect and effect != wanted.get("effect", "")):
        return False
    if text_at(found, "operator") == "Exists":
        return not key or key == wanted.get("key", "")
    same = wanted.get("operator", "Equal") == "Equal" and text_at(found, "value") == wanted.get("value", "")
    return bool(key) and key == wanted.get("key") and same


def _containers(field: str, wanted: Any, found: Any) -> Iterator[str]:
    there = {text_at(one, "name"): one for one in (found if isinstance(found, list) else [])}
    for one in wanted:
        name = one["name"]
        if name not in there:
            yield sentence(
                "{field}: no container {name}, found {found}",
                field=field,
                name=_short(name),
                found=_short(sorted(there)),
            )
            continue
        inside = f"{field}[{name}]"
        for part in ("image", "command", "args"):
            if part in one:
                yield from _equal(f"{inside}.{part}", one[part], there[name].get(part))
        for part in ("env", "volumeMounts"):
            lacking = [item for item in one.get(part, ()) if not covers([item], list_at(there[name], part))]
            if lacking:
                yield _lacks(f"{inside}.{part}", _short(lacking))


def _rules(field: str, wanted: Any, found: Any) -> Iterator[str]:
    given = _granted(found)
    lacking = sorted(one for one in _granted(wanted) if not _grants(given, one))
    if lacking:
        texts = [f"{verb} {'.'.join(part for part in (resource, group) if part)}" for group, resource, verb in lacking]
        yield _lacks(field, ", ".join(texts))


def _granted(rules: Any) -> set[tuple[str, str, str]]:
    found: set[tuple[str, str, str]] = set()
    for rule in rules if isinstance(rules, list) else ():
        if list_at(rule, "resourceNames"):
            continue  # it grants some objects only
        groups, resources, verbs = (_texts(rule, name) for name in ("apiGroups", "resources", "verbs"))
        found |= set(product(groups, resources, verbs))
    return found


def _texts(rule: Any, name: str) -> list[str]:
    return [one for one in list_at(rule, name) if isinstance(one, str)]


def _grants(given: set[tuple[str, str, str]], one: tuple[str, str, str]) -> bool:
    return any(choice in given for choice in product(*((part, "*") for part in one)))


_TEMPLATE = ("spec", "template", "spec")
_WORKLOAD: Sequence[tuple[tuple[str, ...], Check]] = (
    (("spec", "selector", "matchLabels"), _covered),
    (("spec", "template", "metadata", "labels"), _covered),
    ((*_TEMPLATE, "nodeSelector"), _equal),
    ((*_TEMPLATE, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"), _affinity),
    ((*_TEMPLATE, "tolerations"), _tolerated),
    ((*_TEMPLATE, "hostNetwork"), _equal),
    ((*_TEMPLATE, "priorityClassName"), _equal),
    ((*_TEMPLATE, "serviceAccountName"), _equal),
    ((*_TEMPLATE, "securityContext", "windowsOptions"), _covered),
    ((*_TEMPLATE, "containers"), _containers),
    ((*_TEMPLATE, "volumes"), _covered),
)
_SPEC: Sequence[tuple[tuple[str, ...], Check]] = ((("spec",), _each),)
#: Kind → its fields that matter, each with how it is compared.
_COMPARED: dict[str, Sequence[tuple[tuple[str, ...], Check]]] = {
    "Namespace": ((("metadata", "labels"), _covered),),
    "ServiceAccount": (),
    "ConfigMap": ((("data",), _covered),),
    "ClusterRole": ((("rules",), _rules),),
    "ClusterRoleBinding": ((("roleRef",), _covered), (("subjects",), _covered)),
    "Service": (
        (("spec", "type"), _equal),
        (("spec", "selector"), _equal),
        (("spec", "ports"), _covered),
    ),
    "DaemonSet": _WORKLOAD,
    "Deployment": (*_WORKLOAD, (("spec", "replicas"), _equal), (("spec", "strategy", "type"), _equal)),
}
_OF_OTHERS = _SPEC
