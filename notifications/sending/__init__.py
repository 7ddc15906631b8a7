"""How messages leave: addresses that may be called, HTTP, e-mail. Knows no table and no rule."""
