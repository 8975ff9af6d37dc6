"""Scripts with which a shell completes sub-commands and their options, generated from the parsers of the sub-commands."""

from __future__ import annotations

import shlex
from argparse import Action, ArgumentParser
from collections.abc import Iterator, Mapping

Commands = Mapping[str, tuple[str, ArgumentParser]]  # name: description and parser

_BASH = """\
_{program}() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} name= given
    for given in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case $given in {names}) name=$given; break ;; esac
    done
    local words
    case $name in
{cases}
        *) words={all} ;;
    esac
    if [[ -z $name || $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    fi
}}
complete -o default -F _{program} {program}"""

_ZSH = """\
#compdef {program}
_{program}() {{
    local -a commands=({described})
    local name=${{${{words[2,CURRENT-1]:#-*}}[(r)({names})]}}
    if [[ -z $name ]]; then _describe command commands; return; fi
    local -a options
    case $name in
{cases}
    esac
    if [[ $PREFIX == -* ]]; then compadd -a options; else _files; fi
}}
compdef _{program} {program}"""


def script(shell: str, program: str, commands: Commands) -> str:
    """The script for one of ``SHELLS``; all text in it is quoted."""
    return SHELLS[shell](program, commands)


def _bash(program: str, commands: Commands) -> str:
    cases = [
        f"        {name}) words={shlex.quote(' '.join(_options(parser)))} ;;" for name, (_, parser) in commands.items()
    ]
    names = "|".join(commands)
    return _BASH.format(program=program, names=names, cases="\n".join(cases), all=shlex.quote(" ".join(commands)))


def _zsh(program: str, commands: Commands) -> str:
    cases = [f"        {name}) options=({' '.join(_options(parser))}) ;;" for name, (_, parser) in commands.items()]
    described = " ".join(shlex.quote(f"{name}:{said}") for name, (said, _) in commands.items())
    return _ZSH.format(program=program, described=described, names="|".join(commands), cases="\n".join(cases))


def _fish(program: str, commands: Commands) -> str:
    lines = []
    for name, (said, parser) in commands.items():
        lines.append(f"complete -c {program} -n __fish_use_subcommand -f -a {name} -d {shlex.quote(said)}")
        for action in _shown(parser):
            spelled = [
                f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
                for option in action.option_strings
            ]
            value = "" if action.nargs == 0 else " -r"
            about = shlex.quote((action.help or "").replace("%%", "%"))
            seen = f"'__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c {program} -n {seen} {' '.join(spelled)}{value} -d {about}")
    return "\n".join(lines)


def _options(parser: ArgumentParser) -> list[str]:
    return sorted(option for action in _shown(parser) for option in action.option_strings)


def _shown(parser: ArgumentParser) -> Iterator[Action]:
    return (action for action in parser._actions if action.option_strings)


SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
