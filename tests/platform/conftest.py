"""A person's playbooks, run with an admin's kubeconfig and without an operator."""

from tests.cases.conftest import finished, pytest_pyfunc_call, world

__all__ = ["finished", "pytest_pyfunc_call", "world"]
