# `make help` lists the commands.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Debian packages of the C libraries that Package.swift links, and of the tools that tests need.
LIBRARIES := libcurl4-openssl-dev libssl-dev libpq-dev libsimdjson-dev libsqlite3-dev zlib1g-dev libzstd-dev
TEST_TOOLS := python3-jsonschema python3-venv curl openssl nghttp2-client nodejs chromium chromium-driver jq iproute2 \
	postgresql libevent-2.1-7 libc-ares2
# Servers whose programs tests need. They are extracted, not installed: an installation would start them.
# PgBouncer needs libevent and c-ares.
TEST_SERVERS := prometheus/usr/bin/promtool nginx/usr/sbin/nginx pgbouncer/usr/sbin/pgbouncer
# From PyPI: the reference libraries that read what tests sent and made, the clients of push services, and the
# validator and the tester of OpenAPI documents.
TEST_LIBRARIES := cloudevents==2.2.0 icalendar==7.3.0 standardwebhooks==1.1.0 \
	aioapns==4.0 apns2-up==0.9.0 kalyke-apns==1.5.0 firebase-admin==7.7.0 pyfcm==2.1.1 exponent-server-sdk==2.2.0 \
	h2==4.4.1 hpack==4.2.0 cryptography==50.0.2 prometheus-client==0.26.0 openapi-spec-validator==0.9.0 \
	schemathesis==4.32.5 selenium==4.51.0 opentelemetry-proto==1.45.2
# Without its dependencies: only the JavaScript of axe in it is used.
TEST_SCRIPTS := axe-playwright-python==0.1.8
LINT_TOOLS := python3
BENCH_TOOLS := jq wrk nghttp2-client python3-venv postgresql curl
BENCH_SERVERS := nginx/usr/sbin/nginx
# dpkg-dev derives the packages of shared libraries; the others check what was made.
DIST_TOOLS := binutils dpkg-dev python3
DIST_TEST_TOOLS := fish lintian mandoc mmdebstrap systemd zsh
DEPLOYMENT_TOOLS := openssl python3-venv
# Servers whose programs check the examples of their configs.
DEPLOYMENT_SERVERS := nginx/usr/sbin/nginx caddy/usr/bin/caddy
# From PyPI: schemas of Compose files and workflows, of Kubernetes, and the reference library of SPDX documents.
DEPLOYMENT_LIBRARIES := check-jsonschema==0.39.0 kubernetes-validate==1.37.0 spdx-tools==0.8.5

# The binary must not depend on the directory that it was built in: compilers write paths below it as paths below ".".
PREFIX_MAP := -Xswiftc -file-prefix-map -Xswiftc "$(CURDIR)=." -Xcc "-ffile-prefix-map=$(CURDIR)=."
# Tables of addresses are read-only once the program has started. Libraries come from the system's folders only.
HARDENING := -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now --disable-local-rpath -Xlinker --no-export-dynamic
RELEASE = swift build -c release --product signalbox --static-swift-stdlib $(PREFIX_MAP) $(HARDENING)
BINARY = .build/release/signalbox
DIST := .build/dist

.PHONY: help run build test verify test-pages test-console test-deployment dist dist-test image push publish reference \
	damage model lint format bench soak soak-replay kills-inapp providers-long nodes-long fuzz \
	deps deps-lint deps-test deps-bench deps-deployment deps-dist deps-dist-test clean

help:
	@echo "make run     install what is missing, build, start the gateway on 127.0.0.1:8080"
	@echo "make test    install what is missing, build, run every test"
	@echo "make build   install what is missing, build the release binary"
	@echo "make dist    build the release archive, the Debian package, the SBOM and the checksums into .build/dist"
	@echo "make dist-test  make dist, check what it made, and install it into a bare Debian"
	@echo "make image   build the container image; IMAGE=NAME for another name"
	@echo "make push    push the container image"
	@echo "make publish  upload the packages in FILES=.build/dist as a release of the version's tag"
	@echo "make test-console  the tests of the console in a browser, which are part of make test"
	@echo "make verify  reference libraries read again what the last make test recorded; a part of make test"
	@echo "make test-pages  the README, the quickstart, getting payloads in and the recipes, followed from their text"
	@echo "make test-deployment  checks of deploy/, the Dockerfile, the Compose files and the workflow; a part of make test"
	@echo "make damage  damage every page of a queue in every way, and use it; ROUNDS=20 for more"
	@echo "make model   check the models of deliveries, nodes and in-app offers, and that they find each broken rule"
	@echo "make bench   measure, and print a table; PART=stages, commands, queue, gateway, peers, media, inapp, console, nodes or ways-in for one of its parts"
	@echo "             SIGNALBOX_BENCH_BEFORE=PATH lets PART=console and PART=nodes compare with an earlier binary"
	@echo "make soak    ten minutes of load with destinations that refuse and hang; SECONDS=60 for one"
	@echo "make soak-replay  a million payloads replayed, killed ten times on the way; PAYLOADS=100000 for fewer"
	@echo "make providers-long  provider endpoints with many pushes and connections, some ten minutes"
	@echo "make kills-inapp  in-app messages under load, their gateway killed sixty times; KILLS=10 for fewer"
	@echo "make nodes-long  several nodes on one PostgreSQL: ten kills of a node, ten of the server, some twenty minutes; HELD=300 for an old snapshot, BEFORE=PATH for an earlier release next to this one"
	@echo "make fuzz    feed mutated payloads to every reader, SECONDS=600 long"
	@echo "make lint    check the format of the sources, their language, and the tables of targets"
	@echo "make format  format the sources"
	@echo "make reference  rewrite the generated parts of docs/reference"
	@echo "make deps    install the Debian packages that a build needs"
	@echo "make clean   remove everything that was built"

run: build
	@echo
	@echo "In another terminal, send a payload of Examples/ and see its event here:"
	@echo
	@echo "    curl -H 'content-type: application/json' --data @Examples/payloads/synerise-simple-push.json http://127.0.0.1:8080/v1/notifications"
	@echo "    for f in Examples/payloads/*.json; do curl -s --data @\$$f http://127.0.0.1:8080/v1/notifications; echo; done"
	@echo
	@exec $(BINARY) serve --config routes.json --listen 127.0.0.1:8080 --data-dir data

build: deps
	$(RELEASE)

test: deps-test deps-deployment
	swift build --build-tests
	./.ci/tests
	$(MAKE) --no-print-directory verify

# Reference libraries read what the tests recorded, and the examples; others check the metrics and the API. verify
# needs the products and the records of the last make test.
verify: deps-test
	/usr/bin/python3 Tests/validate-events.py Sources/SignalboxGateway/{Accept,Forward,InApp}/Schemas/*.json .build/events.ndjson
	/usr/bin/python3 Tests/validate-configs.py docs/reference/routes.schema.json routes.json Examples/configs/*.json deploy/several-nodes/routes.json \
	    Tests/SignalboxConfigTests/Fixtures/configs/good/*.json --bad Tests/SignalboxConfigTests/Fixtures/configs/bad
	.build/test-venv/bin/python Tests/verify-messages.py .build/messages.ndjson
	.build/test-venv/bin/python Tests/verify-calendars.py .build/calendars.ndjson
	.build/test-venv/bin/python Tests/verify-otlp.py .build/otlp.ndjson
	.build/test-venv/bin/python Tests/check-monitoring.py .build/debug/signalbox .build/test-tools/promtool \
	    Examples/monitoring
	.build/test-venv/bin/python Tests/verify-openapi.py .build/debug/signalbox .build/answers.ndjson

# The pages of documentation that a reader follows: their files, commands and outputs, against the built binary.
PAGES := README.md docs/quickstart.md docs/guides/getting-payloads-in.md \
	$(filter-out %/README.md,$(sort $(wildcard docs/guides/recipes/*.md)))
test-pages: deps-test
	swift build --product signalbox
	cd Tests/Recipes && /usr/bin/python3 -m unittest
	/usr/bin/python3 Tests/Recipes/run.py $(PAGES)

# The console in Chromium, against the built binary. Screenshots are in .build/screenshots. Two classes of tests run at
# once, each with its own gateway; the longest ones begin first.
CONSOLE_TESTS := test_pages.py $(filter-out test_pages.py,$(notdir $(wildcard Tests/Console/test_*.py)))
test-console: deps-test
	swift build --product signalbox
	cd Tests/Console && awk -F'[ (]' '/^class .*unittest\.TestCase/ { name = FILENAME; sub(/\.py$$/, "", name); print name "." $$2 }' $(CONSOLE_TESTS) \
	    | xargs -n 1 -P 2 ../../.build/test-venv/bin/python -m unittest -v

# The files that run the gateway elsewhere: deploy/, the Dockerfile, the Compose file and the workflow.
test-deployment: deps-deployment
	swift build --product signalbox
	cd Tests/Packaging && SIGNALBOX_DIST_BINARY="$(CURDIR)/.build/debug/signalbox" \
	    ../../.build/deployment-venv/bin/python -m unittest test_deployment

# The archive and the package have equal bytes if the binary is the same: Packaging/build.py says what they depend on.
dist: deps-dist build
	/usr/bin/python3 Packaging/build.py $(BINARY) $(DIST)

# Makes the packages a second time, in another directory and time zone, compares them, checks what they contain, and
# installs them into a bare Debian. It repeats test-deployment with the release.
dist-test: dist deps-dist-test
	cd Tests/Packaging && SIGNALBOX_DIST_BINARY="$(abspath $(BINARY))" \
	    ../../.build/deployment-venv/bin/python -m unittest -v

REVISION = $(shell git rev-parse HEAD 2>/dev/null)
VERSION = $(shell sed -nE 's/.*static let current = "([^"]+)".*/\1/p' $$(grep -rl 'enum Version' Sources))
IMAGE ?= signalbox
image:
	docker build --build-arg VERSION=$(VERSION) --build-arg REVISION=$(REVISION) \
	    --tag $(IMAGE):$(VERSION) --tag $(IMAGE):latest .

push:
	docker push $(IMAGE):$(VERSION)
	docker push $(IMAGE):latest

# Uploads the packages of all architectures, which lie in FILES, as a release of the tag, with one list of checksums.
FILES ?= $(DIST)
publish:
	cd $(FILES) && sha256sum signalbox* >SHA256SUMS
	gh release create v$(VERSION) --verify-tag --title "Signalbox $(VERSION)" --notes-file CHANGELOG.md $(FILES)/*

deps-dist: deps
	@./.ci/install-packages $(DIST_TOOLS)

deps-dist-test: deps-dist deps-deployment
	@./.ci/install-packages $(DIST_TEST_TOOLS)

deps-deployment: deps
	@./.ci/install-packages $(DEPLOYMENT_TOOLS)
	@./.ci/extract-programs $(DEPLOYMENT_SERVERS)
	@test -x .build/deployment-venv/bin/python || /usr/bin/python3 -m venv .build/deployment-venv
	@test "$$(cat .build/deployment-venv/installed 2>/dev/null)" = '$(DEPLOYMENT_LIBRARIES)' \
	    || { .build/deployment-venv/bin/pip install --quiet $(DEPLOYMENT_LIBRARIES) \
	    && echo '$(DEPLOYMENT_LIBRARIES)' >.build/deployment-venv/installed; }

# Rewrites the generated blocks of docs/reference from the code; the same tests fail when a block is out of date.
reference: deps
	swift build --build-tests
	SIGNALBOX_REWRITE_REFERENCE=1 swift test --skip-build --filter ReferencePagesTests

# Each round damages a queue with other random numbers, which a failure names.
ROUNDS ?= 5
damage: deps-test
	swift build --build-tests
	SIGNALBOX_DAMAGE_ROUNDS=$(ROUNDS) swift test --skip-build --filter DamageTests

model:
	/usr/bin/python3 docs/model/delivery.py
	/usr/bin/python3 docs/model/delivery.py --broken
	/usr/bin/python3 docs/model/nodes.py
	/usr/bin/python3 docs/model/nodes.py --broken
	/usr/bin/python3 docs/model/inapp.py
	/usr/bin/python3 docs/model/inapp.py --broken

lint: deps-lint
	/usr/bin/python3 .ci/check-targets
	/usr/bin/python3 .ci/check-language --self-test
	/usr/bin/python3 .ci/check-language
	swift format lint --strict --recursive Sources Tests Benchmarks/Sources Fuzz/Sources Package.swift Benchmarks/Package.swift Fuzz/Package.swift

format:
	swift format --in-place --recursive Sources Tests Benchmarks/Sources Fuzz/Sources Package.swift Benchmarks/Package.swift Fuzz/Package.swift

bench: deps-bench build
	SIGNALBOX_BENCH_PYTHON="$(CURDIR)/.build/bench-venv/bin/python" \
	SIGNALBOX_BENCH_NGINX="$(CURDIR)/.build/test-tools/nginx" \
	swift run --package-path Benchmarks -c release signalbox-bench "$(CURDIR)/$(BINARY)" $(PART)

# A million payloads replayed into the queue and into a gateway, killed ten times each; PAYLOADS=100000 for fewer.
PAYLOADS ?= 1000000
soak-replay: deps-test
	swift build --build-tests
	SIGNALBOX_REPLAY_PAYLOADS=$(PAYLOADS) swift test --skip-build --filter ReplayResumeTests/killedAtAnyInstant

# Devices that request and report in-app messages while their gateway is killed sixty times.
KILLS ?= 60
kills-inapp: deps-test
	swift build --build-tests
	SIGNALBOX_INAPP_KILLS=$(KILLS) swift test --skip-build --filter InAppCrashTests/noImpressionIsLostOrDoubled

# The tests of provider endpoints at full size: 100,000 pushes, 200 connections, pings for five minutes.
providers-long: deps-test
	swift build --build-tests
	SIGNALBOX_PROVIDERS_LONG=1 swift test --skip-build --no-parallel --filter ProviderScaleTests

# Several nodes on one PostgreSQL: nodes and servers that are killed ten times each, stopped and cut off for a minute,
# sessions that end each second, an old snapshot for HELD seconds, different configs for five minutes.
HELD ?= 30
nodes-long: deps-test
	swift build --build-tests
	SIGNALBOX_NODES_LONG=1 SIGNALBOX_NODES_HELD=$(HELD) SIGNALBOX_NODES_BEFORE=$(BEFORE) \
	    swift test --skip-build --no-parallel --filter \
	    'Node(Kill|Clock|Config|Conflict|Release)Tests|FailoverTests|PoolerTests'

SECONDS ?= 600

# Ten minutes of load with destinations that work, refuse and hang; fails when memory grows.
soak: deps-bench build
	swift run --package-path Benchmarks -c release signalbox-bench "$(CURDIR)/$(BINARY)" soak $(SECONDS)

# clang's libFuzzer without its main, because the executable has its own. gold and lld both know the flags.
FUZZ_RUNTIME = $(shell dirname "$$(dirname "$$(readlink -f "$$(command -v swiftc)")")")/lib/clang
FUZZ_DIR := Fuzz/.build/corpus

fuzz: deps
	swift build --package-path Fuzz -c release -Xswiftc -sanitize=address -Xswiftc -parse-as-library \
	    -Xswiftc -sanitize-coverage=edge,trace-cmp,inline-8bit-counters,pc-table \
	    -Xlinker "$$(ls $(FUZZ_RUNTIME)/*/lib/linux/libclang_rt.fuzzer_no_main-$$(uname -m).a)" -Xlinker -lstdc++
	@mkdir -p $(FUZZ_DIR)/seeds $(FUZZ_DIR)/found
	@for f in $$(find Tests -path '*Fixtures*' -name '*.json' ! -name '*.expected.json'); do \
	    cp "$$f" "$(FUZZ_DIR)/seeds/$$(echo "$$f" | tr / _)"; done
	@for f in $$(find Tests/SignalboxMediaTests/Fixtures/kinds -type f ! -name '*.expected.json'); do \
	    cp "$$f" "$(FUZZ_DIR)/seeds/$$(echo "$$f" | tr / _)"; done
	ASAN_OPTIONS=detect_leaks=0 Fuzz/.build/release/signalbox-fuzz -max_total_time=$(SECONDS) -max_len=16384 \
	    -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 -artifact_prefix=$(FUZZ_DIR)/ $(FUZZ_DIR)/found $(FUZZ_DIR)/seeds

deps-lint:
	@./.ci/install-packages $(LINT_TOOLS)

deps:
	@./.ci/install-packages $(LIBRARIES)

deps-test:
	@./.ci/install-packages $(LIBRARIES) $(TEST_TOOLS)
	@./.ci/extract-programs $(TEST_SERVERS)
	@test -x .build/test-venv/bin/python || /usr/bin/python3 -m venv .build/test-venv
	@test "$$(cat .build/test-venv/installed 2>/dev/null)" = '$(TEST_LIBRARIES) $(TEST_SCRIPTS)' \
	    || { .build/test-venv/bin/pip install --quiet $(TEST_LIBRARIES) \
	    && .build/test-venv/bin/pip install --quiet --no-deps $(TEST_SCRIPTS) \
	    && echo '$(TEST_LIBRARIES) $(TEST_SCRIPTS)' >.build/test-venv/installed; }

deps-bench:
	@./.ci/install-packages $(LIBRARIES) $(BENCH_TOOLS)
	@./.ci/extract-programs $(BENCH_SERVERS)
	@test -x .build/bench-venv/bin/python || /usr/bin/python3 -m venv .build/bench-venv
	@.build/bench-venv/bin/python -c 'import orjson' 2>/dev/null || .build/bench-venv/bin/pip install --quiet orjson

clean:
	rm -rf .build Benchmarks/.build Fuzz/.build
