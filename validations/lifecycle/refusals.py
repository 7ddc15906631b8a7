"""What a cluster says no to, in words that say what to do: another thing than a cluster that was not reached. Pure.

A refusal does not pass by waiting as an outage does: a run ends with it when its step has taken too long, and its code says which.
"""

from __future__ import annotations

from kube.client import ApiError
from validations.lifecycle.endings import Ending
from validations.wanted import missing_rule
from wording.said import of_error, sentence

#: Reason of an ApiError for which there was no client: the kubeconfig cannot be used.
NO_CLIENT = "NoClient"


def refusal(error: ApiError, namespace: str) -> Ending | None:
    """The no of the API server; None for an error that may pass by itself (not reached, 5xx, too many requests)."""
    message = (error.message or str(error))[:1000]
    if error.reason == NO_CLIENT:
        return Ending("kubeconfig", sentence("The launcher's kubeconfig cannot be used: {message}", message=message))
    if error.status == 401:
        return Ending(
            "unauthorized",
            sentence(
                "The cluster rejected the launcher credentials (401, {error}). Renew the token or certificate in "
                "the kubeconfig. {message}",
                error=_call(error),
                message=message,
            ),
        )
    if error.status == 403:
        return _forbidden(error, namespace, message)
    return None


def _forbidden(error: ApiError, namespace: str, message: str) -> Ending:
    if "quota" in message.lower():
        return Ending(
            "quota",
            sentence(
                "A quota of namespace {namespace} rejected the Job: {message}",
                namespace=namespace,
                message=message,
            ),
        )
    if "being terminated" in message:
        return Ending(
            "namespace",
            sentence("Namespace {namespace} is being deleted: {message}", namespace=namespace, message=message),
        )
    if not by_rule(error):
        return Ending(
            "forbidden",
            sentence(
                "Admission denied: {error} in namespace {namespace}. {message}",
                error=_call(error),
                namespace=namespace,
                message=message,
            ),
        )
    return Ending(
        "forbidden",
        sentence("{error} API server: {message}", error=missing_rule(_call(error), namespace), message=message),
    )


def by_rule(error: ApiError) -> bool:
    """Whether roles say no, which holds for the next call too; an admission plugin may say yes to another Job."""
    return error.status == 403 and " cannot " in error.message


def at_creation(error: ApiError, namespace: str) -> Ending:
    """A no to the creation of a Job, which ends the run."""
    if known := refusal(error, namespace):
        return known
    message = error.message or str(error)
    if error.status == 404:
        text = sentence(
            "Namespace {namespace} does not exist in the cluster. Create it (GPUDASH_VALIDATION_NAMESPACE). {message}",
            namespace=namespace,
            message=message,
        )
        return Ending("namespace", text)
    return Ending("refused", sentence("The API server rejected the Job: {error}", error=of_error(error)))


def _call(error: ApiError) -> str:
    return error.call or "do this"
