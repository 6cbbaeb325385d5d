/** Begins to take syslog. A port that cannot be bound never stops the daemon: it is told, and HTTP goes on. */
import { readFile, stat } from 'node:fs/promises'
import type { Doors } from '../http/doors.ts'
import { SYSLOG_OFF, type SyslogSettings, type SyslogState, type SyslogTls } from '../http/syslog-state.ts'
import { Inbox } from './inbox.ts'
import { type Listening, type ListeningTls, listenPlain, listenTls, type TlsKeys } from './listen.ts'

/** A store that takes nothing is asked for so long at the end. */
const LEAVE_MS = 3_000
/** How often the files of TLS are looked at: a certificate is renewed days before it ends. */
const RENEW_MS = 60_000

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
  const tried = async <T extends Listening>(
    name: string,
    at: number,
    begin: () => Promise<T>,
  ): Promise<T | null> => {
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
  // Before they are read: what changes meanwhile is seen by the next look.
  const before = tls === null ? '' : await stampOf(tls)
  const secured =
    tls === null
      ? null
      : await tried('SVC_SYSLOG_TLS_PORT', tls.port, async () =>
          listenTls(inbox, settings, { port: tls.port, keys: await keysOf(tls), most }),
        )
  const renewal = secured && tls ? new Renewal(doors, secured, tls, before) : null
  return {
    port: plain?.port ?? null,
    tlsPort: secured?.port ?? null,
    problem: problems.length ? problems.join('; ') : null,
    counts: inbox.counts,
    notice: () => [inbox.notice(), renewal?.fault].filter(Boolean).join('; ') || null,
    close: async () => {
      renewal?.stop()
      await Promise.all([plain?.close(), secured?.close()])
      await inbox.close(LEAVE_MS)
    },
  }
}

/**
 * Takes the files of TLS anew where they change, as by the renewal of a certificate. Connections that are open stay as they are.
 * Of files that are none, or of which one was written and the other not yet, nothing is taken: that is told, and tried again.
 */
class Renewal {
  /** Why what was read before holds still; null: it is what the files have. */
  fault: string | null = null
  private isLooking = false
  private readonly timer: NodeJS.Timeout

  constructor(
    private readonly doors: Pick<Doors, 'log'>,
    private readonly listening: ListeningTls,
    private readonly files: SyslogTls,
    private stamp: string,
  ) {
    this.timer = setInterval(() => void this.look(), RENEW_MS)
    this.timer.unref()
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private async look(): Promise<void> {
    if (this.isLooking) return
    this.isLooking = true
    try {
      const stamp = await stampOf(this.files)
      if (stamp === this.stamp) return
      this.listening.setKeys(await keysOf(this.files))
      this.stamp = stamp
      this.fault = null
      this.doors.log.info('the certificate of syslog over TLS was read anew')
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const fault = `syslog over TLS keeps its certificate: ${isOfKeys(code) ? keysFault(code) : message}`
      if (fault !== this.fault) this.doors.log.warn({ fault }, 'a certificate was not taken')
      this.fault = fault
    } finally {
      this.isLooking = false
    }
  }
}

/** What changes with any of the files, links followed; a file that is not there is a change, too. */
async function stampOf({ cert, key, ca }: SyslogTls): Promise<string> {
  const stamps = [cert, key, ca].map(async (file) => {
    const info = file === null ? null : await stat(file, { bigint: true }).catch(() => null)
    return info === null ? '' : `${info.dev}:${info.ino}:${info.size}:${info.mtimeNs}`
  })
  return (await Promise.all(stamps)).join()
}

/** @throws Error with a sentence that names the variable */
async function keysOf({ cert, key, ca }: SyslogTls): Promise<TlsKeys> {
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
  if (isOfKeys(error.code)) return keysFault(error.code)
  if (error.code === undefined) return error.message
  return `port ${port} on ${host} cannot be bound: ${error.message}; ${way}`
}

const isOfKeys = (code: string | undefined): code is string => /^ERR_(OSSL|TLS)/.test(code ?? '')

const keysFault = (code: string): string =>
  `SVC_SYSLOG_TLS_CERT and SVC_SYSLOG_TLS_KEY are no certificate with its key, as PEM (${code})`
