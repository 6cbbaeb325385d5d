/** Begins to take syslog. A port that cannot be bound never stops the daemon: it is told, and HTTP goes on. */
import { readFile } from 'node:fs/promises'
import type { Doors } from '../http/doors.ts'
import { SYSLOG_OFF, type SyslogSettings, type SyslogState, type SyslogTls } from '../http/syslog-state.ts'
import { Inbox } from './inbox.ts'
import { type Listening, listenPlain, listenTls } from './listen.ts'

/** A store that takes nothing is asked for so long at the end. */
const LEAVE_MS = 3_000

/** @param settings null: switched off. */
export async function startSyslog(
  doors: Doors,
  settings: SyslogSettings | null,
): Promise<SyslogState & { close(): Promise<void> }> {
  if (settings === null) return { ...SYSLOG_OFF, close: async () => {} }
  const inbox = new Inbox(doors)
  // Of those of HTTP, a quarter.
  const most = Math.max(2, Math.floor(doors.connections.most / 4))
  const { host, port, tls } = settings
  const problems: string[] = []
  const tried = async (
    name: string,
    at: number,
    begin: () => Promise<Listening>,
  ): Promise<Listening | null> => {
    try {
      return await begin()
    } catch (error) {
      problems.push(explain(error as NodeJS.ErrnoException, name, host, at))
      return null
    }
  }
  const plain =
    port === null
      ? null
      : await tried('SVC_SYSLOG_PORT', port, () => listenPlain(inbox, { ...settings, port }, most))
  const secured =
    tls === null
      ? null
      : await tried('SVC_SYSLOG_TLS_PORT', tls.port, async () =>
          listenTls(inbox, settings, { port: tls.port, keys: await keysOf(tls), most }),
        )
  return {
    port: plain?.port ?? null,
    tlsPort: secured?.port ?? null,
    problem: problems.length ? problems.join('; ') : null,
    counts: inbox.counts,
    notice: () => inbox.notice(),
    close: async () => {
      await Promise.all([plain?.close(), secured?.close()])
      await inbox.close(LEAVE_MS)
    },
  }
}

/** @throws Error with a sentence that names the variable */
async function keysOf({ cert, key, ca }: SyslogTls): Promise<{ cert: string; key: string; ca?: string }> {
  const read = async (name: string, file: string): Promise<string> => {
    try {
      return await readFile(file, 'utf8')
    } catch (error) {
      throw new Error(`the file of ${name} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
  }
  return {
    cert: await read('SVC_SYSLOG_TLS_CERT', cert),
    key: await read('SVC_SYSLOG_TLS_KEY', key),
    ...(ca === null ? {} : { ca: await read('SVC_SYSLOG_TLS_CA', ca) }),
  }
}

function explain(error: NodeJS.ErrnoException, name: string, host: string, port: number): string {
  const way = `set ${name} to a free port, or to off`
  if (error.code === 'EADDRINUSE') return `port ${port} on ${host} is in use; ${way}`
  if (error.code === 'EACCES') return `port ${port} needs more rights than this user has; ${way}`
  if (error.code?.startsWith('ERR_OSSL') || error.code?.startsWith('ERR_TLS'))
    return `SVC_SYSLOG_TLS_CERT and SVC_SYSLOG_TLS_KEY are no certificate with its key, as PEM (${error.code})`
  if (error.code === undefined) return error.message
  return `port ${port} on ${host} cannot be bound: ${error.message}; ${way}`
}
