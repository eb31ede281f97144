"""Facts of the files that run the gateway elsewhere: image, Compose, Kubernetes, proxies, the release workflow."""

import fnmatch
import json
import re
import subprocess
import unittest

import packages
from packages import BINARY, ROOT, run

try:
    import yaml
except ImportError as error:
    raise SystemExit("Run make test-deployment: these tests need its Python environment.") from error

# Swift's image has no make.
INSTALL_MAKE = "apt-get update -qq && apt-get install -y -qq --no-install-recommends make"


def instructions():
    """The Dockerfile as pairs of an instruction and its text, with continued lines joined."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [line.split(None, 1) for line in joined.splitlines() if line.strip()]


def is_in_context(name):
    """Whether a path is sent to the engine, by the rules of .dockerignore: the last line that matches decides."""
    kept = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.lstrip("!").removeprefix("**/")
        if not line or line.startswith("#"):
            continue
        names = [name.rsplit("/", 1)[-1], *name.split("/")] if "**/" in line else [name]
        parents = ["/".join(name.split("/")[:count]) for count in range(1, name.count("/") + 1)]
        if any(fnmatch.fnmatchcase(text, pattern) for text in [*names, *parents]):
            kept = line.startswith("!")
    return kept


class Image(unittest.TestCase):
    def last(self, word):
        return [text for instruction, text in instructions() if instruction == word][-1]

    def test_the_user_is_a_number(self):
        self.assertRegex(self.last("USER"), r"^[1-9]\d+:[1-9]\d+$")

    def test_make_is_installed_before_its_first_call(self):
        commands = [text for instruction, text in instructions() if instruction == "RUN"]
        self.assertEqual(commands[0].split(" && ")[:2], INSTALL_MAKE.split(" && "))

    def test_it_reports_its_health_without_a_shell(self):
        self.assertEqual(json.loads(self.last("HEALTHCHECK").split("CMD ")[1]), ["signalbox", "health"])
        self.assertEqual(json.loads(self.last("ENTRYPOINT")), ["signalbox"])

    def test_its_health_check_is_a_command(self):
        dump = json.loads(run(BINARY, "--experimental-dump-help"))
        self.assertIn("health", [command["commandName"] for command in dump["command"]["subcommands"]])

    def test_it_listens_where_a_published_port_arrives(self):
        self.assertRegex(self.last("ENV"), r"SIGNALBOX_LISTEN=0\.0\.0\.0:8080")
        self.assertEqual(self.last("EXPOSE"), "8080")

    def test_it_has_the_labels_of_the_image_specification(self):
        for name in ("title", "description", "licenses", "source", "documentation", "version", "revision"):
            self.assertIn(f"org.opencontainers.image.{name}=", self.last("LABEL"))

    def test_copied_files_are_in_the_context(self):
        for instruction, text in instructions():
            if instruction == "COPY" and not text.startswith("--from"):
                source = text.split()[0]
                path = ROOT / source
                self.assertTrue(path.exists(), source)
                inside = next(p for p in path.rglob("*.swift")) if path.is_dir() else path
                self.assertTrue(is_in_context(inside.relative_to(ROOT).as_posix()), source)

    def test_the_context_has_neither_products_nor_secrets(self):
        for name in (".build/release/signalbox", ".git/config", ".env", "data/queue.db", "data/token.key",
                     "Sources/.env", "Tests/Console/__pycache__/a.pyc", "docs/install.md", "queue.db-wal"):
            self.assertFalse(is_in_context(name), name)

    def test_the_config_of_the_compose_file_is_valid(self):
        run(BINARY, "routes", "check", "--config", ROOT / "Examples/container/routes.json")

    def test_an_open_config_is_refused_on_all_addresses(self):
        refused = subprocess.run(
            [BINARY, "serve", "--config", ROOT / "routes.json", "--listen", "0.0.0.0:0",
             "--data-dir", packages.path("data-open")],
            env={"PATH": "/usr/bin"}, capture_output=True, text=True, check=False, timeout=600)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("Add sources with tokens, or listen on 127.0.0.1.", refused.stderr)


class Schemas(unittest.TestCase):
    SEVERAL = ROOT / "deploy/several-nodes/compose.yml"

    def test_the_compose_files_obey_the_specification(self):
        run(packages.VENV / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", ROOT / "docker-compose.yml",
            self.SEVERAL)

    def test_several_gateways_read_the_secrets_of_their_config_from_files(self):
        compose = yaml.safe_load(self.SEVERAL.read_text())
        config = (ROOT / "deploy/several-nodes/routes.json").read_text()
        named = set(re.findall(r'"file:/run/secrets/([a-z-]+)"', config))
        self.assertEqual(named, set(compose["secrets"]))
        self.assertNotIn('"env:', config)
        for number in (1, 2, 3):
            self.assertEqual(set(compose["services"][f"gateway-{number}"]["secrets"]), named)

    def test_a_published_port_is_on_loopback(self):
        gateway = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["gateway"]
        self.assertEqual(gateway["ports"], ["127.0.0.1:8080:8080"])
        self.assertNotIn("network_mode", gateway)
        for name in ("SIGNALBOX_TOKEN", "SIGNALBOX_ADMIN_TOKEN"):
            self.assertTrue(gateway["environment"][name].startswith("${" + name + ":?"), name)


class Workflow(unittest.TestCase):
    FILE = ROOT / ".github/workflows/release.yml"

    def jobs(self):
        return yaml.safe_load(self.FILE.read_text())["jobs"]

    def lines(self, job):
        return [line for step in job["steps"] for line in step.get("run", "").splitlines()]

    def test_it_obeys_the_schema(self):
        run(packages.VENV / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", self.FILE)

    def test_steps_call_the_makefile(self):
        targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        for name, job in self.jobs().items():
            for line in self.lines(job):
                if line != INSTALL_MAKE:
                    words = line.split()
                    self.assertEqual(words[0], "make", f"{name}: {line}")
                    self.assertLessEqual({word for word in words[1:] if "=" not in word}, targets, line)

    def test_containers_of_swift_have_make_and_mounts_and_trust_the_clone(self):
        inside = {name: job for name, job in self.jobs().items() if "container" in job}
        self.assertEqual(set(inside), {"test", "dist"})
        for name, job in inside.items():
            self.assertEqual(self.lines(job)[0], INSTALL_MAKE, name)
            # Without it, tests with mounts fail, or are skipped.
            self.assertEqual(job["container"]["options"], "--privileged", name)
            # The folder belongs to the runner's user, and the container runs as root: git refuses such a clone.
            self.assertEqual(
                job["env"],
                {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}, name)

    def test_files_of_a_folder_with_a_dot_are_uploaded(self):
        steps = [step["with"] for job in self.jobs().values() for step in job["steps"]
                 if step.get("uses", "").startswith("actions/upload-artifact@")]
        self.assertEqual([(step["path"], step["include-hidden-files"]) for step in steps], [(".build/dist", True)])


class Kubernetes(unittest.TestCase):
    FOLDER = ROOT / "deploy/kubernetes"

    def objects(self):
        for path in sorted(self.FOLDER.glob("*.yaml")):
            if path.name != "kustomization.yaml":
                yield path, yaml.safe_load(path.read_text())

    def test_objects_obey_the_schemas_of_kubernetes(self):
        import kubernetes_validate
        for path, object in self.objects():
            with self.subTest(path.name):
                kubernetes_validate.validate(object, "1.31", strict=True)

    def test_the_customization_lists_every_file(self):
        listed = yaml.safe_load((self.FOLDER / "kustomization.yaml").read_text())["resources"]
        self.assertEqual(sorted(listed), [path.name for path, _ in self.objects()])

    def test_selectors_match_the_pod(self):
        found = {object["kind"]: object for _, object in self.objects()}
        labels = found["StatefulSet"]["spec"]["template"]["metadata"]["labels"]
        selectors = [
            found["StatefulSet"]["spec"]["selector"]["matchLabels"], found["Service"]["spec"]["selector"],
            found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
            found["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]]
        self.assertEqual(selectors, [labels] * 4)

    def test_the_pod_runs_confined_as_the_user_of_the_image(self):
        workload = next(object for _, object in self.objects() if object["kind"] == "StatefulSet")
        pod = workload["spec"]["template"]["spec"]
        user = int(Image().last("USER").split(":")[0])
        self.assertEqual((pod["securityContext"]["runAsUser"], pod["securityContext"]["fsGroup"]), (user, user))
        container = pod["containers"][0]
        self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
        self.assertFalse(container["securityContext"]["allowPrivilegeEscalation"])
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            self.assertIn(container[probe]["httpGet"]["path"], ("/healthz", "/readyz"))

    def test_the_config_is_valid(self):
        text = next(object for _, object in self.objects() if object["kind"] == "ConfigMap")["data"]["routes.json"]
        path = packages.path("kubernetes.json")
        path.write_text(text)
        run(BINARY, "routes", "check", "--strict", "--config", path)


class Proxies(unittest.TestCase):
    def test_nginx_reads_its_config(self):
        folder = packages.path("nginx")
        (folder / "logs").mkdir(parents=True)
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=push.example.com", "-days", "1",
            "-keyout", folder / "key", "-out", folder / "pem")
        text = (ROOT / "deploy/nginx/signalbox.conf").read_text()
        for name in ("pem", "key"):
            text = text.replace(f"/etc/nginx/tls/push.example.com.{name}", str(folder / name))
        (folder / "site.conf").write_text(text)
        temporary = "".join(f"{name}_temp_path {folder}/{name};"
                            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(
            f"events {{}} http {{ {temporary} access_log off; include {folder}/site.conf; }}")
        run(packages.TOOLS / "nginx", "-t", "-q", "-p", folder, "-c", folder / "nginx.conf",
            "-g", f"pid {folder}/pid; error_log stderr;")

    def test_caddy_reads_its_config(self):
        self.assertIn('"dial":"127.0.0.1:8080"', self.read_by_caddy("deploy/caddy/Caddyfile"))

    def test_caddy_asks_each_of_several_gateways_whether_it_is_ready(self):
        text = self.read_by_caddy("deploy/several-nodes/Caddyfile")
        for number in (1, 2, 3):
            self.assertIn(f'"dial":"gateway-{number}:8080"', text)
        self.assertIn('"uri":"/readyz"', text)
        # It decides which requests are repeated; without it, Caddy repeats no POST that was sent.
        self.assertNotIn('"retry_match"', text)

    def read_by_caddy(self, path):
        environment = {"HOME": str(packages.path("caddy")), "PATH": "/usr/bin:/bin"}
        text = run(packages.TOOLS / "caddy", "adapt", "--validate", "--adapter", "caddyfile", "--config", ROOT / path,
                   env=environment)
        return text.replace(" ", "")


class Monitoring(unittest.TestCase):
    def test_rules_are_in_one_place(self):
        self.assertEqual((ROOT / "deploy/monitoring").resolve(), ROOT / "Examples/monitoring")
