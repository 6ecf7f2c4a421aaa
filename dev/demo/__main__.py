"""``python -m dev.demo``: bring the sandbox up, run the demo, print the table and what to look at next."""

import sys

from dev import sandbox
from dev.demo import names, run
from dev.demo.result import table
from dev.errors import SandboxError

NEXT = f"""
The sandbox is still up, with the operator in it. To see more, first: eval "$(make -s sandbox-env)"
  kubectl get dbr -n {names.NAMESPACE}
  kubectl describe dbr -n {names.NAMESPACE} row-10-access-denied
  mariadb --defaults-extra-file="$DBAAS_SERVER_ONE_CNF" -e 'SELECT * FROM dbaas_operator.ownership'
A database that was taken over may be dropped here {names.GRACE} s after it became ready, not after 900 s as by default.
To stop it: make sandbox-down"""


def say(message: str) -> None:
    """Print a line of progress.

    Args:
        message: the line.
    """
    print(message, flush=True)


def main() -> int:
    """Run the demo.

    Returns:
        Exit status: 0 if all was as expected, 1 if something differed or the demo couldn't be run.
    """
    try:
        results = run(sandbox.up(), say)
    except SandboxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; the sandbox is still up, `make demo` starts afresh", file=sys.stderr)
        return 130
    say("\n" + table(results))
    differing = [result.request for result in results if not result.ok]
    say(f"\n{len(results) - len(differing)} of {len(results)} requests as expected")
    if differing:
        say(f"differing: {', '.join(differing)}; the operator's log: {sandbox.Sandbox.load().operator.log}")
    say(NEXT)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
