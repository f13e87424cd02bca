"""What MkDocs does besides, so that the documents need no form of their own for it.

- docs/README.md, the index of all pages, is the navigation. A page that it does not name ends the build.
- What the documents link to outside of docs/ becomes part of the site: pages, pictures, and files as code. An OpenAPI
  document becomes a page that shows it.
- Lists are indented as on code hosts, by the width of their mark.
- The library for diagrams is a file of the site, and only pages with diagrams load it.
"""
import importlib.util
import json
import logging
import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
log = logging.getLogger("mkdocs.hooks.securepush")

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^ *(```|~~~)")
PICTURES = {".png", ".svg", ".jpg", ".gif", ".webp"}
LANGUAGES = {".yml": "yaml", ".yaml": "yaml", ".sh": "bash", ".py": "python", ".js": "javascript", ".kt": "kotlin",
             ".cs": "csharp", ".rb": "ruby"}


def source_of(uri):
    """The path in the repository of a page of the site."""
    return uri.removeprefix("repository/") if uri.startswith("repository/") else f"docs/{uri}"


def place_of(path):
    """The place in the site of a path in the repository; None if there is no such file."""
    file = ROOT / path
    if path.startswith("docs/") and file.suffix:
        return path.removeprefix("docs/")
    if re.fullmatch(r"Services/\w+/OpenAPI/\w+\.json", path):
        return f"reference/openapi/{file.stem}.md"
    if file.is_dir():
        return place_of(f"{path}/README.md") if (file / "README.md").exists() else f"repository/{path}/README.md"
    if not file.exists():
        return None
    return f"repository/{path}" if file.suffix in PICTURES | {".md"} else f"repository/{path}.md"


def target_of(link, page):
    """The path in the repository and the anchor of a relative link of a page; None for other links."""
    if re.match(r"[a-z]+:|#|/", link):
        return None
    path, _, anchor = link.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path)), anchor


def outside_code(text, change):
    """Applies a function to each line that is not in a code block."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is not None:
            fence = None if mark and mark[1] == fence else fence
        else:
            line = change(line)
        lines.append(line)
    return "\n".join(lines)


def links_of(path):
    """The paths in the repository to which a page links."""
    found = []
    outside_code((ROOT / path).read_text(), lambda line: found.extend(LINK.findall(line)) or line)
    targets = (target_of(link, path) for _, link, _ in found)
    return [target[0] for target in targets if target]


# Navigation

def index_entries():
    """The sections of docs/README.md: what is before the colon of a heading, and a line that ends with a colon."""
    sections, entries = [], None
    for line in (ROOT / "docs/README.md").read_text().splitlines():
        heading, group = re.match(r"## ([^:]+)", line), re.match(r"(?:### )?([A-Z][^.]*?):?$", line)
        link = re.match(r"[-*] \[(.+?)\]\(([^)\s#]+)\)", line)
        if heading:
            entries = []
            sections.append({heading[1]: entries})
            inner = entries
        elif link and entries is not None:
            inner.append(entry(link[1].replace("`", ""), target_of(link[2], "docs/README.md")[0]))
        elif entries is not None and group and (line.endswith(":") or line.startswith("###")):
            inner = []
            entries.append({group[1]: inner})
    return sections


def entry(title, path):
    """A page, or with a folder's README.md all pages of the folder."""
    place = place_of(path)
    if not place or not place.endswith("README.md") or not path.startswith("docs/"):
        return {title: place or path}
    others = sorted(page.name for page in (ROOT / path).parent.glob("*.md") if page.name != "README.md")
    return {title: [place] + [posixpath.join(posixpath.dirname(place), name) for name in others]}


def on_config(config):
    config.nav = [{"Home": "README.md"}] + index_entries()
    return config


# Files

def on_files(files, config):
    """Adds what the pages link to, and what those pages link to."""
    waiting = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    while waiting:
        for path in links_of(waiting.pop()):
            place = place_of(path)
            if place is None or files.get_file_from_path(place) or path.startswith("docs/"):
                continue
            files.append(file_for(path, place, config))
            if path.endswith(".md"):
                waiting.append(path)
    for name in ("site.css", "site.js", "icon.svg"):
        files.append(File.generated(config, f"assets/{name}", abs_src_path=str(HERE / name)))
    library = pathlib.Path(importlib.util.find_spec("mermaidx").origin).parent / "assets/mermaid.js"
    files.append(File.generated(config, "assets/mermaid.js", abs_src_path=str(library)))
    return files


def file_for(path, place, config):
    file = ROOT / path
    if place.startswith("reference/openapi/"):
        return File.generated(config, place, abs_src_path=str(openapi_page(file)))
    if file.is_dir() and not (file / "README.md").exists():
        names = "".join(f"- `{item.name}{'/' if item.is_dir() else ''}`\n" for item in sorted(file.iterdir()))
        return File.generated(config, place, content=f"# {path}\n\nA folder of the repository, with:\n\n{names}")
    if place == f"repository/{path}.md":
        code = file.read_text()
        fence = "`" * (3 + max((len(run) for run in re.findall(r"`{3,}", code)), default=0))
        language = LANGUAGES.get(file.suffix, file.suffix[1:] or "text")
        return File.generated(config, place, content=f"---\nsearch: {{exclude: true}}\n---\n# {path}\n\n"
                                                     f"{fence}{language}\n{code.rstrip()}\n{fence}\n")
    return File.generated(config, place, abs_src_path=str(ROOT / source_of(place)))


def openapi_page(file):
    """The document as the service answers it, and a page for the plug-in that shows it."""
    def merge(document, overlay):
        for name, value in overlay.items():
            if isinstance(value, dict) and isinstance(document.get(name), dict):
                merge(document[name], value)
            else:
                document[name] = value

    document = json.loads(file.read_text())
    merge(document, json.loads((ROOT / "Shared/ServiceRuntime/OpenAPI/common.json").read_text()))
    version = (ROOT / "Shared/ServiceRuntime/Main/SecurePushVersion.swift").read_text()
    document["info"]["version"] = re.search(r'current = "(.+)"', version)[1]
    folder = ROOT / ".build/docs/openapi"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file.name).write_text(json.dumps(document, indent=2))
    page = folder / f"{file.stem}.md"
    page.write_text(f"---\ntechdocs-owl: {{type: openapi, spec: {file.name}}}\n---\n")
    return page


# Pages

def on_page_markdown(markdown, page, config, files):
    path = source_of(page.file.src_uri)
    if path == "docs/README.md":
        page.meta["hide"] = ["navigation", "toc"]

    def local(match):
        target = target_of(match[2], path)
        place = target and place_of(target[0])
        if not place:
            return match[0]
        relative = posixpath.relpath(place, posixpath.dirname(page.file.src_uri) or ".")
        return f"{match[1]}{relative}{'#' if target[1] else ''}{target[1]}{match[3]}"

    return reindented(outside_code(markdown, lambda line: LINK.sub(local, line)), path)


def reindented(text, path):
    """What belongs to a list item is indented to the item's text; Python-Markdown wants four columns a level.

    A list directly below a paragraph is a part of it for Python-Markdown, and a list on code hosts. It ends the build."""
    lines, columns, fence = [], [], None
    for line in text.split("\n"):
        before, had = lines[-1].strip() if lines else "", len(columns)
        blank, indent = not line.strip(), len(line) - len(line.lstrip())
        if not blank and fence is None:
            while columns and indent < columns[-1]:
                columns.pop()
        depth = len(columns)
        shift = columns[-1] if columns else 0
        moved = line if blank else " " * (4 * depth) + line[min(shift, indent):]
        mark = FENCE.match(line)
        if mark:
            fence = mark[1] if fence is None else None if mark[1] == fence else fence
        item = re.match(r" *([-*+]|\d+[.)]) +", line)
        if item and fence is None:
            if had == 0 and before and not before.startswith("#"):
                log.warning("%s has a list without a blank line before it: %s", path, line)
            columns.append(len(item[0]))
        lines.append(moved)
    return "\n".join(lines)


def on_post_page(output, page, config):
    if 'class="mermaid"' in output:
        library = posixpath.relpath("assets/mermaid.js", posixpath.dirname(page.url) or ".")
        output = re.sub(r'(<script src="[^"]*bundle)', rf'<script src="{library}"></script>\1', output, count=1)
    return output


def on_post_build(config):
    """The site must work in a network without the internet: no page may load anything from another host."""
    loads = re.compile(r"""<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)=["']?(?:https?:)?//|"""
                       r"""@import\s+["'(]|url\(["']?(?:https?:)?//""")
    for file in sorted(pathlib.Path(config.site_dir).rglob("*.*")):
        if file.suffix in (".html", ".css") and (match := loads.search(file.read_text())):
            log.warning("%s loads from another host: %s", file.name, match[0])
