"""Hashes are keyed, and the head has a seal: what there is gets both. Log lines of all that there is were written."""

from typing import Any

from django.db import migrations, models

from audit import chain
from audit.keys import keys

GENESIS = "0" * 64


def key_them(apps: Any, schema: Any) -> None:
    entries, heads = apps.get_model("audit", "Entry"), apps.get_model("audit", "Head")
    number, previous, some, key = 0, GENESIS, [], keys()[-1]
    for entry in entries.objects.order_by("number").iterator(2000):
        entry.previous = previous
        entry.hash = previous = chain.hash_of(entry, key)
        number = entry.number
        some.append(entry)
        if len(some) == 2000:
            entries.objects.bulk_update(some, ["previous", "hash"])
            some = []
    entries.objects.bulk_update(some, ["previous", "hash"])
    heads.objects.all().delete()
    head = heads(pk=1, number=number, hash=previous)
    head.seal = chain.seal_of(head, key)
    head.save()
    apps.get_model("audit", "Shipped").objects.create(pk=1, number=number)
    apps.get_model("audit", "Reading").objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [
        ("audit", "0006_wording"),
    ]

    operations = [
        migrations.AddField("head", "seal", models.CharField(blank=True, default="", max_length=64)),
        migrations.CreateModel(
            name="Shipped",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.AlterField(
            model_name='entry',
            name='action',
            field=models.CharField(choices=[('sign-in', 'sign in'), ('sign-out', 'sign out'), ('access', 'use without the role for it'), ('password-change', 'change the password'), ('second-step', 'switch the second step on or off'), ('token-make', 'make a token'), ('token-revoke', 'revoke a token'), ('user-make', 'make a user'), ('user-role', 'give a role'), ('user-scope', 'say what a role is for'), ('user-state', 'deactivate or activate a user'), ('sessions-end', 'end the sessions of a user'), ('view-save', 'save a view'), ('view-remove', 'remove a view'), ('run-launch', 'launch a run'), ('run-cancel', 'cancel a run'), ('run-reparse', 'read a log again'), ('campaign-make', 'start a campaign'), ('campaign-change', 'change a campaign'), ('cluster-set', 'add or change a cluster'), ('cluster-remove', 'remove a cluster'), ('cluster-relist', 'list a cluster anew'), ('cluster-take-over', 'take a cluster over')], max_length=24),
        ),
        migrations.RunPython(key_them, migrations.RunPython.noop),
    ]
