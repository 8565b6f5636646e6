"""The group of commands: loads the one that is asked for, and turns what goes wrong into a sentence and an exit code."""

from __future__ import annotations

import importlib
import io
import os
import sys

import click

from .._version import __version__
from ..errors import FaultError, InvalidOptionsError, SourceError, TurnlogError, UnknownFormatError
from . import COMMANDS, loading
from .again import ANSWER
from .output import note

NOTHING_MATCHED = 1
WRONG_USAGE = 2
PARTIAL = 3
NOTHING_READ = 4
NOT_STARTED = 127
INTERRUPTED = 130

_OWN_OPTIONS = ("-h", "--help", "-V", "--version")


class Commands(click.Group):
    """Commands by name, imported when asked for; the help needs none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's own signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's own signature
        found = COMMANDS.get(cmd_name)
        if found is None:
            return None
        with loading():
            command: click.Command = importlib.import_module(f"turnlog.cli.{found[0]}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # `turnlog --home DIR` is `turnlog overview --home DIR`.
        if args and args[0].startswith("-") and args[0] not in _OWN_OPTIONS:
            args = ["overview", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # The reader went away (| head): that is no error, and click would make it one. What is still buffered must
            # not be flushed at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(0) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  click's own signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="turnlog", message="%(prog)s %(version)s")
@click.pass_context
def turnlog(ctx: click.Context) -> None:
    """Reads what coding agents leave on disk, with every byte accounted for.

    Without a command: the overview of this machine, with its options.
    """
    if ctx.invoked_subcommand is None:
        command = turnlog.get_command(ctx, "overview")
        assert command is not None
        ctx.invoke(command)


def run(args: list[str] | None = None) -> int:
    """Run the command line and return its exit code. Nothing escapes as a traceback but a bug of ours."""
    _utf8()
    ANSWER.begin(sys.argv[1:] if args is None else args)
    try:
        value = turnlog.main(args=args, prog_name="turnlog", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except InvalidOptionsError as error:
        note(f"turnlog: {error}")
        return WRONG_USAGE
    except FaultError as error:
        note(f"turnlog: {error}")
        return PARTIAL
    except (SourceError, UnknownFormatError) as error:  # no option names an agent that is none: it is the file
        note(f"turnlog: {error}")
        return NOTHING_READ
    except TurnlogError as error:
        note(f"turnlog: {error}")
        return NOTHING_MATCHED
    code = value if isinstance(value, int) else 0
    ANSWER.keep(code)
    return code


def _utf8() -> None:
    """Pipes and files get UTF-8 whatever the locale; a terminal that cannot show a letter gets a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8", errors="replace")
