from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('validations', '0003_levels_and_cards'),
    ]

    operations = [
        migrations.AddField(
            model_name='launcher',
            name='refused',
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name='run',
            name='proof_line',
            field=models.IntegerField(null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='reparse_requested_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='reparse_requested_by',
            field=models.CharField(blank=True, max_length=150),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('reparse_requested_at__isnull', False)), fields=['reparse_requested_at'], name='runs_to_read_again'),
        ),
    ]
