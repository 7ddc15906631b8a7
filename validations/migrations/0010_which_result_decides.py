from datetime import UTC, datetime
from itertools import groupby

from django.db import migrations, models
from django.db.models import Q

#: Levels below a proof, the best first.
LOWER = ("ran", "seen")
OLDEST = datetime.min.replace(tzinfo=UTC)
AT_ONCE = 500


def deciding(results):
    """Of (id, said_verdict, good_id, good_at, lower_level, lower_at) of one card."""
    if failed := [one for one in results if one[1] == "failed"]:
        return min(failed)[0]
    if good := [one for one in results if one[2] is not None]:
        return max(good, key=lambda one: (one[3] or OLDEST, one[0]))[0]
    for level in LOWER:
        if lower := [one for one in results if one[4] == level]:
            return max(lower, key=lambda one: (one[5] or OLDEST, one[0]))[0]
    return None


def decide(apps, _editor):
    """Of the results of each card one decides in which state it is."""
    LastResult = apps.get_model("validations", "LastResult")
    card = ("cluster_id", "node_name", "card_key")
    columns = ("id", "said_verdict", "good_id", "good_at", "lower_level", "lower_at")
    rows = LastResult.objects.order_by(*card, "id").values_list(*card, *columns)
    chosen = []
    for _place, results in groupby(rows.iterator(5000), key=lambda row: row[:3]):
        if (found := deciding([row[3:] for row in results])) is not None:
            chosen.append(found)
    for start in range(0, len(chosen), AT_ONCE):
        LastResult.objects.filter(pk__in=chosen[start : start + AT_ONCE]).update(decides=True)


class Migration(migrations.Migration):

    dependencies = [
        ("validations", "0009_wordings"),
    ]

    operations = [
        migrations.AddField(
            model_name="lastresult",
            name="decides",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(decide, migrations.RunPython.noop, elidable=True),
        migrations.AddConstraint(
            model_name="lastresult",
            constraint=models.UniqueConstraint(
                condition=Q(decides=True), fields=("cluster", "node_name", "card_key"), name="one_result_decides"
            ),
        ),
        migrations.AddIndex(
            model_name="lastresult",
            index=models.Index(
                condition=Q(decides=True),
                fields=[
                    "cluster",
                    "node_name",
                    "card_key",
                    "said_verdict",
                    "good",
                    "good_at",
                    "good_driver",
                    "lower_level",
                ],
                name="deciding_results",
            ),
        ),
    ]
