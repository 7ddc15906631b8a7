"""A throw-away certificate authority, made by the openssl binary."""

from __future__ import annotations

import base64
import ssl
import subprocess
from pathlib import Path


class Authority:
    """One CA in a folder of its own; `issue` gives certificate and key files."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        folder.mkdir()
        self.certificate, self._key = folder / "ca.pem", folder / "ca.key"
        extensions = [
            "-addext",
            "basicConstraints=critical,CA:TRUE",
            "-addext",
            "keyUsage=critical,keyCertSign,cRLSign",
        ]
        _openssl(
            "req",
            "-x509",
            *_NEW_KEY,
            "-keyout",
            self._key,
            "-out",
            self.certificate,
            "-subj",
            f"/CN={name}",
            *extensions,
        )

    def issue(self, name: str, alternatives: str = "") -> tuple[Path, Path]:
        """alternatives: "IP:127.0.0.1,DNS:kube.example" for a server."""
        request, key, certificate = (self.folder / f"{name}.{end}" for end in ("csr", "key", "pem"))
        _openssl("req", *_NEW_KEY, "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={alternatives}\n" if alternatives else "basicConstraints=CA:FALSE\n")
        ca = ("-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial")
        _openssl("x509", "-req", "-in", request, *ca, "-days", "2", "-extfile", extensions, "-out", certificate)
        return certificate, key

    def server(self, alternatives: str = "IP:127.0.0.1", ask_client: bool = False) -> ssl.SSLContext:
        """ask_client: only clients with a certificate of this CA are let in."""
        certificate, key = self.issue("server-" + "".join(filter(str.isalnum, alternatives)), alternatives)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if ask_client:
            context.load_verify_locations(self.certificate)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def base64_of(file: Path) -> str:
    """The *-data form of a kubeconfig."""
    return base64.b64encode(file.read_bytes()).decode()
