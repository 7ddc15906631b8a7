"""How a connection to the broker is made and kept. Imported by the settings: knows nothing of Django."""

from __future__ import annotations

import os
import socket
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from gpudash.config.env import BadSetting

#: Of IPPROTO_TCP, what this system has of it: probes after 15 s without a word, three of them 5 s apart.
KEEPALIVE = {
    getattr(socket, name): value
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
    if hasattr(socket, name)
}
CA = "GPUDASH_BROKER_CA"


def secured(url: str, password: str, ca: str) -> str:
    """The broker's URL with a password that stands apart from it, and with what checks the server of a rediss:// URL.

    ca: a file of certificates to trust, "" for the system's. Celery's own default for rediss:// is to check nothing: whoever stands
    between could read and send tasks. What the URL itself says of certificates (`?ssl_cert_reqs=…`) counts. Raises BadSetting.
    """
    parts = urlsplit(url)
    if password:
        if not parts.hostname:
            raise BadSetting(
                "GPUDASH_BROKER_PASSWORD", "requires a broker with a host: GPUDASH_BROKER_URL=redis://host:6379/0"
            )
        user, _, host = parts.netloc.rpartition("@")
        parts = parts._replace(netloc=f"{user.partition(':')[0]}:{quote(password, safe='')}@{host}")
        url = parts.geturl()
    if parts.scheme == "rediss":
        checked = {"ssl_cert_reqs": "required", "ssl_check_hostname": "true"} | _trusted(ca)
        return parts._replace(query=urlencode(checked | dict(parse_qsl(parts.query)))).geturl()
    if ca:
        raise BadSetting(CA, "requires TLS: GPUDASH_BROKER_URL=rediss://host:6379/0")
    return url


def _trusted(ca: str) -> dict[str, str]:
    if ca and not os.access(ca, os.R_OK):
        raise BadSetting(CA, f"cannot read the file {ca}; must be PEM certificates")
    return {"ssl_ca_certs": ca} if ca else {}
