"""The machinery that stacks have in common. It knows none of them by name and imports none."""
