"""What the audit log tells of is changed in acts alone: each place of the code that writes into such a table is in a block of `act`
(or `together`), or stands here with the reason why not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packages import PACKAGES, sources

ROOT = Path(__file__).resolve().parents[2]
WRITES = {
    "save", "create", "acreate", "update", "delete", "add", "remove", "set", "clear", "bulk_create", "bulk_update", "get_or_create",
    "update_or_create", "create_user", "create_superuser", "activate", "generate_codes", "_raw_delete",
}  # fmt: skip
#: Tables all of whose writes are acts, and what stands for a row of theirs.
TABLES = {
    "User",
    "get_user_model",
    "Group",
    "ApiToken",
    "UserScope",
    "SavedView",
    "Authenticator",
    "SocialAccount",
    "Session",
}
TABLES |= {"TOTP", "RecoveryCodes", "groups"}
#: Tables that workers write too: of these, the columns that somebody sets by an act.
COLUMNS = {
    "Cluster": {"kubeconfig", "launcher_kubeconfig", "context", "server"},
    "UsageSource": {"way", "address", "token_file", "ca_file", "headers", "matchers", "every_s"},
    "Run": {"cancel_requested_at", "reparse_requested_by"},
    "Watch": {"relist_requested_at"},
    "Launcher": {"take_over"},
}
ACTS = {"act", "together"}
#: Place → why it writes without an act of its own.
BORNE = {
    "accounts/groups.py:set_permissions": "what the three groups may do, the same after each migrate; nobody is given anything",
    "accounts/models.py:ApiToken._insert": "called in the act of `issue`",
    "accounts/models.py:ApiToken.note_use": "when a token was last used: reading",
    "accounts/two_factor.py:_forget": "called in the acts of `switch_on` and `switch_off`",
    "accounts/sign_in_links.py:redeem": "the link is used up before the sign-in, whose entry comes first",
    "inventory/checks.py:_keep": "what the credentials may do, as the cluster says; the address is that of the kubeconfig",
}


def modules() -> Iterator[Path]:
    yield from sources(*(name for name in PACKAGES if name != "audit"))


class Places(ast.NodeVisitor):
    """Finds writes outside of acts. names: of a function, what in it stands for rows of which table."""

    def __init__(self, path: str) -> None:
        self.path, self.where, self.acting, self.names, self.found = path, [""], 0, [{}], set[str]()  # type: ignore[var-annotated]

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        own = {"self": node.name, "cls": node.name} if node.name in TABLES | set(COLUMNS) else {}
        self._within(node, node.name, own)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        named = {}
        for one in (*node.args.args, *node.args.kwonlyargs):
            if one.annotation is not None and (table := self._table(one.annotation)):
                named[one.arg] = table
        self._within(node, node.name, named)

    def _within(self, node: ast.AST, name: str, named: dict[str, str]) -> None:
        self.where.append(f"{self.where[-1]}.{name}".strip("."))
        self.names.append({**self.names[-1], **named})
        acting, self.acting = self.acting, 0 if isinstance(node, ast.FunctionDef) else self.acting
        self.generic_visit(node)
        self.acting = acting
        self.names.pop()
        self.where.pop()

    def visit_Assign(self, node: ast.Assign) -> None:
        if table := self._table(node.value):
            for target in node.targets:
                for one in ast.walk(target):
                    if isinstance(one, ast.Name):
                        self.names[-1][one.id] = table
        self.generic_visit(node)

    def visit_With(self, node: ast.With) -> None:
        calls = [one.context_expr.func for one in node.items if isinstance(one.context_expr, ast.Call)]
        acts = any(isinstance(call, ast.Name) and call.id in ACTS for call in calls)
        self.acting += acts
        self.generic_visit(node)
        self.acting -= acts

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in WRITES and not self.acting:
            table = self._table(function.value)
            given = {one.arg for one in node.keywords}
            if table in TABLES or (table in COLUMNS and given & COLUMNS[table]):
                self.found.add(f"{self.path}:{self.where[-1]}")
        self.generic_visit(node)

    def _table(self, node: ast.AST) -> str | None:
        """The table whose rows an expression gives, as far as its names say."""
        while isinstance(node, ast.Call | ast.Attribute | ast.Subscript | ast.BinOp | ast.BoolOp):
            if isinstance(node, ast.Attribute) and node.attr in TABLES:
                return node.attr
            if isinstance(node, ast.BoolOp):
                node = node.values[0]
            elif isinstance(node, ast.BinOp):
                node = node.left
            else:
                node = node.func if isinstance(node, ast.Call) else node.value
        name = node.id if isinstance(node, ast.Name) else ""
        return self.names[-1].get(name) or (name if name in TABLES or name in COLUMNS else None)


def outside(source: str, path: str) -> set[str]:
    finder = Places(path)
    finder.visit(ast.parse(source))
    return finder.found


def test_what_is_written_down_is_changed_in_acts_alone() -> None:
    found: set[str] = set()
    for path in modules():
        found |= outside(path.read_text(), str(path.relative_to(ROOT)))
    assert found == set(BORNE)


@pytest.mark.parametrize(
    "code",
    [
        "def f(user: User):\n    user.save()",
        "def f():\n    found = User.objects.filter(pk=1).first()\n    found.delete()",
        "def f():\n    Cluster.objects.filter(pk=1).update(launcher_kubeconfig='x')",
        "def f(user):\n    user.groups.add(1)",
        "class ApiToken:\n    def f(self):\n        self.save()",
        "def f():\n    with act(X):\n        pass\n    User().save()",
        "def f():\n    with transaction.atomic():\n        get_user_model().objects.create(name='x')",
    ],
)
def test_a_place_outside_is_found(code: str) -> None:
    assert len(outside(code, "x.py")) == 1


@pytest.mark.parametrize(
    "code",
    [
        "def f(user: User):\n    with act(X), other():\n        user.save()",
        "def f():\n    Cluster.objects.filter(pk=1).update(server_version='1')",
        "def f(row: Node):\n    row.save()",
    ],
)
def test_what_is_within_or_of_no_concern_is_not(code: str) -> None:
    assert outside(code, "x.py") == set()


def test_only_acts_write_entries() -> None:
    """Nobody calls `append` but `audit.acts`."""
    for path in modules():
        text = path.read_text()
        assert "audit.chain import append" not in text, path
        assert "Entry.objects.create" not in text, path
