"""The pods of a run of a group: each by its index, where the group is, and what is kept of each node.

The pod with index 0 starts the others and prints the result; it is the run's pod. Until all of them run, the run is where the one
behind is.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kube.workloads import Job, Pod
from validations.lifecycle.endings import Ending
from validations.lifecycle.observe import Seen, observe
from validations.models import Run, RunNode, State
from validations.suites.engine.group import INDEX, host_name
from validations.suites.engine.manifest import job_name
from wording.said import sentence


def index_of(pod: Pod) -> int | None:
    """Its place in the Job, None for a pod without one."""
    text = (pod.metadata.annotations or {}).get(INDEX) or (pod.metadata.labels or {}).get(INDEX) or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else None


def seen_of(run: Run, job: Job, pods: Iterable[Pod]) -> Seen:
    """Where the run is: by its pod, or by those of its group."""
    every, was = list(pods), State(run.state)
    if run.node_name:
        return observe(job, every, was)
    return observe_group(job, every, was, run.nodes_count)


def observe_group(job: Job, pods: list[Pod], was: State, size: int) -> Seen:
    """Pure. size: pods that the Job should have."""
    by_index = {index_of(pod): pod for pod in pods}
    first = by_index.pop(0, None)
    seen = observe(job, [first] if first else [], was)
    others = [(pod, observe(Job(), [pod])) for index, pod in sorted(by_index.items(), key=lambda one: one[0] or 0)]
    if seen.state is State.COLLECTING:
        return msgspec.structs.replace(seen, ending=_first_end(others) or seen.ending)
    if first is None or len(by_index) + 1 < size:
        text = sentence("{there} of {size} pods of the group exist.", there=len(pods), size=size)
        return (
            seen if first is None else msgspec.structs.replace(seen, state=State.PENDING, reason="NoPod", message=text)
        )
    pod, behind = min(others, key=lambda one: one[1].state.rank)
    if behind.state.rank >= seen.state.rank:
        return seen
    where = pod.spec.nodeName if pod.spec and pod.spec.nodeName else pod.metadata.name
    text = sentence("{where}: {text}", where=where, text=behind.message or behind.reason)
    return msgspec.structs.replace(
        seen, state=behind.state, reason=behind.reason, message=text, trouble=behind.trouble, ending=behind.ending
    )


def _first_end(others: list[tuple[Pod, Seen]]) -> Ending | None:
    """What ended a pod of the group besides its program: evicted, its node lost."""
    for pod, seen in others:
        if seen.ending is not None and not seen.terminating_since:
            where = pod.spec.nodeName if pod.spec and pod.spec.nodeName else pod.metadata.name
            return Ending(seen.ending.code, sentence("{where}: {text}", where=where, text=seen.ending.text))
    return None


def note_members(run: Run, pods: Iterable[Pod]) -> None:
    """Keep which pod is on which node, and what the cluster says of it. One query for those of a group, none for another run."""
    if run.node_name:
        return
    rows = {row.node_name: row for row in run.nodes.all()}
    for pod in pods:
        row = rows.get((pod.spec.nodeName if pod.spec else None) or "")
        index = index_of(pod)
        if row is None or index is None:
            continue
        known = {
            "index": index,
            "pod_name": pod.metadata.name[:253],
            "pod_uid": pod.metadata.uid[:128],
            "said": _said(pod),
        }
        changed = {name: value for name, value in known.items() if getattr(row, name) != value}
        if changed:
            RunNode.objects.filter(pk=row.pk).update(**changed)
            for name, value in changed.items():
                setattr(row, name, value)


def _said(pod: Pod) -> str:
    """Short, in the cluster's words: "Running", "ImagePullBackOff", "Evicted: …", "exit code 137"."""
    text: str
    seen = observe(Job(), [pod])
    if seen.terminated is not None and seen.ending is None:
        text = sentence("exit code {code}", code=seen.terminated.exitCode)
    elif seen.ending is not None:
        text = seen.pod_reason or seen.ending.code
    else:
        text = seen.reason or ((pod.status.phase if pod.status else None) or "")
    return str(text)[:500].replace("\0", "")


def note_ranks(run: Run) -> None:
    """At the end: the ranks that the log names on the host of each pod. run: with its facts."""
    if run.node_name:
        return
    ranks = {str(one["host"]).partition(".")[0]: one["ranks"] for one in hosts_of(run.facts)}
    for row in run.nodes.all():
        mine = ranks.get(host_name(job_name(run.pk), row.index)) if row.index is not None else None
        if mine:
            RunNode.objects.filter(pk=row.pk).update(first_rank=min(mine), last_rank=max(mine))


def hosts_of(facts: object) -> list[dict[str, list[int]]]:
    """What the log of a group names: hosts with their ranks; [] where it names none."""
    hosts = facts.get("hosts") if isinstance(facts, dict) else None
    return [one for one in hosts or [] if isinstance(one, dict) and one.get("host") and one.get("ranks")]


def strangers(run: Run, facts: object) -> str:
    """Why the hosts in the log are not the pods of the group, "" when they are."""
    size = run.nodes_count
    expected = {host_name(job_name(run.pk), index) for index in range(size)}
    there = {str(one["host"]).partition(".")[0] for one in hosts_of(facts)}
    if there == expected:
        return ""
    return sentence("The log names {there} of the {size} pods of the group.", there=len(there & expected), size=size)
