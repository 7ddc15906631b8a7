"""What a suite declares of itself, as plain data. Fit check and manifest read it; it knows neither of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from validations.suites.engine.demo import Demo
from validations.suites.engine.exits import Code
from validations.suites.engine.log import Lines
from validations.suites.engine.needs import Needs
from validations.suites.engine.options import Option, Values
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.security import PodSecurity
from validations.suites.engine.target import Target
from validations.suites.engine.verdict import Grade, Level, Reading
from validations.suites.engine.workload import Workload


class Declaration(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that gpudash knows of one kind of test. What has no default must be there, or the suite is not registered.

    id: of the suite, its module's name with "-" for "_". title, proves: for pages; `proves` says what a pass means, in one
    sentence that is marked for translation. level: how much a pass means; only "checked" proves a card good.
    os: where it can run. families: resource families that it can run on, best first (see `family`; `placement.with_api` finds them).
    cards: how many it needs. nodes: how many at least; with more than one, `cards` is of each node, and the
    result is of the group, of none of its nodes and of no card. parser_version: raised with each change that can alter a result.
    options: with "image" and those of `options.common`. needs: what it needs of a node with its own image, for each system of `os`.
    read: a log's lines → what they say. workload: what runs on a target with these settled options.
    grade_by: for a suite whose options decide how much it proves. demo: what it comes to on the simulated cluster.
    measures: whether a pass has measurements. confirms: the options with which it confirms a fault of a card that another suite
    has found; None: it does not.
    not_compared: measurements that depend on disk, start-up or the processor more than on the card: they are kept, and no run is
    called slower by them. slower_percent: share above which a run is called slower; None: the setting's.
    pod_security: the strictest level of the Pod Security Standards that its pod on Linux keeps with its own image; on Windows, whose
    images run as ContainerAdministrator, it is baseline. writes: whether its program writes elsewhere than to /tmp.
    reasons: the reason codes that no other suite has.
    proof: an example of the line that a pass rests on. source: where the program that prints it is read. phrases: what else its
    log says, and what that means: with these, docs/reference/verdicts.md is written. exits: what the program's own exit codes say.
    """

    id: str
    title: str
    proves: str
    level: Level
    os: tuple[str, ...]
    families: tuple[str, ...]
    parser_version: int
    options: tuple[Option, ...]
    read: Callable[[Lines], Reading]
    workload: Callable[[Target, Values], Workload]
    needs: Mapping[str, Needs]
    demo: Demo
    pod_security: PodSecurity
    writes: bool = False
    cards: int = 1
    nodes: int = 1
    grade_by: Callable[[Values], Grade] | None = None
    measures: bool = False
    confirms: Mapping[str, str | int] | None = None
    not_compared: frozenset[str] = frozenset()
    slower_percent: int | None = None
    reasons: tuple[ReasonWords, ...] = ()
    proof: str = ""
    source: str = ""
    phrases: tuple[Phrase, ...] = ()
    exits: Mapping[int, Code] = {}
