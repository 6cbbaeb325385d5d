/** What the rest of the daemon knows of the syslog port. */

export type Transport = 'tcp' | 'udp' | 'tls'
/** Why something was not taken: no room, the engine refused it, the address may not send, too many connections, no TLS, or packed as a whole. */
export type Loss = 'full' | 'refused' | 'address' | 'connections' | 'tls' | 'packed'

export interface SyslogCounts {
  received: Record<Transport, number>
  /** Messages that were not taken, and over TCP connections, by why. */
  dropped: Record<Loss, number>
}

/** Syslog over TLS (RFC 5425). */
export interface SyslogTls {
  /** 0: any that is free. */
  port: number
  /** Files, PEM: the certificate with those between it and its authority, and its key. */
  cert: string
  key: string
  /** File of the authorities, PEM, one of which a sender's certificate must be of; null: senders need none. */
  ca: string | null
}

export interface SyslogSettings {
  host: string
  /** Of TCP and UDP without TLS; 0: any that is free; null: it is off. */
  port: number | null
  /** null: it is off. */
  tls: SyslogTls | null
  /** Whether that address may send. */
  isAllowed(address: string): boolean
}

export interface SyslogState {
  /** Of TCP and UDP; null: it is off. */
  port: number | null
  /** Of TLS; null: it is off. */
  tlsPort: number | null
  /** Why it is off although a port is set. */
  problem: string | null
  counts: SyslogCounts
  /** A sentence where messages were lost in the last minutes. */
  notice(): string | null
}

export const SYSLOG_OFF: SyslogState = {
  port: null,
  tlsPort: null,
  problem: null,
  counts: {
    received: { tcp: 0, udp: 0, tls: 0 },
    dropped: { full: 0, refused: 0, address: 0, connections: 0, tls: 0, packed: 0 },
  },
  notice: () => null,
}
