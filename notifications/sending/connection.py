"""A socket to a checked address of a host, with TLS by the host's name."""

from __future__ import annotations

import socket
import ssl

from kube.deadline import Deadline
from notifications.sending.addresses import Allowed, resolved
from notifications.sending.errors import NotPossible, NotSent
from wording.printable import one_line
from wording.said import sentence

#: For the name, and for each address.
CONNECT_S = 5.0


def connected(host: str, port: int, allowed: Allowed, deadline: Deadline) -> socket.socket:
    """To the first address that answers; the deadline watches it. Raises NotSent and NotPossible."""
    refusal = "time-out"
    for address in resolved(host, port, allowed, CONNECT_S):
        if deadline.due:
            break
        try:
            made = socket.create_connection((address, port), timeout=CONNECT_S)
        except OSError as error:
            refusal = _why(error)
            continue
        made.settimeout(deadline.seconds)
        deadline.watch(made)
        return made
    raise NotSent(sentence("Cannot connect to {host}, port {port}: {why}.", host=host, port=port, why=refusal))


def _why(error: OSError) -> str:
    return "time-out" if isinstance(error, TimeoutError) else one_line((error.strerror or "error").lower())[:100]


def secured(plain: socket.socket, host: str, deadline: Deadline) -> ssl.SSLSocket:
    """TLS, with the certificate checked by the system's authorities (or SSL_CERT_FILE). Raises NotSent and NotPossible."""
    made = ssl.create_default_context().wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)
    deadline.watch(made)
    try:
        made.do_handshake()
    except ssl.SSLCertVerificationError as error:
        made.close()
        text = sentence(
            "The certificate of {host} is not valid: {why}. Correct the address, or set SSL_CERT_FILE to its authority.",
            host=host,
            why=one_line(error.verify_message)[:100],
        )
        raise NotPossible(text) from None
    except OSError as error:
        made.close()
        why = "time-out" if deadline.due or isinstance(error, TimeoutError) else _reason(error)
        raise NotSent(sentence("No TLS with {host}: {why}.", host=host, why=why)) from None
    return made


def _reason(error: OSError) -> str:
    reason = getattr(error, "reason", "") or error.strerror or "connection lost"
    return one_line(str(reason).replace("_", " ").lower())[:100]
