/** Whether an address is one of this machine, before anything is started at it. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { ConfigError, whyNotBound } from '../../config-values.ts'

/** A port that is in use may be free the next time; what can never be bound here is a wrong value. */
const NEVER = new Set<unknown>(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'])

/** @param variable that names the host. @throws ConfigError where it is no address of this machine */
export async function requireOwnAddress(host: string, variable: string): Promise<void> {
  const server = createServer()
  try {
    await once(server.listen({ host, port: 0 }), 'listening')
  } catch (error) {
    const fault = error as NodeJS.ErrnoException
    const choices = { host: variable, port: variable }
    if (NEVER.has(fault.code)) throw new ConfigError(whyNotBound(fault, 'svc', { host, port: 0 }, choices)!)
  } finally {
    server.close()
  }
}
