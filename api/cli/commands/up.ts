/**
 * `svc up`: configuration, guards, log, engine, HTTP server, listening, in that order. Nothing is
 * created on disk before the guards have passed.
 */

import { existsSync } from 'node:fs'
import type { Server } from 'node:http'
import { flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { compose, isFolder, needsComposing, readIncluded, rootOf } from '../../../engine/files.ts'
import { type Engine, readCatalogFile, type StartOptions, startEngine } from '../../../engine/index.ts'
import { andMore, placeHead } from '../../../schemas/problem-words.ts'
import type { Demo } from '../../../schemas/types.ts'
import { type Config, dataFolder, type Flags, loadConfig } from '../../config.ts'
import { type Choices, ConfigError, choiceOf, whyNotBound } from '../../config-values.ts'
import { describeUnread } from '../../environment.ts'
import { guardBlankToken, guardOldDataFile, guardOpenStart, guardSshKey } from '../../guards.ts'
import type { buildServer } from '../../http/server.ts'
import { createLog, logRequests } from '../../log.ts'
import { version } from '../../version.ts'
import {
  consoleUrl,
  describeOtlpGrpc,
  describeStart,
  describeSyslog,
  warnIfExposed,
} from '../daemon/announce.ts'
import { prepareDataFolders } from '../daemon/data-folder.ts'
import { openBrowser } from '../daemon/open-browser.ts'
import { requireOwnAddress } from '../daemon/own-address.ts'
import { resolveRootToken } from '../daemon/root-token.ts'
import { createStartStop, createStop, endOnFault, exitProcess, STOP_SIGNALS } from '../daemon/shutdown.ts'
import { CliError, EXIT } from '../exit.ts'
import type { Io } from '../terminal.ts'

const IDLE_SWEEP_MS = 50

type HttpServer = Awaited<ReturnType<typeof buildServer>>

/**
 * Starts the daemon; returns when it listens, and the process goes on until a signal.
 * @throws ConfigError, StartError or CliError when it cannot start.
 */
export async function up(
  io: Io,
  flags: Flags & { open?: boolean; demo?: boolean; acceptLoss?: boolean },
): Promise<void> {
  const config = loadConfig(flags, io.env)
  guardOldDataFile(config)
  guardOpenStart(io.env, config.auth)
  guardBlankToken(io.env, config)
  guardSshKey(config)
  if (config.syslog !== null && config.syslog.host !== config.host)
    await requireOwnAddress(config.syslog.host, 'SVC_SYSLOG_HOST')
  process.umask(0o077)
  prepareDataFolders(config)
  const rootToken = resolveRootToken(config.auth, config.home)
  const log = createLog({ level: config.logLevel, format: config.logFormat, colour: io.colour })
  const fault = endOnFault(log, (code) => process.exit(code))
  process.on('uncaughtException', fault)
  process.on('unhandledRejection', fault)
  const signals = { stop: createStartStop({ log, giveUp: exitProcess }) }
  hearSignals(signals)
  for (const sentence of describeUnread(io.env)) log.warn(sentence)
  for (const { variable, origin } of config.proxy?.addresses ?? [])
    log.info(
      { proxy: origin },
      `requests to other hosts go through the proxy of ${variable}, but for those of NO_PROXY`,
    )
  const failures: string[] = []
  const opening = openEngine(config, flags.acceptLoss ?? false, io.env, log, failures)
  // The server's code is loaded while the engine's threads start.
  const loading = import('../../http/server.ts')
  const engine = await opening
  const http = await loading
  const server = await openServer(http, config, rootToken, engine, log, failures).catch(async (error) => {
    await engine.close()
    throw explainListen(error, config, {
      host: choiceOf(flags.host, '--host', io.env, 'SVC_HOST'),
      port: choiceOf(flags.port, '--port', io.env, 'SVC_PORT'),
    })
  })
  signals.stop = stopOf(server, engine, log)
  const url = consoleUrl(config.host, portOf(server.server))
  io.out(warnIfExposed(config.host, portOf(server.server), rootToken) ?? '')
  if (flags.demo) await loadDemo(engine)
  io.out(describeStart(url, dataFolder(config), rootToken, config.auth.mode === 'given'))
  const grpc = await server.svc.startOtlpGrpc(config.otlpGrpcPort)
  io.out(describeOtlpGrpc(config.host, grpc))
  if (grpc.problem !== null) log.warn({ problem: grpc.problem }, 'OTLP/gRPC is off')
  const syslog = await server.svc.startSyslog(config.syslog)
  io.out(describeSyslog(config.syslog?.host ?? config.host, syslog))
  if (syslog.problem !== null) log.warn({ problem: syslog.problem }, 'syslog is off')
  log.info({ url, version, secured: rootToken !== null, dataFile: config.dataFile }, 'listening')
  // As its threads do: see engine/threads/worker.ts.
  flushCompileCache()
  if (flags.open)
    openBrowser(
      rootToken === null || config.auth.mode === 'given'
        ? url
        : `${url}/?token=${encodeURIComponent(rootToken)}`,
      (reason) => log.warn({ reason }, 'the browser could not be opened'),
    )
}

/** One that was left here is not loaded again. */
async function loadDemo(engine: Engine): Promise<void> {
  const caller = { id: 'svc', name: 'svc', scopes: ['admin'] }
  const input = {
    ...{ params: {}, query: {}, body: undefined, caller, project: null, secured: false },
    ...{ by: { caller, origin: 'boot' as const }, asked: { by: 'svc', gone: new AbortController().signal } },
  }
  const { loaded } = (await engine.perform('getDemo', input)) as Demo
  if (!loaded) await engine.perform('startDemo', input)
}

function openEngine(
  config: Config,
  acceptLoss: boolean,
  env: Io['env'],
  log: Logger,
  failures: string[],
): Promise<Engine> {
  return startEngine({
    dataFile: config.dataFile,
    maxDbSize: config.maxDbSize,
    retention: config.retention,
    webhookAllowPrivate: config.webhookAllowPrivate,
    acceptLoss,
    // Whether said by a flag or a variable.
    env: { ...env, SVC_PORT: String(config.port) },
    models: config.models,
    tracing: config.tracing,
    slack: config.slack,
    boot: bootOf(config, failures),
    repository: config.repository,
    repositoryHome: config.repositoryHome,
    onBooted: (report) => {
      for (const sentence of report.done) log.info(sentence)
      failures.push(...report.failed)
      for (const sentence of [...failures, ...(report.warned ?? [])]) log.error(sentence)
    },
    // A turn later: where the start itself failed, its own message and exit code come first.
    onFatal: (error) =>
      void setImmediate(() => {
        log.fatal({ err: error }, 'the store failed; exiting, so that the next start opens the file anew')
        process.exit(EXIT.disk)
      }),
    onFault: (id, stack) => log.error({ id, stack }, 'a fault in the engine'),
    onStorage: ({ isRefused, why }) =>
      isRefused
        ? log.warn({ why }, 'ingest is refused with 507 until there is room')
        : log.info({ why }, 'ingest is taken again'),
  })
}

type Boot = StartOptions['boot']
type BootTexts = NonNullable<Boot['catalog']>

/**
 * What is declared at boot, as the configuration says it.
 * @param failures gets a sentence where the catalog cannot be read
 */
export function bootOf(config: Config, failures: string[]): Boot {
  const catalog = bootCatalogOf(config, failures)
  return {
    ...(catalog === null ? {} : { catalog }),
    file: config.catalog.file,
    sync: config.catalog.sync,
    ...(config.seedProject === null ? {} : { seedProject: config.seedProject }),
  }
}

/** What the catalog file or folder says; null when there is none. One that is named and cannot be read is told. */
function bootCatalogOf({ catalog }: Config, failures: string[]): BootTexts | null {
  const { file, isNamed, sync, environment } = catalog
  try {
    if (!isFolder(file)) {
      const yaml = readCatalogFile(file)
      if (yaml === null && (isNamed || sync))
        failures.push(`${file} does not exist, so no catalog was imported`)
      if (yaml === null) return null
      if (environment === null && !needsComposing(yaml)) return { path: file, written: file, yaml }
    }
    return composedAtBoot(file, environment, failures)
  } catch (error) {
    failures.push(`${file} cannot be read, so no catalog was imported: ${(error as Error).message}`)
    return null
  }
}

function composedAtBoot(file: string, environment: string | null, failures: string[]): BootTexts | null {
  const { owned, problems, isPlain, files } = compose({
    roots: [rootOf(file)],
    read: readIncluded,
    environment,
  })
  const [problem] = problems
  if (problem) {
    failures.push(`${file} was not imported: ${placeHead(problem)}${problem.message}${andMore(problems)}`)
    return null
  }
  const [{ path, text } = {}] = files
  if (isPlain) return { path: file, written: path, yaml: text! }
  const [first, ...others] = owned.map(({ name, text }) => ({ name, yaml: text }))
  return { path: file, ...first!, ...(others.length ? { others } : {}) }
}

async function openServer(
  http: { buildServer: typeof buildServer },
  config: Config,
  rootToken: string | null,
  engine: Engine,
  log: Logger,
  failures: readonly string[],
): Promise<HttpServer> {
  const { host, port, publicUrl, userHeader, allowedHosts, isProxy, oauthResources, hostedUrls } = config
  const server = await http.buildServer({
    engine,
    config: {
      host,
      port,
      rootToken,
      publicUrl,
      userHeader,
      allowedHosts: [...allowedHosts],
      isProxy,
      version,
      oauthResources,
      hostedUrls,
      bootFailures: failures,
      consoleDir: consoleFolder(),
    },
    log,
  })
  logRequests(server.server, log, () => performance.now())
  await server.listen({ host, port })
  return server
}

/**
 * An address that cannot be bound, as a sentence with the way out. A port that another program holds may be free
 * the next time; what can never be bound here is a wrong value.
 */
function explainListen(
  error: NodeJS.ErrnoException,
  address: Pick<Config, 'host' | 'port'>,
  choices: Choices,
): Error {
  const sentence = whyNotBound(error, 'svc', address, choices)
  if (sentence === null) return error
  return error.code === 'EADDRINUSE' ? new CliError(sentence) : new ConfigError(sentence)
}

function stopOf(server: HttpServer, engine: Engine, log: Logger): (signal: string) => void {
  const stop = createStop(
    {
      beginStop: () => server.svc.beginStop(),
      closeServer: () => closeServer(server),
      cutConnections: () => server.server.closeAllConnections(),
      closeEngine: () => engine.close(),
    },
    {
      log,
      exit: (code) => process.exit(code),
      giveUp: exitProcess,
      after: (ms, fn) => void setTimeout(fn, ms).unref(),
      monotonicMs: () => performance.now(),
    },
  )
  return (signal) => void stop(signal)
}

/**
 * Calls what is to be done at the time. One listener for all of it: where another takes its place, a signal that came
 * while this thread was busy is lost.
 */
function hearSignals(signals: { readonly stop: (signal: string) => void }): void {
  for (const signal of STOP_SIGNALS) process.on(signal, () => signals.stop(signal))
}

/** Stops listening. A connection that its client keeps open is closed once its request is answered. */
async function closeServer(server: HttpServer): Promise<void> {
  const sweep = setInterval(() => server.server.closeIdleConnections(), IDLE_SWEEP_MS)
  try {
    await server.close()
  } finally {
    clearInterval(sweep)
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** The built console beside the bundle, or in dist/ when run from source; null when not built. */
function consoleFolder(): string | null {
  const folder = fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? '../../../dist/console/' : './console/', import.meta.url),
  )
  return existsSync(`${folder}index.html`) ? folder : null
}
