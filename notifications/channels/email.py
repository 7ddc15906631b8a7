"""E-mail: text and HTML beside it, whole as RFC 5322. Programs do not answer it (RFC 3834), and mails of one topic are a thread.

Line ends of hostile names are codes before they come near a header; `EmailMessage` refuses those that are left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.headerregistry import Address, HeaderRegistry, MessageIDHeader
from email.message import EmailMessage
from email.policy import SMTP
from html import escape
from urllib.parse import urlsplit

from notifications.channels import checks
from notifications.channels.answers import answer, spoken
from notifications.channels.engine import Answer, Kind, Line, Mail, Message, Outcome, Setting
from notifications.channels.lines import TITLE, head, more, opens, told
from notifications.channels.text import address, key, plain
from wording.said import gettext_noop, sentence

_HEADERS = HeaderRegistry()
# Of one id, as ours are: as plain text a long one would be cut into encoded words.
_HEADERS.map_to_type("references", MessageIDHeader)  # type: ignore[arg-type]  # typeshed: a mixin, as all are
_POLICY = SMTP.clone(cte_type="7bit", header_factory=_HEADERS)
_MOST_LINES = 50
_MOST_RECIPIENTS = 50


def requests(message: Message, settings: Mapping[str, str], now: datetime) -> Sequence[Mail]:
    """One mail to all recipients."""
    recipients = checks.words(settings["recipients"])
    return [
        Mail(
            host=settings["host"],
            port=int(settings.get("port") or 587),
            security=settings.get("security") or "starttls",
            user=settings.get("user", ""),
            password=settings.get("password", ""),
            sender=settings["sender"],
            recipients=tuple(recipients),
            content=_mail(message, settings["sender"], recipients).as_bytes(policy=_POLICY),
        )
    ]


def _mail(message: Message, sender: str, recipients: Sequence[str]) -> EmailMessage:
    domain = sender.rpartition("@")[2]
    mail = EmailMessage(policy=_POLICY)
    mail["From"] = Address("gpudash", addr_spec=sender)
    mail["To"] = [Address(addr_spec=recipient) for recipient in recipients]
    mail["Subject"] = plain(message.title, TITLE)
    mail["Date"] = message.at.astimezone(UTC)
    mail["Message-ID"] = f"<{_id_part(message.id)}@{domain}>"
    if len(message.lines) == 1 and not message.hidden:
        # No mail has this id: it only says which ones belong together.
        mail["References"] = f"<topic.{_id_part(message.lines[0].topic)}@{domain}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Auto-Response-Suppress"] = "All"
    mail["List-Id"] = f"<gpudash.{_host(message.source) or domain}>"
    mail.set_content(_text(message))
    mail.add_alternative(_html(message), subtype="html")
    # The same at each try. Neither base64 nor quoted-printable has such a line.
    mail.set_boundary(f"=_{_id_part(message.id)}")
    return mail


def _id_part(text: str) -> str:
    """What may stand before the @ of a message's id."""
    return re.sub(r"[:/]", ".", key(text, 64)).strip(".")


def _host(source: str) -> str:
    try:
        host = urlsplit(source).hostname or ""
    except ValueError:
        return ""
    return host if re.fullmatch(r"[a-z0-9.-]{1,55}", host) else ""


def _text(message: Message) -> str:
    blocks = [_lines(plain(message.title, TITLE), address(message.link))]
    for line in message.lines:
        blocks.append(_lines(f"{head(message, line)}: {told(message, line)}", address(line.link)))
    return "\n\n".join(filter(None, (*blocks, more(message), _lines("-- ", "gpudash", address(message.source))))) + "\n"


def _lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _html(message: Message) -> str:
    title = f"<h3>{_anchor(message.link, plain(message.title, TITLE))}</h3>"
    rows = [_row(message, line) for line in message.lines]
    hidden = f"<p>{escape(more(message))}</p>" if message.hidden else ""
    end = f"<p>{_anchor(message.source, 'gpudash')}</p>"
    return f"<!doctype html>\n<html><body>\n{_lines(title, *rows, hidden, end)}\n</body></html>\n"


def _row(message: Message, line: Line) -> str:
    text = escape(told(message, line)).replace("\n", "<br>\n")
    link = f" · {_anchor(line.link, opens(message))}" if line.link else ""
    return f"<p><b>{escape(head(message, line))}:</b> {text}{link}</p>"


def _anchor(url: str, text: str) -> str:
    return f'<a href="{escape(target)}">{escape(text)}</a>' if (target := address(url)) else escape(text)


def judge(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """status: the code of SMTP; 5xx is final, anything else but 2xx for later."""
    words = spoken(body[:2000].decode(errors="replace"))
    text = sentence("SMTP {code}: {words}", code=status, words=words) if words else sentence("SMTP {code}", code=status)
    if 200 <= status < 300:
        return answer(Outcome.DELIVERED, text)
    return answer(Outcome.LATER if status < 500 else Outcome.REFUSED, text)


KIND = Kind(
    name="email",
    title=gettext_noop("E-mail"),
    settings=(
        Setting(name="host", title=gettext_noop("SMTP server"), check=checks.host_name),
        Setting(name="port", title=gettext_noop("Port"), default="587", check=checks.port_number),
        Setting(
            name="security",
            title=gettext_noop("Encryption"),
            help=gettext_noop("starttls on port 587, tls on port 465. Without encryption no password is sent."),
            default="starttls",
            choices=("starttls", "tls", "none"),
        ),
        Setting(name="user", title=gettext_noop("User"), required=False, check=checks.header_text),
        Setting(name="password", title=gettext_noop("Password"), secret=True, required=False, check=checks.password),
        Setting(name="sender", title=gettext_noop("Sender"), check=checks.mailbox),
        Setting(
            name="recipients",
            title=gettext_noop("Recipients"),
            help=gettext_noop("E-mail addresses, separated by blanks."),
            check=checks.each(checks.mailbox, _MOST_RECIPIENTS),
        ),
    ),
    requests=requests,
    judge=judge,
    per_minute=20,
    most_lines=_MOST_LINES,
)
