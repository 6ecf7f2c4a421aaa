"""What a person says with yes or no."""

from typing import Any

import pytest
from ansible_collections.lagoon.dbaas.plugins.module_utils import answers


@pytest.mark.parametrize(
    ("said", "meant"), [(True, True), (False, False), ("true", True), ("no", False), ("Yes", True), ("0", False)]
)
def test_yes_and_no(said: Any, meant: bool) -> None:
    assert answers.yes_or_no({"finish": said}) == {"finish": meant}


@pytest.mark.parametrize("said", ["ture", "maybe", "", None, 2, [], ["true"], {}, "true false"], ids=repr)
def test_what_is_neither_is_never_taken_for_no(said: Any) -> None:
    with pytest.raises(answers.AnswerError, match="finish is neither yes nor no"):
        answers.yes_or_no({"strict": True, "finish": said})
