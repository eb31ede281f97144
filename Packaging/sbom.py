"""The list of components in a built binary, as an SPDX 2.3 document, and the texts of their licences.

Components are found, not listed: the linker's list names the modules in the binary, the checkouts say which package
each module is from, and Package.resolved gives its version. Shared libraries come from the binary, their packages from
dpkg. A module, a licence or a library that this file does not know stops the build.
"""

import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = "https://github.com/example/signalbox"
# C sources within packages of Swift, by the module that contains them.
WITHIN = {
    "CNIOBoringSSL": ("boringssl", "https://boringssl.googlesource.com/boringssl", "OpenSSL AND ISC AND MIT"),
    "CNIOLLHTTP": ("llhttp", "https://github.com/nodejs/llhttp", "MIT"),
}
# Licences of the shared libraries, by source package: those of the library, not of programs of the same package.
LIBRARIES = {
    "curl": "curl", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later",
    "libzstd": "BSD-3-Clause", "openssl": "Apache-2.0", "postgresql-15": "PostgreSQL", "simdjson": "Apache-2.0",
    "sqlite3": "blessing", "zlib": "Zlib",
}
RUNTIME = "Apache-2.0 WITH Swift-exception"


class Part:
    """A component: its place in the binary is `STATIC_LINK` or `DYNAMIC_LINK`."""

    def __init__(self, name, version, origin, license, place, purl=None, texts=None):
        self.name, self.version, self.origin, self.license = name, version, origin, license
        self.place, self.purl, self.texts = place, purl, texts or {}

    @property
    def identifier(self):
        return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", self.name)

    def as_package(self):
        package = {
            "SPDXID": self.identifier, "name": self.name, "versionInfo": self.version, "downloadLocation": self.origin,
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": self.license,
            "copyrightText": "NOASSERTION",
        }
        if self.purl:
            package["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                        "referenceLocator": self.purl}]
        return package


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def license_of(folder):
    """The identifier and the texts of a checkout."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())
             if path.is_file() and re.match(r"(LICENSE|NOTICE|COPYING)", path.name)}
    text = next((texts[name] for name in texts if name.startswith("LICENSE")), "")
    if "Apache License" in text and "Runtime Library Exception" in text:
        return RUNTIME, texts
    if "Apache License" in text:
        return "Apache-2.0", texts
    if text.find("granted, free of charge, to any person obtaining a copy") >= 0:
        return "MIT", texts
    sys.exit(f"The licence of {folder.name} is unknown: extend Packaging/sbom.py.")


def modules(binary):
    """The modules whose objects the linker was given."""
    listed = binary.parent / "signalbox.product/Objects.LinkFileList"
    return set(re.findall(r"/([^/\n]+)\.build/", listed.read_text(encoding="utf-8")))


def declares(checkout, module):
    """Whether the package has the module: a folder of this name, or a target whose folder has another name."""
    manifest = (checkout / "Package.swift").read_text(encoding="utf-8")
    return (checkout / "Sources" / module).is_dir() or (checkout / module).is_dir() \
        or re.search(rf'\.target\(\s*name: "{module}"', manifest) is not None


def swift_parts(binary):
    """The packages that the modules come from, and C sources inside them. Our own modules are not listed."""
    # The binary is in .build/TRIPLE/release.
    checkouts = binary.resolve().parent.parent.parent / "checkouts"
    pins = {pin["identity"]: pin for pin in json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))["pins"]}
    found, inner = {}, []
    for module in sorted(modules(binary)):
        if (ROOT / "Sources" / module).is_dir():
            continue
        folder = next((path for path in sorted(checkouts.iterdir()) if declares(path, module)), None)
        if folder is None:
            sys.exit(f"The package of the module {module} is unknown: it is not in {checkouts}.")
        if folder.name not in found:
            pin = pins[folder.name.lower()]
            origin = pin["location"].removesuffix(".git")
            license, texts = license_of(folder)
            version = pin["state"]["version"]
            found[folder.name] = Part(folder.name, version, f"git+{origin}@{version}", license, "STATIC_LINK",
                                      f"pkg:swift/{origin.removeprefix('https://')}@{version}", texts)
        if module in WITHIN:
            name, origin, license = WITHIN[module]
            stated = folder / "Sources" / module / "hash.txt"
            text = stated.read_text(encoding="utf-8") if stated.exists() else ""
            commit = re.search(r"[0-9a-f]{40}", text)
            inner.append(Part(name, commit[0] if commit else f"in {folder.name}", origin, license, "STATIC_LINK"))
    return [*found.values(), *inner]


def runtime():
    """The Swift runtime with Foundation and Dispatch, which the toolchain links statically."""
    swift = pathlib.Path(output("sh", "-c", "readlink -f \"$(command -v swift)\"").strip())
    version = re.search(r"Swift version (\S+)", output("swift", "--version"))[1]
    text = (swift.parent.parent / "share/swift/LICENSE.txt").read_text(encoding="utf-8")
    return Part("swift-runtime", version, "https://www.swift.org/download/", RUNTIME, "STATIC_LINK",
                f"pkg:generic/swift@{version}", {"LICENSE.txt": text})


def libraries(binary):
    """The Debian packages of the shared libraries that the binary names."""
    found = {}
    places = dict(re.findall(r"(\S+) => (\S+)", output("ldd", binary)))
    for name in re.findall(r"NEEDED.*\[(.+)\]", output("readelf", "-d", binary)):
        if name.startswith("ld-linux"):
            continue
        path = pathlib.Path(places[name]).resolve()
        # dpkg knows files by the name under which they were installed, which may be below /lib.
        owner = next((text for place in (path, str(path).removeprefix("/usr")) if (text := owned(place))), None)
        if owner is None:
            sys.exit(f"{path} does not belong to a Debian package.")
        query = "${Package}\t${Version}\t${source:Package}\t${Architecture}"
        package, version, source, architecture = output("dpkg-query", "-W", "-f", query, owner).split("\t")
        if source not in LIBRARIES:
            sys.exit(f"The licence of {package} is unknown: extend Packaging/sbom.py.")
        found[package] = Part(package, version, f"https://packages.debian.org/source/bookworm/{source}",
                              LIBRARIES[source], "DYNAMIC_LINK",
                              f"pkg:deb/debian/{package}@{version}?arch={architecture}&distro=debian-12")
    return [found[name] for name in sorted(found)]


def owned(path):
    answer = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True, check=False)
    return answer.stdout.rsplit(": ", 1)[0].split(",")[0] if answer.returncode == 0 else None


def parts(binary, stripped):
    """Every component. `binary`: in its build folder, next to the list of the linker; `stripped`: the shipped copy."""
    return [*swift_parts(binary), runtime(), *libraries(stripped)]


def licenses(parts):
    """The texts that must go with the binary, by path."""
    return {f"{part.name}/{name}": text for part in parts for name, text in part.texts.items()}


def document(parts, stripped, name, version, date):
    """The SPDX document as JSON text."""
    content = stripped.read_bytes()
    sums = [("SHA1", hashlib.sha1(content)), ("SHA256", hashlib.sha256(content))]
    product = Part("signalbox", version, f"git+{PROJECT}", "Apache-2.0", "")
    created = datetime.datetime.fromtimestamp(date, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    related = [("SPDXRef-DOCUMENT", "DESCRIBES", product.identifier),
               ("SPDXRef-binary", "GENERATED_FROM", product.identifier)]
    related += [(product.identifier, part.place, part.identifier) for part in parts]
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"{PROJECT}/spdx/{name}-{sums[1][1].hexdigest()[:32]}",
        "creationInfo": {"created": created, "creators": ["Organization: Signalbox", f"Tool: signalbox-{version}"]},
        "packages": [part.as_package() for part in (product, *parts)],
        "files": [{
            "SPDXID": "SPDXRef-binary", "fileName": "./bin/signalbox", "licenseConcluded": "NOASSERTION",
            "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION",
            "checksums": [{"algorithm": kind, "checksumValue": sum.hexdigest()} for kind, sum in sums],
        }],
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in related],
    }, indent=1) + "\n"
