# The gateway as a small image: built on Swift's Debian 12 image, run on Debian 12 with the C libraries alone.
FROM swift:6.3-bookworm AS build
WORKDIR /src
COPY .ci/install-packages .ci/install-packages
COPY Makefile ./
# Swift's image has no make.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends make && make deps
COPY Package.swift ./
COPY Sources Sources
# Package.swift names the targets of tests, whose folders must exist.
COPY Tests Tests
RUN make build && strip --strip-all .build/release/signalbox

FROM debian:bookworm-slim
ARG VERSION=0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Signalbox" \
      org.opencontainers.image.description="A self-hosted gateway for push notifications of many vendors" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/example/signalbox" \
      org.opencontainers.image.documentation="https://github.com/example/signalbox/blob/main/docs/deploy.md" \
      org.opencontainers.image.base.name="docker.io/library/debian:bookworm-slim" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# The number of the user is a part of the image's interface: volumes belong to it, and Kubernetes rejects 0.
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends ca-certificates libcurl4 libpq5 libsimdjson14 libsqlite3-0 libssl3 \
       libstdc++6 libzstd1 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 65532 signalbox \
    && useradd --uid 65532 --gid 65532 --no-create-home --home-dir /var/lib/signalbox --shell /usr/sbin/nologin \
       signalbox \
    && install -d -m 0700 -o 65532 -g 65532 /var/lib/signalbox
COPY --from=build /src/.build/release/signalbox /usr/bin/signalbox
COPY LICENSE /usr/share/doc/signalbox/LICENSE
# Requires SIGNALBOX_TOKEN and SIGNALBOX_ADMIN_TOKEN. Without them, or with a config without sources, the gateway
# refuses to start, because it listens on all addresses: only then does a published port reach it.
COPY Packaging/debian/routes.json /etc/signalbox/routes.json
ENV SIGNALBOX_CONFIG=/etc/signalbox/routes.json \
    SIGNALBOX_DATA_DIR=/var/lib/signalbox \
    SIGNALBOX_LISTEN=0.0.0.0:8080
USER 65532:65532
WORKDIR /var/lib/signalbox
VOLUME /var/lib/signalbox
EXPOSE 8080
STOPSIGNAL SIGTERM
# Ready means that the queue can be written. An engine that restarts unhealthy containers does not mend a full disk.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["signalbox", "health"]
ENTRYPOINT ["signalbox"]
CMD ["serve"]
