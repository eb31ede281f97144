"""Writes a folder as a .tar.gz whose bytes depend on names, content and the given time only."""

import gzip
import tarfile


def entries(folder):
    """The folder and everything in it, in the order of the paths."""
    return [folder, *sorted(folder.rglob("*"), key=lambda path: path.relative_to(folder).as_posix())]


def is_program(path):
    return path.parent.name == "bin" or path.read_bytes()[:2] == b"#!"


def write(folder, target, date):
    """Owners are root, modes are 0755 or 0644, times are `date`. The archive has one folder with the folder's name."""
    # An empty name and a fixed time in the head of the compressed stream.
    with open(target, "wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=date) as stream, \
            tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in entries(folder):
            entry = tarfile.TarInfo(path.relative_to(folder.parent).as_posix())
            entry.mtime, entry.uname, entry.gname = date, "root", "root"
            if path.is_symlink():
                entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
                tar.addfile(entry)
            elif path.is_dir():
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
            else:
                entry.size, entry.mode = path.stat().st_size, 0o755 if is_program(path) else 0o644
                with open(path, "rb") as content:
                    tar.addfile(entry, content)
