"""How a connection to the broker is kept. Imported by the settings: knows nothing of Django."""

from __future__ import annotations

import socket

#: Of IPPROTO_TCP, what this system has of it: probes after 15 s without a word, three of them 5 s apart.
KEEPALIVE = {
    getattr(socket, name): value
    for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
    if hasattr(socket, name)
}
