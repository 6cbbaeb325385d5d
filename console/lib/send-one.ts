/** The command that sends one event: Home has it where nothing was ever sent, which needs no other way to send. */
import { exampleEvent, exampleHeaders, type Mapping } from '../../schemas/example-event.ts'
import type { SenderPreset } from '../../schemas/types.ts'
import { curlCommand } from './curl.ts'

export interface Snippet {
  /** What it is for. */
  title: string
  text: string
  note?: string
}

export interface SendTo {
  /** Name of the source. */
  name: string
  /** Address of the page, which is the daemon's where no proxy is in between. */
  origin: string
  ingestKey: string
  /** Shown key, a placeholder on a secured instance, null on an open one. */
  token: string | null
  /** Whether there are others of its connector, so that an export must name it. */
  isOneOfSeveral: boolean
  grpc: { port: number | null; problem: string | null }
}

/** A delivery as a known sender documents it. */
export type Documented = SenderPreset['example']

/** Those that say who sent it; the type of the body is said already. */
const tellingOf = ({ headers }: Documented): string[] =>
  Object.entries(headers).flatMap(([name, value]) => (name === 'content-type' ? [] : [`${name}: ${value}`]))

/** A body that fits a source, for its example command. */
export const exampleBody = (connector: string, config: Mapping): string =>
  JSON.stringify(exampleEvent(connector, config, 'hello from curl', new Date().toISOString()))

/** A command that works as it is printed: its event is made from the source's own mapping. */
export const sendOne = (
  { origin, ingestKey, token }: Pick<SendTo, 'origin' | 'ingestKey' | 'token'>,
  connector: string,
  config: Mapping,
  documented?: Documented,
): Snippet => ({
  title: 'Send an event',
  text: curlCommand({
    url: `${origin}/ingest/${ingestKey}`,
    ...(token === null ? {} : { token }),
    body: documented ? JSON.stringify(documented.body) : exampleBody(connector, config),
    headers: documented ? tellingOf(documented) : connector === 'webhook' ? exampleHeaders(config) : [],
  }),
})
