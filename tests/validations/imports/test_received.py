"""Results of other tools in the tables: once, matched with cards or kept without, and never ours."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Entry
from inventory.models import Card, Cluster
from runtime.scope import Scope, seeing
from tests.database import RowsOfModule
from tests.factories import make_cluster, make_node
from tests.factories.usage import measure
from tests.validations.imports.test_golden import ROOT
from validations import imported, tasks
from validations.imported import NotYours, Report, of_card, of_node, original, receive, result_whole
from validations.models import ImportedFile, ImportedResult, ImportedStatement, LastResult
from validations.planning import Refused

pytestmark = pytest.mark.django_db
PASS = ROOT / "dcgm-4.6.0-pass.json"
FAIL = ROOT / "dcgm-3.3.9-r2-memory-fail.json"


@pytest.fixture(scope="module")
def rows(rows_of_module: RowsOfModule) -> int:
    with rows_of_module():
        cluster = make_cluster("prod")
        make_node(cluster, "gpu-1", "hami", 2)
        return cluster.pk


@pytest.fixture
def prod(rows: int) -> Cluster:
    return Cluster.objects.get(pk=rows)


def dcgm(path: Any = FAIL, node: str = "gpu-1", **more: Any) -> Report:
    return Report(format="dcgmi-diag", content=path.read_bytes(), node=node, **more)


def junit(**properties: str) -> Report:
    given = "".join(f'<property name="{name}" value="{value}"/>' for name, value in properties.items())
    case = f'<testcase name="x"><properties>{given}</properties></testcase>'
    text = f'<testsuite name="cuda-vectoradd" hostname="gpu-1" tests="1">{case}</testsuite>'
    return Report(format="junit", content=text.encode())


def test_cards_are_matched_by_index_beside_a_node(prod: Cluster) -> None:
    row, new = receive(dcgm())
    assert new
    first, second = ImportedStatement.objects.filter(of_card=True).order_by("card_index")
    cards = {card.index: card.key for card in Card.objects.all()}
    assert [(one.card_key, one.matched_by, one.verdict) for one in (first, second)] == [
        (cards[0], "index", "passed"),
        (cards[1], "index", "failed"),
    ]
    assert (second.may_isolate, second.error_id, second.error_severity, second.card_serial) == (
        True,
        4,
        2,
        "1654322006512",
    )
    assert (row.verdict, row.unmatched_count, row.node_count, row.card_count) == ("failed", 0, 1, 2)
    [node] = of_node(prod.pk, "gpu-1")
    assert node.matched_by == "node"
    assert [one.verdict for one in of_card(prod.pk, "gpu-1", cards[1])] == ["failed"]


def test_the_exporter_s_index_comes_before_the_scheduler_s(prod: Cluster) -> None:
    zero, one = Card.objects.order_by("index")
    measure(zero, index=1)
    measure(one, index=0)
    receive(dcgm())
    failed = ImportedStatement.objects.get(of_card=True, verdict="failed")
    assert (failed.card_index, failed.card_key, failed.matched_by) == (1, zero.key, "index")


def test_cards_without_an_index_of_the_scheduler_are_matched_by_the_exporter_s(prod: Cluster) -> None:
    Card.objects.filter(index=1).update(index=None)
    receive(dcgm())
    assert ImportedStatement.objects.get(of_card=True, verdict="failed").card_key == ""
    card = Card.objects.get(index=None)
    measure(card, index=1)
    receive(dcgm(PASS))
    assert ImportedStatement.objects.filter(card_key=card.key).count() == 1


def test_a_card_that_the_exporter_counts_has_no_other_index(prod: Cluster) -> None:
    zero, one = Card.objects.order_by("index")
    measure(zero, index=1)
    receive(dcgm())
    keys = dict(ImportedStatement.objects.filter(of_card=True).values_list("card_index", "card_key"))
    assert keys == {0: "", 1: zero.key}
    assert one.key not in keys.values()


def test_an_index_without_a_node_matches_nothing_and_is_kept(prod: Cluster) -> None:
    row, _ = receive(dcgm(node=""))
    assert row.unmatched_count == 3
    assert set(ImportedStatement.objects.values_list("card_key", "matched_by")) == {("", "")}


def test_a_uuid_matches_wherever_the_card_is(prod: Cluster) -> None:
    card = Card.objects.get(index=0)
    receive(junit(uuid=card.uuid, node="a-name-of-theirs"))
    one = ImportedStatement.objects.get(of_card=True)
    assert (one.node_name, one.card_key, one.matched_by) == ("gpu-1", card.key, "uuid")


def test_a_uuid_that_is_no_card_is_not_the_card_with_its_index(prod: Cluster) -> None:
    receive(junit(uuid="GPU-00000000-0000-4000-8000-00000000abcd", index="0"))
    one = ImportedStatement.objects.get(of_card=True)
    assert (one.card_key, one.matched_by) == ("", "")


def test_a_serial_number_is_known_from_a_report_that_had_the_uuid_too(prod: Cluster) -> None:
    card = Card.objects.get(index=0)
    receive(junit(uuid=card.uuid, serial="1654322006512"))
    receive(dcgm(node=""))
    one = ImportedStatement.objects.get(matched_by="serial")
    # Its index was 1, where another card stands now.
    assert (one.card_index, one.card_key) == (1, card.key)


def test_the_same_file_again_is_the_same_row(prod: Cluster) -> None:
    first, new = receive(dcgm())
    again, other = receive(dcgm())
    assert (new, other, first.pk) == (True, False, again.pk)
    assert receive(dcgm(node="gpu-2"))[1]
    assert ImportedResult.objects.count() == 2
    assert Entry.objects.filter(action="result-import").count() == 2


def test_two_that_come_at_once_are_one_row(prod: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one is written after this one has looked for it."""
    first: list[ImportedResult] = []
    look = imported.statements_of

    def later(*given: Any) -> list[ImportedStatement]:
        monkeypatch.setattr(imported, "statements_of", look)
        first.append(receive(dcgm())[0])
        return look(*given)

    monkeypatch.setattr(imported, "statements_of", later)
    again, new = receive(dcgm())
    assert ([again.pk], new) == ([first[0].pk], False)
    assert ImportedStatement.objects.count() == 3
    assert Entry.objects.filter(action="result-import").count() == 1


def test_a_table_that_refuses_for_another_reason_is_no_report_of_before(
    prod: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ImportedFile.objects, "bulk_create", _refused)
    with pytest.raises(IntegrityError, match="another reason"):
        receive(dcgm())


def _refused(*_: Any) -> None:
    raise IntegrityError("another reason")


def test_the_source_s_own_key_comes_before_the_bytes(prod: Cluster) -> None:
    event = json.loads((ROOT / "nvsentinel-cloudevent-xid95.json").read_text())
    first, _ = receive(Report(format="nvsentinel-cloudevent", content=json.dumps(event).encode()))
    again, new = receive(Report(format="nvsentinel-cloudevent", content=json.dumps(event, indent=1).encode()))
    assert (again.pk, new) == (first.pk, False)
    assert first.facts["trigger"] == {"by": "health-event", "run_after": "recovery"}


def test_rules_are_part_of_what_a_superbench_report_is(prod: Cluster) -> None:
    stem = ROOT / "superbench-results-summary"
    content, rules = (stem.with_name(f"{stem.name}.{end}").read_bytes() for end in ("jsonl", "rules.yaml"))
    baseline = stem.with_name(f"{stem.name}.baseline.json").read_bytes()
    receive(Report(format="superbench-results", content=content))
    row, new = receive(Report(format="superbench-results", content=content, rules=rules, baseline=baseline))
    assert (new, row.verdict, row.node_count) == (True, "failed", 4)
    assert set(ImportedFile.objects.filter(result=row).values_list("name", flat=True)) == {
        "report",
        "rules",
        "baseline",
    }


def test_the_files_are_kept_as_they_came(prod: Cluster) -> None:
    row, _ = receive(dcgm())
    assert original(row) == FAIL.read_bytes()
    assert (row.size, len(row.sha256)) == (len(FAIL.read_bytes()), 64)
    assert bytes(ImportedFile.objects.get().data) != FAIL.read_bytes()


def test_a_pass_of_another_tool_validates_no_card(prod: Cluster) -> None:
    receive(dcgm(PASS))
    assert not LastResult.objects.exists()


def test_a_cluster_that_the_report_calls_otherwise_is_the_only_one(prod: Cluster) -> None:
    event = (ROOT / "nvsentinel-cloudevent-xid95.json").read_bytes()
    assert receive(Report(format="nvsentinel-cloudevent", content=event))[0].cluster == prod
    other = make_cluster("prod-eu-1")
    ImportedResult.objects.all().delete()
    assert receive(Report(format="nvsentinel-cloudevent", content=event))[0].cluster == other


@pytest.mark.parametrize(
    ("report", "field"),
    [
        (Report(format="none", content=b"x"), "format"),
        (Report(format="junit", content=b"x"), "content"),
        (Report(format="junit", content=b"<testsuite/>", rules=b"x"), "rules"),
        (dcgm(cluster="none"), "cluster"),
        (dcgm(node="x" * 254), "node"),
    ],
)
def test_what_cannot_be_read_names_its_field(prod: Cluster, report: Report, field: str) -> None:
    with pytest.raises(Refused) as error:
        receive(report)
    assert set(error.value.problems) == {field}
    assert not ImportedResult.objects.exists()


def test_only_who_sees_the_whole_cluster_may_send_to_it(prod: Cluster) -> None:
    with seeing(Scope(frozenset(), frozenset({(prod.pk, "team-a")}))), pytest.raises(NotYours):
        receive(dcgm())


def test_who_sees_a_namespace_sees_no_text_and_no_file(prod: Cluster) -> None:
    row, _ = receive(dcgm())
    with seeing(Scope(frozenset(), frozenset({(prod.pk, "team-a")}))):
        found = result_whole(row.pk)
        assert found is not None
        assert found.facts == {}
        assert {one.because for one in found.statements.all()} == {""}
        assert original(found) is None
    with seeing(Scope(frozenset())):
        assert result_whole(row.pk) is None


def test_old_results_are_deleted_with_their_files(prod: Cluster) -> None:
    row, _ = receive(dcgm())
    assert tasks.prune_imported() == 0
    ImportedResult.objects.filter(pk=row.pk).update(received_at=timezone.now() - timedelta(days=91))
    assert tasks.prune_imported() == 1
    assert not ImportedFile.objects.exists()
    assert not ImportedStatement.objects.exists()


def test_a_statement_that_did_not_fail_can_isolate_nothing(prod: Cluster) -> None:
    receive(dcgm(PASS))
    with pytest.raises(IntegrityError):
        ImportedStatement.objects.update(may_isolate=True)


def test_no_card_is_looked_up_by_a_query_of_its_own(prod: Cluster) -> None:
    counts = []
    for cards in (2, 1500):
        cases = "".join(f'<testcase name="card {index}"/>' for index in range(cards))
        text = f'<testsuite name="burn" hostname="gpu-1">{cases}</testsuite>'
        with CaptureQueriesContext(connection) as found:
            receive(Report(format="junit", content=text.encode()))
        counts.append(sum(one["sql"].startswith("SELECT") for one in found))
    assert counts[0] == counts[1]
    assert ImportedStatement.objects.count() == 1504
