from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('inventory', '0007_search'),
    ]

    operations = [
        migrations.AddField(
            model_name='recount',
            name='among_all',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='recount',
            name='stack',
            field=models.CharField(blank=True, db_default='', default='', max_length=32),
        ),
        migrations.AddField(
            model_name='watch',
            name='audit_differences',
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='watch',
            name='audit_differences_total',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='watch',
            name='audit_note',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddField(
            model_name='watch',
            name='audit_seconds',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='watch',
            name='audited_at',
            field=models.DateTimeField(null=True),
        ),
    ]
