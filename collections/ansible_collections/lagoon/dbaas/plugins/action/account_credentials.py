# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""The passwords that may belong to a row's account, each as a login file, and a new one.

Arguments: ``row`` (dict, required): with the ``username``; ``read`` (dict, required): what request_read found.

Returns ``{candidates: [{source, password, config_file}], by_source: {source: …}}``: those to try, the published
Secret's first, then the seed's and the kept Secret's where they differ (of a row of a former request, those that may
prove it); and all by source, with one made up for this run as ``generated``. ``no_log: true`` on the task.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.lagoon.dbaas.plugins.module_utils import credentials, names, proof, published

_PROOF = (credentials.PUBLISHED, credentials.SEED_AGAIN)


class ActionModule(ActionBase):
    """The ``lagoon.dbaas.account_credentials`` action."""

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """Run the action; see the top of this file."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, args = self.validate_argument_spec(
            {"row": {"type": "dict", "required": True}, "read": {"type": "dict", "required": True}}
        )
        read, username = args["read"], args["row"]["username"]
        found: list[tuple[str, str | None, int]] = [
            ("published", published.published_password(read), credentials.PUBLISHED),
            ("seed", read["seed"].get("password"), credentials.SEED_AGAIN),
            ("kept", published.kept_password(read), credentials.KEPT),
        ]
        if args["row"].get("request_uid", read["request"]["uid"]) != read["request"]["uid"]:
            found = [(*pair, slot) for pair, slot in zip(proof.passwords(read, args["row"]), _PROOF, strict=False)]
        candidates: list[dict[str, str]] = []
        by_source: dict[str, dict[str, str]] = {}
        for source, password, slot in found:
            if not password or any(c in password for c in "\r\n\0"):
                continue
            by_source[source] = _candidate(source, username, password, slot)
            if password not in [c["password"] for c in candidates]:
                candidates.append(by_source[source])
        generated = names.generated_password()
        by_source["generated"] = _candidate("generated", username, generated, credentials.GENERATED)
        result.update({"changed": False, "candidates": candidates, "by_source": by_source})
        return result


def _candidate(source: str, username: str, password: str, slot: int) -> dict[str, str]:
    login = credentials.store(slot, credentials.option_file(username, password))
    return {"source": source, "password": password, "config_file": login}
