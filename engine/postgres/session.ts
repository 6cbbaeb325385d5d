/**
 * One connection for one poll: to addresses that were checked, in one transaction that reads, with a
 * snapshot of its own and a limit on every statement.
 */
import type { Client, ClientConfig } from 'pg'
import { type Reach, UpstreamError } from '../connectors/connector.ts'
import { systemResolve } from '../egress/resolve.ts'
import { addressesOf, mayReach, NOT_ALLOWED } from '../egress/target.ts'
import { type Dsn, parseDsn } from './dsn.ts'
import { sentenceOf } from './faults.ts'

export interface Session {
  /** Rows of a statement, values as texts. @throws UpstreamError */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>
}

const CONNECT_MS = 10_000
const STATEMENT_MS = 10_000
const resolve = systemResolve()

/**
 * Works in a session, which ends with it.
 * @param dsn opened. @throws UpstreamError with what to do, never with anything of the dsn's secret
 */
export async function inSession<T>(
  dsn: unknown,
  reach: Reach,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const target = typeof dsn === 'string' ? parseDsn(dsn.trim()) : 'dsn is missing'
  if (typeof target === 'string') throw new UpstreamError(target)
  const client = await connect(target, await checkedAddresses(target.host), reach.signal)
  const cut = () => client.connection.stream.destroy()
  reach.signal.addEventListener('abort', cut, { once: true })
  try {
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await client.query(
      `SET LOCAL statement_timeout = ${STATEMENT_MS}; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 1`,
    )
    return await work({
      query: async <Row>(sql: string, values: readonly unknown[] = []) =>
        (await client.query(sql, [...values])).rows as Row[],
    })
  } catch (error) {
    throw error instanceof UpstreamError ? error : new UpstreamError(sentenceOf(error, reach.signal.aborted))
  } finally {
    reach.signal.removeEventListener('abort', cut)
    // Nothing was written, so there is nothing to end but the connection.
    client.connection.stream.destroy()
  }
}

async function checkedAddresses(host: string): Promise<readonly string[]> {
  let addresses: readonly string[]
  try {
    addresses = await addressesOf(host, resolve)
  } catch {
    throw new UpstreamError(`the host name in dsn cannot be resolved: correct it, or check the name server`)
  }
  if (!mayReach(addresses, 'operator', false)) throw new UpstreamError(`dsn: ${NOT_ALLOWED}`)
  return addresses
}

/** The library keeps its connection to itself in its types; it is what can be cut off. */
type Connected = Client & { connection: { stream: { destroy(): void } } }

/** Each address in turn; where encryption is preferred and not to be had, without. */
async function connect(dsn: Dsn, addresses: readonly string[], signal: AbortSignal): Promise<Connected> {
  const tries = addresses.flatMap((address) =>
    dsn.sslMode === 'prefer'
      ? [
          { address, ssl: true },
          { address, ssl: false },
        ]
      : [{ address, ssl: dsn.sslMode !== 'disable' }],
  )
  let last: unknown
  for (const { address, ssl } of tries) {
    // Without encryption only where the server has none, never because a certificate or a password failed.
    if (!ssl && dsn.sslMode === 'prefer' && !isWithoutSsl(last)) continue
    try {
      return await connectTo(dsn, address, ssl, signal)
    } catch (error) {
      last = error
      if (signal.aborted) break
    }
  }
  throw new UpstreamError(sentenceOf(last, signal.aborted))
}

const isWithoutSsl = (error: unknown): boolean =>
  error instanceof Error && error.message === 'The server does not support SSL connections'

async function connectTo(dsn: Dsn, address: string, ssl: boolean, signal: AbortSignal): Promise<Connected> {
  // Loaded at the first poll: most instances have no such source.
  const { default: pg } = await import('pg')
  const { host, port, user, password, database, sslMode } = dsn
  const config: ClientConfig = {
    host: address,
    port,
    user,
    // A function, so that an empty one is not looked for in the environment and files of the process.
    password: () => password,
    database,
    application_name: 'svc',
    connectionTimeoutMillis: CONNECT_MS,
    // What the server says of a value is its text, so that nothing is rounded.
    types: { getTypeParser: () => (value: unknown) => value } as ClientConfig['types'],
    ssl: ssl
      ? {
          host,
          rejectUnauthorized: sslMode.startsWith('verify'),
          ...(sslMode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
        }
      : false,
  }
  const client = new pg.Client(config) as Connected
  // What goes wrong is told by what is waited for; without a listener it would end the process.
  client.on('error', () => {})
  const cut = () => client.connection.stream.destroy()
  signal.addEventListener('abort', cut, { once: true })
  try {
    await client.connect()
    return client
  } catch (error) {
    cut()
    throw error
  } finally {
    signal.removeEventListener('abort', cut)
  }
}
