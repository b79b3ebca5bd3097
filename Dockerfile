# Builds Tollgate, then copies only what it needs at run time. `docker run` starts a gateway; other commands as arguments.
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY client/package.json ./client/
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY client/tsconfig.json ./client/
COPY client/src ./client/src
COPY src ./src
COPY scripts/console.mjs ./scripts/
COPY console ./console
RUN npm run build && npm prune --omit=dev

FROM node:20-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/client/package.json ./client/
COPY --from=build /app/client/dist ./client/dist
COPY --from=build /app/dist ./dist
COPY config.yaml ./
# An unprivileged user of the base image.
USER node
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["gateway"]
