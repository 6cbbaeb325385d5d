/**
 * What sends to Splunk's HTTP Event Collector: its paths behind an ingest URL, and bodies that are lines of text.
 * https://docs.splunk.com/Documentation/Splunk/latest/RESTREF/RESTinput
 */
import type { IncomingMessage } from 'node:http'
import type { SvcError } from '../../../engine/index.ts'

/** Its clients put the path behind the address, and ask at the same whether it is well. */
export const TO_SPLUNK =
  /^(\/ingest\/[^/?]+)\/+services\/collector(?:\/(?:event|health|raw))?(?:\/1\.0)?(?=\?|$)/
const RAW = /^\/ingest\/[^/?]+\/+services\/collector\/raw(?:\/1\.0)?(?:\?(.*))?$/
/** Where Docker's log driver asks, without its token, before it lets a container start. */
const LOOK = /^\/+services\/collector(?:\/(?:event|health|raw))?(?:\/1\.0)?(?=\?|$)/
const NOBODY = '/ingest/-'

/** Whether the address is well, as the collector says it. */
export const WELL = { text: 'HEC is healthy', code: 17 }

/** The address of a look that names no source; null of any other request. */
export const lookWithoutKey = ({ method }: IncomingMessage, url: string): string | null =>
  method === 'OPTIONS' && LOOK.test(url) ? NOBODY : null

/** Numbers by which the collector says why it refuses; 9 is that it is busy. */
const REFUSALS: Partial<Record<SvcError['code'], number>> = {
  unauthenticated: 3,
  forbidden: 4,
  not_found: 4,
  invalid: 6,
  unsupported_media: 6,
  too_large: 6,
  internal: 8,
}
const BUSY = 9

/** What a refusal says to its clients, which take one without a number for success; undefined to all others. */
export function refusalOfSplunk(
  url: string,
  { code, message }: SvcError,
): { text: string; code: number } | undefined {
  if (!TO_SPLUNK.test(url) && !LOOK.test(url)) return undefined
  return { text: message, code: REFUSALS[code] ?? BUSY }
}

/** What the query of `/raw` says of all its lines. */
const SAID = ['host', 'source', 'sourcetype', 'index']
/** A line that begins with space goes on with the one before, as those of a stack trace do. */
const LINE_END = /\r?\n(?=\S)/

/** Lines of text as events of the collector; null where the address is not that of lines. @param url as it came */
export function rawEvents(url: string, given: Uint8Array | readonly Uint8Array[]): Buffer | null {
  const found = RAW.exec(url)
  if (!found) return null
  const query = new URLSearchParams(found[1] ?? '')
  const said = Object.fromEntries(SAID.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])))
  const text = (given instanceof Uint8Array ? Buffer.from(given) : Buffer.concat(given)).toString()
  const lines = text.split(LINE_END).filter((line) => line.trim() !== '')
  return Buffer.from(lines.map((line) => JSON.stringify({ ...said, event: line.trimEnd() })).join('\n'))
}
