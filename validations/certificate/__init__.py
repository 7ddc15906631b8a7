"""Reports as signed statements: in-toto Statement v1 in a DSSE envelope, signed with Ed25519.

`envelope` signs and verifies, `offline` are the commands that need no installation, `statement` makes the content, `issue` refuses
or signs. `envelope` and `offline` import no Django: they run where there is no database, network or setting.
"""
