# `docker build -t parsemesh .` builds one image with every service; `--target pdf` builds the image of the pdf service (docs/docker.md).
# NODE is any image with Node 24 and npm. BASE is the Debian of the images.
ARG NODE=docker.io/library/node:24-bookworm-slim
ARG BASE=docker.io/library/debian:bookworm-slim
# Languages of OCR. More languages: --build-arg LANGUAGES="eng deu fra".
ARG LANGUAGES=eng
ARG OFFICE_PACKAGES="libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui fonts-liberation fonts-dejavu fonts-noto-core"

# The npm packages of the target platform, installed on the platform of the builder, because no program of the target runs here.
FROM --platform=${BUILDPLATFORM} ${NODE} AS packages
ARG TARGETARCH
WORKDIR /app
COPY package.json package-lock.json ./
# Install scripts are disabled: the only one belongs to the package `node` and would add a second Node.
# For a private registry, use `--secret id=npmrc,src=$HOME/.npmrc`.
RUN --mount=type=secret,id=npmrc \
    case "${TARGETARCH}" in amd64) cpu=x64;; "") cpu=$(node --print process.arch);; *) cpu=${TARGETARCH};; esac \
 && npm install --userconfig=/run/secrets/npmrc --cache=/tmp/npm --os=linux --cpu="${cpu}" --libc=glibc \
    --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
 && rm -rf /tmp/npm

# The files of each image: only what its service imports.
FROM packages AS files
COPY LICENSE THIRD-PARTY-NOTICES.md ./
COPY shared shared
COPY services services
# The sample document of the page at `/`.
COPY fixtures/pdf/sample.pdf fixtures/pdf/sample.pdf
RUN node --disable-warning=ExperimentalWarning services/image-files.ts /images

# Node without npm and without its symbols, which are 18 MB. Nobody may read the program: Linux then hides the environment and the memory of its
# processes from their own user (docs/architecture.md, "Isolation").
FROM ${NODE} AS node
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends binutils \
 && strip -o /node "$(command -v node)" && /node --version && chmod 0111 /node \
 && mkdir /licence && if [ -f /usr/local/LICENSE ]; then cp /usr/local/LICENSE /licence; fi

# The base of every service. Sources are copied last, so that a source change does not rebuild the other layers.
FROM ${BASE} AS system
# tini reaps the child processes of a killed converter. The shells run with the environment of the container in health checks and `docker exec`.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends tini \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log \
 && chmod 0111 /usr/bin/tini /bin/dash /bin/bash \
 && echo 'parsemesh:x:10001:10001::/tmp:/usr/sbin/nologin' >>/etc/passwd \
 && echo 'parsemesh:x:10001:' >>/etc/group
COPY --from=node /node /usr/local/bin/node
COPY --from=node /licence /usr/share/doc/node
COPY services/entrypoint.sh /usr/local/bin/parsemesh
WORKDIR /app
ENV NODE_ENV=production HOME=/tmp HOST=0.0.0.0 OPS_HOST=0.0.0.0 OPS_PORT=9090
# The builder sets version and revision: `--label org.opencontainers.image.version=...`.
LABEL org.opencontainers.image.vendor="Parsemesh" \
      org.opencontainers.image.description="Self-hosted file parsing: converts a file to Markdown" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 10001:10001
EXPOSE 9090
# Bash opens the connection itself, because the image has no curl and a Node process would cost 0.1 s of CPU time per check.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${OPS_PORT} && printf 'GET /readyz HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"${status}\" = 200 ]"]
# Limits the semi-space of V8, which otherwise grows to 64 MiB. `npm run service` sets the same limit.
ENTRYPOINT ["/usr/local/bin/parsemesh", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=8", "services/service.ts"]

# A folder for the keys file. Group 0 may write to it, because OpenShift runs containers with any user id and group 0.
FROM system AS gateway-system
USER 0:0
RUN install -d -o 10001 -g 0 -m 0770 /data
ENV KEYS_FILE=/data/keys.json
USER 10001:10001

FROM system AS ocr-system
USER 0:0
ARG LANGUAGES
# The installed tesseract uses 20 % less CPU time than the WebAssembly build, and OCR uses most of the CPU time of Parsemesh.
# Only the program itself comes from the package tesseract-ocr: its training programs need 40 MB of other libraries.
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends libtesseract5 $(for language in ${LANGUAGES}; do echo "tesseract-ocr-${language}"; done) \
 && cd /tmp && apt-get download tesseract-ocr \
 && dpkg-deb --fsys-tarfile tesseract-ocr_*.deb | tar -x -C / ./usr/bin/tesseract ./usr/share/doc/tesseract-ocr/copyright \
 && tesseract --version \
 && rm -rf /tmp/*.deb /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log
USER 10001:10001

FROM system AS office-system
USER 0:0
ARG OFFICE_PACKAGES
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${OFFICE_PACKAGES} \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log
USER 10001:10001

# BEGIN services (`npm run k8s` writes these stages from shared/contract/services.ts)
FROM system AS pdf
COPY --from=files /images/pdf/packages ./
COPY --from=files /images/pdf/app ./
LABEL org.opencontainers.image.title="parsemesh-pdf"
CMD ["pdf"]

FROM ocr-system AS ocr
COPY --from=files /images/ocr/packages ./
COPY --from=files /images/ocr/app ./
LABEL org.opencontainers.image.title="parsemesh-ocr"
CMD ["ocr"]

FROM office-system AS office
COPY --from=files /images/office/packages ./
COPY --from=files /images/office/app ./
LABEL org.opencontainers.image.title="parsemesh-office"
CMD ["office"]

FROM system AS html
COPY --from=files /images/html/packages ./
COPY --from=files /images/html/app ./
LABEL org.opencontainers.image.title="parsemesh-html"
CMD ["html"]

FROM system AS csv
COPY --from=files /images/csv/packages ./
COPY --from=files /images/csv/app ./
LABEL org.opencontainers.image.title="parsemesh-csv"
CMD ["csv"]

FROM system AS pii
COPY --from=files /images/pii/packages ./
COPY --from=files /images/pii/app ./
LABEL org.opencontainers.image.title="parsemesh-pii"
CMD ["pii"]

FROM system AS enrich
COPY --from=files /images/enrich/packages ./
COPY --from=files /images/enrich/app ./
LABEL org.opencontainers.image.title="parsemesh-enrich"
CMD ["enrich"]

FROM gateway-system AS gateway
COPY --from=files /images/gateway/packages ./
COPY --from=files /images/gateway/app ./
LABEL org.opencontainers.image.title="parsemesh-gateway"
EXPOSE 8080
CMD ["gateway"]
# END services

FROM ocr-system AS all-system
USER 0:0
ARG OFFICE_PACKAGES
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${OFFICE_PACKAGES} \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log \
 && install -d -o 10001 -g 0 -m 0770 /data
ENV KEYS_FILE=/data/keys.json
USER 10001:10001

# Every service in one process group: `docker run -p 8080:8080 parsemesh`. It is last, because `docker build .` builds the last target.
FROM all-system AS all
COPY --from=files /images/all/packages ./
COPY --from=files /images/all/app ./
LABEL org.opencontainers.image.title="parsemesh"
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/parsemesh", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=8", "services/start.ts"]
