# The gateway as a small image: built on Swift's Debian 12 image, run on Debian 12 with the C libraries alone.
FROM swift:6.3-bookworm AS build
WORKDIR /src
COPY .ci/install-packages .ci/install-packages
COPY Makefile ./
RUN make deps
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --product signalbox --static-swift-stdlib

FROM debian:bookworm-slim
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends ca-certificates libcurl4 libssl3 libsimdjson14 libsqlite3-0 zlib1g libzstd1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /var/lib/signalbox signalbox
COPY --from=build /src/.build/release/signalbox /usr/local/bin/signalbox
COPY routes.json /etc/signalbox/routes.json
ENV SIGNALBOX_CONFIG=/etc/signalbox/routes.json SIGNALBOX_DATA_DIR=/var/lib/signalbox SIGNALBOX_LISTEN=127.0.0.1:8080
USER signalbox
WORKDIR /var/lib/signalbox
VOLUME /var/lib/signalbox
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["signalbox"]
CMD ["serve"]
