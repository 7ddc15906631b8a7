"""PostgreSQL and Redis as others offer them to a team: over TLS, with passwords. Certificates are made by openssl."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psycopg

from tests import services
from tests.services import POSTGRES_USER, Missing, Postgres, end, free_port, scratch, wait_until

#: It would break a URL.
PASSWORD = "p@ss/w#rd?%"


class Certificates(msgspec.Struct):
    """Files: a CA, and a server's certificate for the name `localhost` with its key."""

    ca: Path
    certificate: Path
    key: Path


def certificates(folder: Path) -> Certificates:
    """A new CA and a certificate by it. Raises Missing."""
    if shutil.which("openssl") is None:
        raise Missing("no openssl here; Debian: apt-get install openssl")
    folder.mkdir(exist_ok=True)
    made = Certificates(folder / "ca.crt", folder / "server.crt", folder / "server.key")
    request = (
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    )
    _run(*request, "-keyout", folder / "ca.key", "-out", made.ca, "-subj", "/CN=gpudash test CA")
    signed = ("-CA", made.ca, "-CAkey", folder / "ca.key", "-addext", "subjectAltName=DNS:localhost")
    _run(*request, *signed, "-keyout", made.key, "-out", made.certificate, "-subj", "/CN=localhost")
    return made


def _run(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


@contextmanager
def redis(tls: Certificates) -> Iterator[str]:
    """A server that speaks TLS only and wants PASSWORD; its URL without the password. Raises Missing."""
    program = shutil.which("redis-server")
    if program is None:
        raise Missing("no Redis here (redis-server); Debian: apt-get install redis-server")
    port = free_port()
    with scratch("redis-tls") as folder:
        files = ("--tls-cert-file", tls.certificate, "--tls-key-file", tls.key, "--tls-ca-cert-file", tls.ca)
        options = ("--port", 0, "--tls-port", port, "--tls-auth-clients", "no", "--bind", "127.0.0.1", "--save", "")
        words = [program, *options, *files, "--requirepass", PASSWORD, "--dir", folder, "--logfile", folder / "log"]
        process = subprocess.Popen([str(word) for word in words])
        try:
            wait_until(lambda: "Ready to accept" in _read(folder / "log"), "Redis answers")
            yield f"rediss://localhost:{port}/0"
        finally:
            end(process)


def _read(file: Path) -> str:
    return file.read_text() if file.exists() else ""


@contextmanager
def postgres(tls: Certificates) -> Iterator[str]:
    """A server that lets in who comes over TLS with PASSWORD; the URL of a database without either. Raises Missing."""
    with scratch("postgres-tls") as folder:
        server = Postgres(folder)
        server.initialise()
        server.start()
        try:
            server.create("gpudash")
            with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
                connection.execute(psycopg.sql.SQL("ALTER USER postgres PASSWORD {}").format(PASSWORD))
        finally:
            server.stop()
        for name, file in (("server.crt", tls.certificate), ("server.key", tls.key)):
            _install(file, server.data / name)
        with (server.data / "postgresql.conf").open("a") as settings:
            settings.write("ssl = on\n")
        (server.data / "pg_hba.conf").write_text("hostssl all all 127.0.0.1/32 scram-sha-256\n")
        server.start()
        try:
            yield f"postgresql://{POSTGRES_USER}@localhost:{server.port}/gpudash?hostaddr=127.0.0.1"
        finally:
            server.stop()


def _install(file: Path, target: Path) -> None:
    shutil.copy(file, target)
    target.chmod(0o600)
    if services._root():
        shutil.chown(target, POSTGRES_USER, POSTGRES_USER)
