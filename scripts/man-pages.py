#!/usr/bin/env python3
"""Writes the manual pages: scripts/man-pages.py BINARIES FOLDER

BINARIES is the folder of the programs, such as .build/debug. FOLDER gets man1/securepush.1, a page for each command of
it, and man8/securepush-SERVICE.8 for each service. The texts are those of --help, from --experimental-dump-help.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

def dump(program):
    output = subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True, text=True)
    return json.loads(output.stdout)["command"]


def version(program):
    line = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    return line.split()[1]


def escape(text):
    """Text for roff: a backslash, a hyphen that is typed, and a control character at the start of a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti").replace('"', "\\(dq")
    # A long URL or list of words may be broken at these places.
    text = re.sub(r"(?<=\w)([/,|])(?=\w)", r"\1\\:", text)
    return "\\&" + text if text[:1] == "." else text


def paragraphs(text):
    """The paragraphs of a discussion; EXAMPLES and other indented lines keep their lines."""
    out, block, verbatim = [], [], False

    def flush():
        nonlocal block
        if not block:
            return
        if verbatim:
            out.extend([".PP", ".nf", ".RS 4", *map(escape, block), ".RE", ".fi"])
        else:
            out.extend([".PP", escape(" ".join(block))])
        block = []

    for line in text.split("\n"):
        if not line.strip():
            flush()
        elif re.fullmatch(r"[A-Z][A-Z ]+", line):
            flush()
            out.append(f".SS {line.capitalize()}")
        else:
            indented = line.startswith("  ")
            if indented != verbatim:
                flush()
                verbatim = indented
            block.append(line.strip())
    flush()
    return out


def flags(argument):
    names = []
    for name in argument.get("names", []):
        names.append(("--" if name["kind"] == "long" else "-") + name["name"])
    value = "" if argument["kind"] == "flag" else f" \\fI{escape(argument['valueName'])}\\fR"
    return ", ".join(f"\\fB{escape(name)}\\fR{value}" for name in names)


def options(arguments):
    out = []
    for argument in arguments:
        if not argument.get("shouldDisplay", True):
            continue
        if argument["kind"] == "positional":
            title = f"\\fI{escape(argument['valueName'])}\\fR"
        else:
            title = flags(argument)
        text = argument.get("abstract", "")
        if argument["kind"] != "flag" and argument.get("defaultValue"):
            text += f" Default: {argument['defaultValue']}."
        if argument.get("allValues"):
            text += " One of: " + ", ".join(argument["allValues"]) + "."
        out.extend([".TP", title])
        out.append(escape(text.strip()) or "\\&")
    return out


def synopsis(path, command):
    parts = [f".B {escape(path)}"]
    for argument in command.get("arguments", []):
        if not argument.get("shouldDisplay", True) or argument["kind"] != "positional":
            continue
        name = f"\\fI{escape(argument['valueName'])}\\fR"
        parts.append(name + (" ..." if argument.get("isRepeating") else "") if not argument.get("isOptional") else f"[{name}]")
    return parts + ["[\\fIoptions\\fR]"]


def shown(command):
    commands = command.get("subcommands", [])
    return [c for c in commands if c.get("shouldDisplay", True) and c["commandName"] != "help"]


def page(name, section, release, abstract, body):
    head = f'.TH "{name.upper()}" {section} "" "SecurePush {release}" "SecurePush"'
    text = abstract.rstrip(".")
    return "\n".join([head, ".nh", ".ad l", ".SH NAME", f"{escape(name)} \\- {escape(text)}", *body, ""])


def command_body(path, command):
    body = [".SH SYNOPSIS", *synopsis(path, command)]
    for inner in shown(command):
        body += [".br", *synopsis(f"{path} {inner['commandName']}", inner)]
    if command.get("discussion"):
        body += [".SH DESCRIPTION", *paragraphs(command["discussion"])]
    arguments = options(command.get("arguments", []))
    if arguments:
        body += [".SH OPTIONS", *arguments]
    if command["commandName"] == "serve":
        return body + [".SH SEE ALSO", pages_of_services(command)]
    for inner in shown(command):
        body += [f'.SH "{path.upper()} {inner["commandName"].upper()}"', escape(inner.get("abstract", "") or "\\&")]
        body += paragraphs(inner.get("discussion", ""))
        body += options(inner.get("arguments", []))
    return body + [".SH SEE ALSO", "\\fBsecurepush\\fR(1)"]


def pages_of_services(serve):
    return ", ".join(f"\\fBsecurepush\\-{escape(service['commandName'])}\\fR(8)" for service in shown(serve))


def command_line(root, serve, release, folder):
    body = [".SH SYNOPSIS", ".B securepush", "\\fIcommand\\fR [\\fIoptions\\fR]", ".SH DESCRIPTION"]
    body += paragraphs(root.get("discussion", "")) + [".SH COMMANDS"]
    for command in shown(root):
        name = command["commandName"]
        body += [".TP", f"\\fBsecurepush\\-{escape(name)}\\fR(1)", escape(command.get("abstract", "") or "\\&")]
        text = page(f"securepush-{name}", 1, release, command.get("abstract", ""), command_body(f"securepush {name}", command))
        (folder / f"securepush-{name}.1").write_text(text)
    body += [".SH OPTIONS", *options(root.get("arguments", []))]
    body += [".SH SEE ALSO", pages_of_services(serve)]
    (folder / "securepush.1").write_text(page("securepush", 1, release, root["abstract"], body))


def service(command, release, folder):
    name = command["commandName"]
    line = escape(f"securepush serve {name}")
    body = [".SH SYNOPSIS", f".B {line}", "[\\fIoptions\\fR]", ".br", f".B {line} health", "[\\fIoptions\\fR]"]
    body += [".SH DESCRIPTION", escape(command["abstract"]), ".PP"]
    body += ["Each setting is an option and an environment variable. The option wins. The variable may also begin with"]
    body += ["\\fBSECUREPUSH_\\fR. A variable with \\fB_FILE\\fR at its end names a file with the value of a secret."]
    body += [".PP", "\\fBhealth\\fR asks the running service and exits with 0 or 1."]
    body += [".SH SETTINGS", *options(command["arguments"]), ".SH SIGNALS", ".TP", "\\fBSIGTERM\\fR, \\fBSIGINT\\fR"]
    body += ["Finish the work in flight within ten seconds and exit. A second signal ends the service at once."]
    body += [".TP", "\\fBSIGHUP\\fR", "Read keys, certificates and other reloadable files again.", ".SH EXIT STATUS"]
    for code, meaning in [
        (0, "Stopped after a signal."),
        (1, "Failed."),
        (64, "Wrong usage."),
        (78, "The configuration is invalid."),
    ]:
        body += [".TP", f"\\fB{code}\\fR", meaning]
    body += [".SH SEE ALSO", "\\fBsecurepush\\fR(1)"]
    (folder / f"securepush-{name}.8").write_text(page(f"securepush-{name}", 8, release, command["abstract"], body))


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: scripts/man-pages.py BINARIES FOLDER")
    program, folder = Path(sys.argv[1]).resolve() / "securepush", Path(sys.argv[2])
    for section in ["man1", "man8"]:
        (folder / section).mkdir(parents=True, exist_ok=True)
        for old in (folder / section).glob("securepush*"):
            old.unlink()
    release, root = version(program), dump(program)
    serve = next(command for command in shown(root) if command["commandName"] == "serve")
    command_line(root, serve, release, folder / "man1")
    for command in shown(serve):
        service(command, release, folder / "man8")


main()
