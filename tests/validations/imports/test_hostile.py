"""No file of anybody raises anything but NotReadable, takes long, or passes by being broken."""

from __future__ import annotations

import copy
import gzip
import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.validations.imports.test_golden import CASES, ROOT
from validations.imports import FORMATS, find
from validations.imports.engine.document import MOST_BYTES
from validations.imports.engine.statement import Format, Imported, NotReadable, Source, to_json
from validations.imports.shared.patterns import Pattern
from validations.imports.shared.superbench_rules import rules_of

FILES = sorted(path for path in ROOT.iterdir() if ".expected" not in path.name)
DOCUMENTS = [
    json.loads(path.read_text())
    for path in FILES
    if path.suffix == ".json" and "noise" not in path.read_text()[:5] and path.read_text().lstrip()[:1] in "{["
]
quick = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
HOSTILE: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        -1,
        10**30,
        1e308,
        "",
        "\x00",
        "\u202e",
        "\ud800",
        "x" * 5000,
        [],
        {},
        [None],
        [[]],
        {"": {}},
        "Pass",
        "GPU",
        "0",
        "-1",
        "1e9999",
        "Succeeded",
        "PASSED",
    ]
)
VALUES = st.recursive(
    HOSTILE | st.text(max_size=20) | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def read(one: Format, content: bytes, **more: Any) -> Imported | None:
    """What is stated, or None where it is refused; nothing else may happen."""
    try:
        found = one.read(Source(content=content, **more))
    except NotReadable as error:
        text = str(error)
    else:
        text = ""
    if text:
        assert 10 < len(text) < 1000
        assert text.isprintable()
        return None
    told = json.dumps(to_json(found), allow_nan=False)
    told.encode("ascii")
    for code in ("\\u0000", "\\ud800", "\\u202e"):
        assert code not in told.replace(f"\\{code}", "")
    for node in (*(one.node for one in found.nodes), *(one.node for one in found.cards)):
        assert len(node or "") <= 253
    return found


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
@quick
@given(content=st.binary(max_size=400) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_random_bytes_are_refused(one: Format, content: bytes) -> None:
    assert read(one, content, node="n") is None


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
@quick
@given(data=st.data())
def test_a_changed_document_never_raises(one: Format, data: st.DataObject) -> None:
    document = json.loads(json.dumps(data.draw(st.sampled_from(DOCUMENTS))))
    for _ in range(data.draw(st.integers(1, 6))):
        _change(document, data)
    read(one, json.dumps(document).encode())


def _change(document: Any, data: st.DataObject) -> None:
    place = document
    for _ in range(data.draw(st.integers(0, 8))):
        keys = [key for key in _keys(place) if isinstance(place[key], dict | list) and place[key]]
        if not keys:
            break
        place = place[data.draw(st.sampled_from(keys))]
    if keys := _keys(place):
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.booleans()):
            place[key] = copy.deepcopy(data.draw(VALUES))
        else:
            del place[key]


def _keys(place: Any) -> list[Any]:
    return list(place) if isinstance(place, dict) else list(range(len(place))) if isinstance(place, list) else []


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".expected.yaml"))
def test_a_cut_file_never_passes(path: Any) -> None:
    name = path.name.removesuffix(".expected.yaml")
    [content] = [one for one in FILES if one.stem == name and one.name.count(".") - name.count(".") == 1]
    raw = content.read_bytes().rstrip()
    for at in {1, len(raw) // 3, len(raw) // 2, len(raw) * 3 // 4, len(raw) - 1}:
        for one in FORMATS:
            if one.name == "superbench-results" or content.suffix == ".yaml":
                continue  # lines and YAML have no end of their own
            found = read(one, raw[:at])
            assert found is None or found.verdict != "passed"


def test_a_cut_validationrequest_in_yaml_never_passes_with_tests_that_are_left() -> None:
    one = find("nvsentinel-validationrequest")
    assert one is not None
    raw = (ROOT / "nvsentinel-validationrequest-passed.yaml").read_bytes()
    for at in range(raw.index(b"status:"), raw.rindex(b"        - nccl-loopback"), 7):
        found = read(one, raw[:at])
        assert found is None or found.verdict != "passed"


BOMBS = {
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "braces": b"{" * 1_000_000,
    "reports": b'{"DCGM Diagnostic": {}}' * 10_000,
    "a long number": b'{"iterations": ' + b"9" * 5000 + b"}",
    "not a number": b'{"iterations": NaN}',
    "halves": b'{"node": "\\ud800", "a/b": 1}',
    "a line without an end": b"x" * 4_000_000,
    "too large": b" " * (MOST_BYTES + 1),
    "entities": b'<?xml version="1.0"?><!DOCTYPE z [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><testsuite>&b;</testsuite>',
    "a file of the machine": b'<!DOCTYPE z [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite>&a;</testsuite>',
    "another document type": b'<!DOCTYPE z SYSTEM "http://127.0.0.1:1/"><testsuite/>',
    "deep elements": b"<a>" * 100_000,
    "another encoding": b'<?xml version="1.0" encoding="no-such"?><testsuite/>',
    "aliases": b"kind: ValidationRequest\na: &a [x]\nb: &b ["
    + b", ".join([b"*a"] * 1000)
    + b"]\nc: ["
    + b", ".join([b"*b"] * 1000)
    + b"]",
    "a ring": b"kind: ValidationRequest\na: &a [*a]\n",
    "deep YAML": b"kind: ValidationRequest\na: " + b"[" * 50_000,
    "tags": b"kind: !!python/object/apply:os.system [x]\n",
}


BOMBS |= {
    "200 MB": b'{"a": 1}' + b" " * (200 << 20),
    "huge numbers": b'{"node": "n", "a/b": ' + b"9" * 4000 + b', "c/d": 1e400}',
    "10,000 levels": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "NUL": b'{"node": "n\\u0000", "\x00": 1}',
    "a key twice": b'{"DCGM Diagnostic": {"x": 1, "x": 2}}',
    "a key twice in YAML": b"kind: ValidationRequest\nkind: ValidationRequest\n",
    "UTF-16": '{"node": "n"}'.encode("utf-16"),
    "Latin-1": b'{"node": "\xe4"}',
    "gzip": gzip.compress(b'{"node": "n"}' + b" " * 1_000_000),
    "zip": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.name)
@pytest.mark.parametrize("bomb", BOMBS)
def test_what_is_made_to_break_readers_is_refused_quickly(one: Format, bomb: str) -> None:
    start = time.process_time()
    found = read(one, BOMBS[bomb])
    assert time.process_time() - start < 3
    assert found is None or found.verdict != "passed"


@pytest.mark.parametrize(
    ("bomb", "said"),
    [
        ("200 MB", "The file has more than 8388608 bytes. Send only the report of the tool."),
        ("10,000 levels", "Nested more than 32 deep."),
        ("a key twice", "An object has the key 'x' twice."),
        ("UTF-16", "Line 1: not UTF-8."),
        ("Latin-1", "Line 1: not UTF-8."),
        ("gzip", "The file is compressed. Unpack it and send what is inside."),
        ("zip", "The file is compressed."),
    ],
)
def test_each_says_what_is_wrong(bomb: str, said: str) -> None:
    one = find("dcgmi-diag")
    assert one is not None
    with pytest.raises(NotReadable) as told:
        one.read(Source(content=BOMBS[bomb]))
    assert str(told.value).startswith(said)


def test_of_a_key_that_is_there_twice_no_reader_chooses_one() -> None:
    """The last one counts for Python, the first for others: a verdict could be told to us that nobody else reads."""
    raw = (ROOT / "dcgm-3.3.9-r2-memory-fail.json").read_text()
    twice = raw.replace('"status"', '"status": "Pass", "status"', 1)
    assert twice != raw
    one, yaml_one = find("dcgmi-diag"), find("nvsentinel-validationrequest")
    assert one is not None
    assert yaml_one is not None
    with pytest.raises(NotReadable, match="An object has the key 'status' twice"):
        one.read(Source(content=f"some noise\n{twice}".encode(), node="n"))
    with pytest.raises(NotReadable, match="An object has the key 'kind' twice"):
        yaml_one.read(Source(content=BOMBS["a key twice in YAML"]))


def test_a_document_type_is_refused_with_its_line() -> None:
    one = find("junit")
    assert one is not None
    with pytest.raises(NotReadable, match="Line 2: a document type is not accepted"):
        one.read(Source(content=b'<?xml version="1.0"?>\n<!DOCTYPE x>\n<testsuite/>'))


def test_a_figure_that_is_no_number_is_missing() -> None:
    one = find("superbench-results")
    assert one is not None
    rules = b"superbench: {rules: {r: {function: value, criteria: 'lambda x:x<1', categories: C, metrics: [a/b]}}}"
    found = one.read(Source(content=b'{"node": "n", "a/return_code": 0, "a/b": NaN}', rules=rules))
    assert [(node.verdict, node.because) for node in found.nodes] == [("errored", "a/b has no value")]
    assert found.measurements == ()


def test_a_refusal_names_the_line_and_what_to_do() -> None:
    one = find("superbench-results")
    assert one is not None
    with pytest.raises(NotReadable, match=r"Line 2: the JSON ends early. Send the whole output of the tool\."):
        one.read(Source(content=b'{"node": "a"}\n{"node": '))
    with pytest.raises(NotReadable, match="Line 2: no `node`"):
        one.read(Source(content=b'{"node": "a"}\n{"nod": 1}'))


RULE = "superbench: {rules: {r: {function: value, criteria: CRITERIA, categories: C, metrics: ['a/b']}}}"


def _rules(criteria: str, function: str = "value", metrics: str = "a/b") -> Any:
    rule = {"function": function, "criteria": criteria, "categories": "C", "metrics": [metrics]}
    return {"superbench": {"rules": {"r": rule}}}


@pytest.mark.parametrize(
    "code",
    [
        "lambda x:__import__('os').system('x')",
        "lambda x:x<0 if open('/etc/passwd') else True",
        "lambda x:y<0",
        "lambda x:x.real<0",
        "lambda x:x<10**9",
        "(lambda x:x<0)(1)",
        "lambda x:x<0;print(1)",
        "lambda x:" + "x<0 and " * 200 + "x<0",
        "print(1)",
        "",
    ],
)
def test_rules_that_are_code_are_not_run(code: str) -> None:
    with pytest.raises(NotReadable, match="Rule r: `criteria` must be a comparison"):
        rules_of(_rules(code))


@pytest.mark.parametrize(
    ("code", "broken", "kept"),
    [
        ("lambda x:x<-0.05", -0.06, -0.05),
        ("lambda x: x > 0.05", 0.06, 0.05),
        ("lambda val:val>=1e3", 1000, 999),
        ("lambda x:0.95>x", 0.9, 0.95),
        ("lambda x:x != 0", 124, 0),
        ("lambda x:x<0.9 or x>1.1", 1.2, 1.0),
        ("lambda x:(x>1 and x<2)", 1.5, 2),
        ("lambda x:abs(x)>0.05", -0.06, 0.01),
        ("lambda x:True if x>5 else False", 6, 5),
    ],
)
def test_comparisons_are_read(code: str, broken: float, kept: float) -> None:
    [rule] = rules_of(_rules(code))
    assert rule.broken(broken)
    assert not rule.broken(kept)


def test_rules_of_rules_are_summed_up() -> None:
    [rule] = rules_of(_rules('lambda label:True if label["r4"]+label["r5"]>=2 else False', "multi_rules"))
    assert rule.sums == ("r4", "r5")
    assert rule.broken(2)
    assert not rule.broken(1)


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (r"mem-bw/H2D_Mem_BW:\d+", "mem-bw/H2D_Mem_BW:12", "mem-bw/D2H_Mem_BW:0"),
        (r"gpt/(fp16|fp32)_.*time", "gpt/fp32_step_time", "gpt/int8_time"),
        (r"a/[^b-d]+$", "a/xyz", "a/xbz"),
        (r"a/b?c\.d", "a/c.d", "a/cxd"),
        (r"^b", "bc", "ab"),
        (r"x+(?:yz)*", "xxyzyz", "y"),
        (r".*/return_code", "a/return_code", "a/return"),
    ],
)
def test_names_of_metrics_match_as_in_python(pattern: str, yes: str, no: str) -> None:
    assert Pattern(pattern).found_in(yes)
    assert not Pattern(pattern).found_in(no)


def test_an_expression_that_backtracks_is_matched_in_bounded_time() -> None:
    start = time.process_time()
    assert not Pattern("(a*)*(a*)*(a|a|a)*b").found_in("a" * 300)
    assert time.process_time() - start < 2


def test_a_variance_beyond_all_numbers_is_unknown_and_no_pass() -> None:
    one = find("superbench-results")
    assert one is not None
    rules = json.dumps(_rules("lambda x:x<-0.05", "variance")).encode()
    found = one.read(Source(content=b'{"node": "n", "a/b": 1e308}', rules=rules, baseline=b'{"a/b": 1e-300}'))
    assert [(node.verdict, node.because) for node in found.nodes] == [("incomplete", "a/b has no baseline.")]
    json.dumps(to_json(found), allow_nan=False)


@pytest.mark.parametrize("metric", ["a/\0", "a/\ud800", "a/" + "x" * 290])
def test_the_name_of_a_metric_is_kept_in_bounds(metric: str) -> None:
    one = find("superbench-results")
    assert one is not None
    rules = json.dumps(_rules("lambda x:x>1", metrics="a/.*")).encode()
    found = one.read(Source(content=json.dumps({"node": "n", metric: 5}).encode(), rules=rules))
    [node], [figure] = found.nodes, found.measurements
    assert (node.verdict, node.test) == ("failed", figure.name)
    assert figure.name.isprintable()
    assert len(figure.name) <= 253


def test_a_rule_that_names_a_metric_without_end_is_refused() -> None:
    one = find("superbench-results")
    assert one is not None
    rules = json.dumps(_rules("lambda x:x>1", metrics="x" * 100_000)).encode()
    with pytest.raises(NotReadable, match="is an expression that is not read"):
        one.read(Source(content=b'{"node": "n", "a/b": 5}', rules=rules))
