"""The OpenAPI document as a reader wants it: operations by tag with a call to copy, then the shapes. Knows no request and no page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]
_METHODS = ("get", "post", "put", "patch", "delete")
#: How deep an example goes into shapes that hold shapes.
_DEEPEST = 4


@dataclass(frozen=True)
class Word:
    """A part of what a type is called. shape: the name of the shape that it is, or ""."""

    text: str
    shape: str = ""


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of a shape. place: path, query, header; "" of a field. default: as JSON, "" where there is none."""

    name: str
    type: list[Word]
    text: str
    required: bool
    place: str = ""
    default: str = ""


@dataclass(frozen=True)
class Answer:
    """One answer of an operation. headers: those that come with it, beside what each answer has."""

    status: str
    text: str
    type: list[Word]
    kinds: list[str]
    headers: list[Field]


@dataclass(frozen=True)
class Operation:
    """anchor: its operationId. address: as the document has it, `{…}` where something is filled in. call: curl's arguments."""

    anchor: str
    method: str
    address: str
    summary: str
    text: str
    fields: list[Field]
    body: list[Word]
    answers: list[Answer]
    call: str


@dataclass(frozen=True)
class Group:
    name: str
    operations: list[Operation]


@dataclass(frozen=True)
class Shape:
    name: str
    text: str
    type: list[Word]
    fields: list[Field]


def groups(document: Document) -> list[Group]:
    """Operations by tag, in the order of the document; those without one come first, named ""."""
    found: dict[str, list[Operation]] = {}
    for address, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                operation = methods[method]
                tag = (operation.get("tags") or [""])[0]
                found.setdefault(tag, []).append(_operation(document, address, method, operation))
    return [Group(name, operations) for name, operations in found.items()]


def shapes(document: Document) -> list[Shape]:
    return [
        Shape(name, one.get("description", ""), [] if "properties" in one else type_of(one), list(_properties(one)))
        for name, one in sorted(document["components"]["schemas"].items())
    ]


def type_of(schema: Document) -> list[Word]:
    """What a schema is called: "list of Card", "text or null", "one of a, b"."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return [Word(name, name)]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _joined(" or " if key != "allOf" else " and ", [type_of(one) for one in schema[key]])
    if "enum" in schema:
        return [Word("one of " + ", ".join(_word(one) for one in schema["enum"]))]
    if "const" in schema:
        return [Word(_word(schema["const"]))]
    kind = schema.get("type", "anything")
    if isinstance(kind, list):
        return _joined(" or ", [type_of({**schema, "type": one}) for one in kind])
    if kind == "array":
        return [Word("list of "), *type_of(schema.get("items") or {})]
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return [Word("object of "), *type_of(schema["additionalProperties"])]
    form = schema.get("format", "")
    return [Word(f"{kind} ({form})" if form else str(kind))]


def example(document: Document, schema: Document, depth: int = 0) -> Any:
    """A value that has such a shape: its own example, its default, its first choice; required fields only."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return example(document, document["components"]["schemas"][name], depth + 1)
    for key in ("example", "default", "const"):
        if schema.get(key) is not None:
            return schema[key]
    if "examples" in schema:
        return schema["examples"][0]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return example(document, schema[key][0], depth)
    return _of_kind(document, schema, depth)


def _of_kind(document: Document, schema: Document, depth: int) -> Any:
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        wanted = schema.get("required") or list(schema.get("properties", {}))[:2]
        fields = {name: schema["properties"][name] for name in wanted} if depth < _DEEPEST else {}
        return {name: example(document, one, depth + 1) for name, one in fields.items()}
    if kind == "array":
        return [example(document, schema.get("items") or {}, depth + 1)] if depth < _DEEPEST else []
    return {"integer": 1, "number": 1.0, "boolean": True, "null": None}.get(str(kind), "…")


def _operation(document: Document, address: str, method: str, operation: Document) -> Operation:
    body = operation.get("requestBody", {}).get("content", {})
    schema = next((one["schema"] for one in body.values()), None)
    return Operation(
        operation["operationId"],
        method.upper(),
        address,
        operation.get("summary", ""),
        operation.get("description", ""),
        [_parameter(one) for one in operation.get("parameters", ())],
        type_of(schema) if schema else [],
        [_answer(document, status, one) for status, one in operation["responses"].items()],
        _call(document, address, method, operation, schema),
    )


def _parameter(one: Document) -> Field:
    schema = one.get("schema", {})
    text = one.get("description", "")
    return Field(one["name"], type_of(schema), text, bool(one.get("required")), one["in"], _default(schema))


def _answer(document: Document, status: str, answer: Document) -> Answer:
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    content = answer.get("content", {})
    schema = next((one.get("schema") for one in content.values()), None)
    headers = [
        Field(name, type_of(one.get("schema", {})), one.get("description", ""), bool(one.get("required")))
        for name, one in answer.get("headers", {}).items()
    ]
    return Answer(status, answer.get("description", ""), type_of(schema) if schema else [], list(content), headers)


def _properties(schema: Document) -> Iterator[Field]:
    required = set(schema.get("required", ()))
    for name, one in schema.get("properties", {}).items():
        yield Field(name, type_of(one), one.get("description", ""), name in required, "", _default(one))


def _call(document: Document, address: str, method: str, operation: Document, schema: Document | None) -> str:
    """curl's arguments, a line each; the address is that below the service's root."""
    lines = ['-H "Authorization: Bearer $TOKEN"']
    if method != "get":
        lines.insert(0, f"-X {method.upper()}")
    if any(one["name"] == "Idempotency-Key" for one in operation.get("parameters", ())):
        lines.append('-H "Idempotency-Key: $(uuidgen)"')
    if schema is not None:
        lines.append('-H "Content-Type: application/json"')
        lines.append(f"-d '{json.dumps(example(document, schema), ensure_ascii=False)}'")
    return " \\\n  ".join(["curl", *lines])


def _default(schema: Document) -> str:
    return "" if schema.get("default") is None else json.dumps(schema["default"], ensure_ascii=False)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _joined(between: str, parts: list[list[Word]]) -> list[Word]:
    found = list(parts[0])
    for part in parts[1:]:
        found += [Word(between), *part]
    return found
