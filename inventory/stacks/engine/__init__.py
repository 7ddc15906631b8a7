"""The machinery that sharing systems have in common. It knows none of them by name and imports none."""
