/** Begins to take syslog. A port that cannot be bound never stops the daemon: it is told, and HTTP goes on. */
import type { Doors } from '../http/doors.ts'
import { SYSLOG_OFF, type SyslogSettings, type SyslogState } from '../http/syslog-state.ts'
import { Inbox } from './inbox.ts'
import { listenSyslog } from './listen.ts'

/** @param settings null: switched off. */
export async function startSyslog(
  doors: Doors,
  settings: SyslogSettings | null,
): Promise<SyslogState & { close(): Promise<void> }> {
  const nothing = { ...SYSLOG_OFF, close: async () => {} }
  if (settings === null) return nothing
  const inbox = new Inbox(doors)
  // Of those of HTTP, a quarter.
  const most = Math.max(2, Math.floor(doors.connections.most / 4))
  try {
    const { port, close } = await listenSyslog(inbox, settings, most)
    return { port, problem: null, counts: inbox.counts, notice: () => inbox.notice(), close }
  } catch (error) {
    return { ...nothing, problem: explain(error as NodeJS.ErrnoException, settings) }
  }
}

function explain(error: NodeJS.ErrnoException, { host, port }: SyslogSettings): string {
  const way = 'set SVC_SYSLOG_PORT to a free port, or to off'
  if (error.code === 'EADDRINUSE') return `port ${port} on ${host} is in use; ${way}`
  if (error.code === 'EACCES') return `port ${port} needs more rights than this user has; ${way}`
  return `port ${port} on ${host} cannot be bound: ${error.message}; ${way}`
}
