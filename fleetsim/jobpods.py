"""How the pod of a validation Job goes through scheduler and kubelet, by the script that `outcomes.py` gives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fleetsim import outcomes, pods, recordings
from fleetsim.containerlog import ContainerLog, spread
from fleetsim.outcomes import Script
from fleetsim.programs import Program, container
from fleetsim.scheduler import devices
from fleetsim.systems import GPU_MEM, Place, assumed_on
from fleetsim.world import Key, World

Pod = dict[str, Any]

RETRY_S = 5.0
#: Seconds to pull an image of this many bytes: the 15 GB of the Windows sample take about half a minute of demo time.
_BYTES_PER_SECOND = 520_000_000
_LONGEST_PULL_S = 40.0


class JobPods:
    """Runs Jobs' pods. `ended` is called with a pod that reached its terminal phase, `started` when it runs."""

    def __init__(
        self, world: World, programs: Sequence[Program], started: Callable[[Pod], None], ended: Callable[[Pod], None]
    ) -> None:
        self.world = world
        self.programs = programs
        self.started = started
        self.ended = ended
        #: Images that a node has, as (node, image).
        self._images: set[tuple[str, str]] = set()

    def admit(self, pod: Pod) -> None:
        """A pod has been created: it goes to the scheduler, or straight to the kubelet when its node is given."""
        key, uid = _identity(pod)
        if pod["spec"].get("nodeName"):
            self.world.timeline.after(0.3, lambda: self._admit_unscheduled(key, uid))
        else:
            self.world.timeline.after(0.3, lambda: self._schedule(key, uid))

    def _alive(self, key: Key, uid: str) -> Pod | None:
        pod = self.world.pod(key)
        if pod is None or pod["metadata"]["uid"] != uid or "deletionTimestamp" in pod["metadata"]:
            return None
        return pod if pod["status"]["phase"] in ("Pending", "Running") else None

    def _schedule(self, key: Key, uid: str) -> None:
        pod = self._alive(key, uid)
        if pod is None:
            return
        before = pod["status"].get("conditions")
        if self.world.schedule(pod):
            node = pod["spec"]["nodeName"]
            self.world.say(pod, "Scheduled", f"Successfully assigned {'/'.join(key)} to {node}", "default-scheduler")
            self.world.timeline.after(0.4, lambda: self._create(key, uid))
            return
        if not before:
            self.world.say(pod, "FailedScheduling", pod["status"]["conditions"][0]["message"], "default-scheduler")
        self.world.timeline.after(RETRY_S, lambda: self._schedule(key, uid))

    def _admit_unscheduled(self, key: Key, uid: str) -> None:
        """spec.nodeName was given: no scheduler looks, the kubelet takes the pod or refuses it."""
        pod = self._alive(key, uid)
        if pod is None:
            return
        machine = self.world.machine(pod["spec"]["nodeName"])
        if machine is None:
            return  # Waits for a node of that name, as in a cluster.
        found = devices(pod, machine)
        if isinstance(found, str):
            resource = found.removeprefix("Insufficient ")
            message = (
                f"Allocate failed due to requested number of devices unavailable for {resource}, which is unexpected"
            )
            pod["status"].update({"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": message})
            self.world.save(pod)
            self.ended(pod)
            return
        if machine.resource != GPU_MEM or machine.kind.cards == 1:
            self.world.hold(pod, found)
        elif assumed := assumed_on(pod):
            # The pod brings its card, as the extender would have written it: gpushare's plugin takes it as a candidate.
            self.world.hold(pod, Place(machine.name, assumed, machine.uuids, machine.kind.units, GPU_MEM))
        else:
            # The extender never chose a card: gpushare's plugin finds no candidate and names a device that is none.
            self.world.places[uid] = Place(machine.name, {}, machine.uuids, machine.kind.units)
        pods.bind(pod, machine.name, self.world.now)
        self.world.save(pod)
        self._create(key, uid)

    def _create(self, key: Key, uid: str) -> None:
        pod = self._alive(key, uid)
        if pod is None:
            return
        self.world.create_containers(pod)
        machine = self.world.scheduler.by_name[pod["spec"]["nodeName"]]
        script = outcomes.script(self.programs, pod, machine, bool(self.world.places[uid].parts))
        image = pod["spec"]["containers"][0]["image"]
        if (machine.name, image) in self._images and script.outcome != outcomes.NO_IMAGE:
            self.world.say(pod, "Pulled", f'Container image "{image}" already present on machine')
            self.world.timeline.after(0.5, lambda: self._start(key, uid, script))
            return
        self.world.say(pod, "Pulling", f'Pulling image "{image}"')
        if script.outcome == outcomes.NO_IMAGE:
            self.world.timeline.after(3.0, lambda: self._fail_pull(key, uid, 0))
            return
        seconds = self._pull_seconds(script)
        self.world.timeline.after(seconds, lambda: self._pulled(key, uid, script, seconds))

    def _pull_seconds(self, script: Script) -> float:
        return min(_LONGEST_PULL_S, 1.5 + script.size / _BYTES_PER_SECOND * self.world.rng.uniform(0.8, 1.25))

    def _pulled(self, key: Key, uid: str, script: Script, seconds: float) -> None:
        pod = self._alive(key, uid)
        if pod is None:
            return
        image = pod["spec"]["containers"][0]["image"]
        self._images.add((pod["spec"]["nodeName"], image))
        took = f"{seconds:.3f}s"
        message = f'Successfully pulled image "{image}" in {took} ({took} including waiting). Image size: {script.size} bytes.'
        self.world.say(pod, "Pulled", message)
        self._start(key, uid, script)

    def _fail_pull(self, key: Key, uid: str, tries: int) -> None:
        pod = self._alive(key, uid)
        if pod is None:
            return
        image = pod["spec"]["containers"][0]["image"]
        machine = self.world.scheduler.by_name[pod["spec"]["nodeName"]]
        if tries % 2 == 0:
            message = f'failed to pull and unpack image "{image}": not found'
            pods.creating(pod, machine.ip, self.world.now, "ErrImagePull", message)
            self.world.say(pod, "Failed", f'Failed to pull image "{image}": {message}')
        else:
            message = f'Back-off pulling image "{image}"'
            pods.creating(pod, machine.ip, self.world.now, "ImagePullBackOff", message)
            self.world.say(pod, "BackOff", message)
        self.world.save(pod)
        self.world.timeline.after(10.0 if tries % 2 == 0 else 20.0, lambda: self._fail_pull(key, uid, tries + 1))

    def _start(self, key: Key, uid: str, script: Script) -> None:
        pod = self._alive(key, uid)
        if pod is None:
            return
        name = pod["spec"]["containers"][0]["name"]
        self.world.say(pod, "Created", f"Created container: {name}")
        if script.outcome == outcomes.START_ERROR:
            self._fail_to_start(pod, script)
            return
        self._log(pod, script)
        self.world.start_containers(pod)
        self.world.say(pod, "Started", f"Started container {name}")
        self.started(pod)
        seconds = script.seconds / 2 if script.outcome == outcomes.EVICTED else script.seconds
        self.world.timeline.after(seconds, lambda: self._finish(key, uid, script))

    def _fail_to_start(self, pod: Pod, script: Script) -> None:
        message = "failed to create containerd task: failed to start container: the runtime refused the container"
        self.world.say(pod, "Failed", f"Error: {message}")
        self.world.end(pod, script.exit_code, "StartError")
        for row in pod["status"]["containerStatuses"]:
            row["state"]["terminated"].update({"message": message, "startedAt": "1970-01-01T00:00:00Z"})
        self.world.save(pod)
        self.ended(pod)

    def _log(self, pod: Pod, script: Script) -> None:
        machine = self.world.scheduler.by_name[pod["spec"]["nodeName"]]
        place = self.world.places[pod["metadata"]["uid"]]
        cards = sorted(place.parts) or [0]
        args = tuple(str(word) for word in pod["spec"]["containers"][0].get("args") or [])
        here = container(machine, cards, args, machine.supplies.get(place.resource))
        text = recordings.text(*script.recording, machine, here)
        line_end = "\r\n" if machine.kind.windows else "\n"
        names = [container["name"] for container in pod["spec"]["containers"]]
        for name in names:
            recorded = spread(text, self.world.now, script.seconds * 0.95, line_end)
            self.world.logs[pod["metadata"]["uid"], name] = recorded if name == names[0] else ContainerLog([])

    def _finish(self, key: Key, uid: str, script: Script) -> None:
        pod = self._alive(key, uid)
        if pod is None:
            return
        if script.outcome == outcomes.EVICTED:
            message = "The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 4Gi."
            self.world.close_logs(pod)
            self.world.release(pod)
            pods.evicted(pod, message, self.world.now)
            self.world.say(pod, "Evicted", message)
            self.world.save(pod)
        else:
            self.world.end(pod, script.exit_code)
        self.ended(pod)


def _identity(pod: Pod) -> tuple[Key, str]:
    metadata = pod["metadata"]
    return (metadata["namespace"], metadata["name"]), metadata["uid"]
