/**
 * What an operation is: one call of the service, declared once. From the declaration come its HTTP route with
 * its checks, its row of the API document, its scope, the thread it runs on, and what crosses to that thread.
 * These files import types and errors alone, so that every thread can load the whole table.
 */

import type { SchemaTypes } from '../../schemas/types.ts'
import type { ReadAnswer, Row } from '../calls.ts'
import type { PartKind } from '../model/documents.ts'
import type { EngineCalls, NetworkOnly, StoreCalls, Writer } from '../roles/calls.ts'
import type { PassedOn } from '../roles/who-answers.ts'
import type { SlackWrites } from '../slack/calls.ts'
import type { NetworkInput, OperationInput } from './input.ts'

/** Who may call it (SPEC.md, Authentication). `person`: scope admin, in a person's own session. */
export type OperationScope = 'any' | 'read' | 'admin' | 'findings' | 'respond' | 'person'

/**
 * Where it runs. `reader`: what is quick to read. `wide`: what may look at very many events, or at all that is
 * declared; it has a time, and gives way. `writer`: what writes. `network`: what asks another system, or is
 * made of calls to several threads.
 */
export type Role = 'reader' | 'wide' | 'writer' | 'network'

export type Route = `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`

/** A route that a helper makes operations of. @example Post<`/${string}/{name}/rename`> */
export type Post<Path extends `/${string}`> = `${'POST'} ${Path}`

type SchemaId = keyof SchemaTypes & string

/** A field of a query string or a path, as JSON Schema has it. */
interface Field {
  readonly type: 'string' | 'integer' | 'boolean'
  readonly enum?: readonly string[]
  readonly default?: string | number | boolean
  /** Absent: it may be left out. */
  readonly required?: true
  readonly description?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}
export type Fields = Readonly<Record<string, Field>>

/**
 * What it answers: a schema; a list of such; either with `write`, which makes the JSON text on the network thread;
 * or text and schemas by media type, null as a schema being text of that type.
 */
type Answer =
  | SchemaId
  | { readonly listOf: SchemaId; readonly write?: Write }
  | { readonly schema: SchemaId; readonly write: Write }
  | { readonly media: Readonly<Record<string, SchemaId | null>> }

type Write = (value: never) => string | Uint8Array | Promise<string | Uint8Array>

/** An operation as doors and threads use it. */
export interface Operation {
  readonly id: string
  /** Of the API document. */
  readonly tag: string
  /** Method and path, as the API document has them: `POST /api/triggers/{name}/pause`. */
  readonly route: Route
  readonly scope: OperationScope
  /** A key of a project may call it, for its own project (SPEC.md, Authentication 4). */
  readonly projectKey?: true
  readonly role: Role | ((input: OperationInput<never, never, never>) => Role)
  /** How a wide one that takes too long is made smaller; absent: as a read of events is. */
  readonly advice?: string
  /** Of fields in the path that are no text. */
  readonly params?: Fields
  readonly query?: Fields
  readonly body?: SchemaId
  /** Of a body that may be left out. */
  readonly optionalBody?: SchemaId
  /** Media types of a body that is taken as bytes, unchecked. */
  readonly takes?: Readonly<Record<string, SchemaId | null>>
  /** Bytes of the body at most; absent: 1 MiB. */
  readonly bodyLimit?: number
  readonly answer: Answer
  /** Absent: 200. */
  readonly status?: number
  /** 200 in place of `status` where the answer says `existing`: what it would make is there already. */
  readonly mayExist?: true
  readonly summary: string
  /** It takes an `Idempotency-Key` although it does not run on the writer, whose POSTs all do. */
  readonly repeatable?: true
  /** `If-Match` is merged with what others wrote since. */
  readonly merges?: true
  /** `If-Match` is the version that it must be made from: another is refused. */
  readonly guarded?: true
  /** `X-SVC-Why` is kept with what is written. */
  readonly recorded?: true
  /** It says how far it is, line by line, to who accepts application/x-ndjson. */
  readonly tells?: true
  /** Answers an ETag made of its text, and 304 where the reader has that text already (RFC 9110, 13.1.2). */
  readonly hashed?: true
  /** Answers an ETag, from the field `version` of what it returns. */
  readonly versioned?: true
  /** The answer holds a secret that is shown once: nothing may keep it. */
  readonly secret?: true
  /** Name under which a browser saves the answer. */
  readonly file?: string | ((params: never) => string)
  /** Media type, where `answer` has several. */
  readonly type?: (query: never) => string
  /**
   * `changes`: keys or addresses that take events are others afterwards, unless it only planned (`change_set`
   * null). `shows`: it shows when keys were used.
   */
  readonly access?: 'changes' | 'shows'
  run(engine: StoreCalls | NetworkCalls, input: OperationInput): Promise<unknown>
}

type ValueOf<F> = F extends { readonly enum: readonly (infer E)[] }
  ? E
  : F extends { readonly type: 'integer' }
    ? number
    : F extends { readonly type: 'boolean' }
      ? boolean
      : string
type Given<Q> = {
  [K in keyof Q]: Q[K] extends { readonly default: unknown } | { readonly required: true } ? K : never
}[keyof Q]
type ValuesOf<Q> = { [K in Given<Q>]: ValueOf<Q[K]> } & {
  [K in Exclude<keyof Q, Given<Q>>]?: ValueOf<Q[K]>
}
type NamesIn<P extends string> = P extends `${string}{${infer N}}${infer R}` ? N | NamesIn<R> : never
type ParamsOf<P extends string, F> = {
  [N in NamesIn<P>]: N extends keyof F ? ValueOf<F[N]> : string
}
type BodyOf<B, O, T> = B extends SchemaId
  ? SchemaTypes[B]
  : O extends SchemaId
    ? SchemaTypes[O] | null | undefined
    : T extends object
      ? Uint8Array
      : undefined
type AnswerOf<A> = A extends SchemaId
  ? SchemaTypes[A]
  : A extends { readonly write: (value: infer T) => unknown }
    ? T
    : A extends { readonly listOf: infer L extends SchemaId }
      ? SchemaTypes[L][]
      : string

interface Declared<
  P extends Route,
  F extends Fields,
  Q extends Fields,
  B extends SchemaId | undefined,
  O extends SchemaId | undefined,
  T extends Operation['takes'],
  A extends Answer,
  R extends Role,
> extends Omit<
    Operation,
    | 'run'
    | 'tag'
    | 'route'
    | 'params'
    | 'query'
    | 'body'
    | 'optionalBody'
    | 'takes'
    | 'role'
    | 'answer'
    | 'file'
    | 'type'
  > {
  route: P
  params?: F
  query?: Q
  body?: B
  optionalBody?: O
  takes?: T
  role: R | ((input: OperationInput<ParamsOf<P, F>, ValuesOf<Q>, BodyOf<B, O, T>>) => R)
  answer: A
  file?: string | ((params: ParamsOf<P, F>) => string)
  type?: (query: ValuesOf<Q>) => string
  run(
    engine: [R] extends ['network'] ? NetworkCalls : StoreCalls,
    input: [R] extends ['network']
      ? NetworkInput<ParamsOf<P, F>, ValuesOf<Q>, BodyOf<B, O, T>>
      : OperationInput<ParamsOf<P, F>, ValuesOf<Q>, BodyOf<B, O, T>>,
  ): Promise<AnswerOf<A>>
}

/**
 * Declares operations of one tag of the API document. The types of `params`, `query` and `body` in `run`, and of
 * what it returns, follow from the route, the fields and the schemas that are named beside it.
 * @example
 * const operation = tagged('triggers')
 * operation({
 *   id: 'getTrigger',
 *   route: 'GET /api/triggers/{name}',
 *   scope: 'read',
 *   role: 'reader',
 *   answer: 'trigger.json',
 *   summary: 'One trigger',
 *   run: (engine, { params }) => engine.getTrigger(params.name),
 * })
 */
export const tagged =
  (tag: string) =>
  <
    const P extends Route,
    const A extends Answer,
    R extends Role,
    const F extends Fields = Record<never, never>,
    const Q extends Fields = Record<never, never>,
    const B extends SchemaId | undefined = undefined,
    const O extends SchemaId | undefined = undefined,
    const T extends Operation['takes'] = undefined,
  >(
    declared: Declared<P, F, Q, B, O, T, A, R>,
  ): Operation =>
    ({ ...declared, tag }) as Operation

/** How a part gets another name. @param operation of its tag @param summary says what goes along with it */
export const renameOperation = (
  operation: ReturnType<typeof tagged>,
  id: string,
  route: Post<`/${string}/{name}/rename`>,
  kind: PartKind,
  summary: string,
) =>
  operation({
    ...{
      id,
      route,
      scope: 'admin',
      role: 'writer',
      body: 'request-rename.json',
      answer: 'part-written.json',
    },
    ...{ recorded: true, versioned: true, summary },
    run: (engine, { params, body: { to, why }, by }) =>
      engine.renamePart(kind, params.name, to, { ...by, why: why ?? by.why }),
  })

/*
 * Answers that hold stored payloads, as JSON text: `raw` is text as received and is spliced in as it is, because
 * parsing and writing it again would change large numbers and drop repeated keys.
 */

/** A row as JSON text, its payload byte for byte. */
export function rowJson(row: Row): string {
  const { raw, ...rest } = row
  const text = JSON.stringify(rest)
  return raw === undefined ? text : `${text.slice(0, -1)},"raw":${raw}}`
}

export function rowsJson(rows: readonly Row[]): string {
  return `[${rows.map(rowJson).join(',')}]`
}

export function readJson(answer: ReadAnswer): string {
  const { rows, ...rest } = answer
  return `${JSON.stringify(rest).slice(0, -1)},"rows":${rowsJson(rows)}}`
}

/*
 * What operations of role network may call, and routes made by hand: what another thread answers by name, and
 * what is made on the network thread, for it asks other systems or puts the answers of several threads together.
 */

/** The network role answers these for doors itself, with the help of the store. */
type MadeThere = NetworkOnly | keyof SlackWrites | 'ingest' | 'read' | 'close'

export type NetworkCalls = Pick<EngineCalls, PassedOn | MadeThere>

/** The engine as doors have it. */
export interface ServedEngine extends NetworkCalls {
  /** An operation by its id (operations/index.ts), on the role that answers it. @throws SvcError as it does */
  perform(id: string, input: NetworkInput): Promise<unknown>
}

/**
 * An engine whose roles all run on the caller's thread: what a door sees of one, and every call of its writer, for
 * tests and tools to look at.
 */
export type LocalEngine = Writer & ServedEngine
