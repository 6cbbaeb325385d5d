/**
 * What sends to Splunk's HTTP Event Collector: its paths behind an ingest URL, and bodies that are lines of text.
 * https://docs.splunk.com/Documentation/Splunk/latest/RESTREF/RESTinput
 */
import type { IncomingMessage } from 'node:http'

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
