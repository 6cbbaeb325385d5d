# One image for all processes of svc: the daemon by default, the MCP servers with the commands mcp and telemetry. Data
# is on the volume /data. No stage needs a compiler, and no package its install script.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY console/package.json console/
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
COPY . .
RUN node scripts/build.mjs

# What the daemon needs when it runs: without the folder of the console, npm leaves that folder's packages out.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
# What the daemon runs to follow a repository of catalog files: git, and ssh for addresses of ssh.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git openssh-client \
  && rm -rf /var/lib/apt/lists/*
# The data home of commands that are run beside the daemon, such as "docker exec svc svc backup /data/copy.db".
ENV NODE_ENV=production SVC_LOG_FORMAT=json SVC_HOME=/data
WORKDIR /app
COPY --from=packages /app/package.json ./
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/bin bin
RUN mkdir /data && chown node:node /data && ln -s /app/bin/svc.mjs /usr/local/bin/svc
# The user node, as a number: Kubernetes cannot tell of a name whether it is root (runAsNonRoot).
USER 1000:1000
VOLUME /data
EXPOSE 8787 8788 4317
# Asks where the process of this container listens, also where its arguments or variables say so.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["node", "bin/healthcheck.mjs"]
ENTRYPOINT ["node", "bin/svc.mjs"]
CMD ["up", "--host", "0.0.0.0", "--data-dir", "/data"]
