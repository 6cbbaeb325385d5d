/** What `svc login` asks of the person, read from the address it opened. */
import type { LoginApprove } from '../../schemas/types.ts'

export type LoginAsk = Omit<LoginApprove, 'scopes'>
export type Access = 'admin' | 'work' | 'read'

/** What a machine may be given, the widest first. */
export const ACCESS: readonly {
  value: Access
  label: string
  description: string
  scopes: LoginApprove['scopes']
}[] = [
  {
    value: 'admin',
    label: 'Everything',
    description: 'Every change, keys included, as the operator has it. What the svc command needs.',
    scopes: ['admin'],
  },
  {
    value: 'work',
    label: 'Read and send',
    description: 'Read timelines and what is declared, send events, record memories.',
    scopes: ['read', 'ingest'],
  },
  {
    value: 'read',
    label: 'Read',
    description: 'Read timelines and what is declared, and propose changes for you to approve.',
    scopes: ['read'],
  },
]

const TOKEN = /^[A-Za-z0-9_-]{43}$/

/** @returns null for an address that no svc login opened. */
export function readLoginAsk(query: URLSearchParams): { ask: LoginAsk; proposed: Access } | null {
  const [challenge, state, machine] = ['challenge', 'state', 'machine'].map((name) => query.get(name) ?? '')
  const port = readPort(query.get('port'))
  if (!TOKEN.test(challenge!) || !TOKEN.test(state!) || !/^[A-Za-z0-9._-]{1,50}$/.test(machine!)) return null
  if (port === undefined) return null
  const scopes = (query.get('scopes') ?? 'admin').split(',')
  const proposed = scopes.includes('admin') ? 'admin' : scopes.includes('ingest') ? 'work' : 'read'
  return { ask: { challenge: challenge!, state: state!, machine: machine!, port }, proposed }
}

/** Where the command hears that the person declined: this machine, whatever the address said. */
export const declineUrl = (port: number, state: string): string =>
  `http://127.0.0.1:${port}/?${new URLSearchParams({ declined: 'true', state })}`

/** Null where the code goes over by hand; undefined for what is no port. */
function readPort(text: string | null): number | null | undefined {
  if (text === null) return null
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : undefined
}
