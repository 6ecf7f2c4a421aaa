# GNU General Public License v3.0+ (see https://www.gnu.org/licenses/gpl-3.0.txt)
"""The filters of the collection: pure functions of module_utils under the names that tasks use."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.lagoon.dbaas.plugins.module_utils import (
    by_hand,
    claiming,
    conditions,
    dropping,
    errors,
    handing,
    health,
    invariants,
    inventory,
    judging,
    locating,
    migration,
    orphans,
    outcomes,
    planned,
    probing,
    proof,
    providers,
    published,
    settling,
    sql,
    sql_arguments,
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
            "seed_facts": probing.seed_facts,
            "begin": locating.begin,
            "row_arguments": sql_arguments.row_arguments,
            "claimed": claiming.claimed,
            "observed_seed": claiming.observed_seed,
            "adopt_check": claiming.adopt_check,
            "survey_targets": locating.survey_targets,
            "survey_answers": locating.survey_answers,
            "locate": locating.locate,
            "judge": judging.judge,
            "seed_claim": judging.seed_claim,
            "judged_outcome": judging.judged_outcome,
            "seed_of_row": settling.seed_of_row,
            "settle": settling.settle,
            "make_failed": settling.make_failed,
            "done_outcome": settling.done_outcome,
            "finalize": dropping.finalize,
            "drop_steps": dropping.drop_steps,
            "undo_steps": dropping.undo_steps,
            "drop_outcome": outcomes.drop_outcome,
            "login_outcomes": settling.login_outcomes,
            "kept_login": dropping.kept_login,
            "login_of": settling.login_of,
            "seed_login_of": probing.seed_login_of,
            "names_arguments": sql_arguments.names_arguments,
            "accounts_event": claiming.accounts_event,
            "database_info": claiming.database_info,
            "proof_outcome": settling.proof_outcome,
            "kubernetes_outcome": outcomes.kubernetes_outcome,
            "publish_conflict": settling.publish_conflict,
            "adopt_words": planned.adopt_words,
            "publish_words": planned.publish_words,
            "finalize_words": planned.finalize_words,
            "result_of": by_hand.result_of,
            "line_of": by_hand.line_of,
            "summary_of": by_hand.summary_of,
            "used_seed": claiming.used_seed,
            "seed_server": probing.seed_server,
            "seed_login": probing.seed_login,
            "seed_verdict": probing.seed_verdict,
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
