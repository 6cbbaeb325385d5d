/** What the routes share, and how the server is set up. */
import type { Logger } from 'pino'
import type { Clock, Engine } from '../../engine/index.ts'
import type { Authenticator, Identity } from './auth.ts'
import type { BodyBudget } from './body-budget.ts'
import type { Connections } from './connections.ts'
import type { SyslogSettings, SyslogState } from './syslog-state.ts'

export interface ServerConfig {
  host: string
  port: number
  /** Null: open mode. */
  rootToken: string | null
  publicUrl: string | null
  /** Header that names who is asking, lower case, set by a proxy in front; null or absent: none. */
  userHeader?: string | null
  allowedHosts: readonly string[]
  /** Whether an address is of a proxy whose X-Forwarded-For is believed; null or absent: none is. */
  isProxy?: ((address: string) => boolean) | null
  /** Addresses of other servers that clients may sign in to here; absent: none. */
  oauthResources?: readonly string[]
  version: string
  /** Addresses of a hosted workspace, by their name in GET /health. */
  hostedUrls: Readonly<Record<string, string>>
  /** What the boot could not do, as sentences; shown by GET /health. */
  bootFailures?: readonly string[]
  /** Files the process may have open; absent: as the system says. */
  handles?: number
  /** Built console, or null. */
  consoleDir: string | null
}

/** Where OTLP/gRPC listens; a null port and why it does not; both null: it is switched off. */
export interface OtlpGrpcState {
  port: number | null
  problem: string | null
}

/** What routes share. */
export interface Doors {
  engine: Engine
  auth: Authenticator
  config: ServerConfig
  log: Logger
  clock: Clock
  /** What bodies of producers may take in memory. */
  bodies: BodyBudget
  /** What those may take that are stored while they come: they may take long, and the others do not wait for them. */
  streams: BodyBudget
  /** Connections and live streams there are. */
  connections: Connections
  /** Where OTLP/gRPC listens, or why it does not. */
  otlpGrpc(): OtlpGrpcState
  /** Where syslog is taken, and what came. */
  syslog(): SyslogState
  /** True once the process has been asked to stop. */
  stopping(): boolean
  /** Calls the listener for every answered request, with the route's pattern. */
  onAnswered(listener: (route: string, method: string, status: number) => void): void
  /** Calls them: a request was answered. */
  tellAnswered(route: string, method: string, status: number): void
  /** Called when it is, to end long answers. */
  onStop(listener: () => void): () => void
}

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity
  }
  interface FastifyInstance {
    svc: {
      beginStop(): void
      /** Listens for OTLP/gRPC, until the server closes. @param port null: it is switched off. */
      startOtlpGrpc(port: number | null): Promise<OtlpGrpcState>
      /** Takes syslog, until the server closes. @param settings null: it is switched off. */
      startSyslog(settings: SyslogSettings | null): Promise<SyslogState>
    }
  }
}
