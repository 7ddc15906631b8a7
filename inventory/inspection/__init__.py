"""The mirror as `manage.py inspect` prints it: a table, JSON, or what `kubectl inspect gpushare` prints.

Reads the tables, calls no cluster, and knows nothing of commands.
"""
