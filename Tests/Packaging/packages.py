"""The packages under test: made twice from one binary, the second time in other circumstances."""

import functools
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = pathlib.Path(os.environ.get("SIGNALBOX_DIST_BINARY", ROOT / ".build/release/signalbox"))
FOLDER = pathlib.Path(os.environ.get("SIGNALBOX_DIST_FOLDER", ROOT / ".build/dist"))
TOOLS = ROOT / ".build/test-tools"
# make runs the tests in the environment of their libraries.
VENV = pathlib.Path(sys.executable).parent


def one(pattern):
    """The only file of the release with this name."""
    found = sorted(FOLDER.glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{len(found)} files in {FOLDER} are named {pattern}: run make dist.")
    return found[0]


def run(*command, **options):
    """Runs a program; returns its standard output. A failure has both outputs."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{command[0]} failed with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


@functools.cache
def temporary():
    """A folder until the process ends."""
    return tempfile.TemporaryDirectory(prefix="signalbox-dist-")


def path(name):
    return pathlib.Path(temporary().name) / name


@functools.cache
def package():
    """The content of the Debian package, with its control files in `DEBIAN`."""
    folder = path("package")
    run("dpkg-deb", "--raw-extract", one("*.deb"), folder)
    return folder


@functools.cache
def archive():
    """The folder of the archive, extracted."""
    folder = path("archive")
    folder.mkdir()
    run("tar", "--extract", "--file", one("*.tar.gz"), "--directory", folder)
    return next(folder.iterdir())
