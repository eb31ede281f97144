"""The shipped form of the built binary: without symbols, and without traces of the directory that it was built in."""

import hashlib
import pathlib
import re
import subprocess
import tempfile

# Hashes of each module's intermediate code, which contain the names of directories. The compiler reads them in object
# files to skip work; the program does not.
HASHES = ".swift_modhash"
# The linker's id of the content, as a note: 16 bytes of head, then a SHA-1. It contains the hashes above.
IDENTIFIER = ".note.gnu.build-id"


def size(binary, section):
    """The bytes of a section; 0 if the binary does not have it."""
    listed = subprocess.run(["readelf", "--wide", "--sections", binary], check=True, capture_output=True, text=True)
    found = re.search(rf"\s{re.escape(section)}\s+\S+\s+[0-9a-f]+\s+[0-9a-f]+\s+([0-9a-f]+)\s", listed.stdout)
    return int(found[1], 16) if found else 0


def replace(binary, section, content):
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        subprocess.run(["objcopy", f"--update-section={section}={file.name}", binary], check=True)


def identifier(binary):
    """The note of the id."""
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["objcopy", f"--dump-section={IDENTIFIER}={file.name}", binary, "/dev/null"], check=True)
        return pathlib.Path(file.name).read_bytes()


def ship(binary, target):
    """Writes the shipped form. The id is derived from the rest of the content, as the linker's is."""
    subprocess.run(["strip", "--strip-all", "--remove-section=.comment", "-o", target, binary], check=True)
    if length := size(target, HASHES):
        replace(target, HASHES, bytes(length))
    if size(target, IDENTIFIER):
        head = identifier(target)[:16]
        replace(target, IDENTIFIER, head + bytes(20))
        replace(target, IDENTIFIER, head + hashlib.sha1(target.read_bytes()).digest())
