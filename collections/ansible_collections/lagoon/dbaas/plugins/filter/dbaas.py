# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""The filters of the collection: pure functions of module_utils under the names that tasks use."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    by_hand,
    conditions,
    errors,
    handing,
    health,
    invariants,
    inventory,
    migration,
    orphans,
    plan,
    proof,
    providers,
    published,
    sql,
    verdict,
)


def _checked(function: Any) -> Any:
    """A filter that says which function failed and why, without the values that it was given."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (KeyError, ValueError, TypeError, IndexError, StopIteration) as error:
            raise AnsibleFilterError(f"{function.__name__}: {type(error).__name__}") from None

    return call


class FilterModule:
    """The filters by name."""

    def filters(self) -> dict[str, Any]:
        """Name -> filter; see the function of the same name in module_utils."""
        functions = {
            "sql": sql.statements,
            "mysql_outcome": errors.mysql_outcome,
            "change_outcome": errors.change_outcome,
            "wait_outcome": errors.wait_outcome,
            "first_match": verdict.first_match,
            "seed_facts": plan.seed_facts,
            "begin": plan.begin,
            "row_arguments": plan.row_arguments,
            "claimed": plan.claimed,
            "observed_seed": plan.observed_seed,
            "adopt_check": plan.adopt_check,
            "survey_targets": plan.survey_targets,
            "survey_answers": plan.survey_answers,
            "locate": plan.locate,
            "judge": plan.judge,
            "seed_claim": plan.seed_claim,
            "judged_outcome": plan.judged_outcome,
            "seed_of_row": plan.seed_of_row,
            "settle": plan.settle,
            "make_failed": plan.make_failed,
            "done_outcome": plan.done_outcome,
            "finalize": plan.finalize,
            "drop_steps": plan.drop_steps,
            "undo_steps": plan.undo_steps,
            "drop_outcome": plan.drop_outcome,
            "login_outcomes": plan.login_outcomes,
            "kept_login": plan.kept_login,
            "login_of": plan.login_of,
            "seed_login_of": plan.seed_login_of,
            "names_arguments": plan.names_arguments,
            "accounts_event": plan.accounts_event,
            "database_info": plan.database_info,
            "proof_outcome": plan.proof_outcome,
            "kubernetes_outcome": plan.kubernetes_outcome,
            "publish_conflict": plan.publish_conflict,
            "publish_words": plan.publish_words,
            "finalize_words": plan.finalize_words,
            "result_of": by_hand.result_of,
            "line_of": by_hand.line_of,
            "summary_of": by_hand.summary_of,
            "used_seed": plan.used_seed,
            "seed_server": plan.seed_server,
            "seed_login": plan.seed_login,
            "seed_verdict": plan.seed_verdict,
            "publish_plan": published.plan,
            "removals": published.removals,
            "kept_plan": published.kept_plan,
            "kept_made": published.kept_made,
            "lacks_ledger": health.lacks_ledger,
            "provider_found": health.provider_found,
            "reference_of": providers.reference_of,
            "proof_due": proof.due,
            "proof": proof.judge,
            "heir_arguments": proof.arguments,
            "is_refused": conditions.is_refused,
            "write_notes": migration.write_notes,
            "wait_notes": migration.wait_notes,
            "servers_to_ask": inventory.to_ask,
            "asked": inventory.asked,
            "login_accounts": invariants.login_accounts,
            "login_results": invariants.login_results,
            "invariants": invariants.report,
            "sizes": orphans.sizes,
            "orphans": orphans.report,
            "survey_arguments": handing.survey_arguments,
            "release_plan": handing.release_plan,
            "hand_over_plan": handing.hand_over_plan,
            "handing_arguments": handing.row_arguments,
            "carried_out": handing.carried_out,
            "released": handing.released,
        }
        return {name: _checked(function) for name, function in functions.items()}
