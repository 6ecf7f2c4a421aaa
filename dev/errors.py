"""Errors of the sandbox that a person should read without a traceback."""


class SandboxError(Exception):
    """Something that the sandbox can't do; the message says what is wrong, where, and what to do."""


class WaitTimeout(SandboxError):
    """A wait ran out; the message names what was waited for and for how long."""
