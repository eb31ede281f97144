#!/usr/bin/env python3
"""Makes the release archive, the Debian package, the SBOM and the checksums of a built binary.

usage: build.py BINARY OUTPUT

OUTPUT is emptied first. The same binary, commit and SOURCE_DATE_EPOCH (default: the time of the commit) give the same
bytes, in any directory, time zone and locale, and as any user. The binary runs during the build: it prints its version,
its help and its completions, so a package is built on a machine of its own architecture.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import archive
import debian
import manual
import program
import sbom

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Paths of the repository that the archive has at the same place.
SHIPPED = ["README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "routes.json", "routes.schema.json", "docs",
           "Examples", "deploy"]
# Completions in the archive, below `share`. The package has those of zsh in a folder of the distribution.
COMPLETIONS = {
    "bash": "bash-completion/completions/signalbox",
    "zsh": "zsh/site-functions/_signalbox",
    "fish": "fish/vendor_completions.d/signalbox.fish",
}


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def epoch():
    """The time that everything in the packages has, in seconds since 1970."""
    if text := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(text)
    try:
        return int(output("git", "-C", str(ROOT), "log", "-1", "--format=%ct"))
    except (subprocess.CalledProcessError, FileNotFoundError, ValueError):
        sys.exit("The time of the commit is unknown: this is not a git clone. Set SOURCE_DATE_EPOCH.")


def shipped_files():
    """The tracked files of SHIPPED, so that leftovers of a working copy stay out."""
    listed = output("git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--", *SHIPPED)
    return sorted(name for name in listed.split("\0") if name)


def stage(binary, folder, version, date):
    """Fills the folder with the archive's content; returns what the package needs too."""
    stripped = folder / "bin/signalbox"
    stripped.parent.mkdir(parents=True)
    program.ship(binary, stripped)
    for name in shipped_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name, follow_symlinks=False)
    for shell, place in COMPLETIONS.items():
        path = folder / "share" / place
        path.parent.mkdir(parents=True)
        script = output(str(stripped), "--generate-completion-script", shell)
        # A shell reads the file; it is not a program.
        path.write_text(script.removeprefix("#!/bin/bash\n"), encoding="utf-8")
    pages = folder / "share/man/man1"
    pages.mkdir(parents=True)
    for name, text in manual.pages(output(str(stripped), "--experimental-dump-help"), version, date).items():
        (pages / name).write_text(text, encoding="utf-8")
    depends = debian.library_packages(stripped)
    names = [entry.split()[0] for entry in depends] + ["ca-certificates"]
    (folder / "packages.txt").write_text("\n".join(sorted(set(names))) + "\n", encoding="utf-8")
    return stripped, depends


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    binary, target = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    if not binary.exists():
        sys.exit(f"{binary} does not exist: run make build.")
    # Modes of files come from this script, not from the caller.
    os.umask(0o022)
    os.environ.update(LC_ALL="C.UTF-8", TZ="UTC")
    date = epoch()
    os.environ["SOURCE_DATE_EPOCH"] = str(date)
    version = output(str(binary), "--version").strip()
    architecture = output("dpkg", "--print-architecture").strip()
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    name = f"signalbox-{version}-linux-{architecture}"
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / name
        stripped, depends = stage(binary, folder, version, date)
        parts = sbom.parts(binary, stripped)
        for place, text in sbom.licenses(parts).items():
            (folder / "licenses" / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / "licenses" / place).write_text(text, encoding="utf-8")
        document = sbom.document(parts, stripped, name, version, date)
        (folder / "signalbox.spdx.json").write_text(document, encoding="utf-8")
        (target / f"{name}.spdx.json").write_text(document, encoding="utf-8")
        archive.write(folder, target / f"{name}.tar.gz", date)
        debian.write(folder, depends, target / f"signalbox_{version}_{architecture}.deb", version, architecture, date)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(target.iterdir())]
    (target / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    for path in sorted(target.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path}")


if __name__ == "__main__":
    main()
