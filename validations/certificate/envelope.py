"""DSSE envelopes with one Ed25519 signature, and the keys for them. Imports no Django.

Sources: DSSE protocol v1 (secure-systems-lab/dsse), in-toto attestation Statement v1. Stricter than both where a reader could be
misled: other fields, names that stand twice, further signatures and base64 that is not canonical are refused.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
#: A name, not an address that is read. Raised when a part changes its meaning.
PREDICATE_TYPE = "https://gpudash.io/validation-report/v1"
#: A certificate of 10,000 cards has about 20 MiB.
MOST_BYTES = 64 << 20
_KEY_BYTES = 16 << 10


class Unreadable(Exception):
    """It is no certificate, or no key: nothing can be said of a signature. The text says what to do."""


class Refused(Exception):
    """It is a certificate, and it must not be believed."""


def pae(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed (DSSE's pre-authentication encoding): lengths are decimal and count bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(payload: bytes, key: Ed25519PrivateKey) -> bytes:
    """The envelope as JSON, one line."""
    made = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [
            {
                "keyid": key_id(key.public_key()),
                "sig": base64.b64encode(key.sign(pae(PAYLOAD_TYPE, payload))).decode(),
            }
        ],
    }
    return json.dumps(made, separators=(",", ":")).encode() + b"\n"


def verified(data: bytes, key: Ed25519PublicKey) -> dict[str, Any]:
    """The statement of an envelope, once its signature is found to be of this key. Raises Unreadable or Refused.

    Nothing of the payload is parsed before that.
    """
    payload, name, signature = _opened(data)
    if name != key_id(key):
        raise Refused(f"It is signed with another key: {name[:80]!r}; the given key is {key_id(key)!r}.")
    try:
        key.verify(signature, pae(PAYLOAD_TYPE, payload))
    except InvalidSignature:
        raise Refused("The signature does not fit: content or signature was changed.") from None
    return _statement(payload)


def is_envelope(data: bytes) -> bool:
    """Whether the bytes look like an envelope; no more than that."""
    try:
        return isinstance(found := _json(data), dict) and "payloadType" in found and "signatures" in found
    except (Unreadable, Refused):
        return False


def key_id(key: Ed25519PublicKey) -> str:
    """SHA-256 of the public key in DER (SubjectPublicKeyInfo)."""
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()


def public_pem(key: Ed25519PublicKey) -> str:
    pem = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return pem.decode()


def private_pem(key: Ed25519PrivateKey) -> bytes:
    """PKCS 8 without a password: the file's mode protects it."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def read_private(file: Path) -> Ed25519PrivateKey:
    """Raises Unreadable. No text of it has content of the file."""
    try:
        key = serialization.load_pem_private_key(read(file, _KEY_BYTES), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise Unreadable(f"{file}: not a private key in PEM without a password.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise Unreadable(f"{file}: not an Ed25519 key.")
    return key


def read_public(file: Path) -> Ed25519PublicKey:
    """Raises Unreadable."""
    data = read(file, _KEY_BYTES)
    if b"PRIVATE KEY" in data:
        raise Unreadable(f"{file}: a private key. Use the public key, and keep the private key to the host that signs.")
    try:
        key = serialization.load_pem_public_key(data)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise Unreadable(f"{file}: not a public key in PEM.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise Unreadable(f"{file}: not an Ed25519 key.")
    return key


def read(file: Path, most: int = MOST_BYTES) -> bytes:
    """The content of a file. Raises Unreadable; also for one that is longer, of which no more is read."""
    try:
        if not file.is_file():
            raise Unreadable(f"{file}: {'not a file' if file.exists() else 'no such file'}.")
        with file.open("rb") as opened:
            data = opened.read(most + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(f"{file}: cannot be read ({getattr(error, 'strerror', None) or error}).") from None
    if len(data) > most:
        raise Unreadable(f"{file}: larger than {most:,} bytes.")
    return data


def _opened(data: bytes) -> tuple[bytes, str, bytes]:
    """Payload, key id and signature."""
    found = _json(data)
    _fields(found, {"payloadType", "payload", "signatures"}, "the envelope")
    if found["payloadType"] != PAYLOAD_TYPE:
        raise Refused(f"payloadType must be {PAYLOAD_TYPE!r}.")
    signatures = found["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1:
        raise Refused("A certificate has exactly one signature.")
    _fields(signatures[0], {"keyid", "sig"}, "the signature")
    name = signatures[0]["keyid"]
    if not isinstance(name, str):
        raise Refused("keyid must be a string.")
    return _bytes(found["payload"], "payload"), name, _bytes(signatures[0]["sig"], "sig")


def _statement(payload: bytes) -> dict[str, Any]:
    """What is signed is what we sign; a key that signed something else, too, makes no certificate of it."""
    found = _json(payload)
    _fields(found, {"_type", "subject", "predicateType", "predicate"}, "the statement")
    if found["_type"] != STATEMENT_TYPE or found["predicateType"] != PREDICATE_TYPE:
        raise Refused(
            f"Not a statement of this kind: {str(found['predicateType'])[:200]!r}. A newer gpudash may read it."
        )
    subjects = found["subject"]
    if not isinstance(subjects, list) or not subjects or not isinstance(found["predicate"], dict):
        raise Refused("The statement is of no card.")
    for one in subjects:
        _fields(one, {"name", "digest"}, "a subject")
        if one["digest"] != {"sha256": digest_of(str(one["name"]))}:
            raise Refused(f"The digest of {str(one['name'])[:200]!r} is not of its name.")
    made: dict[str, Any] = found
    return made


def digest_of(name: str) -> str:
    """Of a subject: hardware has no bytes to hash, so it is the SHA-256 of its name (`card-uuid:…`) in UTF-8."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _fields(found: Any, names: set[str], what: str) -> None:
    if not isinstance(found, dict):
        raise Unreadable(f"Not a certificate: {what} is not an object.")
    if missing := names - found.keys():
        raise Unreadable(f"Not a certificate: {what} has no {', '.join(sorted(missing))}.")
    if more := found.keys() - names:
        raise Refused(f"Unknown field in {what}: {', '.join(sorted(more))[:200]}.")


def _bytes(text: Any, what: str) -> bytes:
    try:
        found = base64.b64decode(text.encode("ascii"), validate=True)
    except (AttributeError, ValueError):
        raise Refused(f"{what} is not base64.") from None
    # The last character of base64 may have bits that say nothing.
    if base64.b64encode(found).decode() != text:
        raise Refused(f"{what} is not canonical base64.")
    return found


def _json(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Unreadable("Not a certificate: not JSON.") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two readers may take different ones of two values of one name."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("A name stands twice in an object.")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(name)
