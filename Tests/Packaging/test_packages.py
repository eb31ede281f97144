"""Facts of the archive and the Debian package: their bytes, their content, their metadata."""

import os
import pathlib
import re
import stat
import subprocess
import tarfile
import unittest

import packages
from packages import ROOT, archive, one, package, run


class Bytes(unittest.TestCase):
    def test_a_second_build_has_equal_bytes(self):
        second = packages.path("elsewhere/second")
        environment = dict(os.environ, TZ="Asia/Kathmandu", LC_ALL="C", TMPDIR=str(packages.path("tmp")))
        packages.path("tmp").mkdir()
        run("python3", ROOT / "Packaging/build.py", packages.BINARY, second, env=environment, umask=0o077, cwd="/")
        names = sorted(path.name for path in packages.FOLDER.iterdir())
        self.assertEqual(names, sorted(path.name for path in second.iterdir()))
        for name in names:
            self.assertEqual((packages.FOLDER / name).read_bytes(), (second / name).read_bytes(), name)

    def test_checksums_cover_every_file(self):
        run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=packages.FOLDER)
        listed = {line.split()[1] for line in one("SHA256SUMS").read_text().splitlines()}
        self.assertEqual(listed | {"SHA256SUMS"}, {path.name for path in packages.FOLDER.iterdir()})

    def test_the_binary_names_no_directory_of_its_build(self):
        content = (archive() / "bin/signalbox").read_bytes()
        # Paths below the directory begin with a dot instead.
        for pattern in (str(ROOT), os.environ.get("HOME", "/root") + "/", r"[\w/-]/\.build/[\w/.-]*checkouts"):
            self.assertEqual(re.findall(rb"[ -~]{0,40}" + pattern.encode() + rb"[ -~]{0,40}", content)[:3], [], pattern)

    def test_the_binary_is_stripped_and_hardened(self):
        text = run("readelf", "--wide", "--headers", "--dynamic", archive() / "bin/signalbox")
        for word in (r"Type:\s+DYN", r"\bNOW\b", "GNU_RELRO", r"GNU_STACK[^\n]+ RW "):
            self.assertRegex(text, word)
        for word in (r"\.symtab", r"\.debug_info", r"\(R(?:UN)?PATH\)"):
            self.assertIsNone(re.search(word, text), word)


class Archive(unittest.TestCase):
    def test_entries_are_sorted_and_belong_to_root(self):
        with tarfile.open(one("*.tar.gz")) as tar:
            entries = tar.getmembers()
        names = [entry.name for entry in entries]
        self.assertEqual(names, sorted(names))
        self.assertEqual({name.split("/")[0] for name in names}, {archive().name})
        self.assertEqual({(entry.uid, entry.gid, entry.uname, entry.mtime) for entry in entries},
                         {(0, 0, "root", entries[0].mtime)})
        self.assertEqual([entry.name for entry in entries if entry.mode & 0o7022 and not entry.issym()], [])

    def test_it_has_what_the_readme_names(self):
        for name in ("bin/signalbox", "README.md", "LICENSE", "CHANGELOG.md", "routes.json", "routes.schema.json",
                     "docs/install.md", "Examples/payloads/braze-ios.json", "deploy/README.md", "packages.txt",
                     "signalbox.spdx.json", "licenses/swift-nio/LICENSE.txt", "licenses/swift-runtime/LICENSE.txt"):
            self.assertTrue((archive() / name).is_file(), name)
        dangling = [path for path in archive().rglob("*") if path.is_symlink() and not path.exists()]
        self.assertEqual(dangling, [])

    def test_packages_and_depends_name_the_same_libraries(self):
        depends = re.search(r"^Depends: (.+)$", (package() / "DEBIAN/control").read_text(), re.MULTILINE)[1]
        names = {entry.split()[0] for entry in depends.split(", ")}
        self.assertEqual(set((archive() / "packages.txt").read_text().split()) | {"adduser"}, names)
        text = (ROOT / "Dockerfile").read_text()
        for name in names - {"adduser", "libc6", "libgcc-s1"}:
            self.assertRegex(text, rf"[ \n]{re.escape(name)}[ \n\\]", f"{name} in the Dockerfile")


class Package(unittest.TestCase):
    def test_lintian_finds_neither_errors_nor_warnings(self):
        run("lintian", "--allow-root", "--fail-on", "error,warning", one("*.deb"))

    def test_scripts_are_plain_shell(self):
        for name in ("postinst", "prerm", "postrm"):
            run("dash", "-n", package() / "DEBIAN" / name)

    def test_the_config_is_valid_and_asks_for_tokens(self):
        config = package() / "etc/signalbox/routes.json"
        run(archive() / "bin/signalbox", "routes", "check", "--strict", "--config", config)
        self.assertEqual((package() / "DEBIAN/conffiles").read_text(), "/etc/signalbox/routes.json\n")
        refused = subprocess.run(
            [archive() / "bin/signalbox", "serve", "--config", config, "--data-dir", packages.path("data")],
            env={"PATH": "/usr/bin"}, capture_output=True, text=True, check=False, timeout=600)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("SIGNALBOX_", refused.stderr)

    def test_the_environment_is_not_shipped(self):
        self.assertFalse((package() / "etc/signalbox/environment").exists())

    def test_the_unit_is_confined(self):
        unit = package() / "usr/lib/systemd/system/signalbox.service"
        # The threshold is ten times the level: at most 2.9.
        run("systemd-analyze", "security", "--offline=true", "--threshold=29", "--no-pager", unit)

    def test_the_unit_starts_a_program_of_the_package(self):
        copy = packages.path("signalbox.service")
        text = (package() / "usr/lib/systemd/system/signalbox.service").read_text()
        self.assertIn("ExecStart=/usr/bin/signalbox serve\n", text)
        copy.write_text(text.replace("/usr/bin/signalbox", str(package() / "usr/bin/signalbox")))
        run("systemd-analyze", "verify", "--man=no", copy)

    def test_only_programs_are_executable(self):
        paths = [path.relative_to(package()) for path in package().rglob("*")
                 if path.is_file() and path.stat().st_mode & stat.S_IXUSR and "DEBIAN" not in path.parts]
        self.assertEqual(paths, [pathlib.Path("usr/bin/signalbox")])
