"""`kubectl gpudash`: asks a gpudash over REST. Standard library only, so that it starts at once.

It imports nothing of gpudash and nothing of gpudash imports it. Its imports are relative: in a checkout it is the package
`client`, in the wheel `gpudash_app.client`.
"""
