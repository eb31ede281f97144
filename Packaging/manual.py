"""Manual pages of the commands, made from the help of the binary (`signalbox --experimental-dump-help`)."""

import datetime
import json


def escaped(text):
    """Text as roff shows it unchanged: no escapes, no control lines, hyphens that can be copied."""
    lines = [line.strip().replace("\\", "\\e").replace("-", "\\-") for line in text.split("\n")]
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in lines)


def paragraphs(text):
    return "\n.PP\n".join(escaped(part) for part in text.split("\n\n"))


def switch(name):
    return ("\\-" if name["kind"] == "short" else "\\-\\-") + escaped(name["name"])


def label(argument):
    """The line of an argument in the list: its names and the name of its value."""
    value = f"\\fI{escaped(argument.get('valueName', 'value'))}\\fR"
    if argument["kind"] == "positional":
        return value + ("..." if argument["isRepeating"] else "")
    names = ", ".join(f"\\fB{switch(name)}\\fR" for name in argument["names"])
    return names if argument["kind"] == "flag" else f"{names} {value}"


def placed(argument):
    """A positional argument in the synopsis."""
    text = label(argument)
    return f"[{text}]" if argument["isOptional"] else text


def described(argument):
    text = " ".join(part for part in (argument.get("abstract"), argument.get("discussion")) if part)
    if "defaultValue" in argument and "default" not in text:
        text += f" Default: {argument['defaultValue']}."
    return f".TP\n{label(argument)}\n{escaped(text.strip()) or 'Not described.'}"


def shown(items):
    return [item for item in items if item.get("shouldDisplay", True)]


def page(command, path, version, day):
    """The manual page of one command. `path`: the words that call it."""
    name, call = "-".join(path), " ".join(path)
    abstract = command.get("abstract", "").rstrip(".")
    arguments = shown(command.get("arguments", []))
    subcommands = [item for item in shown(command.get("subcommands", [])) if item["commandName"] != "help"]
    synopsis = [f"\\fB{escaped(call)}\\fR"] + (["\\fIcommand\\fR"] if subcommands else []) + ["[\\fIoptions\\fR]"]
    synopsis += [placed(item) for item in arguments if item["kind"] == "positional"]
    lines = [
        f'.TH "{escaped(name.upper())}" 1 "{day}" "Signalbox {version}" "Signalbox"', ".SH NAME",
        f"{escaped(name)} \\- {escaped(abstract[:1].lower() + abstract[1:])}", ".SH SYNOPSIS", " ".join(synopsis),
        ".SH DESCRIPTION", escaped(command.get("abstract", "")),
    ]
    if discussion := command.get("discussion"):
        lines += [".PP", paragraphs(discussion)]
    if subcommands:
        lines.append(".SH COMMANDS")
        lines += [f".TP\n\\fB{escaped(item['commandName'])}\\fR\n{escaped(item.get('abstract', ''))}"
                  for item in subcommands]
    if arguments:
        lines += [".SH OPTIONS"] + [described(item) for item in arguments]
    related = [path[:-1]] * (len(path) > 1) + [[*path, item["commandName"]] for item in subcommands]
    if related:
        links = [f"\\fB{escaped('-'.join(other))}\\fR(1)" for other in related]
        lines += [".SH SEE ALSO", ",\n".join(links)]
    return "\n".join(lines) + "\n"


def pages(dump, version, date):
    """The pages by file name. `dump`: the help as JSON; `date`: seconds since 1970."""
    day = datetime.datetime.fromtimestamp(date, datetime.timezone.utc).strftime("%Y-%m-%d")
    found = {}

    def visit(command, path):
        found["-".join(path) + ".1"] = page(command, path, version, day)
        for item in shown(command.get("subcommands", [])):
            if item["commandName"] != "help":
                visit(item, [*path, item["commandName"]])

    command = json.loads(dump)["command"]
    visit(command, [command["commandName"]])
    return found
