"""/api/v1/signing-key: the public key with which certificates are verified."""

from __future__ import annotations

from typing import Annotated

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView
from api.frame.problems import Problem
from api.validations.base import problems
from resources.declared import Shape, fact
from validations.certificate import envelope, issue


class PublicKey(Shape):
    """Public key of certificates."""

    key_id: Annotated[str, fact("SHA-256 of the key in DER; keyid of a signature.")]
    algorithm: str
    public_key: Annotated[str, fact("PEM, for `gpudash report verify FILE --key PUB`.")]


class SigningKey(ApiView):
    @extend_schema(summary="Public key with which certificates are verified", responses={200: PublicKey, 409: Problem})
    def get(self, request: Request) -> Response:
        with problems():
            key = issue.signing_key().public_key()
        return Response(
            PublicKey(key_id=envelope.key_id(key), algorithm="Ed25519", public_key=envelope.public_pem(key))
        )
