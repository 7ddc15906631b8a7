"""The mirror: reflector messages → rows, under a lease, in one transaction with the resource version."""
