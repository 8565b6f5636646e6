"""What can go wrong between us and Pi's RPC mode. No text of a session is in a message; Pi's own words are in an
attribute, for those who want to show them."""

from __future__ import annotations

from ..errors import TurnlogError


class RpcError(TurnlogError):
    """The base of all of them."""


class RpcRefused(RpcError):
    """Pi answered a command with no. `command`: which; `said`: Pi's own sentence, which may hold text of the session."""

    def __init__(self, command: str, said: str) -> None:
        super().__init__(f"{command}: it was refused; the words it was refused with are in `said`")
        self.command = command
        self.said = said


class RpcTimeout(RpcError, TimeoutError):
    """No answer came in time. The command may still be carried out. `command`: which; `seconds`: how long was waited."""

    def __init__(self, command: str, seconds: float) -> None:
        super().__init__(f"{command}: expected an answer within {seconds:g} seconds, found none")
        self.command = command
        self.seconds = seconds


class RpcProtocolError(RpcError):
    """An answer is not what the protocol says. `command`: which it was for."""

    def __init__(self, command: str, said: str) -> None:
        super().__init__(f"{command}: {said}")
        self.command = command


class RpcClosed(RpcError):
    """The client is closed, or was not started: nothing can be asked."""


class RpcDied(RpcError):
    """The process is over, or no longer listens or speaks, while something was waited for.

    exit_code: its code, minus the signal that ended it, None while it still runs. stderr: the last bytes it wrote there.
    """

    def __init__(self, said: str, exit_code: int | None, stderr: bytes) -> None:
        super().__init__(said)
        self.exit_code = exit_code
        self.stderr = stderr
