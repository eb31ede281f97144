# One command each: run · test · bench · lint · deps
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Debian's names of the C libraries that Package.swift links, and of what the tests need besides.
LIBRARIES := libcurl4-openssl-dev libssl-dev libsimdjson-dev libsqlite3-dev zlib1g-dev libzstd-dev
TEST_TOOLS := python3-jsonschema curl
BENCH_TOOLS := jq wrk python3-venv

RELEASE := swift build -c release --product signalbox
BINARY := .build/release/signalbox

.PHONY: help run build test lint format bench deps deps-test deps-bench clean

help:
	@echo "make run     install what is missing, build, start the gateway on 127.0.0.1:8080"
	@echo "make test    install what is missing, build, run every test"
	@echo "make bench   measure, and print a table"
	@echo "make lint    check the format of the sources"

run: build
	@echo
	@echo "In another terminal, hand in a payload of Examples/ and see its event arrive here:"
	@echo
	@echo "    curl -H 'content-type: application/json' --data @Examples/payloads/synerise-simple-push.json http://127.0.0.1:8080/v1/notifications"
	@echo "    for f in Examples/payloads/*.json; do curl -s --data @\$$f http://127.0.0.1:8080/v1/notifications; echo; done"
	@echo
	@exec $(BINARY) serve --config routes.json --listen 127.0.0.1:8080 --data-dir data

build: deps
	$(RELEASE)

test: deps-test
	swift build --build-tests
	@rm -f .build/events.ndjson
	SIGNALBOX_RECORD_EVENTS="$(CURDIR)/.build/events.ndjson" swift test --skip-build
	/usr/bin/python3 Tests/validate-events.py Sources/SignalboxPipeline/Schemas/notification-1.json .build/events.ndjson

lint:
	swift format lint --strict --recursive Sources Tests Benchmarks/Sources Package.swift Benchmarks/Package.swift

format:
	swift format --in-place --recursive Sources Tests Benchmarks/Sources Package.swift Benchmarks/Package.swift

bench: deps-bench build
	SIGNALBOX_BENCH_PYTHON="$(CURDIR)/.build/bench-venv/bin/python" \
	swift run --package-path Benchmarks -c release signalbox-bench "$(CURDIR)/$(BINARY)"

deps:
	@./.ci/install-packages $(LIBRARIES)

deps-test:
	@./.ci/install-packages $(LIBRARIES) $(TEST_TOOLS)

deps-bench:
	@./.ci/install-packages $(LIBRARIES) $(BENCH_TOOLS)
	@test -x .build/bench-venv/bin/python || /usr/bin/python3 -m venv .build/bench-venv
	@.build/bench-venv/bin/python -c 'import orjson' 2>/dev/null || .build/bench-venv/bin/pip install --quiet orjson

clean:
	rm -rf .build Benchmarks/.build
