# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a person's run lacks, in one set of sentences: an answer of the API, a right, a collection."""

from __future__ import annotations

from collections.abc import Iterable

from ansible.plugins.loader import module_loader
from ansible_collections.lagoon.dbaas.plugins.module_utils.kube import KubeError, NoKubeconfig

#: What the runs by hand use beside this collection.
MODULES = ("community.mysql.mysql_query", "kubernetes.core.k8s")
NO_KUBECONFIG = "No kubeconfig could be read: set KUBECONFIG to an admin's."
NO_ANSWER = (
    "The Kubernetes API can't be reached: set KUBECONFIG to an admin's kubeconfig of the cluster, "
    "and see that `kubectl get namespaces` works with it."
)


def right(what: str) -> str:
    """The sentence for a right that the kubeconfig lacks.

    Args:
        what: verb, resource and place, such as ``list services in shop``.
    """
    return f"This kubeconfig may not {what}: use an admin's."


def answer(error: KubeError) -> str:
    """The sentence for a call that the API refused or didn't answer."""
    if isinstance(error, NoKubeconfig):
        return NO_KUBECONFIG
    if error.status is None:
        return NO_ANSWER
    if error.status == 401:
        return "The Kubernetes API doesn't take this kubeconfig's login (HTTP 401): use an admin's."
    if error.status == 403:
        return right(error.what)
    return f"The Kubernetes API answered HTTP {error.status} ({error.what}). Run this again."


def modules(wanted: Iterable[str] = MODULES) -> list[str]:
    """A sentence for each module whose collection isn't installed.

    Args:
        wanted: the modules, by their full names.
    """
    return [
        f"The module {name} isn't installed: ansible-galaxy collection install -r requirements.yml"
        for name in wanted
        if module_loader.find_plugin(name) is None
    ]
