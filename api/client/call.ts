/**
 * How a call of the API is asked, for every client: a method, an address and a body, made of what the call is
 * declared to take. calls.ts has the calls; console, CLI and MCP server send what this makes.
 */

declare const DECLARED: unique symbol

/**
 * One call of the API: its method and path, and the media type of a body that is no JSON. The type says what it
 * takes, the fields of its path and of its query and its `body`, and what it answers.
 */
export type Call<Answer, Input = Nothing> = string & {
  readonly [DECLARED]: (input: Input) => Answer
}

/** What a call takes. */
export type InputOf<C> = C extends Call<infer _, infer Input> ? Input : never

type Nothing = Record<string, never>

/** What follows a call: its input, which may be left out where nothing has to be given, and what a client adds. */
export type Given<Input, More> = Nothing extends Input
  ? [input?: Input, more?: More]
  : [input: Input, more?: More]

export interface Asked {
  method: string
  /** With the query. */
  path: string
  /** JSON as text, or what was given, as it is. */
  body: string | Uint8Array | undefined
  /** Media type of the body; absent where there is none. */
  type: string | undefined
}

/**
 * The request of a call. Fields that are undefined are left out.
 * @example
 * requestOf(calls.pauseTrigger, { name: 'too slow' })
 * // { method: 'POST', path: '/api/triggers/too%20slow/pause' }
 * requestOf(calls.listRuns, { agent: 'first', limit: 30 }) // path: '/api/runs?agent=first&limit=30'
 */
export function requestOf<Answer, Input>(
  call: Call<Answer, Input>,
  ...[input]: Given<NoInfer<Input>, unknown>
): Asked {
  const [method = '', route = '', media] = call.split(' ')
  const { body, ...fields } = (input ?? {}) as Record<string, unknown>
  const path = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = fields[name]
    delete fields[name]
    return encodeURIComponent(String(value))
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) query.append(name, String(one))
  return { method, path: query.size ? `${path}?${query}` : path, ...bodyOf(body, media) }
}

function bodyOf(body: unknown, media: string | undefined): Pick<Asked, 'body' | 'type'> {
  if (body === undefined) return { body: undefined, type: undefined }
  if (media !== undefined) return { body: body as string | Uint8Array, type: media }
  return { body: JSON.stringify(body), type: 'application/json' }
}
