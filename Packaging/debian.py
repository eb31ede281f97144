"""The Debian package: the binary, its unit, its documents, and scripts that leave it closed to other machines."""

import datetime
import gzip
import pathlib
import re
import shutil
import subprocess
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parent / "debian"
ROOT = SOURCES.parent.parent
MAINTAINER = "Signalbox maintainers <maintainers@signalbox.invalid>"
# Folders and files of the archive, and where the package has them.
PLACES = {
    "bin/signalbox": "usr/bin/signalbox",
    "share/bash-completion/completions/signalbox": "usr/share/bash-completion/completions/signalbox",
    "share/zsh/site-functions/_signalbox": "usr/share/zsh/vendor-completions/_signalbox",
    "share/fish/vendor_completions.d/signalbox.fish": "usr/share/fish/vendor_completions.d/signalbox.fish",
    "docs/reference/routes.schema.json": "usr/share/signalbox/routes.schema.json",
    "Examples": "usr/share/doc/signalbox/examples",
    "deploy/nginx": "usr/share/doc/signalbox/examples/nginx",
    "deploy/caddy": "usr/share/doc/signalbox/examples/caddy",
    "signalbox.spdx.json": "usr/share/doc/signalbox/signalbox.spdx.json",
}


def library_packages(binary):
    """The entries of `Depends` for the shared libraries, as dpkg-shlibdeps derives them from the symbols in use."""
    with tempfile.TemporaryDirectory() as work:
        control = pathlib.Path(work) / "debian/control"
        control.parent.mkdir()
        control.write_text("Source: signalbox\n\nPackage: signalbox\nArchitecture: any\n", encoding="utf-8")
        text = subprocess.run(["dpkg-shlibdeps", "-O", f"-e{binary}"], check=True, capture_output=True, text=True,
                              cwd=work).stdout
    return sorted(text.strip().removeprefix("shlibs:Depends=").split(", "))


def control(depends, version, architecture, size):
    return "\n".join([
        "Package: signalbox", f"Version: {version}", f"Architecture: {architecture}", f"Maintainer: {MAINTAINER}",
        f"Installed-Size: {size}", f"Depends: {', '.join(['adduser', 'ca-certificates', *depends])}",
        "Section: net", "Priority: optional", "Homepage: https://github.com/example/signalbox",
        "Description: gateway for push notifications of many vendors",
        " Signalbox accepts the raw APNs and FCM payloads of engagement vendors,",
        " recognises the vendor of each one, and delivers one normalised, signed event",
        " to the webhooks that its configuration names. Accepted payloads are on disk",
        " before the reply is sent.", ""])


def changelog(version, date):
    """The changelog in Debian's form; the changes themselves are in CHANGELOG.md."""
    day = datetime.datetime.fromtimestamp(date, datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S +0000")
    return (f"signalbox ({version}) unstable; urgency=medium\n\n  * Release {version}; NEWS.gz lists its changes.\n\n"
            f" -- {MAINTAINER}  {day}\n")


def copyright(folder):
    """The copyright file: the licence of Signalbox, and those of everything that is linked into the binary."""
    text = (SOURCES / "copyright").read_text(encoding="utf-8")
    for path in sorted((folder / "licenses").rglob("*")):
        # The Apache licence is in the system's folder of common licences. Notices and other licences are added in full.
        if path.is_file() and "Apache License" not in (content := path.read_text(encoding="utf-8")):
            text += f"\n\n==== {path.relative_to(folder / 'licenses')} ====\n\n{content.strip()}\n"
    return text


def compress(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, 9, mtime=0))


def fill(folder, tree, version, date):
    """Puts every file at its place, except those of DEBIAN."""
    for source, place in PLACES.items():
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        if (folder / source).is_dir():
            shutil.copytree(folder / source, tree / place, dirs_exist_ok=True)
        else:
            shutil.copyfile(folder / source, tree / place)
    for name, place in {
        "signalbox.service": "usr/lib/systemd/system/signalbox.service",
        "routes.json": "etc/signalbox/routes.json",
        "lintian-overrides": "usr/share/lintian/overrides/signalbox",
    }.items():
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCES / name, tree / place)
    documents = tree / "usr/share/doc/signalbox"
    (documents / "copyright").write_text(copyright(folder), encoding="utf-8")
    compress(documents / "changelog.gz", changelog(version, date).encode())
    compress(documents / "NEWS.gz", (folder / "CHANGELOG.md").read_bytes())
    for page in sorted((folder / "share/man/man1").iterdir()):
        compress(tree / "usr/share/man/man1" / (page.name + ".gz"), page.read_bytes())


def set_modes(tree, date):
    """Fixes modes; dpkg-deb fixes owners and times."""
    programs = {"signalbox", "postinst", "prerm", "postrm"}
    for path in tree.rglob("*"):
        is_program = path.is_dir() or (path.name in programs and path.parent.name in ("bin", "DEBIAN"))
        path.chmod(0o755 if is_program else 0o644)
    tree.chmod(0o755)


def write(folder, depends, target, version, architecture, date):
    """Builds the package from the archive's folder."""
    with tempfile.TemporaryDirectory() as work:
        tree = pathlib.Path(work) / "signalbox"
        tree.mkdir()
        fill(folder, tree, version, date)
        files = sorted(path for path in tree.rglob("*") if path.is_file())
        size = sum(-(-path.stat().st_size // 1024) for path in files) + sum(path.is_dir() for path in tree.rglob("*"))
        (tree / "DEBIAN").mkdir()
        sums = subprocess.run(["md5sum", *[path.relative_to(tree) for path in files if "etc" not in path.parts[-3:-1]]],
                              check=True, capture_output=True, text=True, cwd=tree).stdout
        (tree / "DEBIAN/md5sums").write_text(sums, encoding="utf-8")
        (tree / "DEBIAN/conffiles").write_text("/etc/signalbox/routes.json\n", encoding="utf-8")
        (tree / "DEBIAN/control").write_text(control(depends, version, architecture, size), encoding="utf-8")
        for name in ("postinst", "prerm", "postrm"):
            shutil.copyfile(SOURCES / name, tree / "DEBIAN" / name)
        set_modes(tree, date)
        # One thread, because the number of threads changes the compressed bytes.
        subprocess.run(["dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zxz", "-z1", "--build", tree, target],
                       check=True, stdout=subprocess.DEVNULL)
