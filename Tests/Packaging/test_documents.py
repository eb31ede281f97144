"""Facts of the manual pages and completions, which come from the binary's help, and of the SBOM."""

import gzip
import json
import re
import unittest

import packages
from packages import archive, one, package, run


class ManualPages(unittest.TestCase):
    def test_every_command_has_a_page(self):
        def visit(command, path):
            yield "-".join(path) + ".1"
            for item in command.get("subcommands", []):
                if item.get("shouldDisplay", True) and item["commandName"] != "help":
                    yield from visit(item, [*path, item["commandName"]])

        dump = json.loads(run(archive() / "bin/signalbox", "--experimental-dump-help"))["command"]
        names = set(visit(dump, ["signalbox"]))
        self.assertGreater(len(names), 20)
        self.assertEqual({path.name for path in (archive() / "share/man/man1").iterdir()}, names)
        self.assertEqual({path.name for path in (package() / "usr/share/man/man1").iterdir()},
                         {name + ".gz" for name in names})

    def test_pages_are_correct_manual_pages(self):
        run("mandoc", "-T", "lint", "-W", "warning", *sorted((archive() / "share/man/man1").iterdir()))

    def test_pages_show_the_help(self):
        text = re.sub(r".\x08", "", run("mandoc", "-T", "ascii", "-O", "width=100",
                                         archive() / "share/man/man1/signalbox-serve.1"))
        self.assertIn("signalbox serve [options]", text)
        self.assertIn("--data-dir data-dir", text)
        self.assertIn("SIGNALBOX_LISTEN", text)

    def test_the_package_has_the_same_pages(self):
        for path in (archive() / "share/man/man1").iterdir():
            packed = package() / "usr/share/man/man1" / (path.name + ".gz")
            self.assertEqual(gzip.decompress(packed.read_bytes()), path.read_bytes())


class Completions(unittest.TestCase):
    def test_shells_read_them(self):
        share = archive() / "share"
        run("bash", "-n", share / "bash-completion/completions/signalbox")
        run("zsh", "-n", share / "zsh/site-functions/_signalbox")
        run("fish", "--no-execute", share / "fish/vendor_completions.d/signalbox.fish")

    def test_bash_completes_commands(self):
        script = archive() / "share/bash-completion/completions/signalbox"
        text = run("bash", "-c", f"""source '{script}'
            COMP_WORDS=(signalbox norm) COMP_CWORD=1 COMP_LINE='signalbox norm' COMP_POINT=14
            $(complete -p signalbox | sed -E 's/.*-F ([^ ]+).*/\\1/') signalbox norm signalbox
            echo "${{COMPREPLY[@]}}" """)
        self.assertEqual(text.strip(), "normalize")


class Versions(unittest.TestCase):
    def test_every_file_names_the_version_of_the_binary(self):
        version = run(archive() / "bin/signalbox", "--version").strip()
        for name, pattern in {
            "docs/install.md": r"signalbox[_:-](\d+\.\d+\.\d+)",
            "deploy/kubernetes/statefulset.yaml": r"image: \S+:(\d+\.\d+\.\d+)",
        }.items():
            self.assertEqual(set(re.findall(pattern, (packages.ROOT / name).read_text())), {version}, name)
        self.assertIn(f"Version: {version}\n", (package() / "DEBIAN/control").read_text())


class BillOfMaterials(unittest.TestCase):
    def setUp(self):
        self.document = json.loads(one("*.spdx.json").read_text())
        self.packages = {package["name"]: package for package in self.document["packages"]}

    def test_the_reference_library_accepts_it(self):
        run(packages.VENV / "pyspdxtools", "--infile", one("*.spdx.json"))

    def test_it_names_every_direct_dependency_with_its_version(self):
        manifest = (packages.ROOT / "Package.swift").read_text()
        pins = re.findall(r'url: "[^"]+/([^/"]+?)(?:\.git)?", exact: "([^"]+)"', manifest)
        self.assertGreater(len(pins), 8)
        for name, version in pins:
            self.assertEqual(self.packages[name]["versionInfo"], version, name)

    def test_it_names_every_shared_library_with_a_licence(self):
        named = set((archive() / "packages.txt").read_text().split()) - {"ca-certificates"}
        dynamic = {item["relatedSpdxElement"] for item in self.document["relationships"]
                   if item["relationshipType"] == "DYNAMIC_LINK"}
        self.assertEqual({package["name"] for package in self.packages.values() if package["SPDXID"] in dynamic}, named)
        for package in self.packages.values():
            self.assertNotIn(package["licenseDeclared"], ("", "NOASSERTION"), package["name"])

    def test_its_checksum_is_that_of_the_binary(self):
        sums = {item["algorithm"]: item["checksumValue"] for item in self.document["files"][0]["checksums"]}
        self.assertEqual(run("sha256sum", archive() / "bin/signalbox").split()[0], sums["SHA256"])
        self.assertEqual(run("sha256sum", package() / "usr/bin/signalbox").split()[0], sums["SHA256"])
