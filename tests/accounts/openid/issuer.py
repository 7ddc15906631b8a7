"""A small issuer of OpenID Connect that says what a test wants: ID tokens with other claims, other keys, or none."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.http_server import Handler, Server

CLIENT, CLIENT_SECRET, KID = "gpudash", "a-secret-of-tests", "first"
Sign = Callable[[dict[str, Any]], str]


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Issuer:
    """claims: those of the next ID token, over the usual ones; None leaves one out. sign: makes a token of claims.

    document: what is changed of the discovery document. token: the answer of the token endpoint in place of the usual one.
    """

    def __init__(self) -> None:
        self.key, self.kid = new_key(), KID
        self.claims: dict[str, Any] = {}
        self.document: dict[str, Any] = {}
        self.token: Any = None
        self.sign: Sign = self.signed
        self.asked: dict[str, Any] = {}
        self.url = ""
        #: Paths that were asked for, in their order; and whether an answer waits, with the first bytes sent.
        self.paths: list[str] = []
        self.go = threading.Event()
        self.go.set()

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": self.kid})

    def answer(self, path: str, body: bytes) -> Any:
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/auth",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            } | self.document
        if path == "/keys":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return {"keys": [{**public, "kid": self.kid, "use": "sig", "alg": "RS256"}]}
        if path == "/token":
            self.asked = parse_qs(body.decode())
            return self.token or {"access_token": "a", "token_type": "Bearer", "id_token": self._id_token()}
        return None

    def _id_token(self) -> str:
        now = int(time.time())
        usual = {"iss": self.url, "sub": "s-1", "aud": CLIENT, "iat": now, "exp": now + 60, "preferred_username": "ana"}
        return self.sign({name: value for name, value in (usual | self.claims).items() if value is not None})


@contextmanager
def issuer() -> Iterator[Issuer]:
    made = Issuer()

    class Answering(Handler):
        def do_GET(self) -> None:
            made.paths.append(urlsplit(self.path).path)
            if not made.go.is_set():
                with suppress(OSError):
                    self.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
                    while not made.go.wait(0.02):
                        self.wfile.write(b"x")
                return
            given = made.answer(urlsplit(self.path).path, self.rfile.read(int(self.headers.get("Content-Length", 0))))
            data = json.dumps(given).encode()
            self.send_response(404 if given is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

    with Server(Answering) as server:
        made.url = f"http://127.0.0.1:{server.port}"
        try:
            yield made
        finally:
            made.go.set()
