/** What a scripted model answers, and how a wire format writes it. */
import type { IncomingHttpHeaders } from 'node:http'

export interface ScriptedReply {
  text?: string
  /** Arguments that are text are sent as they are, readable or not. */
  calls?: { name: string; arguments: Record<string, unknown> | string; id?: string }[]
  /** Null: none is sent. What is absent of it is 0, but input 10 and output 5. */
  usage?: Partial<
    Record<
      'input_tokens' | 'output_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens',
      unknown
    >
  > | null
  /** `usage.cost`, as routers report it. */
  cost?: unknown
  /** 200 unless said; from 400 on the body is an error of the format. */
  status?: number
  headers?: Record<string, string>
  /** Text of the error. */
  error?: string
  /** Type or code of the error. */
  errorType?: string
  /** Sent instead of the format's own body. */
  body?: string
  /** Nothing is answered before it settles. */
  delayUntil?: Promise<unknown>
  /** After the first piece of text nothing more is sent before it settles. */
  pauseUntil?: Promise<unknown>
  stop?: 'end' | 'tools' | 'length' | 'refusal'
  /** Named in the reply; that of the request unless said. */
  model?: string
  /** A block of thinking before the text; of chat completions the field that most endpoints send. */
  thinking?: string
  /** Of chat completions: `reasoning_details` of a router, each in a piece of its own. */
  details?: object[]
  /** Of chat completions: `extra_content` of each call. */
  extras?: (object | undefined)[]
  /** Of chat completions: all calls have the index 0, each whole; `unnamed`: and no id. */
  sameIndex?: 'named' | 'unnamed'
  /** Of chat completions: the text comes as a list of parts, behind one of what was thought. */
  parts?: true
  /** The connection is closed: before the head, or at the place. */
  cut?: 'before' | 'within'
  /** Where `cut`, `fault`, `ended` and `stalled` come in: after the first piece of text unless said. */
  place?: Place
  /** The body ends there, as if it were complete. */
  ended?: boolean
  /** Nothing more comes from there on; told when it is so. */
  stalled?(sent: number): void
  /** An event that is no JSON, after the first piece of text. */
  malformed?: boolean
  /** An error event, after the first piece of text. */
  fault?: { type: string; message: string }
  /** Pieces of text without end. */
  endless?: boolean
  /** A plain answer to a request for a stream. */
  plain?: boolean
}

/** Before anything is said, within the thinking, the text, or the arguments of a tool. */
export type Place = 'start' | 'thinking' | 'text' | 'tool'

export interface ScriptedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** The parsed body; {} where there was none. */
  // biome-ignore lint/suspicious/noExplicitAny: what a request holds is for the test to say.
  body: any
  model: string
}

export type Script =
  | ScriptedReply[]
  | ((request: ScriptedRequest, n: number) => ScriptedReply | Promise<ScriptedReply>)

/** How a format writes a reply. */
export interface Wire {
  plain(reply: ScriptedReply, model: string): unknown
  /** Events before the reply, its pieces of text, and events after them. */
  stream(
    reply: ScriptedReply,
    model: string,
  ): { open: string[]; text(piece: string): string; close: string[]; broken: string; fault: string }
  error(status: number, reply: ScriptedReply): unknown
}
