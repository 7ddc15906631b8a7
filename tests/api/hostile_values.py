"""What no well-meaning client sends: values, bodies and headers for `test_hostile_requests`. Knows no address."""

from __future__ import annotations

METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND")
PROBLEM = "application/problem+json"
#: As they stand in an address: percent-encoded.
VALUES = (
    "%00",
    "a%00b",
    "%ED%A0%80",
    "%FF%FE",
    "9" * 30,
    "0000000010000000",
    "000000001" + "0" * 21,
    "-1",
    "1.5",
    "1e400",
    "NaN",
    "%D9%A1%D9%A2",
    "9" * 5000,
    "",
    "%20",
    "%F0%9F%A6%84" * 300,
    "..%2F..%2F",
    "%0d%0aSet-Cookie:x=y",
    "%25s%7B%7D%5B%5D",
    "WyJ4Il0",
    "null",
    "[]",
)
NESTED = 10_000
HALF = '"\\ud800"'
#: What bodies of JSON may hold in place of any value.
JSON_VALUES = (
    "null",
    "true",
    "1.5",
    "-1",
    "9" * 30,
    "9" * 5000,
    "1e400",
    "NaN",
    "-Infinity",
    '""',
    '"\\u0000"',
    HALF,
    '"\\udfff\\ud800"',
    '"' + "x" * 100_000 + '"',
    "[]",
    "[[]]",
    "[" * NESTED + "]" * NESTED,
    '{"a":' * NESTED + "1" + "}" * NESTED,
    "[" * 60 + "]" * 60,
    "{}",
    '{"\\u0000": 1}',
    f"{{{HALF}: 1}}",
    '{"a": {"b": {"c": [1, {"d": "\\u0000"}]}}}',
    "[" + "1," * 50_000 + "1]",
    "[" + ",".join(['{"node": "gpu-1", "cluster": "prod"}'] * 3000) + "]",
)
BODIES: tuple[tuple[str, bytes], ...] = (
    *(("application/json", text.encode()) for text in JSON_VALUES),
    ("application/json", b""),
    ("application/json", b"{"),
    ("application/json", b"\xff\xfe\x00"),
    ("application/json", b'"\xed\xa0\x80"'),
    ("application/json", b'{"name": "a", "name": "b", "suite": 1, "suite": 2}'),
    ("application/json; charset=utf-16", '{"name": "a"}'.encode("utf-16")),
    ("application/json; charset=nonsense", b"{}"),
    ("application/json; charset=\xff", b"{}"),
    ("application/json, text/html", b"{}"),
    ("text/plain", b"hello"),
    ("", b"{}"),
    ("/", b"{}"),
    ("application/x-www-form-urlencoded", b"name=%00&role=viewer&cluster=%00&suite=%00&node=%00&targets=%00&next=%00"),
    ("application/x-www-form-urlencoded", b"name=%ED%A0%80&node=\xff&suite=%FF&targets=\xff"),
    ("application/x-www-form-urlencoded; charset=utf-7", b"name=+AAA-"),
    ("application/x-www-form-urlencoded", b"&".join(b"a=%d" % number for number in range(3000))),
    ("multipart/form-data", b"x"),
    ("multipart/form-data; boundary=x", b"--x\r\n\r\n"),
    ("multipart/form-data; boundary=\xff", b"--x--"),
    (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="name\x00"; filename="a\x00"\r\n\r\n\x00\xff\r\n--x--\r\n',
    ),
)
_HEADERS: tuple[dict[str, str], ...] = (
    {"Accept": "text/csv"},
    {"Accept": "x"},
    {"Accept": "application/json; indent=99999999999999999999"},
    {"Accept": "*/*;q=\x00,,;;=" + "a/b," * 500},
    {"Accept-Language": "x" * 5000 + ",zh-\x00"},
    {"Idempotency-Key": "\x00"},
    {"Idempotency-Key": "\xff" * 3000},
    {"X-Request-ID": "\r\n"},
    {"Authorization": "Bearer gpd_" + "9" * 18 + "_" + "x" * 43},
    {"Authorization": "Basic \xff"},
    {"Range": "bytes=0-" + "9" * 400},
    {"If-Modified-Since": "\xff"},
    {"If-None-Match": "\xff\x00"},
    {"Cookie": 'gpudash_session="abcdefgh\\000"'},
    {"Cookie": f"gpudash_session={'x' * 5000}; django_language=\\000; theme=\xff; gpudash_csrf=\\000"},
    {"Cookie": 'gpudash_device="\\000"; messages="\\000"; gpudash_language="\\000"'},
    {"Cookie": "messages=WzFd:x:y; sessionid=\xed\xa0\x80; =; ;;"},
    {"HX-Request": "true", "HX-Current-URL": "%00", "HX-Current-URL-URI-AutoEncoded": "true", "HX-Target": "\xff"},
    {"HX-Request": "true", "HX-Trigger-Name": "%ED%A0%80", "HX-Trigger-Name-URI-AutoEncoded": "true"},
    {"Content-Length": "x"},
    {"Content-Length": "-1"},
    {"Content-Length": "9" * 5000},
)


#: As WSGI names them.
HEADERS = tuple(
    {
        ("" if name == "Content-Length" else "HTTP_") + name.upper().replace("-", "_"): value
        for name, value in one.items()
    }
    for one in _HEADERS
)
