"""Text of a cluster in a message: nothing in it moves a cursor, is a link, calls people or changes how the rest looks. Pure.

Names, labels and errors of a cluster are written by anybody who may create a pod there.
"""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote

from wording.printable import one_line

#: What is looked at of one text; the rest is cut off anyway.
_LONGEST = 20_000
#: An address, which mail programs and chats make a link of.
_ADDRESS = re.compile(r"(?<=[A-Za-z0-9]):(?=//)")
#: Marks of all dialects of Markdown, of mentions and of entities → the wide forms of the same characters.
_WIDE = str.maketrans({mark: chr(ord(mark) + 0xFEE0) for mark in "[]<>*`~|\\#@&"})
#: An underline inside a word marks nothing, and names have it.
_UNDERLINE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]*")


def printable(text: str, most: int) -> str:
    """One line of at most so many characters, for programs: controls are codes such as \\u001b, what shows nothing is left out."""
    line = "".join(one for one in " ".join(one_line(text[:_LONGEST]).split()) if one.isprintable())
    return cut(" ".join(line.split()), most)


def plain(text: str, most: int) -> str:
    """The same for people, where the receiver shows text as it is: addresses are no links ("https: //…")."""
    return cut(_ADDRESS.sub(": ", printable(text, most)), most)


def inert(text: str, most: int) -> str:
    """The same where the receiver reads a dialect of Markdown: its marks are wide characters that look alike."""
    return _UNDERLINE.sub("＿", plain(text, most).translate(_WIDE))


def cut(text: str, most: int) -> str:
    """At most so many characters; "…" stands for the rest."""
    return text if len(text) <= most else text[: most - 1] + "…"


def cut_bytes(text: str, most: int) -> str:
    """At most so many bytes of UTF-8, cut between two characters."""
    packed = text.encode()
    return text if len(packed) <= most else packed[: most - 3].decode(errors="ignore") + "…"


def address(url: str) -> str:
    """A link that ends nowhere but at its end, in Markdown, HTML and JSON alike; "" for what is no address."""
    return quote(url, safe="%/:?#[]@!$&*+,;=~") if url.startswith(("https://", "http://")) else ""


def markdown_link(text: str, url: str) -> str:
    """text: inert already. Without an address the text alone."""
    return f"[{text}]({target})" if (target := address(url)) else text


def key(topic: str, most: int) -> str:
    """The topic as others know it: as it is, and a digest where it is too long or has characters that are not for keys."""
    if len(topic) <= most and _KEY.fullmatch(topic):
        return topic
    return hashlib.sha256(topic.encode(errors="backslashreplace")).hexdigest()
