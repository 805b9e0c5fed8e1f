# SPDX-License-Identifier: Apache-2.0
"""Hooks of mkdocs, by which the pages that a forge shows become those of the site.

The navigation is the index in docs/README.md. A link to a file that is no page leads to the file
in the repository. What the forge's Markdown allows and Python's does not is rewritten.
Source: www.mkdocs.org/user-guide/configuration, "hooks".
"""

import os
import posixpath
import re

REPOSITORY = "https://github.com/utipc/utipc"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROJECT = ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]

LINK = re.compile(r"\[([^][]*)\]\(([^)\s]+)\)")
TARGET = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r" *(```|~~~)")
ITEM = re.compile(r"([*-]|\d+\.) ")


def on_config(config):
    with open(os.path.join(ROOT, "docs/README.md"), encoding="utf-8") as f:
        config["nav"] = navigation(f.read())
    config["mdx_configs"]["toc"]["slugify"] = slug
    return config


def navigation(index):
    """Returns the navigation: a section for each heading of the index, an entry for each link.

    A row whose first cell has no link is a section of those in the others. So is a link to the
    README of a folder: of that page and the others there.
    """
    sections = {"Home": ["README.md", "docs/README.md"]}
    name = None
    for line in index.splitlines():
        if line.startswith("## "):
            name = line[3:].strip()
            sections[name] = []
        elif name and line.startswith("| "):
            first = line.split("|")[1].strip()
            links = [{title: "docs/" + file} for title, file in LINK.findall(line) if file.endswith(".md")]
            if not links:
                continue
            if not LINK.match(first):
                sections[name].append({first: links})
            elif links[0][LINK.match(first)[1]].endswith("/README.md"):
                sections[name].append(folder(*links[0].popitem()))
            else:
                sections[name].append(links[0])
    sections["Project"] = list(PROJECT)
    return [{name: pages} for name, pages in sections.items()]


def folder(title, readme):
    """Returns the section of the pages in the folder of a README."""
    where = posixpath.dirname(readme)
    others = sorted(f for f in os.listdir(os.path.join(ROOT, where)) if f.endswith(".md") and f != "README.md")
    return {title: [readme] + [posixpath.join(where, f) for f in others]}


def slug(text, separator):
    """Returns the anchor of a heading, as the forge names it."""
    return re.sub(r"[^\w -]", "", text.lower()).replace(" ", separator)


def on_page_markdown(markdown, page, config, files):
    lines, code, before, offset = [], False, "", 0
    for line in markdown.splitlines():
        # offset is where the text of the list's item begins: for the forge what is indented as far is the
        # item's, for Python what is indented by 4.
        item = None if code else ITEM.match(line)
        if item:
            offset = item.end()
        elif line.strip() and not line.startswith(" " * offset):
            offset = 0
        indent, text = "", line
        if offset and not item:
            indent, text = "    ", line[offset:]
        if FENCE.match(text):
            code = not code
        elif not code and not text.startswith("    "):
            # For the forge a list or a table may follow a paragraph at once.
            begins = item and not ITEM.match(before) or text.startswith("|") and not before.lstrip().startswith("|")
            if begins and before.strip():
                lines.append("")
            text = text.replace("<details", '<details markdown="1"')
            text = TARGET.sub(lambda m: m[1] + target(m[2], page, files) + (m[3] or "") + ")", text)
        lines.append((indent + text).rstrip())
        before = line
    return "\n".join(lines)


def target(link, page, files):
    """Returns where a link of a page leads to: a page as it is, another file in the repository."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_path), link))
    if "://" in link or files.get_file_from_path(path) is not None:
        return link
    full = os.path.join(ROOT, path)
    if path.startswith("..") or not os.path.exists(full):
        return link
    return "%s/%s/main/%s" % (REPOSITORY, "tree" if os.path.isdir(full) else "blob", path)
