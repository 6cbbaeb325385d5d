/**
 * Senders whose address can have no path of ours, such as Docker's log driver for Splunk and the Datadog Agent: they add a
 * path of their own, and the key they send says which source it is for.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Authenticator } from '../auth.ts'

const PATHS = /^\/+(?=(?:services\/collector|api\/v2\/logs|v1\/input|loki\/api\/v1\/push)(?:[/?]|$))/
/** Of version 1 of Datadog's intake the path may end with the key. */
const IN_PATH = /^\/+v1\/input\/([^/?]+)/
const TOKEN = /^(?:bearer|splunk) +(\S+)\s*$/i

/**
 * The address behind the ingest URL of the source that the key is of: its ingest key itself, or a key that was made for it.
 * @param keyOf the key as senders give it that know no token. @returns undefined where no key says a source
 */
export function addressByKey(
  url: string,
  { headers }: IncomingMessage,
  auth: Pick<Authenticator, 'byHash' | 'ingestRoute' | 'routesOf'>,
  keyOf: (request: Pick<IncomingMessage, 'headers'> & { url: string }) => string | null,
): string | undefined {
  if (!PATHS.test(url)) return undefined
  const token = TOKEN.exec(headers.authorization ?? '')?.[1]
  const key = token ?? keyOf({ url, headers }) ?? IN_PATH.exec(url)?.[1]
  if (key === undefined) return undefined
  const sourceId = auth.byHash(createHash('sha256').update(key).digest('hex'))?.sourceId
  const bound =
    sourceId == null ? undefined : auth.routesOf('webhook').find((one) => one.sourceId === sourceId)
  const route = bound ?? auth.ingestRoute(key)
  return route && url.replace(PATHS, `/ingest/${route.ingestKey}/`)
}
