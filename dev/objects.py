"""Writing Kubernetes objects from the sandbox and the tests: by the official client, no kubectl needed."""

import copy
from typing import Any

from kubernetes import client
from kubernetes.client.exceptions import ApiException

MANAGER = "dbaas-sandbox"
GROUP = "crd.lagoon.sh"
VERSION = "v1alpha1"
# Plural and whether it lives in a namespace, by group/version and kind.
KINDS: dict[tuple[str, str], tuple[str, bool]] = {
    ("v1", "Namespace"): ("namespaces", False),
    ("v1", "Secret"): ("secrets", True),
    ("v1", "Service"): ("services", True),
    ("v1", "Event"): ("events", True),
    ("discovery.k8s.io/v1", "EndpointSlice"): ("endpointslices", True),
    (f"{GROUP}/{VERSION}", "DatabaseRequest"): ("databaserequests", True),
    ("mariadb.amazee.io/v1", "MariaDBConsumer"): ("mariadbconsumers", True),
    (f"{GROUP}/{VERSION}", "DatabaseMySQLProvider"): ("databasemysqlproviders", False),
}


def path_of(api_version: str, kind: str, name: str | None = None, namespace: str | None = None) -> str:
    """Return the REST path of an object or a collection.

    Args:
        api_version: for example ``v1`` or ``crd.lagoon.sh/v1alpha1``.
        kind: the kind.
        name: the object's name; None for the collection.
        namespace: the namespace, for kinds that live in one; None for the collection over all of them.

    Returns:
        The path.

    Raises:
        KeyError: the kind isn't one of this module's.
    """
    plural, namespaced = KINDS[(api_version, kind)]
    parts = ["api" if "/" not in api_version else "apis", api_version]
    if namespaced and namespace is not None:
        parts += ["namespaces", namespace]
    parts.append(plural)
    if name is not None:
        parts.append(name)
    return "/" + "/".join(parts)


def call(
    api: client.ApiClient,
    method: str,
    path: str,
    body: Any = None,
    content_type: str = "application/json",
    query: dict[str, str] | None = None,
) -> Any:
    """Send one REST request.

    Args:
        api: the client.
        method: GET, POST, PUT, PATCH or DELETE.
        path: the path.
        body: what to send.
        content_type: of the body.
        query: parameters.

    Returns:
        The answer as plain data.

    Raises:
        ApiException: the API server refused.
    """
    return api.call_api(
        path,
        method,
        query_params=list((query or {}).items()),
        body=body,
        header_params={"Accept": "application/json", "Content-Type": content_type},
        auth_settings=["BearerToken"],
        response_type="object",
        _return_http_data_only=True,
    )


def apply(api: client.ApiClient, document: dict[str, Any]) -> dict[str, Any]:
    """Apply an object (server-side, unknown fields refused).

    Args:
        api: the client.
        document: the object.

    Returns:
        The object as stored.

    Raises:
        ApiException: the API server refused.
    """
    metadata = document["metadata"]
    path = path_of(document["apiVersion"], document["kind"], metadata["name"], metadata.get("namespace"))
    stored: dict[str, Any] = call(
        api,
        "PATCH",
        path,
        copy.deepcopy(document),
        "application/apply-patch+yaml",
        {"fieldManager": MANAGER, "force": "true", "fieldValidation": "Strict"},
    )
    return stored


def get(
    api: client.ApiClient, api_version: str, kind: str, name: str, namespace: str | None = None
) -> dict[str, Any] | None:
    """Read an object.

    Args:
        api: the client.
        api_version: of the object.
        kind: of the object.
        name: of the object.
        namespace: of the object, if its kind lives in one.

    Returns:
        The object, or None if there is none.

    Raises:
        ApiException: the API server refused for another reason.
    """
    try:
        found: dict[str, Any] = call(api, "GET", path_of(api_version, kind, name, namespace))
    except ApiException as error:
        if error.status == 404:
            return None
        raise
    return found


def delete(
    api: client.ApiClient, api_version: str, kind: str, name: str, namespace: str | None = None
) -> bool:
    """Delete an object.

    Args:
        api: the client.
        api_version: of the object.
        kind: of the object.
        name: of the object.
        namespace: of the object, if its kind lives in one.

    Returns:
        Whether there was one.

    Raises:
        ApiException: the API server refused for another reason.
    """
    try:
        call(api, "DELETE", path_of(api_version, kind, name, namespace))
    except ApiException as error:
        if error.status == 404:
            return False
        raise
    return True
