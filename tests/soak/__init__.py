"""The soak: a whole team's installation on real parts, with load and faults, for as long as is asked; see `__main__`."""
