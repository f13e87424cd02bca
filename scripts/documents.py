#!/usr/bin/env python3
"""Runs the commands of the documents: scripts/documents.py [PAGE...]

A page is a path from the root of the checkout, or the beginning of one (docs/tutorial). Without pages, $DOCUMENTS names
them, separated by blanks; without that all are run. The executables are those of $SECUREPUSH_BIN, or of .build/debug.

Each page has a new folder with what a clone has, beside one private stack on ports of its own. Its commands run in
order in one shell. Tests/Documents/before.sh makes what a reader of the page has already. Tests/Documents/commands.txt
names the commands that are not run, or run in another way. Nothing outside of the temporary folder is changed.
"""
import fnmatch
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = ROOT / "Tests/Documents/commands.txt"
BEFORE = ROOT / "Tests/Documents/before.sh"
PATTERNS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "Clients/*/README.md", "Examples/*/README.md",
            "deploy/**/*.md", "docs/**/*.md"]
SHELLS = {"sh", "bash", "shell", "console"}
CLASSES = {"ci", "cloud", "root", "machine", "toolchain", "long", "covered"}
PAGE_SECONDS = 120
# A command of an indented block: `securepush ... [options]` and the like are no commands, but its form.
INDENTED = re.compile(r" {4}(?=[^ ])(?!.*(\[options\]|<options>)).*\b(securepush|docker compose) .*")
SAMPLE_ID = "01890a5d-ac96-774b-bcce-b302099a8057"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


@dataclass
class Rule:
    """A line of commands.txt."""
    page: str
    kind: str      # except, background, instead, exit, needs
    argument: str  # the class, the exit code or the tool
    words: str     # with which the command begins; * is any command
    text: str      # the reason, the text to wait for, or the command to run
    uses: int = 0

    def matches(self, page, command):
        return fnmatch.fnmatch(page, self.page) and (self.words == "*" or command.startswith(self.words))


@dataclass
class Command:
    page: str
    line: int
    text: str
    rule: Rule = None
    expected: list = field(default_factory=list)

    @property
    def excepted(self):
        """The class of the exception, or None."""
        if self.rule and self.rule.kind == "except":
            return self.rule.argument
        if self.rule and self.rule.kind == "needs" and not shutil.which(self.rule.argument):
            return "toolchain"
        return None


@dataclass
class File:
    """A code block that the reader saves: its language is followed by the file's name."""
    name: str
    text: str


def fail(text):
    print(f"error: {text}", file=sys.stderr)
    sys.exit(64)


def read_rules():
    rules = []
    for number, line in enumerate(RULES.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        first = line.split(" | ", 2)
        parts = [part.strip() for part in first[:2] + first[2:][-1].rsplit(" | ", 1)] if len(first) == 3 else []
        kind, _, argument = parts[1].partition(" ") if len(parts) == 4 else ("", "", "")
        known = kind in ("except", "background", "instead", "exit", "needs")
        if not known or not all(parts) or (kind == "except" and argument not in CLASSES):
            fail(f"{RULES.name}:{number} is not PAGE | RULE | FIRST WORDS | TEXT")
        rules.append(Rule(parts[0], kind, argument, parts[2], parts[3]))
    return rules


def is_complete(text):
    """Whether bash would run these lines, and not read on."""
    if text.rstrip(" ").endswith("\\"):
        return False
    check = subprocess.run(["bash", "-n", "-c", text + "\n"], capture_output=True)
    return check.returncode == 0 and not check.stderr


def commands_of(page, line, lines, is_console):
    """The commands of a block. In a console block they begin with `$ `, and the other lines are what they print."""
    commands, waiting = [], []
    for offset, text in enumerate(lines):
        if is_console and not waiting and not text.startswith("$ "):
            if commands and text.strip():
                commands[-1].expected.append(text)
            continue
        if not waiting and (not text.strip() or text.lstrip().startswith("#")):
            continue
        waiting.append(text[2:] if is_console and not waiting else text)
        joined = "\n".join(waiting)
        if is_complete(joined):
            commands.append(Command(page, line + offset - len(waiting) + 1, joined))
            waiting = []
    if waiting:
        fail(f"{page}:{line}: this block ends within a command: {waiting[0]}")
    return commands


def steps_of(page):
    """The commands and files of a page, in its order. A `text` block after commands is what they print."""
    steps, last, in_list, lines, index = [], None, False, (ROOT / page).read_text().splitlines(), 0
    while index < len(lines):
        fence = re.match(r"^( *)```(\w*) *(\S*)", lines[index])
        line = lines[index]
        index += 1
        if not fence:
            if line.startswith("#"):
                last = None
            if re.match(r"\S", line):
                in_list = re.match(r"[-*] |\d+\. ", line)
            elif INDENTED.match(line) and not in_list:
                steps += commands_of(page, index, [line[4:]], False)
            continue
        start, body = index + 1, []
        while not re.match(r"^ *```\s*$", lines[index]):
            body.append(lines[index][len(fence[1]):] if lines[index].startswith(fence[1]) else lines[index].lstrip())
            index += 1
        index += 1
        if fence[2] in SHELLS:
            found = commands_of(page, start, body, fence[2] == "console")
            steps += found
            last = found[-1] if found else None
        elif fence[2] == "text" and last:
            last.expected += [text for text in body if text.strip()]
        elif fence[2] and fence[3]:
            steps.append(File(fence[3], "\n".join(body) + "\n"))
    return steps


def all_pages():
    paths = {path.relative_to(ROOT).as_posix() for pattern in PATTERNS for path in ROOT.glob(pattern)}
    return sorted(path for path in paths if "node_modules" not in path)


def on_stack(text, ports):
    """The documents name default ports, a database `db` and one ID; the stack has its own, and the settings are set."""
    text = re.sub(r"^DATABASE_URL=postgres://(db/securepush|\.\.\.) ", "", text).replace(SAMPLE_ID, "${ID}")
    for default, name in (("8080", "ingest"), ("8081", "retrieval"), ("8082", "dispatcher"), ("8085", "hub"),
                          ("8090", "hub")):
        text = re.sub(rf"(127\.0\.0\.1|localhost):{default}\b", rf"\1:{ports[name]}", text)
    return text


def shell_script(steps, page, folder, ports):
    """One script for a page, so that a variable lives until the page's end."""
    script = [f"PAGE='{page}' OUT='{folder / 'out'}'", "set -uo pipefail", f". '{BEFORE}' || exit 70"]
    for number, step in enumerate(steps):
        if isinstance(step, File) or step.excepted:
            continue
        kind = step.rule.kind if step.rule else "run"
        text = on_stack(step.rule.text if kind == "instead" else step.text, ports)
        for word in ("ID", "HANDLE", "KEYID"):
            text = re.sub(rf"(?<![\w$({{/.*#?-]){word}(?![\w=*-])|(?<=/){word}(?=[\"/]|$)", f"${{LAST_{word}}}", text)
        if kind == "background":
            script += [f"background {number} '{step.rule.text}' <<'END OF COMMAND'\n{text}\nEND OF COMMAND"]
        else:
            script += [f'{{\n{text}\n}} >"$OUT/{number}.out" 2>"$OUT/{number}.err" </dev/null', f"ended {number} $?"]
        if step.expected:
            script += [f'until [ -e "$OUT/{number}.judged" ]; do sleep 0.05; done']
    return "\n".join(script) + "\n"


def loosely(text):
    """A printed line without what differs from run to run: IDs, times, numbers and the width of columns."""
    text = re.sub(UUID, "ID", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?Z?)?", "TIME", text)
    return re.sub(r"\d+", "0", re.sub(r"\s+", " ", text)).strip()


def is_printed(expected, output):
    parts = [re.escape(part) for part in loosely(expected).split("…")]
    pattern = re.compile(".*".join(parts))
    return any(pattern.search(loosely(line)) for line in output.splitlines())


def printed_by(out, number="*"):
    """What one command has printed, or all of the page."""
    return "\n".join(path.read_text(errors="replace") for path in sorted(out.glob(f"{number}.[oe][ur][tr]")))


def make_folder(page, work):
    """What a clone has; `.securepush/local` is the stack's folder."""
    folder = work / page.replace("/", "+")
    (folder / "out").mkdir(parents=True)
    clone = folder / "clone"
    (clone / ".securepush").mkdir(parents=True)
    for name in ("scripts", "deploy"):
        shutil.copytree(ROOT / name, clone / name)
    for name in ("Makefile", "docker-compose.yml", "README.md"):
        shutil.copy(ROOT / name, clone / name)
    for name in ("Clients", "Examples", "docs"):
        (clone / name).symlink_to(ROOT / name)
    (clone / ".build").mkdir()
    (clone / ".build/debug").symlink_to(executables())
    (clone / ".securepush/local").symlink_to(work / "stack")
    return folder


def executables():
    return pathlib.Path(os.environ.get("SECUREPUSH_BIN") or ROOT / ".build/debug").resolve()


def environment(work, folder, ports):
    """Nothing of the caller's settings, and curl fails where a person would see an error."""
    clean = {name: os.environ[name] for name in ("HOME", "LANG", "USER", "LOGNAME") if name in os.environ}
    (work / ".curlrc").write_text("silent\nshow-error\nfail-with-body\nmax-time = 20\n")
    return clean | {
        "PATH": f"{executables()}:{os.environ['PATH']}", "CURL_HOME": str(work), "TMPDIR": str(folder),
        "STACK": str(work / "stack"), "NO_COLOR": "1",
    } | {f"{name.upper()}_PORT": port for name, port in ports.items()}


def run_page(page, steps, work, ports):
    """Runs what is not excepted. Returns what went wrong."""
    folder = make_folder(page, work)
    out, clone = folder / "out", folder / "clone"
    for step in steps:
        if isinstance(step, File):
            (clone / step.name).write_text(on_stack(step.text, ports))
    waiting = [(number, step) for number, step in enumerate(steps) if isinstance(step, Command) and not step.excepted]
    if not waiting:
        return []
    script, problems, deadline = folder / "page.sh", [], time.monotonic() + PAGE_SECONDS
    script.write_text(shell_script(steps, page, folder, ports))
    with open(folder / "errors", "w") as errors:
        shell = subprocess.Popen(["bash", str(script)], cwd=clone, env=environment(work, folder, ports),
                                 stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True)
        try:
            while waiting:
                number, step = waiting[0]
                if (out / f"{number}.exit").exists():
                    problems += judge(number, step, out)
                    (out / f"{number}.judged").touch()
                    waiting.pop(0)
                elif time.monotonic() > deadline or shell.poll() is not None and not (out / f"{number}.exit").exists():
                    reason = (folder / "errors").read_text()[-400:] or f"it did not end within {PAGE_SECONDS} s"
                    return problems + [f"{place(step)}\n  was not run to its end: {reason}"]
                else:
                    time.sleep(0.02)
        finally:
            end_group(shell)
    return problems


def end_group(shell):
    """Also what runs in the background of the page, which shares the shell's process group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(shell.pid, number)
        except ProcessLookupError:
            return
        time.sleep(0.3)


def place(step):
    return f"{step.page}:{step.line}: {step.text.splitlines()[0]}"


def judge(number, step, out):
    """The exit code, and the lines that the page shows. The shell waits meanwhile, so that what runs can print them."""
    wanted = step.rule.argument if step.rule and step.rule.kind == "exit" else "0"
    code = (out / f"{number}.exit").read_text().strip()
    if code != wanted:
        return [f"{place(step)}\n  exit code {code}, not {wanted}:\n{printed_by(out, number)[-1500:]}"]
    missing, deadline = step.expected, time.monotonic() + 60
    while missing:
        output = printed_by(out)
        missing = [line for line in missing if not is_printed(line, output)]
        if not missing or time.monotonic() > deadline:
            break
        time.sleep(0.2)
    return [f"{place(step)}\n  did not print: {line}\n{printed_by(out, number)[-1500:]}" for line in missing]


def start_stack(work):
    """A stack with PostgreSQL on free ports; returns them."""
    (work / "stack/run").mkdir(parents=True)
    os.chmod(work / "stack", 0o700)
    find = f'. "{ROOT}/scripts/common.sh"; free_ports 4'
    first = int(subprocess.run(["bash", "-c", find], capture_output=True, text=True, check=True).stdout)
    ports = {name: str(first + offset) for offset, name in enumerate(("ingest", "retrieval", "dispatcher", "hub"))}
    lines = "".join(f"{name}_port={port}\n" for name, port in ports.items())
    (work / "stack/run/ports").write_text(lines)
    stack(work, "up")
    used = dict(line.split("=", 1) for line in (work / "stack/run/ports").read_text().splitlines())
    return {name: used[f"{name}_port"] for name in ports}


def stack(work, action):
    result = subprocess.run([ROOT / "scripts/stack.sh", action, work / "stack"], text=True, start_new_session=True,
                            env=os.environ | {"STORE": "postgres", "SECUREPUSH_BIN": str(executables())},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0 and action == "up":
        fail(f"the stack did not start:\n{result.stdout}")


def main():
    chosen = sys.argv[1:] or os.environ.get("DOCUMENTS", "").split()
    rules, problems = read_rules(), []
    pages = {page: steps_of(page) for page in all_pages()}
    for page, steps in pages.items():
        for step in (step for step in steps if isinstance(step, Command)):
            step.rule = next((rule for rule in rules if rule.matches(page, step.text)), None)
            if step.rule:
                step.rule.uses += 1
    unused = [rule for rule in rules if not rule.uses]
    problems += [f"commands.txt: no command of {rule.page} begins with: {rule.words}" for rule in unused]
    pages = {page: steps for page, steps in pages.items()
             if any(isinstance(step, Command) for step in steps)
             and (not chosen or any(page.startswith(name) for name in chosen))}
    work = pathlib.Path(tempfile.mkdtemp(prefix="securepush-documents."))
    begin, done, excepted = time.monotonic(), 0, {}
    try:
        ports = start_stack(work)
        for page, steps in pages.items():
            start, commands = time.monotonic(), [step for step in steps if isinstance(step, Command)]
            problems += run_page(page, steps, work, ports)
            for step in commands:
                if step.excepted:
                    excepted[step.excepted] = excepted.get(step.excepted, 0) + 1
            run = sum(not step.excepted for step in commands)
            done += run
            print(f"{page}: {run} run, {len(commands) - run} excepted, {time.monotonic() - start:.1f} s", flush=True)
    finally:
        stack(work, "down")
        if problems and os.environ.get("KEEP"):
            print(f"The folder of the run is {work}.")
        else:
            shutil.rmtree(work, ignore_errors=True)
    for problem in problems:
        print(f"\n{problem}")
    names = ", ".join(f"{name} {count}" for name, count in sorted(excepted.items()))
    total = sum(excepted.values())
    print(f"{done + total} commands of {len(pages)} pages: {done} run, {total} excepted ({names}); "
          f"{len(problems)} problems; {time.monotonic() - begin:.0f} s")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
