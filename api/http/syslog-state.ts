/** What the rest of the daemon knows of the syslog port. */

export type Transport = 'tcp' | 'udp'
/** Why something was not taken: no room, the engine refused it, the address may not send, or too many connections. */
export type Loss = 'full' | 'refused' | 'address' | 'connections'

export interface SyslogCounts {
  received: Record<Transport, number>
  /** Messages that were not taken, and over TCP connections, by why. */
  dropped: Record<Loss, number>
}

export interface SyslogSettings {
  host: string
  /** 0: any that is free. */
  port: number
  /** Whether that address may send. */
  isAllowed(address: string): boolean
}

export interface SyslogState {
  /** Of both transports; null: it is off. */
  port: number | null
  /** Why it is off although a port is set. */
  problem: string | null
  counts: SyslogCounts
  /** A sentence where messages were lost in the last minutes. */
  notice(): string | null
}

export const SYSLOG_OFF: SyslogState = {
  port: null,
  problem: null,
  counts: { received: { tcp: 0, udp: 0 }, dropped: { full: 0, refused: 0, address: 0, connections: 0 } },
  notice: () => null,
}
