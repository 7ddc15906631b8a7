"""One round of a small cluster's exporters without a Prometheus: the page of each exporter's pod, by the API server's proxy of pods.

For clusters of a few hundred nodes: each page goes through the API server. The node of a page is that of its pod, whatever its
labels say. A service is never asked: it would answer with the page of some pod. Source: Kubernetes' API reference, "Proxy" of pods;
a role cannot be limited to a port or a path.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice

import msgspec

from exporters import FORMATS, recognise
from exporters.engine.context import Context
from exporters.engine.format import Format, Found
from exporters.engine.pages import announced_names, page_names, read_page
from exporters.engine.problems import ProblemCounts
from exporters.engine.readings import Report
from inventory.collect.ask import Round
from inventory.collect.errors import AWAY, BUSY, REFUSED, STRANGE, TOO_LARGE, SourceError
from kube.bodies import MAX_PAGE
from kube.client import ApiError, Client
from kube.decoders import decoder
from wording.said import cut, of_error, sentence

#: Nodes whose exporters are read. A larger cluster has a Prometheus; its API server has better to do.
MOST_NODES = 300
#: Pages that are asked for at once, the time of each, and its size: 8 cards with 50 metrics have 150 KB.
IN_FLIGHT = 8
PAGE_S = 10.0
PAGE_BYTES = 8 << 20
_LIST_PAGE = 500
#: What is told one by one.
MOST_MISSING = 20
_VERSION = re.compile(r":v?([0-9][0-9A-Za-z.+-]*)(?:@|$)")


class _Port(msgspec.Struct):
    containerPort: int = 0
    name: str = ""


class _Container(msgspec.Struct):
    image: str = ""
    ports: list[_Port] = []


class _Meta(msgspec.Struct):
    name: str = ""
    namespace: str = ""


class _Spec(msgspec.Struct):
    nodeName: str = ""
    containers: list[_Container] = []


class _Status(msgspec.Struct):
    phase: str = ""


class _Pod(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


class _ListMeta(msgspec.Struct, rename={"next": "continue"}):
    next: str = ""


class _Pods(msgspec.Struct):
    items: list[_Pod] = []
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


_pods = decoder(_Pods)


class Page(msgspec.Struct, frozen=True):
    """Where one exporter's page is. version: as the tag of its image says, "" where it does not."""

    format: Format
    namespace: str
    pod: str
    node: str
    port: int
    version: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.pod}"

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.pod}:{self.port}/proxy/metrics"


def read(client: Client, context: Context, alive: Callable[[], None] = lambda: None) -> Round:
    """Read all pages. alive: called after each. Raises SourceError when none could be had, and says why.

    A page that cannot be had leaves its cards without values, and `missing` names it.
    """
    pages = find(client)
    # A page says no time: its samples are of the moment in which it is read.
    made = Round(at=time.time())
    failures: dict[int, SourceError] = {}
    taken: dict[int, list[tuple[Found, Report]]] = {}
    problems = ProblemCounts()
    for place, answer in _answers(client, pages):
        alive()
        if isinstance(answer, SourceError):
            failures[place] = answer
        else:
            taken[place] = _reports(made, pages[place], answer, context, problems)
    # In the order of the list, so that two rounds of the same pages say the same.
    failed = [(pages[place], failures[place]) for place in sorted(failures)]
    if failed and len(failed) == len(pages):
        raise failed[0][1]
    made.reports = [report for place in sorted(taken) for report in taken[place]]
    made.problems = problems.problems()
    made.missing = [
        sentence("{page}: {error}", page=str(page), error=error.text) for page, error in failed[:MOST_MISSING]
    ]
    if len(failed) > MOST_MISSING:
        made.missing.append(sentence("and {number} more", number=len(failed) - MOST_MISSING))
    return made


def _answers(client: Client, pages: Sequence[Page]) -> Iterator[tuple[int, bytes | SourceError]]:
    """(place in the list, what came), as they come: a page that hangs holds up no other.

    At most IN_FLIGHT pages are asked for or wait to be read, so that large ones do not add up.
    """
    left = iter(enumerate(pages))
    asked: dict[Future[bytes | SourceError], int] = {}
    with ThreadPoolExecutor(IN_FLIGHT, "exporters") as pool:
        while True:
            for place, page in islice(left, IN_FLIGHT - len(asked)):
                asked[pool.submit(_page, client, page)] = place
            if not asked:
                return
            for done in wait(asked, return_when=FIRST_COMPLETED).done:
                yield asked.pop(done), done.result()


def find(client: Client) -> list[Page]:
    """The pages that there are: of running pods on a node. Raises SourceError."""
    found: dict[tuple[str, str], Page] = {}
    for format in FORMATS:
        for selector in format.target.selectors if format.target else ():
            for pod in _listed(client, selector):
                page = _page_of(format, pod)
                if page is not None:
                    found.setdefault((page.namespace, page.pod), page)
    if len({page.node for page in found.values()}) > MOST_NODES:
        raise SourceError(
            TOO_LARGE,
            sentence(
                "Direct reading is limited to {nodes} nodes. Use --prometheus URL.",
                nodes=MOST_NODES,
            ),
        )
    return list(found.values())


def _listed(client: Client, selector: str) -> Iterator[_Pod]:
    query = {"labelSelector": selector, "limit": _LIST_PAGE, "continue": ""}
    while True:
        try:
            answer = _pods.decode(client.get("/api/v1/pods", query, most=MAX_PAGE))
        except ApiError as error:
            raise _refused(error, sentence("list pods")) from None
        except msgspec.DecodeError as error:
            raise SourceError(
                STRANGE,
                sentence("invalid list of pods with {selector}: {error}", selector=selector, error=str(error)),
            ) from None
        yield from answer.items
        if not answer.metadata.next:
            return
        query["continue"] = answer.metadata.next


def _page_of(format: Format, pod: _Pod) -> Page | None:
    """None where the pod does not run on a node yet, or its names could be a path."""
    meta, spec = pod.metadata, pod.spec
    plain = all(re.fullmatch(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", text) for text in (meta.name, meta.namespace))
    if format.target is None or pod.status.phase != "Running" or not spec.nodeName or not plain:
        return None
    named = [port.containerPort for one in spec.containers for port in one.ports if port.name == "metrics"]
    port = next((number for number in named if 0 < number < 1 << 16), format.target.port)
    tags = [match[1] for one in spec.containers if (match := _VERSION.search(one.image))]
    return Page(format, meta.namespace, meta.name, spec.nodeName, port, tags[0][:64] if len(tags) == 1 else "")


def _page(client: Client, page: Page) -> bytes | SourceError:
    body = bytearray()
    try:
        with client.stream(page.path, {}, PAGE_S, PAGE_S) as stream:
            for chunk in stream.chunks():
                body += chunk
                if len(body) > PAGE_BYTES:
                    return SourceError(
                        TOO_LARGE,
                        sentence("the metrics page is larger than {mebibytes} MiB", mebibytes=PAGE_BYTES >> 20),
                    )
    except ApiError as error:
        return _refused(error, sentence("get pods/proxy in {namespace}", namespace=page.namespace))
    return bytes(body)


def _refused(error: ApiError, what: str) -> SourceError:
    if error.status in (401, 403):
        return SourceError(
            REFUSED,
            sentence(
                "denied: {what} ({error}). Apply deploy/exporters-role.yaml, see docs/usage.md",
                what=what,
                error=of_error(error),
            ),
        )
    kind = BUSY if error.status == 429 else AWAY
    return SourceError(kind, cut(of_error(error), 500), error.retry_after_s)


def _reports(
    made: Round, page: Page, body: bytes, context: Context, problems: ProblemCounts
) -> list[tuple[Found, Report]]:
    """Read one page; its samples are counted in the round."""
    own = msgspec.structs.replace(context, now=made.at, node=page.node, version=page.version)
    names = page_names(body)
    found = recognise(names, page.format.name, page=True)
    if not _says(found, names) and not _says(
        recognise(told := announced_names(body), page.format.name, page=True), told
    ):
        problems.tell("no-page", f"{page}: {body[:100].decode(errors='replace')}")
        return []
    read = [(one, _report(one, body, names, own)) for one in found]
    made.samples += sum(report.samples for _, report in read)
    return read


def _says(found: Iterable[Found], names: frozenset[str]) -> bool:
    """Whether one of the formats has one of these metrics, be it one of which nothing is read."""
    return any(names & {*one.names(names), *one.format.beside} for one in found)


def _report(found: Found, body: bytes, names: Iterable[str], context: Context) -> Report:
    reader = found.reader(context)
    reader.add(read_page(body, found.names(names), reader.told, sets=reader.sets))
    return reader.report()
