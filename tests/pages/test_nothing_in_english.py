"""Every page in Chinese."""

from __future__ import annotations

import collections
import re

import pytest
from django.contrib.auth.models import User

from tests.browser.full import REFUSED, Full, make_full
from tests.cast import signed_in
from tests.pages.english import english_of

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(60)]


@pytest.fixture
def full(db: None) -> Full:
    return make_full()


def test_x(full: Full) -> None:
    from django.contrib.auth.models import User as U

    from inventory.models import Allocation, Cluster
    from inventory.stacks import STACKS

    names = {
        *U.objects.values_list("username", flat=True),
        *Cluster.objects.values_list("name", flat=True),
        *Allocation.objects.values_list("namespace", flat=True),
        *Allocation.objects.values_list("container", flat=True),
        *(x.name for x in STACKS),
        "hungry",
        "claiming",
    }
    seen = collections.defaultdict(set)
    words = collections.Counter()
    for client in (signed_in(User.objects.get(username="ada")), signed_in(User.objects.get(username="nora"))):
        client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
        for path in [*full.paths(), *REFUSED, "/palette?q=gpu"]:
            html = client.get(path).content.decode()
            for text, found in english_of(html).items():
                found = [x for x in found if x not in names]
                if not found:
                    continue
                seen[re.sub("[0-9]+", "9", text)].add(path)
                words.update(found)
    with open("/tmp/zh-found.txt", "w") as f:
        for word, n in sorted(words.items(), key=lambda x: -x[1]):
            print(n, word, file=f)
        print("-----", file=f)
        for text, paths in sorted(seen.items(), key=lambda x: -len(x[1])):
            print(len(paths), sorted(paths)[:2], repr(text[:300]), file=f)
