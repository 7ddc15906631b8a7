"""The envelope: golden bytes of PAE, a second implementation, and everything that must be refused."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from validations.certificate import envelope, offline

ROOT = Path(__file__).resolve().parents[3]
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
NAME = "card-uuid:GPU-1"
STATEMENT: dict[str, Any] = {
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [{"name": NAME, "digest": {"sha256": hashlib.sha256(NAME.encode()).hexdigest()}}],
    "predicateType": "https://gpudash.io/validation-report/v1",
    "predicate": {"result": "PASSED", "counts": {"targets": 1, "not_tested": 0}, "report": {"campaign": {"id": "c1"}}},
}


def signed(statement: Any = STATEMENT) -> bytes:
    data = statement if isinstance(statement, bytes) else json.dumps(statement).encode()
    return envelope.sign(data, KEY)


def test_pae_is_as_the_specification_has_it() -> None:
    """The example of DSSE's protocol.md, and lengths in bytes."""
    assert envelope.pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert envelope.pae("é", "é".encode()) == "DSSEv1 2 é 2 é".encode()


def test_another_implementation_verifies_it(tmp_path: Path) -> None:
    """A few lines that share no code with ours."""
    pem = envelope.public_pem(KEY.public_key()).encode()
    outer = json.loads(signed())
    payload = base64.b64decode(outer["payload"])
    kind = outer["payloadType"]
    signed_bytes = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    key: Any = load_pem_public_key(pem)
    key.verify(base64.b64decode(outer["signatures"][0]["sig"]), signed_bytes)
    assert json.loads(payload) == STATEMENT
    der = base64.b64decode("".join(pem.decode().splitlines()[1:-1]))
    assert outer["signatures"][0]["keyid"] == hashlib.sha256(der).hexdigest()


def test_one_changed_byte_of_payload_signature_key_id_or_type_is_refused() -> None:
    whole = signed()
    assert envelope.verified(whole, KEY.public_key()) == STATEMENT
    outer = json.loads(whole)
    sig, payload = outer["signatures"][0]["sig"], outer["payload"]
    pieces = [payload, sig, outer["signatures"][0]["keyid"], outer["payloadType"]]
    tried = 0
    for text in pieces:
        start = whole.index(text.encode())
        for place in range(start, start + len(text)):
            for other in (whole[place] ^ 1, whole[place] ^ 32, ord("A") if whole[place] != ord("A") else ord("B")):
                changed = whole[:place] + bytes([other]) + whole[place + 1 :]
                with pytest.raises((envelope.Refused, envelope.Unreadable)):
                    envelope.verified(changed, KEY.public_key())
                tried += 1
    assert tried > 1500
    for raw, name in ((base64.b64decode(payload), "payload"), (base64.b64decode(sig), "sig")):
        for place in range(len(raw)):
            changed_text = base64.b64encode(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]).decode()
            changed = whole.replace((payload if name == "payload" else sig).encode(), changed_text.encode())
            with pytest.raises(envelope.Refused, match="does not fit"):
                envelope.verified(changed, KEY.public_key())


def hostile() -> Iterator[tuple[str, bytes]]:
    outer = json.loads(signed())
    one = outer["signatures"][0]
    yield "payloadType", json.dumps(outer | {"payloadType": "application/json"}).encode()
    yield "signature", json.dumps(outer | {"signatures": [one, one]}).encode()
    yield "signature", json.dumps(outer | {"signatures": []}).encode()
    yield "Unknown field", json.dumps(outer | {"more": 1}).encode()
    yield "Unknown field", json.dumps(outer | {"signatures": [one | {"cert": "x"}]}).encode()
    yield "stands twice", json.dumps(outer).encode().replace(b'"payload"', b'"payload": "QQ==", "payload"')
    yield "canonical base64", json.dumps(outer | {"signatures": [one | {"sig": one["sig"][:-3] + "h=="}]}).encode()
    yield "not base64", json.dumps(outer | {"payload": outer["payload"] + "\n"}).encode()
    yield "not base64", json.dumps(outer | {"payload": 7}).encode()
    yield "keyid", json.dumps(outer | {"signatures": [one | {"keyid": None}]}).encode()
    for text in (
        b"",
        b"[]",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"payload": NaN}',
        b'{"a":' + b"9" * 10_000 + b"}",
        b"null",
    ):
        yield "Not a certificate", text
    # Signed with our key, and still no certificate.
    yield "stands twice", signed(json.dumps(STATEMENT).encode().replace(b'"_type"', b'"_type": "x", "_type"'))
    yield "this kind", signed(STATEMENT | {"predicateType": "https://in-toto.io/attestation/test-result/v0.1"})
    yield "of no card", signed(STATEMENT | {"subject": []})
    yield "digest of", signed(STATEMENT | {"subject": [{"name": "card-uuid:GPU-2", "digest": {"sha256": "0" * 64}}]})


@pytest.mark.parametrize(("why", "data"), list(hostile()))
def test_hostile_files_are_refused_and_say_why(why: str, data: bytes) -> None:
    with pytest.raises((envelope.Refused, envelope.Unreadable), match=why):
        envelope.verified(data, KEY.public_key())


def test_another_key_is_refused() -> None:
    with pytest.raises(envelope.Refused, match="another key"):
        envelope.verified(signed(), Ed25519PrivateKey.generate().public_key())


def gpudash(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """With an empty environment, in a folder of its own."""
    command = [sys.executable, str(ROOT / "manage.py"), "report", *words]
    return subprocess.run(command, capture_output=True, text=True, env={}, cwd=folder, check=False, timeout=60)


def test_the_command_makes_a_key_and_verifies_with_an_empty_environment(tmp_path: Path) -> None:
    made = gpudash("key", "signing.pem", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    private = tmp_path / "signing.pem"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert "PRIVATE" not in made.stdout
    assert "GPUDASH_SIGNING_KEY_FILE=" in made.stdout
    key = envelope.read_private(private)
    assert "PRIVATE" not in repr(key)
    (tmp_path / "c.json").write_bytes(envelope.sign(json.dumps(STATEMENT).encode(), key))
    valid = gpudash("verify", "c.json", "--key", "signing.pem.pub", folder=tmp_path)
    assert (valid.returncode, valid.stderr) == (0, "")
    assert "Result: PASSED" in valid.stdout
    (tmp_path / "other.json").write_bytes(signed())
    other = gpudash("verify", "other.json", "--key=signing.pem.pub", folder=tmp_path)
    assert (other.returncode, other.stdout) == (1, "")
    assert other.stderr.startswith("REFUSED: It is signed with another key")
    again = gpudash("key", "signing.pem", folder=tmp_path)
    assert again.returncode == 2
    assert "exists" in again.stderr
    assert private.read_bytes() == envelope.private_pem(key)
    assert sorted(os.listdir(tmp_path)) == ["c.json", "other.json", "signing.pem", "signing.pem.pub"]


def test_what_cannot_be_read_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    offline.made(tmp_path / "k")
    file, public = tmp_path / "c", tmp_path / "k.pub"
    file.write_bytes(signed())
    rsa = tmp_path / "rsa.pub"
    rsa.write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    huge = tmp_path / "huge"
    with huge.open("wb") as opened:
        opened.truncate(envelope.MOST_BYTES + 1)
    for words, why in (
        (["verify", str(tmp_path / "none"), "--key", str(public)], "no such file"),
        (["verify", str(tmp_path), "--key", str(public)], "not a file"),
        (["verify", str(file), "--key", str(tmp_path / "k")], "a private key"),
        (["verify", str(file), "--key", str(rsa)], "not a public key"),
        (["verify", str(huge), "--key", str(public)], "larger than"),
        (["key", str(tmp_path / "no" / "folder")], "cannot be written"),
    ):
        assert offline.main(words) == offline.UNREADABLE
        assert why in capsys.readouterr().err


def test_a_terminal_is_not_written_to_by_a_signed_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pub").write_text(envelope.public_pem(KEY.public_key()))
    bad = STATEMENT | {"predicate": {"result": "\x1b[2J", "report": {"campaign": {"name": "a\nResult: PASSED"}}}}
    (tmp_path / "c").write_bytes(signed(bad))
    assert offline.main(["verify", str(tmp_path / "c"), "--key", str(tmp_path / "pub")]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\nResult: PASSED" not in out
