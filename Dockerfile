# docker build -t idempotency-proxy .
FROM debian:bookworm-slim AS build
WORKDIR /src
# only what decides the packages, so that this layer stays cached while the sources change
COPY scripts/deps.sh scripts/deps.sh
RUN scripts/deps.sh build && rm -rf /var/lib/apt/lists/*
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake cmake
COPY include include
COPY src src
RUN cmake --preset release -DIDEM_TESTS=OFF \
 && cmake --build --preset release --target idempotency-proxy \
 && strip --strip-debug build/release/idempotency-proxy

FROM debian:bookworm-slim
COPY --from=build /src/scripts/deps.sh /tmp/deps.sh
RUN /tmp/deps.sh runtime && rm -rf /tmp/deps.sh /var/lib/apt/lists/*
COPY --from=build /src/build/release/idempotency-proxy /usr/local/bin/idempotency-proxy
# fails the build when a library is missing from the runtime group
RUN idempotency-proxy version
# a number, so that runAsNonRoot can be checked without the image's passwd
USER 65532:65532
# it writes nothing to disk: the root file system may be read-only
EXPOSE 8080 9911
ENTRYPOINT ["/usr/local/bin/idempotency-proxy"]
CMD ["run", "--config", "/etc/idempotency-proxy/config.yaml"]
